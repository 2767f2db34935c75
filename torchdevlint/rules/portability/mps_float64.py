"""TDL808."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.devices import Device
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import ERROR, MakesFix, NodeFix, Report, Rule, on_device_call

_FLOAT64 = ("torch.float64", "torch.double", "numpy.float64", "numpy.double")
_SAME_TYPE = frozenset(
    ".clone .detach .view .reshape .contiguous .unsqueeze .squeeze .transpose .permute .flatten".split()
)


class MpsFloat64(Rule):
    """Finds float64 tensors on their way to an Apple GPU.

    ## What it does
    Reports `x.double().to("mps")`, `torch.zeros(n, dtype=torch.float64, device="mps")`, `x.to("mps", torch.float64)` and the like,
    where device and dtype are both certain.

    ## Why is this bad?
    MPS has no float64: `TypeError: Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64.
    Please use float32 instead.`

    ## Example
        x = torch.tensor(values, dtype=torch.float64).to("mps")

    ## Use instead
        x = torch.tensor(values, dtype=torch.float32).to("mps")

    ## When it stays silent
    Devices or dtypes that are not known. (An array of NumPy's default float64 is one when it is made in the same expression with
    `dtype=np.float64`.)

    ## Fix safety
    `.float()` before the move is unsafe: precision is lost.

    ## Proof
    None: it needs a Mac.

    ## References
    pytorch issues 79019 and 122602 (expected behaviour).
    """

    code, name, severity = "TDL808", "mps-float64", ERROR
    fixable = "sometimes"

    def __init__(self) -> None:
        self._spelled: bool | None = None

    def _concerns(self, facts: Facts) -> bool:
        """A cheap test, made once, whether the file can be about MPS at all."""
        if self._spelled is None:
            texts = (op.value for body in facts.program.bodies for op in Lookup.of(body).kind(ir.Constant))
            self._spelled = any(isinstance(text, str) and text.startswith("mps") for text in texts)
        return self._spelled

    @on_device_call
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        if not self._concerns(facts):
            return
        name = facts.callee(call)
        if name == ".to" and _is_mps(facts.target_of_move(call)):
            if _names_float64(call.keyword("dtype"), facts) or _names_float64(call.positional(1), facts):
                yield self._told(call)
            elif _is_float64(facts.definition(facts.receiver(call)), facts):
                yield self._told(
                    call,
                    lambda: NodeFix(
                        Ground.CHANGES_A_RUN, "Move it as float32", builders.insert_method_before(call, "float")
                    ),
                )
        elif (name == ".double" and _on_mps(facts.receiver(call), facts)) or (
            name.startswith("torch.") and _names_float64(call.keyword("dtype"), facts) and _places_on_mps(call, facts)
        ):
            yield self._told(call)

    def _told(self, call: ir.Call, fix: MakesFix | None = None) -> Report:
        return self.report(
            call,
            "MPS has no float64; use float32",
            detail='This raises "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn\'t support float64".',
            fix=fix,
        )


def _places_on_mps(call: ir.Call, facts: Facts) -> bool:
    register = call.keyword("device")
    return register is not None and _is_mps(facts.device_of(register))


def _is_mps(device: Device | None) -> bool:
    return device is not None and device.type == "mps"


def _on_mps(register: ir.Register | None, facts: Facts) -> bool:
    value = facts.value(register)
    if value.kind is Kind.MODULE:
        return _is_mps(facts.frame.module_device(value))
    return value.kind is Kind.TENSOR and not value.others and _is_mps(value.device)


def _names_float64(register: ir.Register | None, facts: Facts) -> bool:
    return register is not None and facts.qualified(register) in _FLOAT64


def _is_float64(op: ir.Op | None, facts: Facts) -> bool:
    """True for an expression that certainly makes float64: `.double()`, `dtype=torch.float64`, also through one name."""
    if isinstance(op, ir.Load):
        return _is_float64(facts.index.bound_once(op.name), facts)
    if not isinstance(op, ir.Call):
        return False
    name = facts.callee(op)
    if name == ".double":
        return True
    if name == ".to":
        return _names_float64(op.positional(0), facts) or _names_float64(op.keyword("dtype"), facts)
    if name in _SAME_TYPE:
        return _is_float64(facts.definition(facts.receiver(op)), facts)
    if name in ("torch.from_numpy", "torch.as_tensor") and op.keyword("dtype") is None:
        return _is_float64(facts.definition(op.positional(0)), facts)
    return name.startswith(("torch.", "numpy.")) and _names_float64(op.keyword("dtype"), facts)
