"""Mutation testing: what is deleted, what counts as found, the table, and the machine's word on a small project."""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import sys
import zipfile
from pathlib import Path

import mutations
import pytest
from mutations import Judged, Untouched, Verdicts

from torchdevlint.findings import Related

HEAD = "import torch\n"


def deletions(text: str) -> list[tuple[str, int, str]]:
    """The family, the line and that line afterwards."""
    return [(m.family, m.row, m.text.splitlines()[m.row - 1]) for m in mutations.mutations(text)]


@pytest.mark.parametrize(
    ("line", "family", "after"),
    [
        ("x = x.to(device)", ".to(device)", "x = x"),
        ("x = x.to(self.device, non_blocking=True)", ".to(device)", "x = x"),
        ("x = x.to(device=device, dtype=torch.long)", ".to(device)", "x = x.to(dtype=torch.long)"),
        ("x = f(x).cuda()", ".to(device)", "x = f(x)"),
        ("x = torch.zeros(2, device=d)", "device=", "x = torch.zeros(2)"),
        ("x = torch.load(p, map_location=d)", "map_location=", "x = torch.load(p)"),
        ("x = y.detach().cpu().numpy()", ".cpu() before .numpy()", "x = y.detach().numpy()"),
        ('self.register_buffer("a", torch.ones(2), persistent=False)', "register_buffer", "self.a = torch.ones(2)"),
    ],
)
def test_one_piece_is_deleted(line: str, family: str, after: str) -> None:
    assert deletions(HEAD + line + "\n") == [(family, 2, after)]


@pytest.mark.parametrize(
    "line",
    [
        "x = x.to(torch.float32)",
        "x = x.to(other)",
        "torch.cuda()",
        "x = np.zeros(2, device=d)",
        "x = json.load(p, map_location=d)",
        "x = y.numpy()",
        'self.register_buffer("a", None)',
    ],
)
def test_nothing_else_is_deleted(line: str) -> None:
    assert deletions(HEAD + line + "\n") == []


def test_the_line_is_the_first_that_changes() -> None:
    text = HEAD + "x = torch.zeros(\n    2,\n    device=d,\n)\n"
    (mutation,) = mutations.mutations(text)
    assert (mutation.row, mutation.first, mutation.last) == (3, 2, 5)


def test_a_finding_that_was_there_before_is_not_the_deletion() -> None:
    text = HEAD + 'state = torch.load("weights.pt")\nother = torch.load("model.pt", map_location="cpu")\n'
    (mutation,) = mutations.mutations(text)
    before, after = mutations.told(text, "a.py").default, mutations.told(mutation.text, "a.py").default
    assert mutations.is_found(mutation, before, after)
    assert not mutations.is_found(mutation, before + before, after)


def test_the_default_level_is_told_apart_from_notes() -> None:
    text = HEAD + "def f(x):\n    y = x.cuda()\n    return y.cpu().cuda()\n"
    its = mutations.told(text, "a.py")
    assert its.default == mutations.check_source(text, "a.py")
    assert set(its.default) < set(its.notes)


