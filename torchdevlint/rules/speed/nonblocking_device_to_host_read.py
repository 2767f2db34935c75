"""TDL901."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.cuda_alone import is_cuda_only
from torchdevlint.facts.devices import Device
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.said import may_meet_mps
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import reads
from torchdevlint.program.order import block_of
from torchdevlint.rules.literals import names_first_cuda
from torchdevlint.rules.rule import ERROR, Mention, NodeFix, Report, Rule, on_method
from torchdevlint.stubs.knowledge import functions

_WAITS = frozenset("synchronize wait wait_event wait_stream barrier join elapsed_time".split())
# On another tensor these wait for the stream, hence for the copy before them as well.
_SYNCHRONOUS = frozenset("item tolist numpy cpu".split())
_READS = frozenset("numpy item tolist".split())
_VIEWS = frozenset(
    "view reshape squeeze unsqueeze permute transpose t detach expand flatten narrow select chunk split unbind items values keys get "
    "pop view_as expand_as swapaxes movedim requires_grad_".split()
)
_COMPUTES = functions.REDUCTIONS | frozenset(
    "clone sort topk softmax log_softmax sigmoid round abs add_ mul_ sub_ div_ float double half long int bool exp log".split()
)
_METADATA = frozenset(
    "size dim numel nelement element_size data_ptr is_pinned stride storage_offset record_stream type is_contiguous".split()
)
_SHAPE = frozenset("shape dtype device ndim is_cuda layout requires_grad names".split())
# Factories whose tensor holds its memory alone.
_OWNERS = (functions.FACTORIES | functions.LEGACY_CONSTRUCTORS) - {"torch.as_tensor", "torch.asarray"}
_READING = frozenset("print float int bool str torch.save".split())


class NonblockingDeviceToHostRead(Rule):
    """Finds reads of a tensor whose asynchronous copy to the host may not be complete.

    ## What it does
    Follows the result of `x.to("cpu", non_blocking=True)` (and of `buffer.copy_(x, non_blocking=True)` into a pinned buffer) to its
    first read on the host: `.numpy()`, `.item()`, arithmetic, `print`, a torch or NumPy function. Reports it when nothing waits in
    between. Also `torch.tensor(x).to(device, non_blocking=True)` of a tensor that nothing else holds, where the device may be Apple's: a note in
    a project that speaks of MPS nowhere, else a warning.

    ## Why is this bad?
    The copy is only queued when the line returns. The host reads memory that the GPU has not written yet: wrong values, without an
    error, on some runs. `non_blocking=True` is safe towards a CUDA device, not from it. On MPS the copy towards it reads the source's memory
    after the line has returned: a source that is gone by then gives wrong values.

    ## Example
        scores = output.to("cpu", non_blocking=True)
        ranking = scores.numpy().argsort()

    ## Use instead
        scores = output.to("cpu")
        ranking = scores.numpy().argsort()

    ## When it stays silent
    A `synchronize()` or an event's wait stands between; the source is known to be on the CPU; the result is stored or returned and
    read elsewhere; a device that is CUDA or the CPU by every spelling.

    ## Fix safety
    Without `non_blocking=True` the line waits and gives the same values. Marked unsafe until a GPU run has shown the race itself.

    ## Proof
    A virtual machine notes the hazard (a host read of a copy that nothing waited for); without `non_blocking` there is none.

    ## References
    PyTorch tutorial "A guide on good usage of non_blocking and pin_memory()"; torch.Tensor.to, docstring; pytorch issues
    139550 and 189690 (MPS).
    """

    code, name, severity = "TDL901", "nonblocking-device-to-host-read", ERROR
    fixable = "unsafe"

    @on_method("to")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        target = facts.target_of_move(call)
        source = facts.value(facts.receiver(call))
        if target is None or not _does_not_block(call, facts):
            return
        if _is_temporary(call, facts) and _may_be_apple(target, facts):
            yield self.report(
                call,
                "nothing else holds the tensor copied here, and MPS may read it too late; drop `non_blocking=True`",
                detail="On MPS an asynchronous copy reads its source after the source is gone: the values are wrong, without an error. On CUDA "
                "unpinned memory gains nothing. A tensor that is created on the device needs no copy.",
                case="MPS alone may read it too late"
                if may_meet_mps(facts.analysis)
                else "the project does not speak of MPS",
                fix=lambda: _fix(call),
            )
        if target.place != "cpu":
            return
        if source.kind is Kind.MODULE or source.device.place == "cpu":
            return
        yield from self._told(call, _Reading(facts, {call.dst}, set()))

    @on_method("copy_")
    def check_copy(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        written = facts.definition(facts.receiver(call))
        source = facts.value(call.positional(0))
        if not _does_not_block(call, facts) or not isinstance(written, ir.Load) or not _is_pinned(written.name, facts):
            return
        if source.kind is not Kind.TENSOR or not source.device.may_be_accelerator:
            return
        yield from self._told(call, _Reading(facts, {call.dst}, {written.name}))

    def _told(self, call: ir.Call, reading: _Reading) -> Iterator[Report]:
        read = reading.after(call)
        if read is None:
            return
        yield self.report(
            call,
            "line {0} may read this copy before it is complete; drop `non_blocking=True`, or synchronize first",
            detail="Nothing waits for the copy to the host in between: the values may be wrong, without an error.",
            related=(Mention(read, "here the host reads it"),),
            fix=lambda: _fix(call),
        )


def _does_not_block(call: ir.Call, facts: Facts) -> bool:
    register = call.keyword("non_blocking")
    return register is not None and facts.constant(register) is True


def _is_temporary(call: ir.Call, facts: Facts) -> bool:
    """True for a move of what a factory makes in the same expression."""
    written = facts.definition(facts.receiver(call))
    if (
        not isinstance(written, ir.Call)
        or written.keyword("device") is not None
        or written.keyword("pin_memory") is not None
    ):
        return False
    return facts.callee(written) in _OWNERS and facts.value(written.dst).device.place == "cpu"


def _may_be_apple(target: Device, facts: Facts) -> bool:
    """True for MPS, and for a device that the program names without spelling that it is CUDA or the CPU."""
    if target.is_accelerator:
        return target.type == "mps"
    if target.place != "sym" or facts.guarded("cuda"):
        return False
    return not names_first_cuda(target.name, facts) and not is_cuda_only(facts.analysis)


def _is_pinned(name: str, facts: Facts) -> bool:
    for value in facts.index.bound_to(name):
        made = facts.definition(value)
        if isinstance(made, ir.Call):
            flag = made.keyword("pin_memory")
            if facts.callee(made) == ".pin_memory" or (flag is not None and facts.constant(flag) is True):
                return True
    return False


def _is_blocking_copy(op: ir.Call, method: str, facts: Facts) -> bool:
    """True for `.to(cpu, non_blocking=False)`: its author knows that it waits for the copies before it on the same stream."""
    given = facts.definition(op.keyword("non_blocking"))  # not interpreted yet
    return method == "to" and isinstance(given, ir.Constant) and given.value is False


class _Reading:
    """Walks on from a copy until the host reads it or something waits."""

    def __init__(self, facts: Facts, registers: set[ir.Register], names: set[str]) -> None:
        self._facts = facts
        self._registers = registers
        self._names = names

    def after(self, call: ir.Call) -> ir.Op | None:
        """The first read on some path behind `call`; None when there is none, or something waits on a path before it."""
        body = self._facts.body
        block = block_of(body, call)
        if block is None:
            return None
        pending: list[tuple[ir.Block, int, frozenset[str]]] = [
            (block, block.ops.index(call) + 1, frozenset(self._names))
        ]
        seen: set[tuple[int, frozenset[str]]] = set()
        read: ir.Op | None = None
        while pending:
            block, start, known = pending.pop()
            names = set(known)
            outcome = self._walk(block.ops[start:], names, call)
            if outcome == "wait":
                return None  # on some path: the others may be excluded by what the program knows
            if isinstance(outcome, ir.Op):
                read = read or outcome
            if outcome is not None:
                continue
            for successor in block.successors:
                key = (successor, frozenset(names))
                if key not in seen and len(seen) < 200:
                    seen.add(key)
                    pending.append((body.blocks[successor], 0, key[1]))
        return read

    def _walk(self, ops: list[ir.Op], names: set[str], origin: ir.Call) -> ir.Op | str | None:
        for op in ops:
            if op is origin:
                return "stop"
            if isinstance(op, ir.Call):
                outcome = self._call(op)
                if outcome is not None:
                    return outcome
            elif isinstance(op, ir.Store):
                if op.value in self._registers:
                    names.add(op.name)
                else:
                    names.discard(op.name)
            elif isinstance(op, ir.Load):
                if op.name in names:
                    self._registers.add(op.dst)
            elif isinstance(op, ir.Attribute):
                if op.object in self._registers and op.name not in _SHAPE:
                    self._registers.add(op.dst)
            elif isinstance(op, (ir.Return, ir.Raise, ir.Yield)):
                return "stop"
            elif self._reads(op):
                return op
            else:
                self._pass_on(op)
        return None

    def _call(self, op: ir.Call) -> ir.Op | str | None:
        written = self._facts.definition(op.function)
        method = written.name if isinstance(written, ir.Attribute) else ""
        if method in _WAITS or _is_blocking_copy(op, method, self._facts):
            return "wait"
        if isinstance(written, ir.Attribute) and written.object in self._registers:
            if method in _READS:
                return op
            if method in _VIEWS:
                self._registers.add(op.dst)
                return None
            if method in _METADATA or method in ("to", "cuda", "copy_", "append", "update"):
                return None
            return op if method in _COMPUTES else None
        if method in _SYNCHRONOUS:
            return "stop"
        given = [argument.value for argument in op.arguments if argument.value in self._registers]
        if not given:
            return None
        name = self._facts.analysis.resolve_text(self._facts.place(op.function))  # not interpreted yet
        if name in _READING or name.startswith(("numpy.", "torch.nn.functional.")):
            return op
        if name.count(".") == 1 and name.startswith("torch."):
            return op
        if name in ("list", "tuple", "dict"):
            self._registers.add(op.dst)
            return None
        return None if method == "append" else "stop"

    def _reads(self, op: ir.Op) -> bool:
        if isinstance(op, ir.Compare) and op.operators[0] not in ("==", "!=", "<", ">", "<=", ">="):
            return False
        return isinstance(op, (ir.Binary, ir.AugmentedAssign, ir.Compare)) and not self._registers.isdisjoint(reads(op))

    def _pass_on(self, op: ir.Op) -> None:
        inside = [op.object] if isinstance(op, ir.Subscript) else reads(op)
        if isinstance(op, _HOLDERS) and not self._registers.isdisjoint(inside):
            self._registers.add(op.dst)


# What gives what it holds, or is made of.
_HOLDERS = (ir.Subscript, ir.Sequence, ir.Mapping, ir.Comprehension, ir.Unpack, ir.Iterate)


def _fix(call: ir.Call) -> NodeFix | None:
    return NodeFix(Ground.CHANGES_A_RUN, "Wait for the copy", builders.remove_keyword(call, "non_blocking"))
