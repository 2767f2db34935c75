"""One table: which rule tells of a claim that does not hold, and how severe each finding is. A rule never decides it.

Three parts: the rows of claims; the cases that a rule's own check tells apart, by the words that the rule gives them; and what is known of the place of a
finding, which makes it less. What a claim proves (a caller breaks it) no place makes less.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import NamedTuple

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.files import has_programs
from torchdevlint.facts.loads import is_given_no_file
from torchdevlint.facts.once import once_per_file
from torchdevlint.infer.claims import GENERATOR, RETURNED
from torchdevlint.infer.classes import has_caller_outside
from torchdevlint.infer.optimizers import STATE
from torchdevlint.infer.relevance import is_copied_beside, is_of_a_number, is_of_an_argument, is_worth_telling
from torchdevlint.infer.summary import LEAF, Fault
from torchdevlint.infer.values import is_accelerator
from torchdevlint.program import ir
from torchdevlint.program.roles import has_public_subclass, is_public
from torchdevlint.rules import surroundings as at
from torchdevlint.rules.cuda_by_design import in_file_for_cuda_alone, in_program_for_cuda_alone, in_program_for_one_gpu
from torchdevlint.rules.doubt import DOUBTFUL, is_certain, is_doubtful
from torchdevlint.severity import Severity

INFO, WARNING, ERROR = Severity.INFO, Severity.WARNING, Severity.ERROR

# ---------------------------------------------------------------------------------------------------- claims


class Row(NamedTuple):
    """A row of the policy for claims: who tells of what, and how."""

    code: str
    broken: Severity
    open: Severity


# The claim that fails, by its kind and by the part that the tensor on the CPU plays in it.
_BY_CLAIM: dict[tuple[str, str], Row] = {
    ("host", "lengths"): Row("TDL514", ERROR, WARNING),
    ("host", LEAF): Row("TDL601", ERROR, WARNING),
    ("host", ""): Row("TDL509", ERROR, WARNING),
    ("index", "indexed"): Row("TDL506", ERROR, WARNING),
    ("index", "assigned"): Row("TDL506", INFO, INFO),  # no GPU has shown it: PyTorch's source moves the index
    ("same", "weight"): Row("TDL302", ERROR, WARNING),
    ("same", "kept weight"): Row("TDL301", ERROR, WARNING),
    ("same", "target"): Row("TDL515", ERROR, WARNING),
    ("same", "out"): Row("TDL515", ERROR, WARNING),
    ("same", "module"): Row("TDL401", ERROR, WARNING),
    ("same", STATE): Row("TDL202", ERROR, WARNING),
}
_GENERATOR = Row("TDL513", ERROR, WARNING)
ATTRIBUTE = Row("TDL603", ERROR, WARNING)
_FACTORY = Row("TDL504", ERROR, WARNING)
_RETURNED = Row("TDL504", INFO, INFO)  # who uses both may never bring them together
_HANDED = Row("TDL505", INFO, INFO)  # to what nobody can look into: lengths of sequences, say, are wanted on the CPU
_OF_A_NUMBER = Row("TDL522", ERROR, WARNING)
_INPUT = Row("TDL401", ERROR, WARNING)
_SAMPLE = Row("TDL518", ERROR, WARNING)
_SIBLING = Row("TDL518", WARNING, WARNING)  # a part of what nobody has seen made may be no tensor
_NUMBER = Row("TDL518", INFO, INFO)  # ... and in arithmetic a number
_DEFAULT = Row("TDL516", WARNING, WARNING)
_OTHER = Row("TDL505", ERROR, WARNING)


_OF_CLAIMS = frozenset(
    row.code
    for row in (*_BY_CLAIM.values(), _GENERATOR, ATTRIBUTE, _FACTORY, _OF_A_NUMBER, _INPUT, _SAMPLE, _DEFAULT, _OTHER)
)


def row_of(fault: Fault) -> Row:
    """The row that a fault falls under."""
    host = fault.host
    if fault.roles == RETURNED:
        return _RETURNED
    if GENERATOR in fault.roles:
        return _GENERATOR
    if fault.roles == ("argument", "argument"):
        return _HANDED
    if fault.kind == "host":
        return _BY_CLAIM["host", fault.roles[1] if fault.roles[1] in ("lengths", LEAF) else ""]
    if fault.beside is not None:
        return _OTHER
    if _is_beside_the_default(fault):
        return _DEFAULT
    found = _BY_CLAIM.get((fault.kind, "module" if fault.is_of_module else fault.roles[0]))
    if (found is None or fault.roles[0] == "indexed") and _is_of_attribute(fault):
        return ATTRIBUTE
    if found is not None:
        return found
    is_batch = host is not None and host.implicit == "batch"
    if is_batch and host is not None and fault.roles[0] != "input":
        if host.origin is not fault.site:
            return _SAMPLE
        return _NUMBER if isinstance(fault.site.op, (ir.Binary, ir.AugmentedAssign)) else _SIBLING
    is_handed_in = fault.given is not None and fault.place is fault.given.call
    is_in_forward = fault.site.body is not None and fault.site.body.name == "forward"
    if fault.roles[0] == "input" and (is_batch or is_handed_in or not is_in_forward):
        return _INPUT
    made = host.origin.op if host is not None and host.origin is not None else None
    is_factory = host is not None and host.implicit and not is_batch and isinstance(made, ir.Call)
    if is_factory and is_of_a_number(fault):
        return _OF_A_NUMBER
    if is_accelerator(fault.other.device) and not fault.chain and fault.seen_inside is None:
        return _OTHER  # the function itself names both devices
    if is_factory:
        return _FACTORY
    return _INPUT if fault.roles[0] == "input" else _OTHER


def _is_of_attribute(fault: Fault) -> bool:
    """True for a tensor that a class keeps, and makes itself or lets meet another: for somebody else the attribute is on the way."""
    host = fault.host
    if host is None or not host.kept or (host.origin is not None and host.origin.is_part):
        return False
    return any(site.body is not None and site.body.owner is not None for site in (fault.place, fault.site))


def _is_beside_the_default(fault: Fault) -> bool:
    """True for a tensor that is on the CPU whatever the default device, in a file that sets one."""
    return fault.host is not None and fault.host.implicit == "always" and fault.site.unit.sets_default


def severity_of(fault: Fault, facts: Facts) -> Severity:
    """How severe a fault is: what is doubtful, and what the project's own calls do not break, is a note.

    What an argument may break is a note where its callers are at hand, unless something shows that it is meant for tensors anywhere. The facts are of
    the file as a whole.
    """
    row = row_of(fault)
    is_left_to_callers = fault.is_settled or (fault.roles[0] != STATE and is_of_an_argument(fault))
    if (is_left_to_callers and _are_callers_here(fault, facts)) or is_doubtful(fault):
        return INFO
    return row.broken if is_certain(fault) else row.open


ASKED = "What an argument may break and no call of the project's programs breaks, but in a module or where its device is asked."


def _are_callers_here(fault: Fault, facts: Facts) -> bool:
    """True in a project of programs, whose calls are all that there are.

    What a package offers has other callers as well. An argument that it reads as an array is taken to be given by them as by the package's own calls,
    where these are known to give one on the CPU, unless another argument is copied to the CPU there.
    """
    member = facts.analysis.member
    if member is None:
        return False
    if fault.kind == "host" and fault.is_called and facts.roles.is_library:
        return fault.is_met and not is_copied_beside(fault)
    if _is_offered(fault, facts):
        return False
    return fault.is_called or (member.project.tells_by_silence and has_programs(member.project))


@once_per_file
def faults_to_tell(facts: Facts) -> list[Fault]:
    """The faults of a file that are worth telling."""
    return [
        fault for fault in facts.analysis.inference.decided() if is_worth_telling(fault) and is_for_others(fault, facts)
    ]


def is_for_others(fault: Fault, facts: Facts) -> bool:
    """False for what the callers that are known decide, or are asked in its place."""
    return _is_for_all_callers(fault) or _is_offered(fault, facts)


def _is_for_all_callers(fault: Fault) -> bool:
    """False where the callers that are known are all that matter to a program, since each meets the claim or is asked in its place.

    A package offers it to others as well, whatever its functions or the self-test of a module do with it.
    """
    return not (fault.is_passed_on or fault.is_met)


def _is_offered(fault: Fault, facts: Facts) -> bool:
    """True for a fault in what a package offers to whoever installs it: its public functions and methods, what is called there, and not what they make
    inside.

    A method or a private function whose claim the package's own calls meet is a helper of these.
    """
    entry = fault.entry
    if entry is not None and entry.owner is not None and fault.is_met and not fault.is_shown:
        return False
    if entry is not None and entry.parent is not None and entry.parent.kind == "function":
        return False
    is_private = fault.is_entered_in_private and not (
        (fault.is_reached and not fault.is_met) or _is_called_by_its_base(fault, facts) or _is_inherited(fault, facts)
    )
    return facts.roles.is_library and not is_private


def _is_called_by_its_base(fault: Fault, facts: Facts) -> bool:
    """True for a private method of a class with a base of another library: that base may call it (`Transform._call`)."""
    owner = fault.entry.owner if fault.entry is not None else None
    if owner is None or owner.name.startswith("_"):
        return False
    return has_caller_outside(facts.analysis.inference, owner)


def _is_inherited(fault: Fault, facts: Facts) -> bool:
    """True for a public method of a private class that public classes inherit from."""
    entry, member = fault.entry, facts.analysis.member
    if entry is None or entry.owner is None or member is None or not is_public(entry.name):
        return False
    return entry.owner in facts.program.classes and has_public_subclass(member, facts.program, entry.owner.name)


# ---------------------------------------------------------------------------------------------------- cases of a rule

# What a rule's own check has found, in the words of the rule, where that is less than the rule's highest severity.
CASES: dict[str, dict[str, Severity]] = {
    "TDL101": {
        "nothing tells that the file holds weights": INFO,
        "the CPU saved it": INFO,
        "it is published": INFO,
        "the same run saved it": INFO,
        "it holds the bytes of an engine": INFO,
        "CUDA works where it is loaded": INFO,
    },
    "TDL106": {"": WARNING, "the file is temporary": INFO},
    "TDL201": {"it may be there already": WARNING},
    "TDL403": {
        "a machine with one GPU that holds the whole model moves it": WARNING,
        "the whole model is on one device": INFO,
    },
    "TDL501": {
        "it may be no tensor": WARNING,
        "the result is a conversion": INFO,
        "the result is pinned: without it copies are slower, and nothing fails": WARNING,
        "it is there already": INFO,
        "the module moves it": WARNING,
    },
    "TDL511": {"CUDA works there, or another line has told of it": INFO},
    "TDL517": {
        "what the callee does without a device is not known": INFO,
        "results on the CPU may be meant": INFO,
    },
    "TDL518": {"it may be no tensor": WARNING, "it may be a number": INFO},
    "TDL523": {"no line of the file chooses the visible devices": INFO},
    "TDL601": {
        "the device is a variable, and a run on the CPU keeps the Parameter": WARNING,
        "nothing in the file learns": INFO,
        "it is brought to the CPU, and nothing shows that it is elsewhere": INFO,
    },
    "TDL605": {"autocast is turned off": INFO, "the machine decides for the programs that use it too": INFO},
    "TDL606": {"it is moved back behind the call": INFO},
    "TDL608": {"the constructor places what the module has there as well": INFO},
    "TDL610": {"the trace is used in the same run": INFO},
    "TDL701": {
        "no loader is seen with workers or pinned memory": WARNING,
        "no loader has workers or pins memory": INFO,
        "the device is a variable": WARNING,
    },
    "TDL702": {"the device is a variable": WARNING},
    "TDL704": {"no process group is started in the file": WARNING},
    "TDL801": {
        "the project is for another accelerator, CUDA works there, or who runs this trial has a GPU": INFO,
        "each process sets its current GPU": INFO,
        "no call leaves the default": INFO,
    },
    "TDL804": {"no other device is tried": WARNING},
    "TDL805": {
        "no torch that warns is allowed, or the warning is silenced": INFO,
        "the oldest torch of the project has no `torch.amp`": INFO,
        "another call of what is imported has told of it": INFO,
    },
    "TDL807": {"the program stops without CUDA before, or the file has decided for it at another line": INFO},
    "TDL811": {"a machine with more GPUs runs it": INFO},
    "TDL901": {"MPS alone may read it too late": WARNING, "the project does not speak of MPS": INFO},
}


def severity_in(case: str, code: str, highest: Severity) -> Severity:
    """How severe a finding of a rule's own check is; raises `KeyError` for a case that the table does not have."""
    cases = CASES.get(code, {})
    return cases[case] if case in cases or case else highest


