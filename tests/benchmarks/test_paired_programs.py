"""Whole programs in pairs: what is stored is whole, and a finding is found where it tells of the fault."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import paired_programs
import pytest
from paired_programs import Program, Run, changed_by, found, stored, take, told

GOOD = "import torch\n\nx = torch.ones(3).to('cuda')\nmask = torch.zeros(3)\nmask = mask.to('cuda')\nprint(x * mask)\n"
BAD = GOOD.replace("mask = mask.to('cuda')\n", "")
ABOUT = {"entry": "train.py", "args": [], "fault": "the mask stays on the CPU", "kind": "raises"}
DIFF = """--- a/net/model.py
+++ b/net/model.py
@@ -3,4 +3,4 @@ class Net:
 a = 1
-b = 2
+b = 3
 c = 4
 d = 5
@@ -20,3 +20,2 @@
 e = 6
-f = 7
 g = 8
"""


def test_the_lines_that_a_diff_changes_are_those_of_the_wrong_program() -> None:
    assert changed_by(DIFF) == {("net/model.py", 4), ("net/model.py", 21)}


@pytest.mark.parametrize("program", stored(), ids=lambda one: one.name)
def test_each_stored_program_is_whole(program: Program, tmp_path: Path) -> None:
    good, bad = program.copy(tmp_path / "good", bad=False), program.copy(tmp_path / "bad", bad=True)
    assert (good / program.about["entry"]).is_file()
    assert set(program.about) == {"entry", "args", "fault", "kind", "story", "batch"}
    assert program.about["kind"] in ("raises", "silent")
    changed = {path for path, _ in program.changed}
    assert all((good / path).read_bytes() != (bad / path).read_bytes() for path in changed)
    assert changed
    assert all((bad / path).is_file() for path, _ in program.places)


def test_the_halves_are_about_as_large_and_stay_what_they_are() -> None:
    halves = [program.half for program in stored()]
    assert 0.3 < halves.count("unseen") / len(halves) < 0.7
    assert Program(paired_programs.PROGRAMS / "control" / "bpr_mf", {}).half == "seen"


def test_the_story_of_a_run_are_its_places_in_the_program(tmp_path: Path) -> None:
    errors = (
        "Traceback\nRuntimeError\ntorchdevlint: train.py:6: RuntimeError: Expected\n"
        "torchdevlint:     self on cuda:0: created train.py:3, moved train.py:3; other on cpu: created lib/net.py:4; met at train.py:6\n"
    )
    assert Run(1, errors).story(tmp_path) == ["lib/net.py:4", "train.py:3", "train.py:6"]


def test_a_pair_is_taken_judged_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, good in (("mask", GOOD.replace("'cuda'", "device")), ("same", BAD)):
        head = "import torch\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
        for side, text in (("good", good), ("bad", BAD.replace("'cuda'", "device"))):
            folder = tmp_path / "given" / "field" / name / side
            folder.mkdir(parents=True)
            (folder / "train.py").write_text(head + text.replace("'cuda'", "device"), encoding="utf-8")
        (tmp_path / "given" / "field" / name / "about.json").write_text(json.dumps(ABOUT), encoding="utf-8")
    monkeypatch.setattr(paired_programs, "PROGRAMS", tmp_path / "stored")
    assert list(take(tmp_path / "given", "first", sys.executable)) == ["field/same: both sides are the same"]
    (program,) = stored(tmp_path / "stored")
    assert program.about["story"]
    sides = [program.copy(tmp_path / side, bad=side == "bad") for side in ("good", "bad")]
    before, after = told(sides[0]), told(sides[1])
    assert [one.code for one in found(program, before, after)] == ["TDL505"]
    assert found(program, after, after) == []
    shutil.rmtree(tmp_path / "stored")
