"""What the person who starts a program tells it: options of the command line, and variables of the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.infer.paths import PARSES_OPTIONS, is_of_options
from torchdevlint.infer.values import FALSE, NONE, TRUE, Const, Ext, Place, Ref, Site, Term, Tup, Value, unknown

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

_OF_PROCESS = frozenset({"os.environ", "sys.argv", "absl.flags.FLAGS"})
_READS = frozenset({"attribute", "item", "unpack", "element"})


def is_option(value: object) -> bool:
    """True for `parser.parse_args().device` and `os.environ["DEVICE"]`, however the program hands them on."""
    is_part = False
    while isinstance(value, Term):
        if value.op == "call":
            return is_part and is_of_options(value)
        if value.op not in _READS:
            return False
        value, is_part = value.args[0], True
    return is_part and isinstance(value, Ext) and value.name in _OF_PROCESS


def holds_options(name: str) -> bool:
    """True for an object of another library whose attributes are options of the program: `absl.flags.FLAGS`."""
    return name == "absl.flags.FLAGS"


def of_user(site: Site | None) -> Term:
    """What the user has written down for a program: the options of the command line, or a file of them."""
    return Term("call", Ext(f"{PARSER}.parse_args"), (), (), site)


def is_told(place: Place) -> bool:
    """True for the device that an option names: the user chooses it, and may choose a GPU."""
    return isinstance(place, Term) and place.op == "as_device" and is_option(place.args[0])


def remember(ctx: Context, keywords: dict[str, Value]) -> None:
    """`parser.set_defaults(run=train)`: what options are that nobody writes on the command line."""
    for name, value in keywords.items():
        ctx.add(ctx.analysis.settings, _DEFAULT + name, value)


def remembered(ctx: Context, value: Term, name: str) -> Value | None:
    """The default of an option, where the program has set it for a parser."""
    options = value.args[0] if value.op in ("item", "unpack") else value
    rec = ctx.heap.get(ctx.analysis.settings)
    is_of_parser = isinstance(options, Term) and is_of_options(options)
    return rec.fields.get(_DEFAULT + name) if rec is not None and is_of_parser else None


_DEFAULT = ".@option "
PARSER = "argparse.ArgumentParser"
_SUPPRESSED = Ext("argparse.SUPPRESS")


def of_parser(
    ctx: Context, ref: Ref, name: str, args: list[Value], keywords: dict[str, Value], site: Site | None
) -> Value:
    """A method of a parser, which holds the default of each option. Of no arguments, `parse_args([])`, it gives these; else the user tells."""
    if name == "add_argument":
        _declare(ctx, ref, args, keywords)
    elif name == "set_defaults":
        remember(ctx, keywords)
        for key, value in keywords.items():
            ctx.put(ref, ("k", key), value)
    elif name in PARSES_OPTIONS:
        given = keywords.get("args", args[0] if args else None)
        if given is None or _is_open(ctx, ref, given):
            return of_user(site) if name == "parse_args" else Term("call", Ext(f"{PARSER}.{name}"), (), (), site)
        held = {f".{key[1]}": value for key, value in ctx.heap[ref].fields.items() if isinstance(key, tuple)}
        found = ctx.new(site, "object", None, held, tag=name)
        return found if name == "parse_args" else Tup((found, given))
    if name in ("add_argument_group", "add_mutually_exclusive_group"):
        return ref
    return unknown(site)


def _is_open(ctx: Context, ref: Ref, given: Value) -> bool:
    rec = ctx.rec(given)
    is_empty = given == Tup(()) or (rec is not None and rec.kind == "list" and not rec.fields)
    return not is_empty or "*" in ctx.heap[ref].fields


def _declare(ctx: Context, ref: Ref, names: list[Value], keywords: dict[str, Value]) -> None:
    """`parser.add_argument("-d", "--the-device", default="cuda")`: the default of `the_device` (Lib/argparse.py, `_get_optional_kwargs`)."""
    written = [str(one.value) for one in [*names, keywords.get("dest", NONE)] if isinstance(one, Const) and one != NONE]
    named = [one for one in written if not one.startswith("-")] or [one for one in written if one.startswith("--")]
    key = "*" if not written else ("k", (named or written)[0].lstrip("-").replace("-", "_"))
    default = keywords.get("default", _BY_ACTION.get(keywords.get("action", NONE), NONE))
    if isinstance(default, Const) and isinstance(default.value, str) and "type" in keywords:
        default = ctx.call(keywords["type"], [default], {}, None)
    if default != _SUPPRESSED:
        ctx.put(ref, key, default)


_BY_ACTION: dict[Value, Value] = {Const("store_true"): FALSE, Const("store_false"): TRUE}
