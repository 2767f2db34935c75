"""TDL810."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import statements
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import block_of
from torchdevlint.rules.rule import WARNING, Mention, NodeFix, Report, Rule, on_call, on_op
from torchdevlint.rules.structure import may_follow, variable_set

VARIABLE = "PYTORCH_ENABLE_MPS_FALLBACK"
# Packages that import torch as soon as they are imported.
_IMPORTS_TORCH = frozenset(
    "torch torchvision torchaudio torchtext lightning pytorch_lightning timm accelerate fastai kornia torchmetrics torch_geometric diffusers "
    "ultralytics sentence_transformers".split()
)


class MpsFallbackSetTooLate(Rule):
    """Finds `PYTORCH_ENABLE_MPS_FALLBACK` set after torch was imported.

    ## What it does
    Reports assignments to `os.environ["PYTORCH_ENABLE_MPS_FALLBACK"]` (also by `setdefault`) behind `import torch` or the import of
    a package that imports it.

    ## Why is this bad?
    torch reads the variable once, while it is being imported. Set later it does nothing, without a word, and an operator that MPS lacks
    still raises `NotImplementedError: The operator ... is not currently implemented for the MPS device`.

    ## Example
        import os
        import torch

        os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "1"

    ## Use instead
        import os

        os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "1"
        import torch

    ## When it stays silent
    Assignments before the import; environments of child processes.

    ## Fix safety
    Moving the statement above the import wakes what did nothing, and nobody has run it on a Mac for this rule: unsafe. Offered for
    statements of the module that follow `import os`.

    ## Proof
    None: it needs a Mac.

    ## References
    aten/src/ATen/mps/MPSFallback.mm (a static getenv while the library is registered).
    """

    code, name, severity = "TDL810", "mps-fallback-set-too-late", WARNING
    fixable = "sometimes"

    @on_op(ir.StoreSubscript)
    @on_call("os.environ.setdefault", "os.putenv")
    def check(self, op: ir.StoreSubscript | ir.Call, facts: Facts) -> Iterator[Report]:
        earlier = _earlier_import(op, facts) if variable_set(op, facts) == VARIABLE else None
        if earlier is None or facts.mentions("subprocess", "Popen", "spawn"):
            return
        yield self.report(
            op,
            f"`{VARIABLE}` is read while torch is imported (line {{0}}); set it above the import",
            detail='Set here it does nothing: a missing operator still raises "not currently implemented for the MPS device".',
            related=(Mention(earlier, "here torch is imported"),),
            fix=lambda: _fix(op, earlier, facts),
        )


def _earlier_import(op: ir.Op, facts: Facts) -> ir.Import | None:
    """The first import of torch that has run when `op` runs."""
    module = facts.program.module
    return next(
        (
            imported
            for imported in Lookup.of(module).kind(ir.Import)
            if imported.qualified.partition(".")[0] in _IMPORTS_TORCH
            and not _is_for_types(imported, facts)
            and (facts.body is not module or may_follow(module, imported, op))
        ),
        None,
    )


def _is_for_types(imported: ir.Import, facts: Facts) -> bool:
    """True in the body of `if TYPE_CHECKING:`."""
    module = facts.program.module
    block, lookup = block_of(module, imported), Lookup.of(module)
    for other in module.blocks:
        if block is not None and len(other.successors) == 2 and other.successors[0] == block.index:
            test = lookup.definition(other.test)
            if isinstance(test, (ir.Load, ir.Attribute)) and test.name == "TYPE_CHECKING":
                return True
    return False


def _fix(op: ir.Op, earlier: ir.Import, facts: Facts) -> NodeFix | None:
    module = facts.program.module
    if facts.body is not module or not _os_is_there(earlier, facts):
        return None
    if isinstance(op, ir.StoreSubscript) and not isinstance(facts.definition(op.value), ir.Constant):
        return None
    edits = statements.move_statement_above(facts.program, op, earlier)
    return NodeFix(Ground.CHANGES_A_RUN, "Set it before torch is imported", edits)


def _os_is_there(earlier: ir.Import, facts: Facts) -> bool:
    """True when `import os` stands above the import of torch, in its block."""
    block = block_of(facts.program.module, earlier)
    for other in block.ops if block is not None else ():
        if other is earlier:
            return False
        if isinstance(other, ir.Import) and other.qualified.partition(".")[0] == "os":
            return True
    return False
