"""What may be known of the place of a finding, as questions that the policy's rows of places ask: a proof that it does not matter (dead code, a program for
the CPU), or that nothing is proven (no file speaks of a device).

Each question gets the operation that a finding stands on, and the facts of the file as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.cuda_alone import needs_cuda_anyway
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.files import has_programs
from torchdevlint.facts.said import (
    batches_may_be_placed,
    default_device_is_set,
    is_program_for_host,
    moves_keep_parameters,
    moves_no_module,
    places_nothing,
)
from torchdevlint.facts.unreached import is_run_by_nobody, is_unreachable
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import block_of, deciding_sides
from torchdevlint.rules.structure import operations


def in_tests(_: ir.Op, facts: Facts) -> bool:
    """True in a file or a folder of tests, whose author knows the machine. A program in such a folder is no test."""
    return facts.roles.is_test


def in_data_folder(_: ir.Op, facts: Facts) -> bool:
    """True in a module of a folder for data sets, loaders or transforms in which nothing learns."""
    return facts.roles.is_data_code


def with_hidden_gpus(_: ir.Op, facts: Facts) -> bool:
    """True in a program that hides its GPUs: `os.environ["CUDA_VISIBLE_DEVICES"] = "-1"`."""
    if not facts.mentions("environ"):
        return False
    for body in facts.program.bodies:
        definitions = facts.analysis.index_of(body).definitions
        for op in operations(body):
            if isinstance(op, ir.StoreSubscript):
                key, value = definitions[op.index], definitions[op.value]
                if isinstance(key, ir.Constant) and key.value == "CUDA_VISIBLE_DEVICES":
                    return isinstance(value, ir.Constant) and value.value in ("-1", "")
    return False


def with_trainers_on_host(_: ir.Op, facts: Facts) -> bool:
    """True in a program whose trainers all run on the CPU: `Trainer(accelerator="cpu")`."""
    if not facts.mentions("Trainer") or not facts.mentions("accelerator"):
        return False
    chosen = [
        facts.analysis.index_of(body).definitions[register] if register is not None else None
        for body in facts.program.bodies
        for op in operations(body)
        if isinstance(op, ir.Call) and Lookup.of(body).called(op) == "Trainer"
        for register in (op.keyword("accelerator"),)
    ]
    return bool(chosen) and all(isinstance(op, ir.Constant) and op.value == "cpu" for op in chosen)


_BUILDS = frozenset({"rocm", "hip", "cuda"})


def under_test_for_a_build(op: ir.Op, facts: Facts) -> bool:
    """True behind a test of the build or the system: `if SYSTEM == "rocm":`."""
    for register, side, body in _tests_before(op, facts, ir.Compare, ir.Choice):
        definitions = facts.analysis.index_of(body).definitions
        test = definitions[register]
        both = side and isinstance(test, ir.Choice) and test.shape == "and"
        parts = [definitions[value] for value in test.values] if both and isinstance(test, ir.Choice) else [test]
        for part in parts:
            if isinstance(part, ir.Compare) and part.operators[0] == ("==" if side else "!="):
                other = definitions[part.comparators[0]]
                if isinstance(other, ir.Constant) and other.value in _BUILDS:
                    return True
    return False


# What answers 0 where CUDA is not at work, and does not raise; torch/cuda/memory.py.
_ALLOCATED = frozenset({"torch.cuda.max_memory_allocated", "torch.cuda.memory_allocated", "torch.cuda.memory_reserved"})


def where_memory_is_allocated(op: ir.Op, facts: Facts) -> bool:
    """True behind a test that CUDA has allocated something: `if torch.cuda.memory_allocated() > 0:`."""
    return any(
        side
        and isinstance(test := facts.analysis.index_of(body).definitions[register], ir.Compare)
        and test.operators[0] == ">"
        and _is_allocated(test.left, body, facts)
        for register, side, body in _tests_before(op, facts, ir.Compare)
    )


def _is_allocated(register: ir.Register, body: ir.Body, facts: Facts) -> bool:
    """True for what CUDA has allocated, also by a name that is bound once."""
    index = facts.analysis.index_of(body)
    written = index.definitions[register]
    if isinstance(written, ir.Load):
        written = index.bound_once(written.name)
    return isinstance(written, ir.Call) and facts.analysis.resolve_text(index.dotted(written.function)) in _ALLOCATED


def _tests_before(op: ir.Op, facts: Facts, *kinds: type[ir.Op]) -> Iterator[tuple[ir.Register, bool, ir.Body]]:
    """The conditions of some classes that control must pass to come to an operation: each with its sense, and the body that they stand in."""
    body = facts.analysis.body_of(op)
    block = block_of(body, op) if body is not None else None
    if body is not None and block is not None:
        for test, side in deciding_sides(body, block, *kinds):
            yield test, side, body


def in_benchmark(op: ir.Op, facts: Facts) -> bool:
    """True in a benchmark that measures times or memory of a GPU."""
    return facts.roles.is_benchmark(facts.analysis.body_of(op))


def in_notebook(_: ir.Op, facts: Facts) -> bool:
    """True in a notebook, which its author runs, on the machine that it names."""
    return facts.analysis.member is not None and facts.analysis.member.path.endswith(".ipynb")


def in_unreachable_code(op: ir.Op, facts: Facts) -> bool:
    """True in a shadowed function, and in a file that imports what the project lacks."""
    body = facts.analysis.body_of(op)
    return body is not None and is_unreachable(body, facts.analysis)


def in_code_that_nobody_runs(op: ir.Op, facts: Facts) -> bool:
    """True in code of a project of programs that nothing names which is run."""
    body = facts.analysis.body_of(op)
    return body is not None and is_run_by_nobody(body, facts.analysis)


def where_batches_may_be_placed(_: ir.Op, facts: Facts) -> bool:
    """True in a file of a project that imports one, or is imported by one, that makes batches and places something."""
    return batches_may_be_placed(facts.analysis)


def in_program_that_moves_nothing(_: ir.Op, facts: Facts) -> bool:
    """True in a program of a project in which no method moves anything."""
    return moves_no_module(facts.analysis)


def in_project(_: ir.Op, facts: Facts) -> bool:
    """True in a project of several files, where another file may place the parts of a model."""
    member = facts.analysis.member
    return member is not None and member.project.tells_by_silence


def in_project_for_the_host(_: ir.Op, facts: Facts) -> bool:
    """True in a project of programs, no package for others, of which no file speaks of a device."""
    return places_nothing(facts.analysis)


def in_program_for_the_host(_: ir.Op, facts: Facts) -> bool:
    """True in a project whose programs are there, and of which no file speaks of a device."""
    member = facts.analysis.member
    return member is not None and places_nothing(facts.analysis) and has_programs(member.project)


def in_program_that_names_no_device(_: ir.Op, facts: Facts) -> bool:
    """True in a program that nobody imports, in a project that is no package, where neither it nor a file that it imports speaks of a device."""
    return is_program_for_host(facts.analysis)


def under_another_default_device(_: ir.Op, facts: Facts) -> bool:
    """True where a program of the project that leads here sets PyTorch's default device."""
    return default_device_is_set(facts.analysis)


def where_moves_keep_parameters(_: ir.Op, facts: Facts) -> bool:
    """True in a project that names nothing by which a move replaces Parameters: XLA, FSDP, `to_empty`, `assign=True`."""
    return moves_keep_parameters(facts.analysis)


def where_cuda_is_needed(op: ir.Op, facts: Facts) -> bool:
    """True where CUDA is needed anyway: by an import, a kernel's frame, or a line that fails without it."""
    body = facts.analysis.body_of(op)
    return body is not None and needs_cuda_anyway(body, facts.analysis, op)
