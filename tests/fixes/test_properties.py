"""Properties of fixes: on the fixtures and proofs in many layouts, and on programs that are put together at random and run.

`pytest -m fuzz tests/fixes/test_properties.py` goes on for TORCHDEVLINT_FUZZ_MINUTES (default: 30) with new seeds.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import warm
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from properties import broken, relaid

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "benchmarks")]
from differential.draw import combined, singles  # noqa: E402
from differential.judges import Linter, Machine, Verdict  # noqa: E402
from differential.programs import Program  # noqa: E402

SOURCES = sorted((ROOT / "fixtures").glob("*/*/faulty*.py")) + sorted(
    (ROOT / "torchdevlint" / "proofs").glob("TDL*.py")
)
SOURCES = [path for path in SOURCES if path.parent.name != "unparsable-file"]
MINUTES = float(os.environ.get("TORCHDEVLINT_FUZZ_MINUTES", "30"))


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(path=st.sampled_from(SOURCES), seed=st.integers(0, 1 << 30))
def test_fixes_keep_their_promises_in_every_layout(path: Path, seed: int) -> None:
    assert not broken(relaid(path.read_text(encoding="utf-8"), random.Random(seed)))


class Judge:
    """Runs a program on PyTorch for CPUs and on virtual machines with one and two GPUs."""

    def __init__(self) -> None:
        self.machines = {"no GPU": Machine("cpu"), "one GPU": Machine("machine:1"), "two GPUs": Machine("machine:2")}
        self.linter = Linter()

    def close(self) -> None:
        for judge in (*self.machines.values(), self.linter):
            judge.child.close()

    def broken(self, programs: list[Program]) -> Iterator[tuple[Program, str]]:
        """The programs that a repair breaks or leaves at fault, with what happened."""
        answers = self.linter.ask(programs)
        for program, answer in zip(programs, answers, strict=True):
            if answer.crash:
                yield program, f"the linter crashed: {answer.crash}"
        offered = [
            program
            for program, answer in zip(programs, answers, strict=True)
            if any(said.fix and said.level != "info" for said in answer.findings)
        ]
        for fix in ("safe", "unsafe"):
            repaired = [
                (program, program.with_shown(answer.files))
                for program, answer in zip(offered, self.linter.ask(offered, fix), strict=True)
                if answer.files
            ]
            for where, machine in self.machines.items():
                before = machine.run([program for program, _ in repaired])
                after = machine.run([program for _, program in repaired])
                for (program, new), old, run in zip(repaired, before, after, strict=True):
                    told = _broken_by_repair(fix, old, run)
                    if told:
                        yield program, f"{fix} repair, {where}: {told}\n{new.text()}"


def _broken_by_repair(fix: str, old: Verdict, new: Verdict) -> str:
    if old.kind == "ok" and new.kind != "ok":
        return f"fails now: {new.text or new.kind}"
    if old.kind == "ok" and fix == "safe" and new.printed != old.printed:
        return f"printed {old.printed!r}, now {new.printed!r}"
    # A fixed shape in a module under DataParallel does not fit a replica's share of the batch: that fault hid behind the first.
    if old.kind == "fault" and new.kind == "other" and " in replica " not in new.text:
        return f"fails in another way: {new.text}"
    return ""


@contextmanager
def judge() -> Iterator[Judge]:
    made = Judge()
    try:
        yield made
    finally:
        made.close()


def _drawn(seed: int, count: int) -> list[Program]:
    """Programs of one construct and combined ones, right and with a fault, half of them in another layout."""
    draw = random.Random(seed)
    specs = [*draw.sample(list(singles(seed, 1)), count), *combined(seed, count)]
    found = []
    for spec in specs:
        for right in (False, True):
            program = spec.program(right)
            if draw.random() < 0.5:
                program = program.with_shown({name: relaid(text, draw) for name, text in program.shown.items()})
            found.append(program)
    return found


def _check(one: Judge, seed: int, count: int) -> list[str]:
    programs = _drawn(seed, count)
    found = [
        f"{told}\n{program.text()}" for program in programs for text in program.shown.values() for told in broken(text)
    ]
    return found + [f"{told}\n--- before\n{program.text()}" for program, told in one.broken(programs)]


def test_repairs_leave_what_ran_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(subprocess, "Popen", warm.Popen)
    with judge() as one:
        found = _check(one, seed=2026, count=12)
    assert not found, found[0]


@pytest.mark.fuzz
def test_repairs_of_ever_new_programs() -> None:
    began = time.monotonic()
    seed = random.SystemRandom().randrange(1 << 30)
    with judge() as one:
        programs, found = 0, []
        while time.monotonic() - began < 60 * MINUTES:
            for told in _check(one, seed, 40):
                found.append(f"seed {seed}: {told}")
                print(found[-1], flush=True)
            for path in random.Random(seed).sample(SOURCES, 10):
                text = relaid(path.read_text(encoding="utf-8"), random.Random(seed))
                found += [f"seed {seed}, {path}: {told}" for told in broken(text)]
                print(*found[-1:], flush=True)
            programs += 160
            seed += 1
            print(f"{programs} programs, {len(found)} broken", flush=True)
    assert not found, f"{len(found)} of {programs} programs: {found[0]}"
