"""Whether autograd records what is computed: `torch.no_grad()` around it, in its function or in one that calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.infer.values import Site
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

_SWITCHES = ("no_grad", "inference_mode", "set_grad_enabled")


def are_off(ctx: Context, site: Site | None) -> bool:
    """True where a context manager or a decorator may switch gradients off, for an operation or for a call that leads to it."""
    return any(one is not None and _are_off_at(one) for one in (site, *ctx.chain))


def _are_off_at(site: Site) -> bool:
    body = site.body
    if body is None:
        return False
    if any(name.rpartition(".")[2] in _SWITCHES for name in body.decorators):
        return True
    block = next((block for block in body.blocks if any(op is site.op for op in block.ops)), None)
    return block is not None and any(_switches(body, manager) for manager in block.withs)


def _switches(body: ir.Body, manager: ir.Register) -> bool:
    lookup = Lookup.of(body)
    made = lookup.definition(manager)
    called = lookup.path(made.function) if isinstance(made, ir.Call) else ""
    return called.rpartition(".")[2] in _SWITCHES
