"""TDL503."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import INFO, NodeFix, Report, Rule, on_method
from torchdevlint.stubs.knowledge import functions

_FACTORIES = functions.SIZED_FACTORIES | frozenset(functions.RANKED_FACTORIES) | functions.RANDINT | {"torch.tensor"}
# The same values on every device without a doubt; the others compute them.
_EXACT = frozenset(
    "torch." + name for name in "zeros ones empty full eye tensor tril_indices triu_indices empty_strided".split()
)


class CreateThenMove(Rule):
    """Finds tensors that are made on the host only to be moved.

    ## What it does
    Reports `torch.zeros(n).to(device)` and `torch.zeros(n).cuda()`, for factories that take `device=`.

    ## Why is this bad?
    The tensor is allocated and filled on the host and then copied, and the copy waits. Made with `device=` it is filled where it is
    used. The values are the same: this is about speed alone.

    ## Example
        mask = torch.zeros(n, n).to(device)

    ## Use instead
        mask = torch.zeros(n, n, device=device)

    ## When it stays silent
    `.to(dtype)` and `.to(other)`; `from_numpy`, `as_tensor`, `stack`, `cat`, the legacy constructors, which take no `device=`;
    `generator=` and `out=`; a target that is not known to be a device, or is the CPU; `requires_grad=True`, which is TDL601's.

    ## Fix safety
    Safe for factories that only write constants (`zeros`, `ones`, `empty`, `full`, `eye`, `tensor`) and for `arange` over integers.
    Unsafe for random factories, whose numbers then come from the accelerator's generator, and for factories that compute their
    values (`linspace`, windows).

    ## Proof
    None: nothing fails.

    ## References
    torch/utils/_device.py (_device_constructors).
    """

    code, name, severity = "TDL503", "create-then-move", INFO
    fixable = "sometimes"

    @on_method("to", "cuda")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        made = facts.definition(facts.receiver(call))
        if not isinstance(made, ir.Call) or facts.callee(made) not in _FACTORIES:
            return
        if any(
            made.keyword(name) is not None for name in ("device", "generator", "out", "pin_memory", "requires_grad")
        ):
            return
        target = facts.target_of_move(call)
        register = call.argument("device", 0)
        if target is None or target.place in ("top", "cpu", "meta"):
            return
        if register is not None and facts.value(register).kind is Kind.TENSOR:
            return  # `.to(other)` casts as well
        name = facts.callee(made)
        device = _device_text(call, register, facts)
        yield self.report(
            call,
            f"`{name}(...)` is filled on the host and then copied; create it with `device={device or ''}`",
            detail="The copy takes time, and waits. The values are the same.",
            fix=lambda: _fix(call, made, device, _ground(made, name, facts)),
        )


def _device_text(call: ir.Call, register: ir.Register | None, facts: Facts) -> str | None:
    """What `device=` should say, or None when it cannot be said."""
    number = facts.constant(register)
    if facts.callee(call) == ".cuda":
        if register is None:
            return '"cuda"'
        # `.cuda(None)` is the current GPU, `device=None` the CPU: a name will not do.
        return f'"cuda:{number}"' if isinstance(number, int) and not isinstance(number, bool) else None
    if isinstance(number, str) and isinstance(facts.definition(register), ir.Constant):
        return f'"{number}"'
    return facts.text(register) or None


def _ground(made: ir.Call, name: str, facts: Facts) -> Ground:
    exact = name in _EXACT or (
        name == "torch.arange" and all(_is_integer(argument.value, facts) for argument in made.arguments)
    )
    return Ground.FACTORY_ON_CPU if exact else Ground.CHANGES_A_RUN


def _is_integer(register: ir.Register, facts: Facts) -> bool:
    number = facts.constant(register)
    if isinstance(number, int):
        return True
    written = facts.definition(register)
    if isinstance(written, ir.Call):
        return facts.callee(written) in ("builtins.len", "builtins.int", ".size", ".numel", ".dim")
    return isinstance(written, ir.Subscript) and facts.value(written.object).kind is Kind.SIZE


def _fix(call: ir.Call, made: ir.Call, device: str | None, ground: Ground) -> NodeFix | None:
    extra = [argument for argument in call.arguments if argument.keyword not in (None, "device", "non_blocking")]
    if device is None or extra or call.positional_count > 1 or made.has_splat:
        return None
    edits = builders.replace_method_by_keyword(call, "device", device)
    return NodeFix(ground, f"Create it with `device={device}`", edits)
