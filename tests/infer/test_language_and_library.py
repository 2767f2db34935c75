"""What Python and PyTorch have to carry and to make a tensor: each is understood, on the CPU and on the other side.

language_and_library.txt holds the cases: `==== carries NAME` or `==== makes NAME`, definitions that end in `----` where there are any, and lines that bind
`o`: to `t` behind something that carries it, or to what was made on the CPU. `x` is on a GPU.
"""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest
from idiom_programs import IMPORTS

from torchdevlint.infer.analysis import analyse
from torchdevlint.program import from_ast


class Case(NamedTuple):
    """One entry of the table."""

    kind: str
    name: str
    top: str
    lines: str


def cases_of(table: str) -> list[Case]:
    """The entries of a table beside this file."""
    found = []
    for part in (Path(__file__).parent / table).read_text(encoding="utf-8").split("==== ")[1:]:
        header, _, body = part.partition("\n")
        kind, _, name = header.partition(" ")
        top, marked, lines = body.rpartition("----\n")
        found.append(Case(kind, name, top if marked else "", lines))
    return found


def _cases_of(kind: str) -> pytest.MarkDecorator:
    several = [case for case in cases_of("language_and_library.txt") if case.kind == kind]
    return pytest.mark.parametrize("case", several, ids=[case.name for case in several])


def broken(case: Case, made: str, meeting: str = "print(x @ o)") -> bool:
    """Whether a caller is seen to break a claim."""
    body = textwrap.indent(f"t = {made}\n{case.lines}\n{meeting}", "    ")
    text = f'{IMPORTS}\n{case.top}\n\ndef main(x):\n{body}\n\nmain(torch.ones(4, 4, device="cuda"))\n'
    found = analyse(from_ast.lower(ast.parse(text))).decided()
    return any(fault.verdict == "broken" for fault in found)


@_cases_of("carries")
def test_a_tensor_is_followed(case: Case) -> None:
    assert broken(case, "torch.ones(4, 4)")
    assert not broken(case, 'torch.ones(4, 4, device="cuda")')


@_cases_of("makes")
def test_a_tensor_on_the_cpu_is_known(case: Case) -> None:
    assert broken(case, "torch.ones(4, 4)")
    assert not broken(case, "torch.ones(4, 4)", "print(x @ o.to(x.device))")
