"""The edit builders: what comes out parses, keeps comments and layout, and says no where the edit cannot be made."""

from __future__ import annotations

import tokenize
from collections.abc import Callable
from io import StringIO
from typing import Any

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchdevlint.findings import Applicability, Fix
from torchdevlint.fixes import builders
from torchdevlint.fixes.apply import Splicer
from torchdevlint.fixes.builders import NodeEdit
from torchdevlint.fixes.text import apply_fixes
from torchdevlint.program import ir
from torchdevlint.source.lines import Lines


def splice(module: cst.Module, edits: tuple[NodeEdit, ...]) -> str:
    """The module's text after the edits."""
    lines = Lines(module.code)
    spliced = Splicer(module, module.code, lines, edits).edits(edits)
    assert spliced is not None
    return apply_fixes(module.code, [Fix(Applicability.SAFE, "", spliced)])


def op(node: cst.CSTNode) -> ir.Op:
    return ir.Op(node)


def program(module: cst.Module) -> ir.Program:
    body = ir.Body("module", "", "", module, None)
    return ir.Program(body, [body], [], frozenset(), frozenset(), module)


def find(module: cst.Module, text: str) -> cst.CSTNode:
    """The outermost expression or small statement of the module with this text."""
    for node in builders.walk(module):
        if isinstance(node, (cst.BaseExpression, cst.BaseSmallStatement)) and module.code_for_node(node) == text:
            return node
    raise AssertionError(f"{text!r} is not in the source")


Build = Callable[..., "builders.Edits | None"]


def fixed(source: str, at: str, build: Build, *arguments: Any) -> str | None:
    """The source after `build(op of at, ...)`; checks that it parses and that no comment was lost."""
    module = cst.parse_module(source)
    edits = build(op(find(module, at)), *arguments)
    if edits is None:
        return None
    result = splice(module, edits)
    cst.parse_module(result)
    assert comments(result) == comments(source)
    return result


def comments(text: str) -> list[str]:
    return sorted(
        token.string for token in tokenize.generate_tokens(StringIO(text).readline) if token.type == tokenize.COMMENT
    )


# ---------------------------------------------------------------------------------------------------- keywords


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("load()", 'load(map_location="cpu")'),
        ("load(path)", 'load(path, map_location="cpu")'),
        ("load( path )", 'load( path, map_location="cpu" )'),
        ("load(path,)", 'load(path, map_location="cpu",)'),
        ("load(path, **options)", 'load(path, map_location="cpu", **options)'),
        ("load(**options)", 'load(map_location="cpu", **options)'),
        ("load(*paths)", 'load(*paths, map_location="cpu")'),
        ("load(path, weights_only=True, **a, **b)", 'load(path, weights_only=True, map_location="cpu", **a, **b)'),
        ("load(p for p in paths)", 'load((p for p in paths), map_location="cpu")'),
        ("load(\n    path\n)", 'load(\n    path,\n    map_location="cpu"\n)'),
        (
            "load(\n    path,\n    weights_only=True,\n)",
            'load(\n    path,\n    weights_only=True,\n    map_location="cpu",\n)',
        ),
        (
            "load(\n    path,  # where it is\n    weights_only=True  # no code\n)",
            'load(\n    path,  # where it is\n    weights_only=True,  # no code\n    map_location="cpu"\n)',
        ),
        (
            "load(\n    path,  # where it is\n    weights_only=True,  # no code\n)",
            'load(\n    path,  # where it is\n    weights_only=True,  # no code\n    map_location="cpu",\n)',
        ),
        ("load(\n    path, True\n)", 'load(\n    path, True, map_location="cpu"\n)'),
        ("load(path,\n     weights_only=True)", 'load(path,\n     weights_only=True,\n     map_location="cpu")'),
        ("load(\n    # nothing\n)", 'load(\n    # nothing\nmap_location="cpu")'),
        ("load(path  # here\n)", 'load(path,  # here\nmap_location="cpu"\n)'),
    ],
)
def test_a_keyword_follows_the_layout_of_the_call(before: str, after: str) -> None:
    for prefix, indent in (("x = ", ""), ("def f():\n    return ", "    ")):
        source = prefix + before.replace("\n", "\n" + indent) + "\n"
        expected = prefix + after.replace("\n", "\n" + indent) + "\n"
        assert fixed(source, before, builders.add_keyword, "map_location", '"cpu"') == expected


