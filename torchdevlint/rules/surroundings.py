"""What may be known of the place of a finding, as questions that the policy's rows of places ask: a proof that it does not matter (dead code, a program for
the CPU), or that nothing is proven (no file speaks of a device).

Each question gets the operation that a finding stands on, and the facts of the file as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchdevlint.flow.facts import Facts
from torchdevlint.program import ir
from torchdevlint.rules.neighbours import (
    batches_may_be_placed,
    default_device_is_set,
    has_programs,
    moves_keep_parameters,
    moves_no_module,
    places_nothing,
)
from torchdevlint.rules.order import block_of, deciding_sides, import_time_blocks
from torchdevlint.rules.paths import last_name
from torchdevlint.rules.structure import (
    body_of,
    operations,
    roles,
)
from torchdevlint.rules.unreached import is_named_nowhere, is_unreachable

_MOVES_TO_GPUS = re.compile(r"(?:\A|_)to_(?:gpus?|cuda)\Z|[a-z]GPU\Z")
_SELF_TEST = re.compile(r"_?(?:self_|unit_)?test(?:_forward|_model|_net(?:work)?)?\Z")


def in_tests(_: ir.Op, facts: Facts) -> bool:
    """True in a file or a folder of tests, whose author knows the machine. A program in such a folder is no test."""
    return roles(facts).is_test


def in_self_test(op: ir.Op, facts: Facts) -> bool:
    """True in a module's `def test(self, device="cpu"):`, which makes its own inputs."""
    body = body_of(op, facts)
    if body is None or body.owner is None or not _SELF_TEST.match(body.name):
        return False
    asked = body.parameters[1:]
    return facts.analysis.summary_of(body.owner).is_module and all(given.default is not None for given in asked)


def in_data_folder(_: ir.Op, facts: Facts) -> bool:
    """True in a module of a folder for data sets, loaders or transforms."""
    return roles(facts).is_data_code


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
        if isinstance(op, ir.Call) and last_name(op, body, facts) == "Trainer"
        for register in (op.keyword("accelerator"),)
    ]
    return bool(chosen) and all(isinstance(op, ir.Constant) and op.value == "cpu" for op in chosen)


def in_branch_not_taken(op: ir.Op, facts: Facts) -> bool:
    """True in a branch that no call takes: under a parameter that is off by default and never turned on."""
    member = facts.analysis.member
    for test, side, body in _tests_before(op, facts, ir.Load):
        if body.kind != "function":
            return False
        written = facts.analysis.index_of(body).definitions[test]
        constants = (
            facts.analysis.constants_given(body, written.name) if side and isinstance(written, ir.Load) else None
        )
        if constants is not None and isinstance(written, ir.Load) and not any(constants):
            private = body.name.startswith("_") and not body.name.startswith("__")
            return member is not None and (
                private or not member.project.is_mentioned(written.name, besides=member.path)
            )
    return False


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
    body = body_of(op, facts)
    block = block_of(body, op) if body is not None else None
    if body is not None and block is not None:
        for test, side in deciding_sides(body, block, *kinds):
            yield test, side, body


def in_class_of_a_trial(op: ir.Op, facts: Facts) -> bool:
    """True in a class that is defined under `if __name__ == "__main__"`."""
    body = body_of(op, facts)
    while body is not None and body.owner is None:
        body = body.parent
    module = facts.program.module
    made = next(
        (at for at in operations(module) if isinstance(at, ir.MakeClass) and body is not None and at.cls is body.owner),
        None,
    )
    block = block_of(module, made) if made is not None else None
    return block is not None and block.index not in import_time_blocks(module)


def in_function_that_moves_to_gpus(op: ir.Op, facts: Facts) -> bool:
    """True in a function of a project that says by its name that it is for a GPU: `move_to_cuda`, `intersectionGPU`."""
    body = body_of(op, facts) if facts.analysis.member is not None else None
    while body is not None and not _MOVES_TO_GPUS.search(body.name):
        body = body.parent
    return body is not None


def in_benchmark(op: ir.Op, facts: Facts) -> bool:
    """True in a benchmark that measures times or memory of a GPU."""
    return roles(facts).is_benchmark(body_of(op, facts))


def in_unreachable_code(op: ir.Op, facts: Facts) -> bool:
    """True in a shadowed function, and in a file that imports what the project lacks."""
    body = body_of(op, facts)
    return body is not None and is_unreachable(body, facts)


def in_function_that_nobody_names(op: ir.Op, facts: Facts) -> bool:
    """True in a function whose name stands nowhere else in a project of programs."""
    body = body_of(op, facts)
    return body is not None and is_named_nowhere(body, facts)


def where_batches_may_be_placed(_: ir.Op, facts: Facts) -> bool:
    """True in a file of a project that imports one, or is imported by one, that makes batches and places something."""
    return batches_may_be_placed(facts)


def in_program_that_moves_nothing(_: ir.Op, facts: Facts) -> bool:
    """True in a program of a project in which no method moves anything."""
    return moves_no_module(facts)


def in_project(_: ir.Op, facts: Facts) -> bool:
    """True in a project of several files, where another file may place the parts of a model."""
    member = facts.analysis.member
    return member is not None and member.project.tells_by_silence


def in_project_for_the_host(_: ir.Op, facts: Facts) -> bool:
    """True in a project of programs, no package for others, of which no file speaks of a device."""
    return places_nothing(facts)


def in_program_for_the_host(_: ir.Op, facts: Facts) -> bool:
    """True in such a project whose programs are seen to start: what is in it is run by them, and nothing of it leaves the CPU."""
    return places_nothing(facts) and has_programs(facts)


def under_another_default_device(_: ir.Op, facts: Facts) -> bool:
    """True where a program of the project that leads here sets PyTorch's default device."""
    return default_device_is_set(facts)


def where_moves_keep_parameters(_: ir.Op, facts: Facts) -> bool:
    """True in a project that names nothing by which a move replaces Parameters: XLA, FSDP, `to_empty`, `assign=True`."""
    return moves_keep_parameters(facts)
