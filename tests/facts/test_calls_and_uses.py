"""Who is meant by a call, what is done with a value, which devices an expression spells: facts of the text that several rules ask."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.calls import callees
from torchdevlint.facts.spelled import accelerator_in, texts_in
from torchdevlint.facts.uses import uses_of
from torchdevlint.program import ir
from torchdevlint.program.from_ast import lower
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.project import Member, Project


def facts_of_text(source: str) -> FileFacts:
    return FileFacts(lower(ast.parse(source)))


def call_of(name: str, analysis: FileFacts) -> tuple[ir.Call, ir.Body]:
    found = [
        (c, b) for b in analysis.program.bodies for c in Lookup.of(b).kind(ir.Call) if Lookup.of(b).called(c) == name
    ]
    assert len(found) == 1
    return found[0]


def test_a_call_means_what_a_package_hands_on(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    files = {
        "tools/__init__.py": "from .start import begin",
        "tools/start.py": "import torch\ndef begin():\n    assert torch.cuda.is_available()\n",
        "train.py": "from tools import begin\ndef main():\n    begin()\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    project = Project(str(tmp_path))
    member = Member(project, str(tmp_path / "train.py"))
    program = project.program(member.path)
    assert program is not None
    analysis = FileFacts(program, member=member)
    [(body, there)] = callees(*call_of("begin", analysis), analysis)
    assert (body.name, there.program is not program) == ("begin", True)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = load()\nx['a'].sum()", {("named", True), ("subscript", True), ("receiver", False)}),
        ("x = load()\nx = 1\nx.sum()", {("named", True)}),
        ("x = load().to('cpu')\nf(x)", {("receiver", True), ("named", True), ("argument", True)}),
        ("for one in load():\n    f(one)", {("iterated", True), ("named", False), ("argument", False)}),
        ("a, b = load()\nprint(a.grad)", {("named", True), ("attribute", True)}),
        ("x = load() if ready else None\n'a' in x", {("item", True), ("named", True), ("compared", True)}),
    ],
)
def test_uses_of_a_value_and_of_its_parts(source: str, expected: set[tuple[str, bool]]) -> None:
    analysis = facts_of_text(source)
    call, body = call_of("load", analysis)
    assert {(use.role, use.is_whole) for use in uses_of(call, body, analysis)} == expected


@pytest.mark.parametrize(
    ("spelled", "device", "texts"),
    [
        ("'cuda'", "cuda", ["cuda"]),
        ("'cpu'", None, ["cpu"]),
        ("torch.device('cuda:1')", "cuda:1", ["cuda:1"]),
        ("torch.device('cuda', 1)", "cuda:1", ["?"]),
        ("torch.device('cuda', rank)", None, ["?"]),
        ("'cuda' if ready else torch.device('cpu')", None, ["cuda", "cpu"]),
        ("chosen", None, ["?"]),
    ],
)
def test_devices_that_an_expression_spells(spelled: str, device: str | None, texts: list[str]) -> None:
    analysis = facts_of_text(f"import torch\nprobe({spelled})")
    call, body = call_of("probe", analysis)
    found = accelerator_in(call.positional(0), body, analysis)
    assert (found.name if found is not None else None, list(texts_in(call.positional(0), body, analysis))) == (
        device,
        texts,
    )
