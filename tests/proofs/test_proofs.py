"""Every rule's proof holds on the virtual machine, and every rule has one or says why not."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import warm

from torchdevlint.cli.prove import BEGIN, END, write_table
from torchdevlint.findings import Severity
from torchdevlint.linter import lint
from torchdevlint.rules.registry import all_rules
from torchdevlint.settings import Selection, Settings
from torchdevlint.verify.proofs import Evidence, Host, Proof, _judge, all_proofs, look_at_host, prove, shape_called

_NOT_ABOUT_DEVICES = {"TDL000", "TDL001"}
_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def evidence() -> dict[str, list[Evidence]]:
    found: dict[str, list[Evidence]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", warm.Popen)
        for item in prove(all_proofs(), "virtual", look_at_host()):
            found.setdefault(item.code, []).append(item)
    return found


@pytest.mark.parametrize("proof", all_proofs(), ids=lambda proof: proof.code)
def test_the_fault_shows_and_the_repair_does_not(proof: Proof, evidence: dict[str, list[Evidence]]) -> None:
    assert [item.shape for item in evidence[proof.code]] == sorted(proof.shapes)
    for item in evidence[proof.code]:
        assert item.outcome == "proved", f"{item.shape}: {item.reason}"
        assert re.search(proof.expect, item.fault) and not re.search(proof.expect, item.repair)


def test_a_proof_in_a_new_interpreter() -> None:
    """The children of the tests above are forks of a process that has imported torch."""
    (proof,) = (proof for proof in all_proofs() if proof.code == "TDL501")
    assert [(item.shape, item.outcome) for item in prove([proof], "virtual", Host("2.13", 0, ""))] == [("1", "proved")]


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_every_rule_has_a_proof_or_says_why_not(rule: Any) -> None:
    proof = next((proof for proof in all_proofs() if proof.code == rule.code), None)
    if proof is not None:
        assert proof.name == rule.name
    elif rule.code not in _NOT_ABOUT_DEVICES:
        section = rule.documentation().partition("## Proof")[2].partition("\n## ")[0]
        assert re.search(r"cannot be shown|no proof is claimed|None: ", section), f"{rule.code}: {section!r}"


_NOT_SEEN_IN_ITS_PROOF = {"TDL523"}
"""The definition stands inside of `fault`, so that importing the proof does not start CUDA; the rule is about modules."""


@pytest.mark.parametrize("proof", all_proofs(), ids=lambda proof: proof.code)
def test_the_rule_finds_its_own_fault_and_not_its_repair(proof: Proof) -> None:
    if proof.code in _NOT_SEEN_IN_ITS_PROOF:
        pytest.skip("the rule reads modules, the proof is a function")
    raw = proof.path.read_bytes()
    settings = Settings(selections=(Selection(select=(proof.code,)),), level=Severity.INFO)
    rows = [finding.span.start.row for finding in lint(str(proof.path), raw, settings).findings]
    parts = [node for node in ast.parse(raw).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    names = {part.name for row in rows for part in parts if part.lineno <= row <= (part.end_lineno or 0)}
    assert names, "the linter does not see the fault"
    assert not any(name in ("repair", "Repaired", "built_after") for name in names)


def test_proofs_name_shapes_that_exist() -> None:
    for proof in all_proofs():
        assert proof.shapes and proof.sentence, proof.code
        for name in proof.shapes:
            shape_called(name)


_SIDE: dict[str, Any] = {"error": None, "shown": None, "hazards": [], "warnings": [], "ledger": None}


@pytest.mark.parametrize(
    ("fault", "repair", "reason"),
    [
        ({"shown": "fine"}, {}, "the fault does not show: fine"),
        ({"error": "E: bad"}, {"error": "E: other"}, "the repair fails: E: other"),
        ({"error": "E: bad"}, {"shown": "still bad"}, "the repair shows the same: still bad"),
    ],
)
def test_a_proof_that_does_not_hold_is_not_proved(fault: dict[str, Any], repair: dict[str, Any], reason: str) -> None:
    proof = Proof("TDL101", "x", "", ("1",), "bad", False, False, Path("x.py"))
    results = {(proof.module, "fault"): _SIDE | fault, (proof.module, "repair"): _SIDE | repair}
    judged = _judge(proof, "1", "virtual", Host("2.13", 0, ""), results)
    assert (judged.outcome, judged.reason) == ("not proved", reason)


def test_the_table_replaces_only_what_is_between_the_markers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"above\n{BEGIN}\nold\n{END}\nbelow\n")
    item = Evidence("TDL101", "x", "virtual", "cpu", "2.13", "proved", "a | b", "fine")
    write_table(page, [item], Host("2.13", 0, ""))
    text = page.read_text()
    assert text.startswith("above\n") and text.endswith("below\n") and "old" not in text
    assert "| TDL101 x | no GPU (CPU-only build), virtual | proved | a \\| b | fine |" in text


def test_the_committed_evidence_covers_every_proof() -> None:
    text = (_ROOT / "docs" / "evidence-virtual.md").read_text()
    missing = [proof.code for proof in all_proofs() if f"| {proof.code} {proof.name} |" not in text]
    assert not missing, "run: torchdevlint prove --device virtual --evidence docs/evidence-virtual.md"
    assert "not proved" not in text


def test_an_unknown_code_is_a_usage_error() -> None:
    command = [sys.executable, "-m", "torchdevlint", "prove", "TDL1", "TDL999"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "no proof is called TDL999" in done.stderr
