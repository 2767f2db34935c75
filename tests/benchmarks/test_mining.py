"""What counts as a repair of a device fault in a patch, and how a case is scored."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import mined
import mining
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
    alone = mined.score_alone(cases, sides, [], mined.ROOT)
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
    journal["inside one"] = {"default": [("TDL101", (3, 4))], "notes": []}
    with path.open("a", encoding="utf-8") as file:
        file.write('{"key": "inside two", "to')  # killed while it wrote
    again = mined.Journal(path, "abc1234")
    again["inside three"] = {"default": [], "notes": []}
    third = mined.Journal(path, "abc1234")
    assert third["inside one"] == {"default": [("TDL101", (3, 4))], "notes": []}
    assert "inside two" not in third
    assert "inside three" in third
    with pytest.raises(ValueError, match="begun with revision abc1234"):
        mined.Journal(path, "def5678")


def test_what_a_journal_holds_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    journal = mined.Journal(tmp_path / "journal.jsonl", "abc1234")
    journal["alone one"] = {"before": [("TDL515", (7,))], "after": []}
    journal["inside one"] = {"default": [], "notes": [("TDL515", (7,))]}
    monkeypatch.setattr(mined, "check", lambda *_: pytest.fail("the linter was asked"))
    assert mined.score_alone([case], sides, [], tmp_path, journal).right == 1
    inside = mined.score_inside([case], sides, tmp_path, journal)
    assert (inside["default"].right, inside["notes"].right) == (0, 1)
