"""Names that are written with themselves, `it = iter(it)`: whoever follows what a name holds comes to an end."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path

import pytest

from torchdevlint import check_source

FIXTURES = Path(__file__).parents[2] / "fixtures"
_OF_PYTHON = frozenset({*dir(builtins), "self", "cls"})


class _Renamed(ast.NodeTransformer):
    """All variables under two names."""

    def __init__(self, kept: set[str]) -> None:
        self._kept = kept

    def _name(self, name: str) -> str:
        return name if name in self._kept | _OF_PYTHON else f"v{len(name) % 2}"

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._name(node.id)
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        self.generic_visit(node)
        every = [*node.posonlyargs, *node.args, *node.kwonlyargs, *filter(None, (node.vararg, node.kwarg))]
        names: set[str] = set()
        for number, one in enumerate(every):
            name = self._name(one.arg)
            one.arg = name if name not in names else f"{name}_{number}"
            names.add(one.arg)
        return node


def _renamed(text: str) -> str:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return ""
    kept = {
        one.asname or one.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for one in node.names
    }
    kept |= {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return ast.unparse(_Renamed(kept).visit(tree))


@pytest.mark.parametrize("folder", sorted({path.parent for path in FIXTURES.rglob("*.py")}), ids=lambda one: one.name)
def test_every_rule_comes_to_an_end(folder: Path) -> None:
    for path in sorted(folder.glob("*.py")):
        check_source(_renamed(path.read_text(encoding="utf-8")), level="info")  # raises where a rule crashes


@pytest.mark.parametrize(
    "lines",
    [
        "it = iter(it)\n    for x in it:\n        x.cuda()",
        "net = nn.Linear(3, 3)\n    net.register_forward_hook(lambda m, i, o: net(o))\n    net.cuda()(it)",
        "net = nn.Linear(3, 3).cuda()\n    net.forward = net\n    net(it)",
    ],
    ids=["an iterator", "a hook", "a method"],
)
def test_what_goes_round_in_a_circle_is_left(lines: str) -> None:
    check_source(
        f"import torch\nfrom torch import nn\n\ndef main(it):\n    {lines}\n\nmain(torch.ones(3))\n", level="info"
    )
