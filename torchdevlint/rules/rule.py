"""What a rule is: a question to the facts, a message, and an edit that is built only when somebody wants it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from torchdevlint.facts.naming import as_written
from torchdevlint.findings import Severity, Span
from torchdevlint.fixes.grounds import Ground
from torchdevlint.program import ir
from torchdevlint.rules.policy import rows_of, severity_in

if TYPE_CHECKING:
    from torchdevlint.fixes.builders import NodeEdit

INFO, WARNING, ERROR = Severity.INFO, Severity.WARNING, Severity.ERROR


class NodeFix(NamedTuple):
    """A fix before it is text: edits of syntax nodes (see `torchdevlint.fixes.builders`), applied together or not at all; None where a builder
    cannot make them, and nothing is proposed.

    `proven` are expressions of which the rule knows that they are devices ("model.device"); see `torchdevlint.fixes.scope`.
    """

    ground: Ground
    message: str
    edits: tuple[NodeEdit, ...] | None
    proven: frozenset[str] = frozenset()


# What builds a fix when somebody wants it. Of several, the first whose names fit their places is taken.
MakesFix = Callable[[], "NodeFix | list[NodeFix] | None"]


class Elsewhere(NamedTuple):
    """A place in another file."""

    path: str
    span: Span


class Mention(NamedTuple):
    """Another operation that a report speaks of; shown as a related place. `elsewhere` is where it stands in another file."""

    op: ir.Op
    message: str
    elsewhere: Elsewhere | None = None


class Report(NamedTuple):
    """A finding before positions are known.

    `message` says what is wrong and, behind a semicolon, what to do, in at most 110 characters (longer names are cut in the middle).
    `detail` says what happens at run time, with PyTorch's own words, and why. Both may hold `{0}`, `{1}`, ...: the line numbers of
    `related[0]`, `related[1]`, ... (write literal braces as `{{` and `}}`), with the name of the file in front where that is another one.
    """

    rule: type[Rule]
    op: ir.Op
    message: str
    severity: Severity
    related: tuple[Mention, ...] = ()
    fix: MakesFix | None = None
    proven: bool = False  # by inference: surroundings make it a note only where it is never run
    detail: str = ""
    case: str = ""  # the row of the policy, of those of its rule


_Check = TypeVar("_Check", bound=Callable[..., Any])


class Hook(NamedTuple):
    """What a check method asks for: an event and the names that select it (none: every event of the kind)."""

    event: str
    names: tuple[str, ...]


def _hook(event: str, names: tuple[str, ...]) -> Callable[[_Check], _Check]:
    def mark(check: _Check) -> _Check:
        hooks: list[Hook] = getattr(check, "torchdevlint_hooks", [])
        check.torchdevlint_hooks = [*hooks, Hook(event, names)]  # type: ignore[attr-defined]
        return check

    return mark


def on_call(*qualified: str) -> Callable[[_Check], _Check]:
    """`check(self, op: ir.Call, facts)` for calls whose callee resolves to one of these dotted names ("torch.load")."""
    return _hook("call", qualified)


def on_method(*names: str) -> Callable[[_Check], _Check]:
    """`check(self, op: ir.Call, facts)` for calls `receiver.name(...)` whose callee is no resolved dotted name."""
    return _hook("method", names)


def on_any_call(check: _Check) -> _Check:
    """`check(self, op: ir.Call, facts)` for every call."""
    return _hook("call", ())(check)


def on_device_call(check: _Check) -> _Check:
    """`check(self, op: ir.Call, facts)` for calls that may place something: of torch functions, of `.to` and its kind, with `device=`."""
    return _hook("device-call", ())(check)


def on_attribute(*names: str) -> Callable[[_Check], _Check]:
    """`check(self, op: ir.Attribute, facts)` for reads of `anything.name`."""
    return _hook("attribute", names)


def on_op(*kinds: type[ir.Op]) -> Callable[[_Check], _Check]:
    """`check(self, op, facts)` for every operation of these classes: `ir.Compare`, `ir.Discard`, `ir.Store`, ..."""
    return _hook("op", tuple(kind.__name__ for kind in kinds))


def on_class(check: _Check) -> _Check:
    """`check(self, cls: ClassSummary, facts)` once for each class of the file, after all bodies were analysed."""
    return _hook("class", ())(check)


def on_inferred(check: _Check) -> _Check:
    """`check(self, told, facts)` once for the file, after all other checks; `told` are the operations that these speak of."""
    return _hook("inferred", ())(check)


def on_file(check: _Check) -> _Check:
    """`check(self, facts)` once for the file, after all bodies were analysed."""
    return _hook("file", ())(check)


def _section(title: str, rows: list[str]) -> str:
    """A part of a page that lists rows of the policy."""
    return "\n".join((f"## Where it is {title}", *(f"- {row}" for row in rows)))


class Rule:
    """Base class of all rules: subclass it in a file of its own, name code, name and severity, and write the docs in its docstring.

    An instance lives for one file, so a rule may keep state between checks on `self`.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]  # the highest that it gives
    default: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()  # identifiers of which one must occur in the file, or the rule is not asked
    gives_way: ClassVar[bool] = False  # to another rule that speaks of the same operation, and repairs more
    fixable: ClassVar[str] = "never"  # "safe", "unsafe", "sometimes" or "never": what the summary table says

    @classmethod
    def documentation(cls) -> str:
        """The rule's page, from its docstring, and from the rows of the policy that make its findings less."""
        page = inspect.cleandoc(cls.__doc__ or "")
        shown = (("a note", INFO), ("a warning, no error", WARNING))
        section = "\n\n".join(
            _section(title, rows) for title, told in shown for rows in [list(rows_of(cls.code, told))] if rows
        )
        if not section:
            return page
        before, heading, after = page.partition("\n## Fix safety" if "\n## Fix safety" in page else "\n## Proof")
        return f"{before}\n{section}\n{heading}{after}"

    @classmethod
    def summary(cls) -> str:
        """The first sentence of the page: what the rule finds."""
        return cls.documentation().split("\n", 1)[0]

    def report(
        self,
        op: ir.Op,
        message: str,
        *,
        case: str = "",
        severity: Severity | None = None,
        related: tuple[Mention, ...] = (),
        fix: MakesFix | None = None,
        proven: bool = False,
        detail: str = "",
    ) -> Report:
        """A report of this rule on `op` (the expression to change). `case` is the row of the policy that it falls under; `severity` is for claims, whose
        rows are of their own, and for rules of others.
        """
        told = severity_in(case, self.code, self.severity) if severity is None else severity
        message, detail = as_written(message), as_written(detail)
        return Report(type(self), op, message, told, related, fix, proven, detail, case)

    @classmethod
    def hooks(cls) -> Iterator[tuple[Hook, str]]:
        """Every hook of every check method, with the method's name."""
        for name, member in inspect.getmembers(cls, inspect.isfunction):
            for hook in getattr(member, "torchdevlint_hooks", ()):
                yield hook, name