def test_tests_and_unreadable_files_are_left_out(tmp_path: Path) -> None:
    line = HEAD + "x = torch.zeros(2, device=d)\n"
    for name, text in (("a.py", line), ("tests/b.py", line), ("c.py", "torch = (\n")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert [path.name for path in mutations.in_folder(tmp_path)] == ["a.py"]


def test_what_the_driver_reaches_is_drawn_first() -> None:
    text = HEAD + "".join(f"x{i} = torch.zeros({i}, device=d)\n" for i in range(9))
    files = {Path("a.py"): (text, list(mutations.mutations(text)))}
    drawn = mutations.draw(files, 4, 1, lambda path, mutation: mutation.row in (3, 8))
    assert {mutation.row for _, mutation in drawn[:2]} == {3, 8}
    assert len(drawn) == 4


def test_verdicts_are_kept(tmp_path: Path) -> None:
    (mutation,) = mutations.mutations(HEAD + "x = torch.zeros(2, device=d)\n")
    path = tmp_path / "verdicts.jsonl"
    kept = Verdicts(path)
    kept.add(kept.key("p", "a.py", mutation), "confirmed", "RuntimeError")
    assert Verdicts(path).known == kept.known
    assert Verdicts(path).known[kept.key("p", "a.py", mutation)]["verdict"] == "confirmed"


def test_the_table_tells_all_and_confirmed_apart() -> None:
    rows = [
        Judged("p", "a.py", 1, "device=", True, "confirmed"),
        Judged("p", "a.py", 2, "device=", False, "confirmed"),
        Judged("p", "a.py", 3, "device=", False, "passes"),
        Judged("q", "a.py", 4, "map_location=", True, "unreached"),
    ]
    lines = mutations.report(rows, Untouched(2, 1))
    assert lines[0] == "2 projects; 1 of 2 untouched files are silent."
    assert "| `device=` | 3 | 33% | - | - | 3 | 2 | 50% | - | - |" in lines
    assert "| `map_location=` | 1 | 100% | - | - | 0 | 0 | - | - | - |" in lines
    assert "| all | 4 | 50% | - | - | 3 | 2 | 50% | - | - |" in lines


def test_the_table_tells_what_is_found_in_the_project() -> None:
    rows = [
        Judged("p", "a.py", 1, "device=", True, "confirmed", inside=True),
        Judged("p", "a.py", 2, "device=", False, "confirmed", inside=True),
        Judged("p", "a.py", 3, "device=", True, "passes", inside=False),
    ]
    lines = mutations.report(rows, Untouched(2, 1))
    assert "| all | 3 | 67% | 67% | - | 3 | 2 | 50% | 100% | - |" in lines
    arguments = argparse.Namespace(most=20, seed=3, result="now", project=True, callers=False)
    told = {row.sample: (row.faults, row.found) for row in mutations.result(rows, Untouched(2, 1), arguments).rows}
    assert told["all deletions, faults or not, in the project"] == (3, 2)
    assert told["confirmed by the machine, in the project"] == (2, 2)


def test_a_file_is_read_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "tables.py").write_text(
        "import torch\n\ndef table():\n    return torch.ones(3, device='cuda')\n", encoding="utf-8"
    )
    main = "import torch\nfrom tables import table\nprint(table() + torch.ones(3{}))\n"
    (tmp_path / "main.py").write_text(main.format(", device='cuda'"), encoding="utf-8")
    copy = mutations.Copy(tmp_path)
    try:
        assert "TDL505" in {one.code for one in copy.told(main.format(""), "main.py").default}
        assert "TDL505" not in {one.code for one in copy.told(main.format(", device='cuda'"), "main.py").default}
    finally:
        copy.close()
    assert "TDL505" not in {one.code for one in mutations.told(main.format(""), "main.py").default}


def test_what_a_caller_brings_together_is_told_in_its_file(tmp_path: Path) -> None:
    step = "import torch\n\ndef step(net, rows):\n    for x in rows:\n{}        net(x)\n"
    moved = "        x = x.to('cuda')\n"
    (tmp_path / "step.py").write_text(step.format(moved), encoding="utf-8")
    (tmp_path / "main.py").write_text(
        "import torch\nfrom torch import nn\nfrom step import step\n\n"
        "step(nn.Linear(2, 2).to('cuda'), [torch.ones(2), torch.zeros(2)])\n",
        encoding="utf-8",
    )
    (tmp_path / "other.py").write_text("import main\n", encoding="utf-8")
    copy = mutations.Copy(tmp_path)
    try:
        before, after = (copy.told_by_callers(step.format(text), "step.py").default for text in (moved, ""))
    finally:
        copy.close()
    assert not any(mutations.brought(before, before))
    assert {Path(one.filename).name for one in mutations.brought(before, after)} == {"main.py"}


