"""The language, chapter by chapter: what brings a tensor to where it meets another, and what moves it on the way.

language.txt holds the cases, `==== KIND CHAPTER/NAME` with definitions that end in `----` where there are any, and lines that bind `o`. They are
given `t`, and `x`, which is on a GPU. KIND says what a run of them shows (each was run on the virtual machine): `carries`, `o` is where `t` is;
`moves`, it is on the GPU wherever `t` is; `leaves`, it is on the CPU wherever `t` is. A case whose name is followed by `known` is one that the
analysis is known to get wrong: who mends it takes the word away.
"""

from __future__ import annotations

import ast
import textwrap

import pytest
from idiom_programs import IMPORTS, IN_A_FUNCTION, IN_MAIN, ON_THE_CPU, ON_THE_GPU
from test_language_and_library import Case, cases_of

from torchdevlint.infer.analysis import analyse
from torchdevlint.program import from_ast


def _broken(case: Case, form: str, made: str) -> bool:
    lines = textwrap.indent(case.lines, "    ")
    text = f"{IMPORTS}\n{case.top}\n{form.format(made=made, lines=lines)}"
    return any(fault.verdict == "broken" for fault in analyse(from_ast.lower(ast.parse(text))).decided())


def _parameter(case: Case) -> object:
    name, _, known = case.name.partition(" ")
    return pytest.param(case, id=name, marks=pytest.mark.xfail(reason="known", strict=True) if known else ())


@pytest.mark.parametrize("form", [IN_MAIN, IN_A_FUNCTION], ids=["inline", "function"])
@pytest.mark.parametrize("case", list(map(_parameter, cases_of("language.txt"))))
def test_a_run_shows_the_same(case: Case, form: str) -> None:
    assert _broken(case, form, ON_THE_CPU) == (case.kind != "moves")
    assert _broken(case, form, ON_THE_GPU) == (case.kind == "leaves")
