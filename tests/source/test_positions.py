"""Where nodes stand in their text."""

from __future__ import annotations

import ast
import random
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest

from torchdevlint.findings import Position
from torchdevlint.program import from_ast
from torchdevlint.program.bounds import parse
from torchdevlint.program.reparse import Version, reparse
from torchdevlint.source.positions import LineIndex, OffsetSpan, Place, record, spans


def _nodes(module: cst.Module) -> Iterator[cst.CSTNode]:
    waiting: list[cst.CSTNode] = [module]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.children)


def _texts(text: str, *kinds: type[cst.CSTNode]) -> list[tuple[str, str]]:
    """Each node of `kinds`, in order, without and with its parentheses."""
    module = cst.parse_module(text)
    nodes = [node for node in _nodes(module) if isinstance(node, kinds)]
    found = sorted(spans(module, nodes, text).values(), key=lambda span: (span.start, -span.end))
    return [(text[span.start : span.end], text[span.outer_start : span.outer_end]) for span in found]


def test_parentheses() -> None:
    assert _texts("( (a) . b )\n", cst.Attribute, cst.Name) == [
        ("(a) . b", "( (a) . b )"),
        ("a", "(a)"),
        ("b", "b"),
    ]


def test_statements_stand_without_comments_and_newlines() -> None:
    text = "# c\n\nif a : # d\n    # e\n    b ; c\n\n    # f\nelse:\n    d\n# g\n"
    statements = _texts(text, cst.BaseStatement, cst.BaseSmallStatement)
    assert [inner for inner, _ in statements] == [
        "if a : # d\n    # e\n    b ; c\n\n    # f\nelse:\n    d",
        *("b ; c", "b", "c", "d", "d"),
    ]
    assert all(inner == outer for inner, outer in statements)


def test_parts_of_statements() -> None:
    text = "from a import (b as c, d)\nwith e as f , g: pass\nh(*i, j = 1 , )\nk = [l for m in n if o]\n"
    kinds = (cst.ImportAlias, cst.WithItem, cst.Arg, cst.CompFor, cst.CompIf)
    assert [inner for inner, _ in _texts(text, *kinds)] == [
        *("b as c", "d", "e as f", "g", "*i", "j = 1", "for m in n if o", "if o"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffaa = bb\n",
        "\faa = 1\n\f\n\fbb\n",
        "aa\rbb\r",
        "aa\r\nbb",
        "def f():\n\taa = '''\r\n'''\r\n\fbb\n",
        "x = 'äöü', aa, '\U0001f600', bb\n",
        "\n\n  # c\naa \\\n + bb",
        " \f \faa\n  \fbb\n",
        "def f():\n    \f  aa\n  bb\n",
        "class A:\n    def f():\n    \f        aa\n        bb\n",
        "def f():\n  aa\n\\\n  bb\n",
        "\f \\\naa\n\f\\\r\nbb\n",
    ],
)
def test_what_code_generation_loses_is_counted(text: str) -> None:
    module = cst.parse_module(text)
    names = {node.value: node for node in _nodes(module) if isinstance(node, cst.Name) and node.value in ("aa", "bb")}
    found = spans(module, names.values(), text)
    for name, node in names.items():
        assert (found[id(node)].start, found[id(node)].end) == (text.index(name), text.index(name) + 2)


def test_a_text_that_is_not_the_modules_is_refused() -> None:
    module = cst.parse_module("a = 1\n")
    for text in ("b = 1\n", "a = 1;c = 2\n", "a = 11\n"):
        with pytest.raises(ValueError, match="not what the module was parsed from"):
            spans(module, [module.body[0]], text)


def test_only_nodes_of_the_module_are_found() -> None:
    module = cst.parse_module("a\n")
    assert spans(module, [cst.Name("a")], "a\n") == {}
    assert spans(module, [], "a\n") == {}
    assert spans(module, [module.body[0]]) == {id(module.body[0]): OffsetSpan(0, 1, 0, 1)}


def test_code_is_generated_up_to_the_last_node() -> None:
    text = "a = 1\nbb = 2\n" + "c = 3\n" * 9
    module = cst.parse_module(text)
    found = record(module, text, [module.body[1]], [module.body[0]])
    assert found.spans == {id(module.body[1]): OffsetSpan(6, 12, 6, 12)}
    assert found.places == {id(module.body[0]): Place(0, 6, ())}
    assert spans(module, [module.body[1]], text[:13]) == found.spans


