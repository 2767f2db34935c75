"""TDL502."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Evidence, Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_method, on_op

_METHODS = frozenset({"cuda", "cpu", "to", "detach"})
_FUNCTIONS = frozenset(
    f"torch.{backend}.{name}"
    for backend in ("cuda", "mps", "xpu", "cpu", "accelerator")
    for name in ("synchronize", "empty_cache")
)


class DeviceMethodNotCalled(Rule):
    """Finds device methods that are named and never called, and device properties that are called.

    ## What it does
    Reports a statement that is only `x.cuda`, `model.cpu`, `torch.cuda.synchronize` or `torch.cuda.empty_cache`; an assignment `x = x.cuda`; and
    the calls `x.device()` and `x.is_cuda()` of a tensor's properties.

    ## Why is this bad?
    Without parentheses the statement does nothing: the tensor stays where it is, the timing does not wait for the GPU. The assignment
    binds the method, and the next operation raises `TypeError`. A called property raises `TypeError: 'bool' object is not callable`.

    ## Example
        model(batch)
        torch.cuda.synchronize

    ## Use instead
        model(batch)
        torch.cuda.synchronize()

    ## When it stays silent
    A method that is passed on (`map(torch.Tensor.cuda, tensors)`), asked for with `hasattr`, probed in a `try` that catches AttributeError, or bound to
    another name and called later; a `device()` method of an object that is not known to be a tensor.

    ## Fix safety
    Appending `()` is safe: the old line did nothing, or bound what nobody can use. `.to` needs a device and is left alone. Removing the
    parentheses of a property is safe: the old line raised.

    ## Proof
    After the bare statement the tensor is still in host memory; after the call it is on the accelerator.

    ## References
    torch/_tensor_docs.py (`cuda`, `cpu`, `is_cuda`), torch/cuda/__init__.py (`synchronize`).
    """

    code, name, severity = "TDL502", "device-method-not-called", ERROR
    fixable = "sometimes"

    @on_op(ir.Discard)
    def check_statement(self, statement: ir.Discard, facts: Facts) -> Iterator[Report]:
        written = facts.definition(statement.value)
        if not isinstance(written, ir.Attribute) or facts.in_try_catching(
            "AttributeError", "Exception", "BaseException"
        ):
            return
        function = facts.qualified(statement.value)
        if function in _FUNCTIONS:
            yield self._reported(written, f"`{facts.place(written.dst) or function}`", f"{function}()")
        elif (
            function is None
            and written.name in _METHODS
            and facts.imports("torch", "torchvision", "transformers", "lightning")
        ):
            if facts.value(written.object).kind in (Kind.OTHER, Kind.INSTANCE, Kind.SCALAR, Kind.STRING):
                return
            place = facts.place(written.dst) or f"....{written.name}"
            yield self._reported(written, f"`{place}`", f"{place}(device)" if written.name == "to" else f"{place}()")

    @on_op(ir.Store)
    def check_assignment(self, statement: ir.Store, facts: Facts) -> Iterator[Report]:
        written = facts.definition(statement.value)
        if not isinstance(written, ir.Attribute) or written.name not in _METHODS:
            return
        if facts.place(written.object) != statement.name or facts.value(written.object).kind not in (
            Kind.TENSOR,
            Kind.MODULE,
        ):
            return
        yield self.report(
            written,
            f"`{statement.name}` is bound to the method `{written.name}`; call it: `{statement.name}.{written.name}()`",
            detail="The name holds the method, not its result: the next operation on it fails.",
            fix=lambda: _call(written),
        )

    def _reported(self, written: ir.Attribute, spelled: str, called: str) -> Report:
        return self.report(
            written,
            f"{spelled} only names the method and does nothing; call it: `{called}`".replace("{", "{{").replace(
                "}", "}}"
            ),
            fix=lambda: _call(written),
        )

    @on_method("is_cuda", "is_mps", "is_xpu", "is_cpu", "device")
    def check_property(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        value = facts.value(facts.receiver(call))
        if value.kind is not Kind.TENSOR or value.evidence < Evidence.USAGE or call.arguments:
            return
        name = facts.callee(call).removeprefix(".")
        yield self.report(
            call,
            f"`{name}` is a property of a tensor; write it without parentheses",
            detail="Calling it raises TypeError.",
            fix=lambda: NodeFix(
                Ground.OLD_LINE_DID_NOTHING, "Read the property", builders.remove_call_parentheses(call)
            ),
        )


def _call(written: ir.Attribute) -> NodeFix | None:
    if written.name == "to":
        return None
    return NodeFix(Ground.OLD_LINE_DID_NOTHING, "Call it", builders.append_call_parentheses(written))
