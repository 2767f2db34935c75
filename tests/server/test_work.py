"""What the examining process answers, asked in this process; and its life."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from torchdevlint.server.examiner import Examiner
from torchdevlint.server.work import Buffer, Job, do

FAULTY = "import torch\nmodel.load_state_dict(torch.load('model.pt'))\n"


def examined(buffer: Buffer, **options: object) -> list[str]:
    answer = do(Job("examine", buffer, options))
    assert not answer.problems
    return [finding.code for finding in answer.findings]


def test_the_buffer_is_examined_and_not_the_file(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("x = 1\n", encoding="utf-8")
    assert examined(Buffer(str(path), FAULTY)) == ["TDL101"]


def test_an_excluded_file_has_no_findings(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.torchdevlint]\nextend-exclude = ["old/"]\n', encoding="utf-8")
    assert examined(Buffer(str(tmp_path / "new" / "train.py"), FAULTY)) == ["TDL101"]
    assert examined(Buffer(str(tmp_path / "old" / "train.py"), FAULTY)) == []


def test_the_editor_s_settings_stand_over_the_file_s(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.torchdevlint]\nselect = ["TDL5"]\n', encoding="utf-8")
    buffer = Buffer(str(tmp_path / "train.py"), FAULTY)
    assert examined(buffer) == []
    assert examined(buffer, select=["TDL101"]) == ["TDL101"]


@pytest.mark.parametrize(
    "options", [{"selekt": []}, {"select": ["TDL999"]}, {"select": 3}, {"per-file-ignores": {"a": ["TDL1"]}}]
)
def test_settings_that_cannot_be_used_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    answer = do(Job("examine", Buffer(str(tmp_path / "a.py"), FAULTY), options))
    assert answer.refused
    assert "the editor's settings" in answer.problems[0]


def test_a_settings_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.torchdevlint\n", encoding="utf-8")
    answer = do(Job("examine", Buffer(str(tmp_path / "a.py"), FAULTY), {}))
    assert answer.refused
    assert "pyproject.toml" in answer.problems[0]


def test_a_coding_line_says_nothing_of_a_buffer() -> None:
    text = "# coding: latin-1\n" + FAULTY.replace("model.pt", "m\xf6del.pt")
    answer = do(Job("examine", Buffer("/train.py", text, on_disk=False), {}))
    assert [(f.code, f.span.start.row) for f in answer.findings] == [("TDL101", 3)]


def test_a_nul_byte_is_told() -> None:
    assert do(Job("examine", Buffer("/a.py", FAULTY + "\0"), {})).problems


def test_the_cells_of_a_notebook_are_one_program() -> None:
    cells = ("import torch", None, "%matplotlib inline\nw = torch.load('w.pt')\nnet.load_state_dict(w)")
    answer = do(Job("fix", Buffer("/a.ipynb", "", cells), {}))
    assert answer.texts == (cells[0], None, cells[2].replace("'w.pt'", "'w.pt', map_location=\"cpu\""))


# ---------------------------------------------------------------------------------------------------- the process

# Many branches, each of which moves what the next one reads: an examination of many seconds.
SLOW = "import torch\n" + "".join(
    f"def f{n}(x, model, device):\n"
    + "".join(
        f"    if x > {i}:\n        model.cuda()\n        y{i} = torch.zeros(3) + x.to(device)\n" for i in range(120)
    )
    for n in range(12)
)


def test_a_job_that_nobody_waits_for_ends() -> None:
    async def run() -> tuple[int, int, list[str]]:
        examiner = Examiner()
        try:
            await examiner.ask(Job("examine", Buffer("/a.py", "x = 1\n"), {}))
            before = examiner.pid
            slow = asyncio.ensure_future(examiner.ask(Job("examine", Buffer("/slow.py", SLOW), {})))
            await asyncio.sleep(0.3)
            slow.cancel()
            answer = await examiner.ask(Job("examine", Buffer("/b.py", FAULTY), {}))
            assert slow.cancelled()
            return before, examiner.pid, [finding.code for finding in answer.findings]
        finally:
            examiner.close()

    before, after, codes = asyncio.run(run())
    assert codes == ["TDL101"]
    if hasattr(os, "fork"):
        assert before == after  # interrupted and not killed: what it knows is still there


def test_a_process_that_dies_costs_one_answer() -> None:
    async def run() -> tuple[tuple[str, ...], list[str]]:
        examiner = Examiner()
        try:
            await examiner.ask(Job("examine", Buffer("/a.py", "x = 1\n"), {}))
            job = asyncio.ensure_future(examiner.ask(Job("examine", Buffer("/slow.py", SLOW), {})))
            await asyncio.sleep(0.3)
            os.kill(examiner.pid, 9)
            told = (await job).problems
            answer = await examiner.ask(Job("examine", Buffer("/b.py", FAULTY), {}))
            return told, [finding.code for finding in answer.findings]
        finally:
            examiner.close()

    told, codes = asyncio.run(run())
    assert told == ("/slow.py: not checked: the process that examined it ended with code -9",)
    assert codes == ["TDL101"]


def test_the_other_files_of_a_project_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").touch()
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("import torch\n", encoding="utf-8")
    train = Buffer(str(tmp_path / "train.py"), "import helpers\n" + FAULTY)
    helpers = tmp_path / "helpers.py"
    helpers.write_text("import flash_attn\n", encoding="utf-8")  # nothing runs without CUDA: a note
    assert examined(train) == []
    helpers.write_text("import torch\n", encoding="utf-8")
    do(Job("forget", train, {}))
    assert examined(train) == ["TDL101"]