def test_deep_nodes_are_found() -> None:
    # Python 3.12 bounds the recursion of C code at a fixed depth, which no stack size moves; 3.13 asks the stack again.
    depth = 300 if sys.version_info[:2] == (3, 12) else 1500
    text = "x = a" + " + a" * depth + " + bb\n"
    module = parse(text)
    (name,) = (node for node in _nodes(module) if isinstance(node, cst.Name) and node.value == "bb")
    assert spans(module, [name], text)[id(name)].start == text.index("bb")


def _library_files() -> list[Path]:
    files = sorted(Path(cst.__file__).parent.rglob("*.py")) + sorted(Path(pytest.__file__).parent.rglob("*.py"))
    return [path for path in files if path.stat().st_size < 30_000][::8]


@pytest.mark.parametrize("path", _library_files(), ids=lambda path: path.name)
def test_expressions_are_what_python_reads_there(path: Path) -> None:
    text = path.read_bytes().decode("utf-8")
    module = cst.parse_module(text)
    assert module.code == text
    kinds = (
        cst.Call,
        cst.Attribute,
        cst.Subscript,
        cst.BinaryOperation,
        cst.SimpleString,
        cst.Tuple,
        cst.List,
        cst.Dict,
    )
    nodes: list[cst.CSTNode] = [node for node in _nodes(module) if isinstance(node, kinds)]
    found = spans(module, nodes, text)
    assert found.keys() == {id(node) for node in nodes}
    for node in random.Random(0).sample(nodes, min(60, len(nodes))):
        span = found[id(node)]
        assert _tree(text[span.outer_start : span.outer_end]) == _tree(module.code_for_node(node))
        assert text[span.start : span.end] == text[span.start : span.end].strip()


def _tree(code: str) -> str:
    return ast.dump(ast.parse(f"({textwrap.dedent(code)}\n)"))


def test_lines() -> None:
    text = "a\nbé\r\n\fc\rd\u2028e\x0bf"
    index = LineIndex(text)
    rows = {character: index.position(text.index(character)) for character in "abcdef"}
    assert rows == {
        "a": Position(1, 1),
        "b": Position(2, 1),
        "c": Position(3, 2),
        "d": Position(4, 1),
        "e": Position(4, 3),
        "f": Position(4, 5),
    }
    assert all(index.offset(index.position(offset)) == offset for offset in range(len(text) + 1))
    assert index.span(0, 2).end == Position(2, 1)
    with pytest.raises(IndexError):
        index.offset(Position(9, 1))
    assert LineIndex("").position(0) == Position(1, 1)


_VERSION = (
    """# head
import os

class A(B):
    """
    + '"""Doc."""'
    + """
    x = 1

    # a comment
    def f(self, a):
        return (a) + 1

    def g(self): return 2; pass


class C: a = 1; b = 2

match os:
    case 1:
        x = (1)


@d
def h(x):
    if x:
        return [A().f(x)]
# foot
"""
)


def test_what_was_generated_of_the_version_before_changes_no_place() -> None:
    """Statements that two versions share are not generated again, unless a chosen node is in them."""
    random_ = random.Random(3)
    versions = [_VERSION, _VERSION.replace("return 2", "return 2 + 2"), _VERSION.replace("# head", "# head\n# two")]
    versions += [_VERSION.replace("+ 1", "+ (\n 1)"), _VERSION.replace("return [", "y = 1\n        return ["), _VERSION]
    before: Version | None = None
    for text in versions * 4:
        program = from_ast.read(text)
        assert program is not None
        before = reparse(before, text, program.rows)
        kept, fresh = list(_nodes(before.module)), list(_nodes(parse(text)))
        assert len(kept) == len(fresh)
        for _ in range(5):
            chosen = random_.sample(range(len(kept)), random_.randrange(1, 6))
            found, expected = (
                record(nodes[0], text, [nodes[at] for at in chosen], [nodes[at] for at in chosen[:2]])
                for nodes in (kept, fresh)
            )
            for at in chosen:
                assert found.spans.get(id(kept[at])) == expected.spans.get(id(fresh[at]))
                assert found.places.get(id(kept[at])) == expected.places.get(id(fresh[at]))
