"""A few damaged files; `benchmarks/damaged_files.py` goes on with thousands."""

from __future__ import annotations

from pathlib import Path

import damaged_files
import pytest

FILES = damaged_files.files((Path(__file__).parent.parent.parent / "fixtures",))


@pytest.mark.parametrize("number", range(0, 60, 2))
def test_a_damaged_file_does_no_harm(number: int) -> None:
    raw = damaged_files.damaged(number, FILES)
    assert [told for told in damaged_files.complaints(raw) if not told.startswith("took ")] == []


def test_a_mutation_is_known_by_its_number() -> None:
    assert damaged_files.damaged(3, FILES) == damaged_files.damaged(3, FILES)
    assert len({damaged_files.damaged(number, FILES) for number in range(30)}) > 25


def test_a_continued_line_in_front_of_a_statement() -> None:
    text = "import torch\n\ndef f(m):\n  \\\n  m.load_state_dict(torch.load('a.pt'))\n  return m\n"
    assert list(damaged_files.complaints(text.encode())) == []
