"""TDL513."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.devices import CPU, Device
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import UNKNOWN, Evidence, Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, Mention, NodeFix, Report, Rule, on_call, on_method, on_op
from torchdevlint.stubs.knowledge import modules

_SAMPLERS = tuple(
    "torch." + name
    for name in "rand randn randint randperm normal bernoulli multinomial poisson rand_like randn_like".split()
)
_METHODS = tuple(
    "normal_ uniform_ random_ bernoulli_ exponential_ cauchy_ geometric_ log_normal_ multinomial bernoulli".split()
)
_HOST_SAMPLERS = (
    *sorted(modules.LOADERS),
    "torch.utils.data.random_split",
    "torch.utils.data.RandomSampler",
    "torch.utils.data.sampler.RandomSampler",
)


class GeneratorDeviceMismatch(Rule):
    """Finds random generators that are used for sampling on another device than their own.

    ## What it does
    Reports `torch.Generator()` (always the CPU's, whatever the default device) given to a sampling function with a `device=` or to an
    in-place sampling on a tensor that may be on an
    accelerator, and accelerator generators given to `DataLoader`, `RandomSampler` and `random_split`.

    ## Why is this bad?
    A generator belongs to one device: `RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'`, or the converse.

    ## Example
        generator = torch.Generator().manual_seed(0)
        noise = torch.randn(4, device=device, generator=generator)

    ## Use instead
        generator = torch.Generator(device=device).manual_seed(0)
        noise = torch.randn(4, device=device, generator=generator)

    ## When it stays silent
    Sampling on the CPU and moving the result (the reproducible way); generators whose device is unknown or equal; loaders in programs that
    set a default device (TDL516).

    ## Fix safety
    Unsafe: the generator of another device gives other numbers.

    ## Proof
    Sampling on an accelerator with a CPU generator raises; with a generator of the device it works.

    ## References
    aten/src/ATen/core/Generator.h (check_generator); pytorch #98792, #118084.
    """

    code, name, severity = "TDL513", "generator-device-mismatch", ERROR
    needs = ("Generator",)
    fixable = "unsafe"

    def __init__(self) -> None:
        self._seeded: dict[tuple[int, str], Value] = {}

    @on_op(ir.Store)
    def note_seeded(self, op: ir.Store, facts: Facts) -> None:
        """Names that hold `torch.Generator().manual_seed(n)`: `manual_seed` returns the generator."""
        value = _seeded(op.value, facts)
        if value.kind is Kind.GENERATOR:
            self._seeded[id(facts.body), op.name] = value
        else:
            self._seeded.pop((id(facts.body), op.name), None)

    def _generator(self, call: ir.Call, facts: Facts) -> Value:
        register = call.keyword("generator")
        if register is None:
            return UNKNOWN
        value = _seeded(register, facts)
        written = facts.definition(register)
        if value.kind is not Kind.GENERATOR and isinstance(written, ir.Load):
            return self._seeded.get((id(facts.body), written.name), value)
        return value

    @on_call(*_SAMPLERS)
    def check_sampling(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = call.keyword("device")
        first = facts.value(call.positional(0))
        if register is not None:
            device, spelled = facts.device_of(register), facts.place(register)
        elif facts.callee(call) in ("torch.bernoulli", "torch.multinomial", "torch.poisson") or facts.callee(
            call
        ).endswith("_like"):
            device, spelled = (first.device, "") if _is_known(first) else (CPU, "")
        else:
            return
        yield from self._mismatch(call, device, spelled, facts)

    @on_method(*_METHODS)
    def check_method(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        value = facts.value(facts.receiver(call))
        if _is_known(value):
            yield from self._mismatch(call, value.device, "", facts)

    def _mismatch(self, call: ir.Call, device: Device, spelled: str, facts: Facts) -> Iterator[Report]:
        generator = self._generator(call, facts)
        made = generator.origin
        if generator.kind is not Kind.GENERATOR or not device.may_be_accelerator or facts.analysis.legacy_default:
            return
        if generator.device is not CPU or not isinstance(made, ir.Call):
            return
        where = f"`{device.name}`" if device.name else "another device"
        bare = not made.arguments and facts.makes(made)
        yield self.report(
            call,
            f"this samples on {where} with a CPU generator; "
            f"make the generator {f'with `torch.Generator(device={spelled})`' if spelled else 'there'}",
            detail="It is made on line {0}. On an accelerator it raises \"Expected a 'cuda' device type for generator but found 'cpu'\". "
            "Sampling on the CPU and moving the result works as well.",
            case="" if device.is_accelerator or device.chosen or spelled else "the device is a variable",
            related=(Mention(made, "here the generator is made"),),
            fix=lambda: _with_device(made, spelled) if bare and spelled else None,
        )

    @on_call(*_HOST_SAMPLERS)
    def check_host_sampler(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        generator = self._generator(call, facts)
        # Who gives a loader the generator of a chosen device has a default device set, perhaps in another file.
        if generator.kind is not Kind.GENERATOR or not generator.device.is_accelerator:
            return
        if facts.mentions("set_default_device", "set_default_tensor_type") or not isinstance(generator.origin, ir.Call):
            return
        if facts.default_device is not None:
            return
        yield self.report(
            call,
            f"`{facts.callee(call).rpartition('.')[2]}` draws on the CPU, and its generator is on `{generator.device.name}`; "
            "give it a `torch.Generator()`",
            detail="It is made on line {0}: this raises \"Expected a 'cpu' device type for generator but found 'cuda'\".",
            related=(Mention(generator.origin, "here the generator is made"),),
        )


def _seeded(register: ir.Register, facts: Facts) -> Value:
    """The value of a register, looking through `.manual_seed(...)`."""
    written = facts.definition(register)
    receiver = facts.receiver(written) if isinstance(written, ir.Call) else None
    if isinstance(written, ir.Call) and receiver is not None and facts.callee(written) == ".manual_seed":
        return facts.value(receiver)
    return facts.value(register)


def _is_known(value: Value) -> bool:
    """True for a tensor that is certainly where it says."""
    return (
        value.kind is Kind.TENSOR
        and not value.others
        and value.evidence >= Evidence.STRONG
        and (value.moved is not None or value.device.is_accelerator)
    )


def _with_device(made: ir.Call, spelled: str) -> NodeFix | None:
    edits = builders.add_keyword(made, "device", spelled)
    return NodeFix(Ground.CHANGES_A_RUN, f"Make the generator on `{spelled}`", edits)
