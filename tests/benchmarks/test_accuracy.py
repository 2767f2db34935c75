"""The accuracy table: what the scorer prints, read and told."""

from __future__ import annotations

import accuracy
import pytest

REPORT = """\
missed     peft-1 buffer-not-registered single-file [58]: cached tensors in a dict
unresolved pykeen-2 index-or-mask-device cross-file [49]: probabilities stored elsewhere
wrong code esm-3 batch-not-moved single-file [111, 118]: loss read back with numpy()
                                 cases   recall    right  resolved
all                                192    40.1%    39.1%     38.0%
single-file                        154    48.7%    48.1%     47.4%
stray: 64 findings on 88757 lines of repaired files away from the repair, 0.72 per 1,000 lines
clean: 23 files, 20081 lines, 2 findings, 0.10 per 1,000 lines: {'TDL101': 1, 'TDL805': 1}
"""


def test_report_is_read() -> None:
    run = accuracy.parsed(REPORT)
    assert run.families["single-file"] == accuracy.Family(154, 48.1, 47.4)
    assert (run.stray, run.noise, run.clean_lines) == (0.72, 0.10, 20081)
    assert run.noise_by_rule == {"TDL101": 1, "TDL805": 1}
    assert [miss[:3] for miss in run.misses] == [
        ("peft-1", "buffer-not-registered", "single-file"),
        ("pykeen-2", "index-or-mask-device", "cross-file"),
        ("esm-3", "batch-not-moved", "single-file"),
    ]


def test_no_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="no table"):
        accuracy.parsed("Traceback (most recent call last):\n")


def test_section_tells_before_and_after_and_every_cause() -> None:
    before, now = accuracy.parsed(REPORT.replace("48.1%", "40.0%")), accuracy.parsed(REPORT)
    text = "\n".join(accuracy.report({"before": before, "now": now}, {"peft-1": "containers on self"}, 0))
    assert "| single-file | 154 | 40% / 47% | 48% / 47% |" in text
    assert "| TDL805 | 1 | 1 |" in text
    assert "| containers on self | 1 | buffer-not-registered 1 |" in text
    assert "| not looked into | 1 | batch-not-moved 1 |" in text  # the cross-file case is not among them


def test_each_cause_is_told_once():
    causes = accuracy.read_causes(accuracy.MISSED)
    assert len(causes) == len(accuracy.MISSED.read_text(encoding="utf-8").splitlines())
    assert all(causes.values())
