"""TDL510."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Evidence, Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_method

_ARRAY_MAKERS = frozenset({"numpy.array", "numpy.asarray"})
# Between the output and `.numpy()`: methods through which a tensor still requires grad.
_KEEP_GRAD = frozenset(
    "cpu to float double squeeze unsqueeze view reshape flatten transpose permute contiguous mean sum softmax sigmoid".split()
)


class NumpyOrder(Rule):
    """Finds tensor methods that are called on an ndarray, and `.numpy()` on a tensor that requires grad.

    ## What it does
    Reports `x.numpy().cpu()`, `x.numpy().detach()`, `np.array(x).cpu()`; and `.numpy()` on the output of a module of this function, in a
    function that also calls `.backward()`, without `.detach()`.

    ## Why is this bad?
    `AttributeError: 'numpy.ndarray' object has no attribute 'cpu'`, or `RuntimeError: Can't call numpy() on Tensor that requires grad.
    Use tensor.detach().numpy() instead.`, on every machine.

    ## Example
        scores = model(batch).numpy().cpu()

    ## Use instead
        scores = model(batch).cpu().numpy()

    ## When it stays silent
    Under `torch.no_grad()` or `torch.inference_mode()`; where `.detach()` or `.data` stands; methods that arrays have (`.copy()`, `.astype()`).

    ## Fix safety
    Swapping the two methods, moving the method into `np.array(...)`, and inserting `.detach()` are safe: the old line raised.

    ## Proof
    The line raises on any machine; the repaired one gives the tensor's values.

    ## References
    torch/csrc/utils/tensor_numpy.cpp (`tensor_to_numpy`).
    """

    code, name, severity = "TDL510", "numpy-order", ERROR
    fixable = "sometimes"

    @on_method("cpu", "cuda", "detach", "to")
    def check_order(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        inner = facts.definition(facts.receiver(call))
        if not isinstance(inner, ir.Call) or facts.in_try_catching("AttributeError"):
            return
        method = facts.callee(call).removeprefix(".")
        name = facts.callee(inner)
        is_host = method in ("cpu", "detach") or facts.constant(call.argument("device", 0)) == "cpu"
        if name == ".numpy":
            what, first = "`.numpy()`", f"call `.{method}(...)` first"
        elif name in _ARRAY_MAKERS:
            what, first = f"`{name}`", "call it on the tensor first"
            is_host = is_host and facts.value(inner.positional(0)).kind is Kind.TENSOR
        else:
            return
        yield self.report(
            call,
            f"{what} gives an ndarray, which has no `.{method}()`; {first}",
            detail="This raises AttributeError.",
            fix=lambda: _call_first(call, is_method=name == ".numpy") if is_host else None,
        )

    @on_method("numpy")
    def check_grad(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        if call.arguments or facts.no_grad or not _trains(facts.body):
            return
        base = _start_of_chain(facts.receiver(call), facts)
        if base is None or not _is_output(base, facts):
            return
        value = facts.value(facts.receiver(call))
        if not value.needs_grad or (value.device.may_be_accelerator and value.evidence >= Evidence.USAGE):
            return  # on an accelerator that is TDL509's
        yield self.report(
            call,
            "this tensor requires grad, and `.numpy()` refuses it; call `.detach()` first",
            detail='It raises "Can\'t call numpy() on Tensor that requires grad".',
            fix=lambda: NodeFix(
                Ground.OLD_LINE_RAISED, "Detach it first", builders.wrap_method(facts.definition(base), "detach")
            ),
        )


def _call_first(call: ir.Call, *, is_method: bool) -> NodeFix | None:
    if is_method:
        return NodeFix(Ground.OLD_LINE_RAISED, "Swap the two methods", builders.swap_chained_methods(call))
    return NodeFix(Ground.OLD_LINE_RAISED, "Call it on the tensor", builders.move_method_into_argument(call))


def _trains(body: ir.Body) -> bool:
    """True when the function itself runs a backward pass: gradients are on."""
    return Lookup.of(body).has_attribute("backward")


def _start_of_chain(register: ir.Register | None, facts: Facts) -> ir.Register | None:
    """The register that a chain of grad-keeping methods starts from; None when another method stands in it."""
    for call, method in facts.methods(register):
        if _is_module_call(call, facts):
            break
        if method.name not in _KEEP_GRAD:
            return None
        register = method.object
    return register


def _is_output(register: ir.Register, facts: Facts) -> bool:
    """True for the output of a module that this function made, directly or through a name bound once."""
    written = facts.definition(register)
    if isinstance(written, ir.Load):
        written = facts.index.bound_once(written.name)
    return isinstance(written, ir.Call) and _is_module_call(written, facts)


def _is_module_call(call: ir.Call, facts: Facts) -> bool:
    callee = facts.value(call.function)
    return callee.kind is Kind.MODULE and callee.evidence >= Evidence.STRONG and callee.origin is not None