# ---------------------------------------------------------------------------------------------------- places

Question = Callable[[ir.Op, Facts], bool]


class Place(NamedTuple):
    """What may be known of the place of a finding: there the findings of some rules are this severe and no more.

    `is_never_run`: no accelerator is there, or nobody comes there: so it is for what inference has proven to break, too.
    """

    question: Question
    most: Severity
    codes: frozenset[str]
    is_never_run: bool = False

    @property
    def told(self) -> str:
        """The question in words, as a rule's page says it."""
        told = " ".join(inspect.cleandoc(self.question.__doc__ or "").split()).removeprefix("True ")
        return f"{told[:1].upper()}{told[1:]}"


def _place(question: Question, most: Severity, codes: str, *, is_never_run: bool = False) -> Place:
    return Place(question, most, frozenset(f"TDL{code}" for code in codes.split()), is_never_run)


_TENSORS_MEET = "301 302 401 504 505 506 509 515 518 522 603"
PLACES: tuple[Place, ...] = (
    _place(at.in_unreachable_code, INFO, "101 102 504 506 509 511 603 605 801 805 807", is_never_run=True),
    _place(at.in_tests, INFO, "101 102 109 113 401 504 505 506 509 511 515 522 601 605 801 807"),
    _place(at.in_program_for_the_host, INFO, _TENSORS_MEET),
    _place(at.in_program_that_names_no_device, INFO, _TENSORS_MEET),
    _place(at.in_data_folder, INFO, "504 505 506 509"),
    _place(at.under_another_default_device, INFO, "504 505 506 511 515 522 603"),
    _place(at.in_program_that_moves_nothing, INFO, "603"),
    _place(at.with_hidden_gpus, INFO, f"{_TENSORS_MEET} 101 102 801 807", is_never_run=True),
    _place(at.with_trainers_on_host, INFO, "101 504"),
    _place(at.where_cuda_is_needed, INFO, "102 605"),
    _place(at.in_benchmark, INFO, "605 801"),
    _place(at.in_notebook, INFO, "605 801 807"),
    _place(at.under_test_for_a_build, INFO, "605 801 807"),
    _place(at.where_memory_is_allocated, INFO, "807"),
    _place(
        at.in_code_that_nobody_runs,
        INFO,
        f"{_TENSORS_MEET} 101 102 113 501 511 516 517 605 608 801 805 807",
        is_never_run=True,
    ),
    _place(in_program_for_cuda_alone, INFO, "605"),
    _place(in_file_for_cuda_alone, INFO, "801 807"),
    _place(in_program_for_one_gpu, INFO, "101"),
    _place(at.where_moves_keep_parameters, INFO, "203"),
    _place(is_given_no_file, INFO, "101"),
    _place(at.in_project, WARNING, "602"),
    _place(at.in_project_for_the_host, WARNING, "518"),
    _place(at.where_batches_may_be_placed, WARNING, "518"),
)


def places_of(code: str) -> Iterator[Place]:
    """The rows of places that concern a rule."""
    return (place for place in PLACES if code in place.codes)


def deciding_place(code: str, severity: Severity, op: ir.Op, facts: Facts, *, proven: bool = False) -> Place | None:
    """The place that makes a finding less severe, the lowest first; None where none does. The facts are of the file as a whole."""
    lower = (place for place in places_of(code) if place.most < severity and (place.is_never_run or not proven))
    return next((place for place in sorted(lower, key=lambda one: one.most) if place.question(op, facts)), None)


def rows_of(code: str, severity: Severity) -> Iterator[str]:
    """The rows that make a finding of a rule this severe, in words: its cases, and places."""
    cases = "; ".join(case for case, told in CASES.get(code, {}).items() if case and told is severity)
    if cases:
        yield f"{cases[:1].upper()}{cases[1:]}."
    if severity is INFO and code in _OF_CLAIMS:
        yield ASKED
        yield DOUBTFUL
    yield from (place.told for place in places_of(code) if place.most is severity)
