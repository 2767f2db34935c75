"""The faults that every tutorial warns of are found wherever they stand, and their repairs are silent; a machine shows that they are faults."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest
import warm

from .cells import check
from .contexts import CONTEXTS, Context
from .judge import SHAPES, shape_of
from .table import Fault, faults

FAULTS = tuple(faults())
FEWEST = 0.97  # of the cells of each context
# Faults that are missed somewhere, so that a change shows by name: whoever finds one everywhere takes it out. What a caller in the same file
# gives to `evaluation-not-moved` is told of where that caller makes it.
MISSED = frozenset(("dqn-rewards", "evaluation-not-moved", "length-mask", "numpy-of-model"))


def test_the_table_is_large() -> None:
    names = Counter(fault.name for fault in FAULTS)
    assert len(names) == len(FAULTS) >= 100
    for fault in FAULTS:
        marked = (fault.faulty.definitions + fault.faulty.calls).marked
        assert bool(marked) is bool(fault.codes), fault.name


@pytest.mark.parametrize("context", CONTEXTS, ids=lambda context: context.name)
def test_faults_are_found_and_repairs_are_silent(context: Context) -> None:
    cells = [cell for fault in FAULTS for cell in check(fault, context)]
    assert {cell.name: cell.false for cell in cells if cell.false} == {}
    faulty = [cell for cell in cells if cell.fault.codes]
    missed = {cell.fault.name for cell in faulty if not cell.told}
    assert missed <= MISSED
    assert sum(cell.told for cell in faulty) >= FEWEST * len(faulty)


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_a_machine_shows_the_faults(shape: str) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.textbook.judge", shape]
    done = warm.run(command, cwd=root, timeout=300)
    assert done.returncode == 0, done.stderr
    verdicts = json.loads(done.stdout.rpartition("VERDICTS ")[2])
    judged = [fault for fault in FAULTS if not fault.verdict.startswith("-") and shape_of(fault.verdict) == shape]
    assert sorted(verdicts) == sorted(fault.name for fault in judged)
    wrong = {fault.name: verdicts[fault.name] for fault in judged if not _is_as_told(fault, *verdicts[fault.name])}
    assert wrong == {}


def _is_as_told(fault: Fault, faulty: dict[str, object], repaired: dict[str, object]) -> bool:
    if repaired["error"] or repaired["hazards"]:
        return False
    if fault.verdict == "differs":
        return not faulty["error"] and faulty["printed"] != repaired["printed"]
    if fault.verdict == "hazard":
        return bool(faulty["hazards"])
    return bool(faulty["error"]) is (fault.verdict != "runs")
