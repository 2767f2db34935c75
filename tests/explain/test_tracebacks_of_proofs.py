"""Real tracebacks: those of the rules' proofs on the virtual machine, with the proofs as their source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from torchdevlint.explain.answering import read
from torchdevlint.explain.conclusion import conclude
from torchdevlint.explain.evidence import gather

ROOT = Path(__file__).parents[2]
PROOFS = [
    json.loads(line) for line in (Path(__file__).parent / "proofs.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("proof", PROOFS, ids=[proof["proof"] for proof in PROOFS])
def test_the_rule_of_the_proof_is_named_first(proof: dict[str, str]) -> None:
    answer = read(proof["text"])
    assert answer is not None
    evidence = gather(answer, str(ROOT))
    assert evidence.line is not None
    assert evidence.state == "read"
    assert [finding.code for finding in evidence.findings][:1] == [proof["rule"]]
    assert conclude(answer, evidence).verdict.cause == proof["cause"]
