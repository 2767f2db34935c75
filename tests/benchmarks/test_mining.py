"""What counts as a repair of a device fault in a patch, and how a case is scored."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from pathlib import Path

import mined
import mining
import oracles
import pytest

PATCH = """\
diff --git a/pkg/model.py b/pkg/model.py
--- a/pkg/model.py
+++ b/pkg/model.py
@@ -3 +3 @@
-        mask = torch.zeros(n, n)
+        mask = torch.zeros(n, n, device=x.device)
@@ -8,2 +8,2 @@
-        self.scale = torch.ones(3)
-        self.name = "a"
+        self.register_buffer("scale", torch.ones(3))
+        self.name = "b"
diff --git a/tests/test_model.py b/tests/test_model.py
--- a/tests/test_model.py
+++ b/tests/test_model.py
@@ -1 +1 @@
-a = torch.zeros(3)
+a = torch.zeros(3, device=device)
"""


def test_a_patch_gives_a_case_for_each_file_and_family_outside_tests() -> None:
    cases = list(mining.cases_of("owner/name", "c" * 40, "p" * 40, PATCH))
    assert [(case.path, case.category, case.before_lines, case.after_lines) for case in cases] == [
        ("pkg/model.py", "creation", (3,), (3,)),
        ("pkg/model.py", "buffer-not-registered", (8,), (8,)),
    ]
    assert all(case.id.startswith("name-cccccccc-") for case in cases)


@pytest.mark.parametrize(
    ("old", "new", "family"),
    [
        ("state = torch.load(path)", 'state = torch.load(path, map_location="cpu")', "load-no-map-location"),
        (
            "self.layers = [nn.Linear(2, 2)]",
            "self.layers = nn.ModuleList([nn.Linear(2, 2)])",
            "submodule-in-plain-list",
        ),
        ("y = x.numpy()", "y = x.cpu().numpy()", "numpy-on-gpu"),
        ("x = x.cuda()", "x = x.to(device)", "hardcoded-cuda"),
        ("for x in loader: loss = f(x)", "for x in loader: loss = f(x.to(device))", "not-moved"),
        ("# x = x.cuda()", "# x = x.to(device)", None),
        ("x = x.to(device)", "x = x.to(device)  ", None),
    ],
)
def test_families(old: str, new: str, family: str | None) -> None:
    assert mining.family_of(old, new) == family


def test_a_line_that_changes_more_than_its_devices_is_no_repair() -> None:
    patch = PATCH.replace("zeros(n, n, device=x.device)", "zeros(m, n, device=x.device)")
    assert [case.category for case in mining.cases_of("o/n", "c" * 40, "p" * 40, patch)] == ["buffer-not-registered"]


def test_a_history_is_mined_by_what_it_changes_and_scored_before_and_after(tmp_path: Path) -> None:
    repository = tmp_path / "mirrors" / "owner+name"
    repository.mkdir(parents=True)

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], cwd=repository, check=True, capture_output=True)

    git("init", "-q")
    load = "import torch\n\n\ndef load(model, path):\n    model.load_state_dict(torch.load(path))\n    return model.to(device)\n"
    for text in (load, load.replace("load(path)", 'load(path, map_location="cpu")')):
        (repository / "load.py").write_text(text, encoding="utf-8")
        git("add", "load.py")
        git("commit", "-q", "-m", "an ordinary message")
    mirrors = tmp_path / "mirrors"
    cases = list(mining.mine("owner/name", repository / ".git", most=5, seconds=60))
    assert [(case.category, case.before_lines) for case in cases] == [("load-no-map-location", (5,))]
    sides = mined.Sides(mirrors, tmp_path / "out")
    assert sides.write(cases) == cases
    alone = mined.score_alone(cases, sides, mined.ROOT)["default"]
    inside = mined.score_inside(cases, sides, mined.ROOT)["default"]
    assert (alone.cases, alone.right, alone.resolved) == (1, 1, 1)
    assert (inside.cases, inside.right) == (1, 1)
    assert mined.score_floor(cases, sides).right == 1


def test_a_repository_stays_on_its_side_and_what_was_read_is_seen() -> None:
    read = frozenset(("a/b",))
    assert mined.half_of("a/b", read) == "seen"
    sides = {mined.half_of(f"owner/name{number}", read) for number in range(50)}
    assert sides == {"seen", "unseen"}


def test_a_journal_goes_on_where_a_run_was_ended(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = mined.Journal(path, "abc1234")
    told = {"before": [mined.Told("TDL101", (3, 4), True)], "after": []}
    journal["alone one"] = told
    with path.open("a", encoding="utf-8") as file:
        file.write('{"key": "inside two", "to')  # killed while it wrote
    again = mined.Journal(path, "abc1234")
    again["inside three"] = {}
    third = mined.Journal(path, "abc1234")
    assert third["alone one"] == told
    assert "inside two" not in third
    assert "inside three" in third
    with pytest.raises(ValueError, match="begun with revision abc1234"):
        mined.Journal(path, "def5678")
    path.write_text('{"revision": "abc1234"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="another version of this script"):
        mined.Journal(path, "abc1234")


NOTED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = torch.ones(4)

    def forward(self, x):
        return x * self.mask


def load(net, path):
    net.load_state_dict(torch.load(path))
    return net.cuda()


def mean(batches):
    total = 0.0
    for batch in batches:
        total += batch.cuda().cpu().cuda().sum().item()
    return total


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.save(Net().to(device), "net.pt")  # noqa: TDL517
"""