def test_a_line_of_another_file_is_not_near_a_deletion() -> None:
    its = mutations.told(HEAD + "def f(x):\n    y = x.cuda()\n    return y\n", "a.py").notes[0]
    far = dataclasses.replace(its.span, start=dataclasses.replace(its.span.start, row=90))
    several = (Related("b.py", far, "here"), Related(its.filename, far, "here"))
    rows = mutations.places(dataclasses.replace(its, related=several[:1]))
    assert 90 not in rows
    assert 90 in mutations.places(dataclasses.replace(its, related=several))


def test_projects_that_were_worked_with_are_told_apart() -> None:
    rows = [
        Judged("karpathy+nanoGPT", "a.py", 1, "device=", True, "confirmed"),
        Judged("new+project", "a.py", 2, "device=", False, None, noted=True),
        Judged("new+project", "a.py", 3, "device=", True, None, noted=True),
    ]
    arguments = argparse.Namespace(most=20, seed=3, result="now", project=False, callers=False)
    told = mutations.result(rows, Untouched(5, 4), arguments)
    counts = [(row.sample, row.side, row.faults, row.found) for row in told.rows]
    assert counts == [
        ("all deletions, faults or not", "regression", 1, 1),
        ("confirmed by the machine", "regression", 1, 1),
        ("all deletions, faults or not", "unseen", 2, 1),
    ]
    assert (told.rows[-1].clean, told.rows[-1].false) == (5, 1)
    assert told.rows[-1].note == "unseen: new/project"
    assert told.rows[-1].with_notes == 2
    assert told.rows[-1].families == {"device=": (2, 1, 2)}


DRIVER = """
from harness import devices, part

PROJECT = "small"
PATHS = ["."]
PRELOAD = []


@part
def adds():
    import small
    import torch

    return devices(small.add(torch.ones(2, device="cuda")))


@part
def breaks():
    raise ValueError("not today")
"""
PROJECT = """import torch


def add(x):
    late = torch.ones(2, device=x.device)
    one = torch.ones(2, device=x.device)
    torch.ones(3, device=x.device)
    return x + one, late


def never(x):
    return torch.ones(2, device=x.device)
"""


@pytest.mark.skipif(importlib.util.find_spec("torch") is None or sys.platform == "win32", reason="needs torch and fork")
def test_the_machine_tells_faults_from_harmless_deletions(tmp_path: Path) -> None:
    from mutation_machine import judge, serving

    driver, project = tmp_path / "driver.py", tmp_path / "small"
    project.mkdir()
    driver.write_text(DRIVER, encoding="utf-8")
    file = project / "small.py"
    file.write_text(PROJECT, encoding="utf-8")
    with serving(driver, project, 60) as (server, reach):
        assert list(reach.lines) == ["adds"]
        assert "ValueError: not today" in reach.errors["breaks"]
        kinds = {}
        for mutation in mutations.mutations(PROJECT):
            verdict = judge(server, reach, file, mutation.first, mutation.last, mutation.text)
            kinds[mutation.row] = verdict.kind, verdict.why
    assert kinds[5] == ("confirmed", "['cuda'] became ['cpu', 'cuda']")
    assert kinds[6][0] == "confirmed" and "cuda:0 and cpu" in kinds[6][1]
    assert kinds[7] == ("passes", "")
    assert kinds[12] == ("unreached", "")
    assert file.read_text(encoding="utf-8") == PROJECT


def test_every_driver_names_its_project() -> None:
    from mutation_machine import DRIVERS, drivers

    helpers = {"harness.py", "server.py", "fake_torchvision.py"}
    assert {path.name for path in drivers().values()} == {path.name for path in DRIVERS.glob("*.py")} - helpers


def test_a_checkpoint_is_made_another_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mutation_machine import DRIVERS

    monkeypatch.syspath_prepend(str(DRIVERS))
    import harness

    path = tmp_path / "a.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/data.pkl", b"xcuda:0y")
        archive.writestr("a/data/0", b"cuda:0")
    harness.from_another_machine(path)
    with zipfile.ZipFile(path) as archive:
        assert archive.read("a/data.pkl") == b"xcuda:7y"
        assert archive.read("a/data/0") == b"cuda:0"
