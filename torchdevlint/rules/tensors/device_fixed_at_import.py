"""TDL523."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import WARNING, Mention, Report, Rule, on_any_call, on_file, on_op
from torchdevlint.rules.structure import variable_set
from torchdevlint.stubs.knowledge import functions
from torchdevlint.stubs.knowledge.platforms import VISIBLE_DEVICES


class DeviceFixedAtImport(Rule):
    """Finds libraries that choose or use the GPU while they are being imported.

    ## What it does
    Reports default arguments such as `device=torch.device("cuda" if torch.cuda.is_available() else "cpu")`, and constants
    (upper-case names) that a module puts on an accelerator. Only in files without an `if __name__ == "__main__":` that define
    functions or classes, or (the default arguments) that set `CUDA_VISIBLE_DEVICES` in a function.

    ## Why is this bad?
    The driver starts with the import: `CUDA_VISIBLE_DEVICES` set afterwards is ignored, a fork afterwards fails with `Cannot
    re-initialize CUDA in forked subprocess`, and the importer cannot choose. It is a warning where a function of the same file sets
    `CUDA_VISIBLE_DEVICES`: the import has started the driver before, so it has no effect; else an info, since programs do it on purpose.

    ## Example
        def encode(x, device=torch.device("cuda" if torch.cuda.is_available() else "cpu")):
            return x.to(device)

    ## Use instead
        def encode(x, device=None):
            if device is None:
                device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            return x.to(device)

    ## When it stays silent
    Scripts, code inside functions, `torch.device("cuda")` alone, which touches nothing.

    ## Fix safety
    There is no automatic fix.

    ## Proof
    None here: nothing fails by itself.

    ## References
    torch/cuda/__init__.py (_lazy_init, is_available).
    """

    code, name, severity = "TDL523", "device-fixed-at-import", WARNING

    def __init__(self) -> None:
        self._defaults: list[ir.Call] = []
        self._sets: list[ir.Op] = []

    @on_op(ir.StoreSubscript)
    def note_store(self, op: ir.StoreSubscript, facts: Facts) -> None:
        """A function that sets the variable."""
        if facts.body.kind == "function" and variable_set(op, facts) in VISIBLE_DEVICES:
            self._sets.append(op)

    @on_file
    def tell(self, facts: Facts) -> Iterator[Report]:
        for call in self._defaults:
            if self._sets:
                yield self.report(
                    call,
                    "this default starts the driver at import, before line {0} sets the devices; default to None and choose inside",
                    detail="The driver reads the visible devices once, when it starts: line {0} sets them too late.",
                    related=(Mention(self._sets[0], "here the program chooses its devices"),),
                )
            elif not facts.roles.is_script:
                yield self.report(
                    call,
                    "this default starts the CUDA driver when the file is imported; default to None and choose inside",
                    detail="The program cannot choose its devices before, and the choice holds for every caller.",
                    case="no line of the file chooses the visible devices",
                )

    @on_any_call
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        body = facts.body
        if body.kind not in ("module", "class") or not (facts.program.classes or body.functions):
            return
        name = facts.callee(call)
        if name in functions.AVAILABILITY and functions.AVAILABILITY[name] == "cuda" and _in_default(call, facts):
            self._defaults.append(call)
        elif facts.roles.is_script:
            return
        elif (name in (".cuda", ".to") or name in functions.FACTORIES) and _is_constant(call, facts):
            target = facts.target_of_move(call) if name.startswith(".") else facts.device_of(call.keyword("device"))
            if target is not None and (target.is_accelerator or target.chosen):
                yield self.report(
                    call,
                    "this uses the accelerator when the file is imported; do it in a function",
                    detail="The driver starts before the program can choose its devices, and a later fork raises "
                    '"Cannot re-initialize CUDA in forked subprocess".',
                    case="no line of the file chooses the visible devices",
                )


def _is_constant(call: ir.Call, facts: Facts) -> bool:
    """True for a value that is bound to an upper-case name: a constant of the library."""
    return any(
        isinstance(op, ir.Store) and len(op.name) > 2 and op.name.isupper()
        for op in Lookup.of(facts.body).readers(call.dst)
    )


def _in_default(call: ir.Call, facts: Facts) -> bool:
    """True for a call within a default value of a function that this body makes."""
    parameters = (parameter for function in facts.body.functions for parameter in function.parameters)
    return any(_leads_to(parameter.default, call, facts, 0) for parameter in parameters)


def _leads_to(register: ir.Register | None, call: ir.Call, facts: Facts, depth: int) -> bool:
    op = facts.definition(register)
    if op is call:
        return True
    if depth > 4:
        return False
    if isinstance(op, ir.Call):
        return any(_leads_to(argument.value, call, facts, depth + 1) for argument in op.arguments)
    if isinstance(op, ir.Choice):
        inner = (*op.values, op.test) if op.test is not None else op.values
        return any(_leads_to(value, call, facts, depth + 1) for value in inner)
    return False
