"""The arithmetic of the judged findings."""

from __future__ import annotations

import json
from pathlib import Path

import judged
import pytest

LINE = {
    "repository": "someone/nets",
    "commit": "0" * 40,
    "path": "train.py",
    "line": 3,
    "code": "TDL101",
    "verdict": "true",
    "why": "the checkpoint comes from a GPU",
    "sample": "random",
}


def judgement(**changes: object) -> object:
    return judged.Judgement(**{**LINE, **changes})


def test_reads_the_file_of_the_repository() -> None:
    assert len(judged.read(judged.JUDGED)) >= 100


def test_a_word_that_is_no_verdict_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_text(json.dumps(LINE | {"verdict": "maybe"}) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match="maybe"):
        judged.read(path)


def test_a_place_is_judged_once(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_text(f"{json.dumps(LINE)}\n{json.dumps(LINE | {'verdict': 'false'})}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="judged twice"):
        judged.read(path)


def test_a_file_is_found_as_a_tree_and_as_a_single_file(tmp_path: Path) -> None:
    here = judgement(path="src/train.py")
    assert judged.locate([tmp_path], here) is None
    single = tmp_path / "nets--src__train.py"
    single.touch()
    assert judged.locate([tmp_path], here) == single
    tree = tmp_path / "someone+nets" / "src" / "train.py"
    tree.parent.mkdir(parents=True)
    tree.touch()
    assert judged.locate([tmp_path], here) == tree


def test_a_finding_counts_where_code_and_line_agree(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    found = [
        {"filename": str(path), "location": {"row": 3}, "code": "TDL101", "severity": "warning"},
        {"filename": str(path), "location": {"row": 4}, "code": "TDL509", "severity": "error"},
    ]
    places = {judgement().key: path, judgement(line=4).key: path, judgement(line=5, code="TDL509").key: path}
    assert judged.severities(places, found) == {judgement().key: "warning"}


def test_precision_counts_taste_against_the_linter_and_leaves_portability_apart() -> None:
    judgements = [
        judgement(line=1),
        judgement(line=2, verdict="false"),
        judgement(line=3, verdict="taste"),
        judgement(line=4),
        judgement(line=5, code="TDL801"),
        judgement(line=6, code="TDL509", verdict="false"),
    ]
    reported = {item.key: "warning" for item in judgements[:5]}
    lines = judged.report(judgements, reported)
    assert "6 judged findings of 1 repositories; 5 are still reported" in lines[0]
    assert "0 true, 1 false, 0 matters of taste" in lines[0]
    assert "| random, errors and warnings | 2 | 1 | 1 | 50% |" in lines
    assert "| random, portability and order | 1 | 0 | 0 | 100% |" in lines


def test_a_finding_without_its_file_is_neither_reported_nor_gone() -> None:
    lost = judgement()
    assert "0 judged findings" in judged.report([lost], {}, [lost])[0]


def test_the_totals_tell_true_findings_apart() -> None:
    judgements = [
        judgement(line=1),
        judgement(line=2),
        judgement(line=3, verdict="false"),
        judgement(line=4, verdict="taste"),
    ]
    reported = {judgements[0].key: "warning", judgements[2].key: "error"}
    (row,) = judged.totals(judgements, reported).rows
    assert (row.side, row.faults, row.found, row.clean, row.false, row.false_errors) == ("regression", 2, 1, 2, 1, 1)
