"""TDL705."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.scopes import nested
from torchdevlint.facts.values import Kind
from torchdevlint.program import ir
from torchdevlint.rules.rule import WARNING, Mention, Report, Rule, on_any_call, on_call, on_file, on_method, on_op
from torchdevlint.rules.structure import asks_for_other_start, literal_accelerator

_FORKS = (
    "multiprocessing.Process",
    "multiprocessing.Pool",
    "multiprocessing.pool.Pool",
    "multiprocessing.process.Process",
)


class ForkAfterCudaInit(Rule):
    """Finds processes that are forked after the program used CUDA, and that use CUDA themselves.

    ## What it does
    Reports `multiprocessing.Process(target=f)` with the default start method where the same function put something on an accelerator
    before, and `f` does so too.

    ## Why is this bad?
    The driver's state does not survive a fork: `RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with
    multiprocessing, you must use the 'spawn' start method`. Fork was the
    default on Linux before Python 3.14.

    ## Example
        model.cuda()
        Process(target=work, args=(model,)).start()

    ## Use instead
        context = multiprocessing.get_context("spawn")
        context.Process(target=work, args=(model,)).start()

    ## When it stays silent
    The file asks for another start method or context; `torch.multiprocessing.spawn`; the target is no function of the file. Off by
    default: which start method is in force depends on the
    Python version and on code that this file does not show.

    ## Proof
    Needs the CUDA driver: no proof is claimed.

    ## References
    torch/cuda/__init__.py (_lazy_init).
    """

    code, name, severity = "TDL705", "fork-after-cuda-init", WARNING
    default = False

    def __init__(self) -> None:
        self._contexts: set[tuple[int, str]] = set()  # names of what `get_context("fork")` returned
        self._other_start = False
        self._uses: dict[int, ir.Call] = {}
        self._forks: list[tuple[ir.Call, ir.Call, ir.Body]] = []

    @on_any_call
    def note_use(self, call: ir.Call, facts: Facts) -> None:
        """The first use of an accelerator in each body, in the order in which it runs."""
        name = facts.callee(call)
        self._other_start = self._other_start or asks_for_other_start(call, facts)
        device = facts.target_of_move(call) if name in (".to", ".cuda") else literal_accelerator(call, facts)
        if device is not None and device.may_be_accelerator:
            self._uses.setdefault(id(facts.body), call)

    @on_op(ir.Store)
    def note_context(self, op: ir.Store, facts: Facts) -> None:
        """`context = multiprocessing.get_context("fork")`."""
        written = facts.definition(op.value)
        if isinstance(written, ir.Call) and facts.callee(written).endswith("get_context"):
            self._contexts.add((id(facts.body), op.name))

    @on_method("Process", "Pool")
    def note_context_fork(self, call: ir.Call, facts: Facts) -> None:
        """Forks through a context."""
        if (id(facts.body), facts.place(facts.receiver(call))) in self._contexts:
            self.note_fork(call, facts)

    @on_call(*_FORKS)
    def note_fork(self, call: ir.Call, facts: Facts) -> None:
        """Forks behind a use in the same body."""
        used = self._uses.get(id(facts.body))
        register = call.keyword("target") if facts.callee(call).endswith("Process") else call.argument("initializer", 1)
        target = facts.value(register)
        if used is not None and target.kind is Kind.FUNCTION and isinstance(target.definition, ir.Body):
            self._forks.append((call, used, target.definition))

    @on_file
    def check(self, facts: Facts) -> Iterator[Report]:
        if self._other_start:
            return
        for call, used, target in self._forks:
            if not any(id(body) in self._uses for body in nested(target)):
                continue
            yield self.report(
                call,
                f'`{target.name}` uses an accelerator in a child, as line {{0}} did in the parent; start it with the method "spawn"',
                detail='With the start method "fork" the child raises "Cannot re-initialize CUDA in forked subprocess": use '
                '`multiprocessing.get_context("spawn")`.',
                related=(Mention(used, "here the accelerator is used first"),),
            )
