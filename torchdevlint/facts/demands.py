"""Lines that are of no news without CUDA, because the program stops there anyway: before them on every path, or behind them.

A demand is an operation that raises without CUDA: a move to a literal CUDA device, `torch.cuda.FloatTensor(...)`, `torch.cuda.set_device`, the start of
NCCL, a call of `torch.cuda` that raises, an assertion of CUDA, and a call of a function or class of the project that does one of these in any case. What
is under a condition, in a loop or in a `try` is none, unless the condition is a flag that is bound to one constant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Literal

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.calls import Site, argument_given, callees, calls_of
from torchdevlint.facts.files import programs_of
from torchdevlint.facts.frame import Frame
from torchdevlint.facts.once import once_per_body, once_per_file
from torchdevlint.facts.scopes import parameter_of
from torchdevlint.facts.spelled import literals_of_own
from torchdevlint.facts.stops import demands_cuda, stops_where_it_fails
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup, reads
from torchdevlint.program.order import block_of, deciding_sides, is_unconditional, leads_through, reachable_by_turns
from torchdevlint.source.grounds import kept_in
from torchdevlint.stubs.knowledge.functions import AVAILABILITY
from torchdevlint.stubs.knowledge.platforms import STARTS_CUDA

_DEPTH = 3  # callers of callers
# Which demands count: all, those that the file itself makes, or those that start CUDA for the whole process.
_Reach = Literal["all", "file", "starts"]
_LOSS = re.compile(r"loss|criteri", re.IGNORECASE)
_DEVICE_WORD = re.compile(r"cuda|gpu|cpu|device", re.IGNORECASE)
_DEVICE_ARGUMENTS = ("device", "map_location")
_SPEAK_OF_DEVICES = (b"cuda", b"device", b"DEVICE")
_OF_CUDA = re.compile(r"torch\.cuda\.\w*Tensor")
# Of `torch.cuda`: what raises without it and stands in programs by itself (torch/cuda/__init__.py, `_lazy_init`).
_RAISING = frozenset(
    "torch.cuda." + name
    for name in "set_device synchronize current_device get_device_name get_device_properties get_device_capability current_stream Event Stream".split()
)


def is_behind_cuda(call: ir.Call, body: ir.Body, analysis: FileFacts) -> bool:
    """True where a demand stands before the call on every path of the function."""
    return _is_behind(Site(call, body, analysis))


def is_called_behind_cuda(call: ir.Call, body: ir.Body, analysis: FileFacts, *unless: str) -> bool:
    """True where a demand stands before the call on every path: in its function, or in all that call it. A file that says one of the words proves nothing."""
    return not analysis.mentions(*unless) and _is_around(Site(call, body, analysis), (_is_behind,), unless, _DEPTH)


def is_of_cuda_alone(call: ir.Call, body: ir.Body, analysis: FileFacts, *unless: str) -> bool:
    """The same for a demand before or behind the call, also one of all programs that lead to its file."""
    return not analysis.mentions(*unless) and (
        _is_around(Site(call, body, analysis), (_is_behind, _is_before), unless, _DEPTH)
        or programs_need_cuda(analysis, *unless)
    )


def _is_around(site: Site, sides: tuple[Callable[[Site], bool], ...], unless: tuple[str, ...], depth: int) -> bool:
    if any(stands(site) for stands in sides) or _is_behind_constructor(site):
        return True
    callers = list(calls_of(site.body, site.analysis)) if depth else []
    return bool(callers) and all(
        not caller.analysis.mentions(*unless) and _is_around(caller, sides, unless, depth - 1) for caller in callers
    )


def _is_behind_constructor(site: Site) -> bool:
    """True in a method of an object that no machine without CUDA can make."""
    cls = site.body.owner
    if cls is None or site.body.needs_no_object or site.body.name == "__init__":
        return False
    init = site.analysis.summary_of(cls).method("__init__")
    return init is not None and always_needs_cuda(init, site.analysis, "all")


def is_called_where_cuda_works(body: ir.Body, analysis: FileFacts) -> bool:
    """True in a function of a project each of whose calls comes, on every path, behind a demand or a test for CUDA; or in a function of which that is true.

    What a package defines is also for those who install it: there a move that happens to come before in the project's own programs tells nothing.
    """
    return analysis.member is not None and _is_called_behind(body, analysis, _reach(analysis), _DEPTH)


def _is_called_behind(body: ir.Body, analysis: FileFacts, reach: _Reach, depth: int) -> bool:
    sites = list(calls_of(body, analysis)) if depth else []
    return bool(sites) and all(
        _is_behind(site, reach)
        or _is_behind_constructor(site)
        or _is_guarded(site)
        or _is_called_behind(site.body, site.analysis, reach, depth - 1)
        for site in sites
    )


def is_where_cuda_works(op: ir.Op, body: ir.Body, analysis: FileFacts) -> bool:
    """True behind a call of a function of the project that demands CUDA in any case."""
    return isinstance(op, ir.Call) and _is_behind(Site(op, body, analysis), _reach(analysis), of_functions=True)


def _reach(analysis: FileFacts) -> _Reach:
    return "starts" if analysis.roles.is_library else "all"


@once_per_file
def programs_of_cuda_alone(analysis: FileFacts) -> bool:
    """True for a file of modules that asks for no device, where every program that leads to it demands CUDA in any case and asks for none either."""
    return not analysis.roles.is_library and not _asks(analysis) and programs_need_cuda(analysis, "is_available")


def programs_need_cuda(analysis: FileFacts, *unless: str) -> bool:
    """True where every program of the project that leads to this file demands CUDA in any case, and says none of the words."""
    programs = programs_of(analysis)
    return bool(programs) and all(
        there is not None and not there.mentions(*unless) and always_needs_cuda(there.program.module, there, "file")
        for there in programs
    )


def _asks(analysis: FileFacts) -> bool:
    return analysis.mentions("is_available", "is_cuda", "no_cuda", "use_cuda")


def _is_guarded(site: Site) -> bool:
    """True where a test for CUDA has said yes: `if not torch.cuda.is_available(): return`."""
    block = block_of(site.body, site.call)
    return block is not None and Frame(site.analysis, site.body, site.call, block).is_guarded(block, "cuda")


def _is_behind(site: Site, reach: _Reach = "all", *, of_functions: bool = False) -> bool:
    """True where every path to a call has come through a demand; `of_functions`: through a call of a function that demands."""
    place = block_of(site.body, site.call)
    if place is None:
        return False
    number = Lookup.of(site.body).number
    first, free = _first_demands(site.body, site.analysis, reach, of_functions=of_functions)
    demand = first.get(place.index)
    return place.index not in free or (demand is not None and number(demand) < number(site.call))


@once_per_body
def _first_demands(
    body: ir.Body, analysis: FileFacts, reach: _Reach, *, of_functions: bool
) -> tuple[dict[int, ir.Call], set[int]]:
    """The first demand of each block that has one (`of_functions`: call of a function that demands), and the blocks that control may come to without any."""
    first: dict[int, ir.Call] = {}
    for demand in _demands(body, analysis, reach):
        block = block_of(body, demand)
        is_told = of_functions and _demands_here(demand, body, analysis, "all")
        if block is not None and (not is_told or _is_of_library(demand, body, analysis)):
            first.setdefault(block.index, demand)
    return first, _left(body, analysis, 0, first)


def _left(body: ir.Body, analysis: FileFacts, start: int, beyond: Container[int]) -> set[int]:
    """The blocks that control may come to from one, and not on from some others."""
    return reachable_by_turns(body, start, beyond, lambda header: _has_turns(header, body, analysis))


@once_per_file
def hard_codes_cuda(analysis: FileFacts) -> bool:
    """True for a file of which a body moves something to a literal CUDA device whenever it runs; what `self` keeps is not looked up for it."""
    return any(
        _moves_to_cuda(call, body, analysis, of_self=False)
        for body in analysis.program.bodies
        for call in _untried(body)
        if (block := block_of(body, call)) is not None and _is_certain(block, body, analysis)
    )


@once_per_file
def needs_cuda_at_import(analysis: FileFacts) -> bool:
    """True for a file that stops without CUDA whenever it is imported: `mean = torch.zeros(3).cuda()`, also as the default of a parameter."""
    module = analysis.program.module
    blocks = (block_of(module, demand) for demand in _demands(module, analysis, "all"))
    return any(block is not None and is_unconditional(block, module) for block in blocks)


def _speaks_of_device(registers: Iterable[ir.Register], body: ir.Body, analysis: FileFacts) -> bool:
    """True where one of the values, or anything that they are computed from, has a name that speaks of devices."""
    index, pending = analysis.index_of(body), [*registers]
    while pending:
        register = pending.pop()
        if _DEVICE_WORD.search(index.dotted(register)):
            return True
        pending += reads(index.definitions[register])
    return False


def _is_before(site: Site) -> bool:
    """True where every path from a call to the end of its body comes through a demand."""
    place = block_of(site.body, site.call)
    if place is None:
        return False
    number = Lookup.of(site.body).number
    demanding: set[int] = set()
    for demand in _demands(site.body, site.analysis, "all"):
        block = block_of(site.body, demand)
        if block is place:
            if number(demand) > number(site.call):
                return True
        elif block is not None:
            if _is_certain(block, site.body, site.analysis) and leads_through(site.body, place, block):
                return True
            demanding.add(block.index)
    left = _left(site.body, site.analysis, place.index, demanding)
    return not left.isdisjoint(demanding) and not _may_end_in(left - demanding, site.body)


def _may_end_in(numbers: set[int], body: ir.Body) -> bool:
    """True where the body may end in one of the blocks, other than by an exception."""
    return any(
        not body.blocks[number].successors and not any(isinstance(op, ir.Raise) for op in body.blocks[number].ops)
        for number in numbers
    )


def _is_certain(block: ir.Block, body: ir.Body, analysis: FileFacts) -> bool:
    """True for a block that runs whenever the body does, be it in a `for` loop, or whose conditions are flags of one constant value and the test of the
    main program.
    """
    if is_unconditional(block, body):
        return True
    tests = list(deciding_sides(body, block))
    if block.loops:
        return not tests and all(_has_turns(number, body, analysis) for number in block.loops)
    return bool(tests) and all(_is_settled(test, side, body, analysis) for test, side in tests)


def _has_turns(header: int, body: ir.Body, analysis: FileFacts) -> bool:
    """True for a `for` loop or a comprehension, which is there to have turns, unless what it goes over speaks of devices: `range(torch.cuda.device_count())`."""
    turn = Cfg.of(body).iterations.get(header)
    return turn is not None and not _speaks_of_device((turn.iterable,), body, analysis)


def _is_settled(test: ir.Register, side: bool, body: ir.Body, analysis: FileFacts) -> bool:
    index = analysis.index_of(body)
    written = index.definitions[test]
    if isinstance(written, ir.Load):
        written = index.bound_once(written.name)
        return isinstance(written, ir.Constant) and bool(written.value) is side
    if body.kind != "module" or not isinstance(written, ir.Compare) or written.operators != ("==",):
        return False
    sides = (index.definitions[written.left], index.definitions[written.comparators[0]])
    return side and any(isinstance(one, ir.Load) and one.name == "__name__" for one in sides)


def always_needs_cuda(body: ir.Body, analysis: FileFacts, reach: _Reach) -> bool:
    """True for a body that stops without CUDA whenever it runs."""
    key = (always_needs_cuda, id(body), reach)

    def needs() -> bool:
        return not any(True for _ in Lookup.of(body).kind(ir.Yield)) and (
            demands_cuda(body, analysis)
            or any(
                block is not None and _is_certain(block, body, analysis)
                for demand in _demands(body, analysis, reach)
                for block in [block_of(body, demand)]
            )
            or _always_comes_to_demand(body, analysis, reach)
        )

    return kept_in(analysis.remembered, key, needs, meanwhile=False)  # for one that calls itself


def _always_comes_to_demand(body: ir.Body, analysis: FileFacts, reach: _Reach) -> bool:
    """True for a body that has a demand on every way to its end: in each branch another one."""
    first, free = _first_demands(body, analysis, reach, of_functions=False)
    everywhere = set(range(len(body.blocks)))
    return bool(first) and _may_end_in(everywhere, body) and not _may_end_in(free - first.keys(), body)


@once_per_body
def _demands(body: ir.Body, analysis: FileFacts, reach: _Reach) -> list[ir.Call]:
    """The calls of a body that raise without CUDA, but for those in a `try`."""
    return [call for call in _untried(body) if _demands_somewhere(call, body, analysis, reach)]


def _demands_somewhere(call: ir.Call, body: ir.Body, analysis: FileFacts, reach: _Reach) -> bool:
    """True for a demand, and for a call of a function that is one, or that moves something to the CUDA device that it is given."""
    if _demands_here(call, body, analysis, reach):
        return True
    is_given = reach == "all" and any(_is_cuda(one.value, body, analysis, of_self=False) for one in call.arguments)
    return any(
        (there is analysis or reach != "file")
        and (
            always_needs_cuda(callee, there, reach)
            or (is_given and _is_moved_to_given(Site(call, body, analysis), callee, there))
        )
        for callee, there in callees(call, body, analysis, _SPEAK_OF_DEVICES if is_given else (b"cuda",))
    )


def _is_moved_to_given(site: Site, callee: ir.Body, there: FileFacts) -> bool:
    """True for a call that gives a literal CUDA device, to which the function always moves something: `build(torch.device("cuda"))`."""
    given = (argument_given(site, callee, name) for name in _devices_taken(callee, there))
    return any(one is not None and _is_cuda(one, site.body, site.analysis, of_self=False) for one in given)


def _devices_taken(body: ir.Body, analysis: FileFacts) -> frozenset[str]:
    """The parameters to which a function moves something whenever it runs, or hands on to one that does."""

    def taken() -> frozenset[str]:
        index = analysis.index_of(body)
        found = set[str]()
        for call in _untried(body):
            names = {
                one.value: written.name
                for one in call.arguments
                if isinstance(written := index.definitions[one.value], ir.Load)
                and parameter_of(body, written.name) is not None
                and not index.bound_to(written.name)
            }
            block = block_of(body, call)
            if not names or block is None or not _is_certain(block, body, analysis):
                continue
            found.update(names[one] for one in _devices_of(call, body, analysis) if one in names)
            for callee, there in callees(call, body, analysis, _SPEAK_OF_DEVICES):
                handed = (
                    argument_given(Site(call, body, analysis), callee, name) for name in _devices_taken(callee, there)
                )
                found.update(names[one] for one in handed if one in names)
        return frozenset(found)

    return kept_in(analysis.remembered, (_devices_taken, id(body)), taken, meanwhile=frozenset())


def _untried(body: ir.Body) -> Iterator[ir.Call]:
    return (
        call
        for call in Lookup.of(body).kind(ir.Call)
        if (block := block_of(body, call)) is not None and not block.tries
    )


def _demands_here(call: ir.Call, body: ir.Body, analysis: FileFacts, reach: _Reach) -> bool:
    return (
        _starts_cuda(call, body, analysis)
        or _is_asserted(call, body, analysis)
        or (reach != "starts" and _moves_to_cuda(call, body, analysis))
    )


def _is_asserted(call: ir.Call, body: ir.Body, analysis: FileFacts) -> bool:
    """True for a test for CUDA where the program stops if it fails."""
    asks = AVAILABILITY.get(analysis.spelled(call.function, body)) == "cuda"
    return asks and stops_where_it_fails(call, body, analysis)


def _starts_cuda(op: ir.Call, body: ir.Body, analysis: FileFacts) -> bool:
    """True for calls of `torch.cuda` that raise without CUDA, and for `init_process_group("nccl")`."""
    name = analysis.spelled(op.function, body)
    return name in _RAISING or name in STARTS_CUDA or starts_nccl(op, body)


def starts_nccl(op: ir.Call, body: ir.Body) -> bool:
    """True for `init_process_group("nccl")`."""
    lookup = Lookup.of(body)
    return lookup.called(op) == "init_process_group" and any(
        isinstance(given := lookup.definition(argument.value), ir.Constant) and given.value == "nccl"
        for argument in op.arguments
    )


def _is_of_library(op: ir.Call, body: ir.Body, analysis: FileFacts) -> bool:
    """True for a call that starts CUDA in another library, which no finding tells."""
    return analysis.spelled(op.function, body) in STARTS_CUDA


def _moves_to_cuda(op: ir.Call, body: ir.Body, analysis: FileFacts, *, of_self: bool = True) -> bool:
    """True for a move to a literal CUDA device, and for what is made or loaded there; a loss has nothing to move."""
    method = analysis.index_of(body).definitions[op.function]
    name = analysis.resolve_text(analysis.index_of(body).dotted(op.function))
    if _OF_CUDA.fullmatch(name):
        return True
    if isinstance(method, ir.Attribute) and method.name == "cuda" and not name.startswith("torch."):
        return len(op.arguments) <= 1 and not _is_of_loss(method, body, analysis)
    return any(_is_cuda(one, body, analysis, of_self=of_self) for one in _devices_of(op, body, analysis))


def _devices_of(op: ir.Call, body: ir.Body, analysis: FileFacts) -> list[ir.Register]:
    """Where a call moves, makes or loads something, as it is written: `x.to(device)`, `torch.zeros(3, device=device)`."""
    dotted = analysis.index_of(body).dotted(op.function)
    if analysis.resolve_text(dotted).startswith("torch."):
        is_device = dotted.endswith("device")
        return [one.value for one in op.arguments if one.keyword in _DEVICE_ARGUMENTS and not is_device]
    method = analysis.index_of(body).definitions[op.function]
    is_move = isinstance(method, ir.Attribute) and method.name == "to" and not _is_of_loss(method, body, analysis)
    return [one.value for one in op.arguments[:1]] if is_move else []


def _is_of_loss(method: ir.Attribute, body: ir.Body, analysis: FileFacts) -> bool:
    moved = analysis.index_of(body).definitions[method.object]
    name = Lookup.of(body).called(moved) if isinstance(moved, ir.Call) else getattr(moved, "name", "")
    return bool(_LOSS.search(name))


def _is_cuda(register: ir.Register, body: ir.Body, analysis: FileFacts, *, of_self: bool) -> bool:
    """True for "cuda", `torch.device("cuda:0")`, "cuda:%d" % rank, and for a name of the body or of `self` that is bound to one of them alone."""
    index = analysis.index_of(body)
    written = index.definitions[register]
    kept = literals_of_own(written, body, analysis) if of_self else []  # it costs an inference
    if len(kept) == 1:
        ((register, body),) = kept
        index = analysis.index_of(body)
        written = index.definitions[register]
    if isinstance(written, ir.Load):
        is_global = not index.bound_to(written.name) and parameter_of(body, written.name) is None
        body = analysis.program.module if is_global else body
        index = analysis.index_of(body)
        written = index.bound_once(written.name)
    if isinstance(written, ir.Call) and analysis.spelled(written.function, body) == "torch.device":
        written = index.definitions[written.arguments[0].value] if written.arguments else None
    together = Lookup.of(body).put_together(written.dst) if isinstance(written, ir.ValueOp) else None
    if together is not None:
        return together[0].startswith("cuda")
    return isinstance(written, ir.Constant) and isinstance(written.value, str) and written.value.startswith("cuda")
