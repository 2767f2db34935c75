"""Annotations written as text."""

from __future__ import annotations

import pytest

from torchdevlint.program.annotations import parse_annotation
from torchdevlint.program.dump import annotation_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.Tensor", "torch.Tensor"),
        (" Tensor ", "Tensor"),
        ("Optional['Tensor']", "Optional[Tensor]"),
        ("A | b.C | None", "A | b.C | None"),
        ("Callable[[A, B], C[D]]", "Callable[[A, B], C[D]]"),
        ("dict[str,\n  int]", "dict[str, int]"),
        ("t.Literal['cuda']", "t.Literal"),
        ("tuple[int, ...]", "tuple[int, ?]"),
        ("f(x)", "?"),
        ("f(x)[y]", "?"),
        ("not a type", "?"),
        ("class", "class"),
        ("a\0b", "?"),
        ("(" * 900, "?"),
        ("x" * 3000 + "[y]", "?"),
    ],
)
def test_parsed(text: str, expected: str) -> None:
    assert annotation_text(parse_annotation(text)) == expected