def test_a_keyword_that_is_there_is_not_added_again() -> None:
    assert (
        fixed("load(p, map_location=d)\n", "load(p, map_location=d)", builders.add_keyword, "map_location", "x") is None
    )


def test_a_keyword_is_no_edit_of_something_else() -> None:
    assert fixed("load\n", "load", builders.add_keyword, "a", "b") is None


_names = st.sampled_from(["a", "bb", "f(x)", "[1, 2]", "lambda: 0", "x if y else z"])
_separators = st.sampled_from([", ", ",", ",\n    ", ",  # why\n    ", " , "])


@st.composite
def calls(draw: st.DrawFn) -> str:
    """Calls of every layout: with and without splats, trailing comma, comments, line breaks."""
    plain = draw(st.lists(_names, max_size=3))
    parts = [*plain, *(f"k{i}={draw(_names)}" for i in range(draw(st.integers(0, 2))))]
    parts += ["**kw"] * draw(st.integers(0, 1))
    text = draw(st.sampled_from(["", " ", "\n    ", "  # first\n    "]))
    for index, part in enumerate(parts):
        text += part + (draw(_separators) if index < len(parts) - 1 else "")
    end = draw(st.sampled_from(["", "\n", "  # last\n", ",", ",\n", ",  # last\n"] if parts else [""]))
    return f"call({text}{end})"


def arguments_of(text: str) -> list[str]:
    call: Any = cst.parse_expression(text)
    return [
        arg.star + (arg.keyword.value + "=" if arg.keyword else "") + cst.Module([]).code_for_node(arg.value)
        for arg in call.args
    ]


@given(calls())
def test_adding_a_keyword_changes_nothing_else(text: str) -> None:
    result = fixed(text + "\n", text, builders.add_keyword, "device", "x.device")
    assert result is not None
    old, new = arguments_of(text), arguments_of(result.rstrip("\n"))
    assert [part for part in new if part != "device=x.device"] == old
    splat = [part.startswith("**") for part in new]
    assert splat == sorted(splat), "a keyword behind **kwargs"
    assert fixed(result, result.rstrip("\n"), builders.add_keyword, "device", "x.device") is None


@given(calls())
def test_removing_the_added_keyword_gives_the_old_arguments(text: str) -> None:
    added = fixed(text + "\n", text, builders.add_keyword, "device", "d")
    assert added is not None
    removed = fixed(added, added.rstrip("\n"), builders.remove_keyword, "device")
    if removed is not None:
        assert arguments_of(removed.rstrip("\n")) == arguments_of(text)


@given(calls())
def test_a_first_argument_comes_first(text: str) -> None:
    result = fixed(text + "\n", text, builders.insert_first_argument, '"cuda"')
    assert result is not None
    assert arguments_of(result.rstrip("\n")) == ['"cuda"', *arguments_of(text)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("autocast()", 'autocast("cuda")'),
        ("autocast(True)", 'autocast("cuda", enabled=True)'),
        ("autocast(use_amp, torch.float16)", 'autocast("cuda", enabled=use_amp, dtype=torch.float16)'),
        ("autocast(enabled=use_amp)", 'autocast("cuda", enabled=use_amp)'),
        ("autocast(*options)", None),
        ("autocast(a, b, c)", None),
    ],
)
def test_positional_arguments_can_become_keywords(before: str, after: str | None) -> None:
    result = fixed(before + "\n", before, builders.insert_first_argument, '"cuda"', ("enabled", "dtype"))
    assert result == (None if after is None else after + "\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(a, k=1)", "f(a)"),
        ("f(k=1)", "f()"),
        ("f(k=1, a=2)", "f(a=2)"),
        ("f(\n    a,\n    k=1,\n)", "f(\n    a,\n)"),
        ("f(\n    a,\n    k=1,  # why\n    b=2,\n)", None),
        ("f(a)", None),
    ],
)
def test_a_keyword_goes_unless_its_comment_would_go(before: str, after: str | None) -> None:
    assert fixed(before + "\n", before, builders.remove_keyword, "k") == (None if after is None else after + "\n")