def test_the_default_level_is_the_part_of_a_run_with_notes_that_a_plain_run_tells(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(NOTED, encoding="utf-8")
    told = mined.check([path], ["--isolated"], mined.ROOT)[str(path)]
    command = ["check", "--isolated", "--no-cache", "--exit-zero", "--output-format", "json", str(path)]
    plain = json.loads(mined._linter(mined.ROOT, command).stdout)
    assert [(one.code, one.rows) for one in mined.at_level(told, "default")] == [
        (finding["code"], mined.rows_of(finding)) for finding in plain
    ]
    off_by_default = {one.code for one in told} - mined.on_by_default(mined.ROOT)
    assert plain
    assert "TDL001" in off_by_default
    assert len(mined.at_level(told, "notes")) > len(plain) + len(off_by_default)


def case_of(tmp_path: Path) -> tuple[mining.Case, mined.Sides]:
    """A case without a repository, and its files."""
    case = mining.Case(
        **{field.name: "" for field in dataclasses.fields(mining.Case)}
        | {
            "id": "one",
            "repo": "a/b",
            "path": "m.py",
            "category": "creation",
            "before_lines": (7,),
            "after_lines": (7,),
        }
    )
    sides = mined.Sides(tmp_path, tmp_path / "out")
    for side in ("before", "after"):
        sides.path(case, side).parent.mkdir(parents=True, exist_ok=True)
        sides.path(case, side).write_text("import torch\n", encoding="utf-8")
    return case, sides


def test_what_a_journal_holds_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, sides = case_of(tmp_path)
    journal = mined.Journal(tmp_path / "journal.jsonl", "abc1234")
    journal["alone one"] = {"before": [mined.Told("TDL515", (7,), True)], "after": []}
    journal["inside one"] = {"before": [mined.Told("TDL515", (7,), False)]}
    monkeypatch.setattr(mined, "check", lambda *_: pytest.fail("the linter was asked"))
    alone = mined.score_alone([case], sides, tmp_path, journal)
    assert (alone["default"].right, alone["notes"].right) == (1, 1)
    inside = mined.score_inside([case], sides, tmp_path, journal)
    assert (inside["default"].right, inside["notes"].right) == (0, 1)


def test_a_tree_that_takes_too_long_is_skipped_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case, sides = case_of(tmp_path)
    tree = tmp_path / "tree"
    tree.mkdir()
    monkeypatch.setattr(sides, "tree", lambda *_: tree)
    endless = tmp_path / "package" / "torchdevlint"
    endless.mkdir(parents=True)
    (endless / "__init__.py").touch()
    (endless / "__main__.py").write_text("while True: pass\n", encoding="utf-8")
    journal = mined.Journal(tmp_path / "journal.jsonl", "abc1234")
    inside = mined.score_inside([case], sides, endless.parent, journal, seconds=1)
    assert [(score.cases, score.skipped) for score in inside.values()] == [(0, 1), (0, 1)]
    assert "a/b at : more than 1 s of CPU time, skipped" in capsys.readouterr().err
    assert journal["inside one"] == {}
    again = mined.score_inside([case], sides, tmp_path / "nowhere", journal)
    assert again["notes"].skipped == 1


def test_figures_are_kept_with_their_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case, sides = case_of(tmp_path)
    paths = {side: sides.path(case, side) for side in ("before", "after")}
    monkeypatch.setattr(mined, "RESULTS", tmp_path / "results" / "mined.json")
    monkeypatch.setattr(mined, "read_cases", lambda: [case])
    monkeypatch.setattr(mined, "repositories_read", lambda: frozenset(("a/b",)))
    monkeypatch.setattr(mined.Sides, "write", lambda *_: [case])
    monkeypatch.setattr(mined.Sides, "path", lambda _, case, side: paths[side])
    for words in (["--alone"], ["--alone", "--half", "seen", "--floor"]):
        monkeypatch.setattr("sys.argv", ["mined.py", "score", str(tmp_path), *words, "--write"])
        mined.main()
    stored = json.loads(mined.RESULTS.read_text(encoding="utf-8"))
    assert stored["now"]["commands"] == {"seen": "python benchmarks/mined.py score MIRRORS --half seen --alone --floor"}
    assert stored["now"]["halves"]["seen"]["alone, notes"]["cases"] == 1
    (told,) = oracles.from_mined(stored)
    assert told.command == "`python benchmarks/mined.py score MIRRORS --half seen --alone --floor`"
