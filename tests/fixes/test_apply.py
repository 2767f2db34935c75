"""From edits of nodes to a new text."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
import pytest

from torchdevlint.findings import Applicability, Edit, Fix, Position, Span
from torchdevlint.fixes.apply import Splicer
from torchdevlint.fixes.builders import EditKind, NodeEdit
from torchdevlint.fixes.text import Taken, apply_fixes, overlaps
from torchdevlint.source.lines import Lines


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        yield from walk(child)


def find(module: cst.Module, text: str, *kinds: type[cst.CSTNode]) -> cst.CSTNode:
    """The outermost node of these kinds whose code is `text`, but for blanks around it."""
    return next(node for node in walk(module) if isinstance(node, kinds) and module.code_for_node(node).strip() == text)


def statement(module: cst.Module, text: str) -> cst.CSTNode:
    return find(module, text, cst.SimpleStatementLine, cst.BaseSmallStatement)


def expression(module: cst.Module, text: str) -> cst.CSTNode:
    return find(module, text, cst.BaseExpression)


def edited(text: str, *edits: tuple[str, cst.CSTNode | str, EditKind]) -> str:
    module = cst.parse_module(text)
    pick = {"replace": expression}
    nodes = [
        NodeEdit(pick.get(kind, statement)(module, target), replacement, kind) for target, replacement, kind in edits
    ]
    made = Splicer(module, text, Lines(text), nodes).edits(nodes)
    assert made is not None
    return apply_fixes(text, [Fix(Applicability.SAFE, "", made)])


def test_an_expression_in_a_nested_block_keeps_everything_around_it() -> None:
    text = "if a:\r\n\tfor b in c:\r\n\t\tf( x )  # why\r\n"
    new = cst.parse_expression("x.cpu()")
    assert edited(text, ("x", new, "replace")) == "if a:\r\n\tfor b in c:\r\n\t\tf( x.cpu() )  # why\r\n"


def test_edits_are_minimal_and_do_not_cut_words() -> None:
    text = "import torch\nx = torch.load(  path,\n  weights_only=True)\n"
    module = cst.parse_module(text)
    target = expression(module, "torch.load(  path,\n  weights_only=True)")
    new = target.with_deep_changes(target.func.attr, value="look")  # type: ignore[attr-defined]
    (edit,) = Splicer(module, text, Lines(text), [NodeEdit(target, new)]).edits([NodeEdit(target, new)]) or ()
    assert edit == Edit(23, 27, "look", Span(Position(2, 11), Position(2, 15)))


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("a\nb\nc\n", "b", "a\nc\n"),
        ("a\r\n# why\r\nb  # gone\r\nc\r\n", "# why\r\nb  # gone", "a\r\n# why\r\nc\r\n"),
        ("if x:\n    b\n", "b", "if x:\n    pass\n"),
        ("if x:\n    b  # stays\n", "b", "if x:\n    pass  # stays\n"),
        ("if x:\n    a\n    b\n", "b", "if x:\n    a\n"),
        ("if x: b\n", "b", "if x: pass\n"),
        ("if x: a; b\n", "b", "if x: a\n"),
        ("a; b; c\n", "b;", "a; c\n"),
        ("a; b; c\n", "a;", "b; c\n"),
        ("a; b\n", "b", "a\n"),
        ("b", "b", ""),
    ],
)
def test_removing_a_statement(text: str, target: str, expected: str) -> None:
    assert edited(text, (target, "", "remove-statement")) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("insert-before", "if x:\n    a\n\n    m.to(d)\n    # about b\n    b\n"),
        ("insert-after", "if x:\n    a\n\n    # about b\n    b\n    m.to(d)\n"),
    ],
)
def test_inserting_a_statement(kind: EditKind, expected: str) -> None:
    assert edited("if x:\n    a\n\n    # about b\n    b\n", ("# about b\nb", "m.to(d)\n", kind)) == expected


def test_inserting_behind_the_last_line_without_newline() -> None:
    assert edited("a\r\nb", ("b", "c\n", "insert-after")) == "a\r\nb\r\nc\r\n"


def test_form_feeds_that_libcst_loses() -> None:
    text = "a = 1\n\x0c\nb = f(x)\n"
    assert edited(text, ("x", cst.parse_expression("x.cpu()"), "replace")) == "a = 1\n\x0c\nb = f(x.cpu())\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("""s = f"{a(x)}"\n""", """s = f"{a('cpu', 'b')}"\n"""),
        ("""s = f'{a(x)}'\n""", """s = f'{a("cpu", "b")}'\n"""),
        ("""s = rf'''{a(x)}'''\n""", """s = rf'''{a("cpu", 'b')}'''\n"""),
        ("""s = f"{f'{a(x)}'}"\n""", None),
        ("""s = "{a(x)}", a(x)\n""", """s = "{a(x)}", a("cpu", 'b')\n"""),
    ],
)
def test_strings_in_f_strings_have_quotes_that_python_3_11_takes(text: str, expected: str | None) -> None:
    module = cst.parse_module(text)
    edits = [NodeEdit(expression(module, "a(x)"), cst.parse_expression("""a("cpu", 'b')"""))]
    made = Splicer(module, text, Lines(text), edits).edits(edits)
    assert (made and apply_fixes(text, [Fix(Applicability.SAFE, "", made)])) == expected


@pytest.mark.parametrize("new", ["a('\\n')", "a(\n    x)", "a(x  # why\n)"])
def test_what_python_3_11_does_not_take_in_an_f_string_is_not_put_there(new: str) -> None:
    text = 's = f"{a(x)}"\n'
    module = cst.parse_module(text)
    edits = [NodeEdit(expression(module, "a(x)"), cst.parse_expression(new))]
    assert Splicer(module, text, Lines(text), edits).edits(edits) is None


def test_a_target_of_another_module_gives_no_edits() -> None:
    module = cst.parse_module("a\n")
    edit = NodeEdit(cst.Name("a"), cst.Name("b"))
    assert Splicer(module, "a\n", Lines("a\n"), [edit]).edits([edit]) is None


def test_edits_of_one_fix_that_overlap_are_refused() -> None:
    text = "f(g(x))\n"
    module = cst.parse_module(text)
    edits = [NodeEdit(expression(module, "g(x)"), cst.Name("y")), NodeEdit(expression(module, "x"), cst.Name("z"))]
    assert Splicer(module, text, Lines(text), edits).edits(edits) is None


def fix(start: int, end: int, content: str = "") -> Fix:
    nowhere = Span(Position(1, 1), Position(1, 1))
    return Fix(Applicability.SAFE, "", (Edit(start, end, content, nowhere),))


def test_overlaps() -> None:
    assert overlaps(fix(3, 5), [fix(0, 1), fix(4, 8)])
    assert overlaps(fix(3, 3), [fix(3, 3)])
    assert overlaps(fix(3, 5), [fix(5, 8)])  # touching: the second waits
    assert not overlaps(fix(3, 5), [fix(0, 2), fix(6, 8)])


def test_fixes_are_applied_by_place() -> None:
    assert apply_fixes("0123456789", [fix(8, 9, "x"), fix(1, 3), fix(5, 5, "--")]) == "034--567x9"


def test_places_that_were_taken_answer_as_the_fixes_do() -> None:
    apart = [fix(0, 1), fix(4, 8), fix(10, 10), fix(20, 30)]
    taken = Taken()
    for one in reversed(apart):
        assert not taken.overlap(one)
        taken.add(one)
    for start in range(35):
        for end in range(start, 35):
            assert taken.overlap(fix(start, end)) is overlaps(fix(start, end), apart)