def test_values_of_arguments_are_replaced_in_place() -> None:
    source = "load(path, map_location='cuda')  # here\n"
    assert fixed(
        source, "load(path, map_location='cuda')", builders.replace_keyword_value, "map_location", '"cpu"'
    ) == ('load(path, map_location="cpu")  # here\n')
    assert fixed("load(p, 'cuda')\n", "load(p, 'cuda')", builders.replace_argument, 1, '"cpu"') == 'load(p, "cpu")\n'
    assert fixed("load(p)\n", "load(p)", builders.replace_argument, 1, "x") is None
    commented = "load(p, f(  # why\n    1))"
    assert fixed(commented + "\n", commented, builders.replace_argument, 1, "x") is None
    assert fixed("load(*p, 'cuda')\n", "load(*p, 'cuda')", builders.replace_argument, 1, "x") is None
    assert fixed("load(p, **k)\n", "load(p, **k)", builders.replace_keyword_value, "k", "x") is None


# ---------------------------------------------------------------------------------------------------- names and calls


@pytest.mark.parametrize(
    ("before", "build", "arguments", "after"),
    [
        ("torch.cuda.amp.autocast(True)", builders.replace_callee, ("torch.amp.autocast",), "torch.amp.autocast(True)"),
        ("x.cuda()", builders.rename_callee, ("cpu",), "x.cpu()"),
        ("load(p)", builders.rename_callee, ("safe_load",), "safe_load(p)"),
        ("fs[0](p)", builders.rename_callee, ("safe_load",), None),
        ("x.cuda(non_blocking=True)", builders.replace_call_arguments, ("to", "device"), "x.to(device)"),
        ("x.cuda(\n    0,  # first\n)", builders.replace_call_arguments, ("to", "device"), None),
        ("torch.cuda.is_available", builders.append_call_parentheses, (), "torch.cuda.is_available()"),
        ("(x.cuda)", builders.append_call_parentheses, (), "(x.cuda())"),
        ("x.device()", builders.remove_call_parentheses, (), "x.device"),
        ("(x.is_cuda())", builders.remove_call_parentheses, (), "(x.is_cuda)"),
        ("x.device(0)", builders.remove_call_parentheses, (), None),
        ("x", builders.wrap_method, ("cpu",), "x.cpu()"),
        ("a + b", builders.wrap_method, ("to", "device"), "(a + b).to(device)"),
        ("(a + b)", builders.wrap_method, ("cpu",), "(a + b).cpu()"),
        ("-x", builders.wrap_method, ("cpu",), "(-x).cpu()"),
        ("1", builders.wrap_method, ("to", "d"), "(1).to(d)"),
        ("await load()", builders.wrap_method, ("cpu",), None),
        ("tok(p, return_tensors='pt')", builders.wrap_method, ("to", "d"), "tok(p, return_tensors='pt').to(d)"),
        ("x.device", builders.append_attribute, ("type",), "x.device.type"),
        ("x.input_ids", builders.attribute_to_item, (), 'x["input_ids"]'),
        ("f(x)", builders.attribute_to_item, (), None),
        ("[a, b]", builders.wrap_in_call, ("nn.ModuleList",), "nn.ModuleList([a, b])"),
        ("a, b", builders.wrap_in_call, ("nn.ModuleList",), "nn.ModuleList((a, b))"),
        ("x", builders.replace_expression, ("a if b else c",), "(a if b else c)"),
        ("x.numpy()", builders.insert_method_before, ("cpu",), "x.cpu().numpy()"),
        ("(a - b).numpy()", builders.insert_method_before, ("cpu",), "(a - b).cpu().numpy()"),
        ("f(x)", builders.insert_method_before, ("cpu",), None),
        ("x.to(d)", builders.remove_method, (), "x"),
        ("(x).to(d)", builders.remove_method, (), "(x)"),
        ("x.numpy().cpu()", builders.swap_chained_methods, (), "x.cpu().numpy()"),
        ("x.numpy(force=False).to('cpu')", builders.swap_chained_methods, (), "x.to('cpu').numpy(force=False)"),
        ("(x\n .numpy()  # host\n .cpu())", builders.swap_chained_methods, (), "(x\n .cpu()  # host\n .numpy())"),
        ("x.cpu()", builders.swap_chained_methods, (), None),
        ("torch.ones(2).to(d)", builders.replace_method_by_keyword, ("device", "d"), "torch.ones(2, device=d)"),
        (
            "(torch.ones(2, **k).cuda())",
            builders.replace_method_by_keyword,
            ("device", "d"),
            "(torch.ones(2, device=d, **k))",
        ),
        ("torch.ones(2, device=c).to(d)", builders.replace_method_by_keyword, ("device", "d"), None),
        ("(torch.ones(2)\n # now\n .to(d))", builders.replace_method_by_keyword, ("device", "d"), None),
        ("x.to(d)", builders.replace_method_by_keyword, ("device", "d"), None),
        ("nn.Parameter(t).to(d)", builders.move_method_into_argument, (), "nn.Parameter(t.to(d))"),
        (
            "nn.Parameter(a * b, False).cuda()",
            builders.move_method_into_argument,
            (),
            "nn.Parameter((a * b).cuda(), False)",
        ),
        ("nn.Parameter(data=t).to(d)", builders.move_method_into_argument, ("data",), "nn.Parameter(data=t.to(d))"),
        ("nn.Parameter(*t).to(d)", builders.move_method_into_argument, (), None),
        ("(nn.Parameter(t)\n  # move it\n .to(d))", builders.move_method_into_argument, (), None),
    ],
)
def test_expressions(before: str, build: Build, arguments: tuple[Any, ...], after: str | None) -> None:
    source, expected = before + "  # kept\n", None if after is None else after + "  # kept\n"
    if before.startswith("await"):
        source = f"async def f():\n    return {before}\n"
        expected = "async def f():\n    return (await load()).cpu()\n"
    assert fixed(source, before, build, *arguments) == expected


