"""TDL106."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.loads import is_just_written, is_of_temporary
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_call


class JitLoadWithoutMapLocation(Rule):
    """Finds `torch.jit.load` calls that move the modules to the device they were saved from.

    ## What it does
    Reports `torch.jit.load(f)` without `map_location`, and with a `map_location` that it does not take (a dict or a function).

    ## Why is this bad?
    The archive is read on the CPU and its modules are then moved to the device they were saved from. An archive that was saved from
    a GPU cannot be loaded on a machine without one. A dict or a function raises `ValueError: map_location should be either None,
    string or torch.device`.

    ## Example
        model = torch.jit.load("model.pt")

    ## Use instead
        model = torch.jit.load("model.pt", map_location=device)

    ## When it stays silent
    A second positional argument, `**kwargs`, a call behind an availability test, and an archive that the same function saves.
    One in a temporary folder is `info`: the same run has written it.

    ## Fix safety
    Unsafe: it decides where the module lives.

    ## Proof
    An archive saved from an accelerator fails to load on a machine without one; with `map_location="cpu"` it loads.

    ## References
    torch/jit/_serialization.py (load, validate_map_location).
    """

    code, name, severity = "TDL106", "jit-load-without-map-location", ERROR
    fixable = "unsafe"

    @on_call("torch.jit.load")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = call.argument("map_location", 1)
        if register is not None and facts.value(register).kind is not Kind.NONE:
            if facts.value(register).kind in (Kind.DICT, Kind.FUNCTION):
                yield self.report(
                    call,
                    "`torch.jit.load` takes no dict or function as `map_location`; pass a string or a `torch.device`",
                    detail='It raises "map_location should be either None, string or torch.device".',
                )
            return
        if call.has_splat or facts.guarded("cuda") or is_just_written(call, facts, on_host=False):
            return
        device = facts.nearest_device(call)
        text = device or '"cpu"'
        yield self.report(
            call,
            f"without `map_location` the modules go to the device they were saved from; pass `map_location={text}`",
            detail="An archive that was saved from a GPU fails to load on a machine without one.",
            case="the file is temporary" if is_of_temporary(call, facts) else "",
            fix=lambda: NodeFix(
                Ground.CHANGES_A_RUN,
                f"Pass `map_location={text}`",
                builders.give_argument(call, "map_location", 1, text),
            ),
        )