# ---------------------------------------------------------------------------------------------------- statements


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.to(d)", "x = x.to(d)"),
        ("self.x.cuda()", "self.x = self.x.cuda()"),
        ("batch['x'].to(d)", "batch['x'] = batch['x'].to(d)"),
        ("xs[i + 1].to(d)", "xs[i + 1] = xs[i + 1].to(d)"),
        ("xs[next(i)].to(d)", None),
        ("f().to(d)", None),
        ("(a + b).to(d)", None),
        ("to(d)", None),
    ],
)
def test_a_discarded_result_is_bound(before: str, after: str | None) -> None:
    for template in ("{}\n", "{}  # to the device\n", "y = 1; {}; z = 2\n", "if a: {}\n", "for x in y:\n    {}  # c\n"):
        result = fixed(template.format(before), before, builders.assign_statement)
        assert result == (None if after is None else template.format(after))


def test_a_plain_attribute_becomes_a_buffer() -> None:
    for line in ("self.mask = torch.ones(3)", "self.mask: Tensor = torch.ones(3)"):
        source = f"class M(nn.Module):\n    def __init__(self):\n        {line}  # shape [3]\n"
        module = cst.parse_module(source)
        edits = builders.register_buffer(program(module), op(find(module, "torch.ones(3)")))
        assert edits is not None
        assert splice(module, edits) == source.replace(
            line, 'self.register_buffer("mask", torch.ones(3), persistent=False)'
        )


@pytest.mark.parametrize("line", ["self.a = b = c", "self.a, self.b = c", "a = c", "self.a += c", "f().a = c"])
def test_other_assignments_are_no_buffers(line: str) -> None:
    module = cst.parse_module(line + "\n")
    assert builders.register_buffer(program(module), op(find(module, "c"))) is None


def moved(source: str, at: str, anchor: str) -> str | None:
    module = cst.parse_module(source)
    edits = builders.move_statement_below(program(module), op(find(module, at)), op(find(module, anchor)))
    if edits is None:
        return None
    result = splice(module, edits)
    cst.parse_module(result)
    assert comments(result) == comments(source)
    return result


def test_a_statement_moves_with_its_comments_and_leaves_the_blank_lines() -> None:
    source = (
        "def main():\n"
        "    model = Net()\n"
        "\n"
        "    # the optimizer\n"
        "    optimizer = Adam(  # lr from the paper\n"
        "        model.parameters(),\n"
        "    )\n"
        "    if gpu:\n"
        "        model.cuda()\n"
        "    # train\n"
        "    train()\n"
    )
    assert moved(
        source, "Adam(  # lr from the paper\n        model.parameters(),\n    )".replace("\n    ", "\n"), "model.cuda()"
    ) == (
        "def main():\n"
        "    model = Net()\n"
        "\n"
        "    if gpu:\n"
        "        model.cuda()\n"
        "    # the optimizer\n"
        "    optimizer = Adam(  # lr from the paper\n"
        "        model.parameters(),\n"
        "    )\n"
        "    # train\n"
        "    train()\n"
    )


@pytest.mark.parametrize(
    "source",
    [
        "b()\na()\n",  # the wrong order
        "a(); c()\nb()\n",  # shares its line
        "if x:\n    a()\nb()\n",  # deeper than the anchor
        "if x:\n    a()\nelse:\n    b()\n",  # two blocks
        "x = 1\n# part one\n\na()\nb()\n",  # a comment that belongs to more than the statement
    ],
)
def test_what_cannot_move_stays(source: str) -> None:
    assert moved(source, "a()", "b()") is None


def test_statements_are_inserted_with_the_indentation_of_the_place() -> None:
    module = cst.parse_module("def f():\n    # save\n    save(model.cpu())\n")
    edits = builders.insert_statements_before(
        program(module), op(find(module, "model.cpu()")), "a = 1\nfor b in c:\n    d()"
    )
    assert edits is not None
    result = splice(module, edits)
    assert result == "def f():\n    a = 1\n    for b in c:\n        d()\n    # save\n    save(model.cpu())\n"


def test_an_import_changes_its_source() -> None:
    source = "from torch.cuda.amp import autocast, GradScaler as Scaler  # amp\n"
    module = cst.parse_module(source)
    node = next(n for n in builders.walk(module) if isinstance(n, cst.ImportAlias))
    edits = builders.replace_import_source(program(module), op(node), "torch.amp")
    assert edits is not None
    assert splice(module, edits) == source.replace("torch.cuda.amp", "torch.amp")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = 1\nx.to(d)\n", "a = 1\n"),
        ("x = x.to(d)\nb = 2\n", "b = 2\n"),
        ("y = x.to(d)\n", "y = x\n"),
        ("y = f(x.to(d))\n", "y = f(x)\n"),
        ("if a:\n    x.to(d)\n", "if a:\n    pass\n"),
        ("a = 1; x.to(d); b = 2\n", "a = 1; b = 2\n"),
        ("y = (x\n  # there\n .to(d))\n", None),
        ("x = x.to(\n    d,  # there\n)\n", None),
    ],
)
def test_a_move_is_undone(before: str, after: str | None) -> None:
    module = cst.parse_module(before)
    call = next(
        node
        for node in builders.walk(module)
        if isinstance(node, cst.Call) and builders._plain(node.func).endswith(".to")
    )
    edits = builders.undo_method(program(module), op(call))
    assert (None if edits is None else splice(module, edits)) == after


def test_a_tensor_is_brought_to_the_host() -> None:
    assert fixed("plot(x)\n", "x", lambda at: builders.detach_to_host(at, receiver=False)) == "plot(x.detach().cpu())\n"
    assert (
        fixed("x.numpy()\n", "x.numpy()", lambda at: builders.detach_to_host(at, receiver=True))
        == "x.detach().cpu().numpy()\n"
    )


def test_the_source_of_an_operation_is_its_text() -> None:
    assert builders.source_of(op(cst.parse_expression("f(a,  b)"))) == "f(a,  b)"


def test_edits_are_combined_or_none() -> None:
    module = cst.parse_module("a(b)\n")
    one, other = (
        builders.wrap_method(op(find(module, "b")), "cpu"),
        builders.rename_callee(op(find(module, "a(b)")), "c"),
    )
    both = builders.combine(one, other)
    assert both is not None
    assert splice(module, both) == "c(b.cpu())\n"
    assert builders.combine(one, None) is None


def test_an_operation_without_a_node_gives_no_edit() -> None:
    assert builders.add_keyword(op(None), "a", "b") is None  # type: ignore[arg-type]
    assert builders.wrap_method(None, "cpu") is None
    assert builders.assign_statement(op(None)) is None  # type: ignore[arg-type]
