"""Lowers a LibCST module to a Program: its nodes are told as those of the standard library's `ast`, which `from_ast` lowers.

Each node that is made knows the LibCST node that is `written` there, and where a name is bound that `ast` has no node for, the node that
is `named`; the operations keep these. Visitors, matchers and metadata providers cost one to seven times the parse; tables from node type
to handler cost a few hundredths of it.

What is approximate: the body of a `with` is taken not to be left by a swallowed exception; the variables of a comprehension in a
class body see the names of the class; annotations are parsed and not evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

import libcst as cst

from torchdevlint.program import from_ast, literals
from torchdevlint.program.annotations import dotted_name
from torchdevlint.program.bounds import ParseFailure, parse
from torchdevlint.program.ir import Program, forget_nodes
from torchdevlint.source.deep_stack import call_with_deep_stack

# Nodes of both kinds are `Any` here: what a handler takes is the key of its row.
_HANDLERS: dict[type[Any], Callable[[Any], Any]] = {}


def lower(module: cst.Module) -> Program:
    """The Program of a parsed file: outer bodies first, function bodies after the bodies that make them."""
    try:
        return _lower(module)
    except RecursionError:  # what nests deeply, such as a ** b ** c ...
        return call_with_deep_stack(lambda: _lower(module))


def read(text: str) -> Program | None:
    """The Program of a text, without nodes, which may have syntax that is newer than the running Python; None where LibCST refuses it as well."""
    try:
        program = lower(parse(text))
    except ParseFailure:
        return None
    forget_nodes(program)
    return program


def _lower(module: cst.Module) -> Program:
    program = from_ast.lower(_told(module))
    program.node = module
    for cls in program.classes:
        cls.node = cls.node.written
    for body in program.bodies:
        body.node = body.node.written
        for block in body.blocks:
            for op in block.ops:
                op.node = getattr(op.node, "written", op.node)
    return program


def _told(node: cst.CSTNode) -> Any:
    """The `ast` node for a LibCST node; one that nothing is known of for an expression newer than this program."""
    made = _HANDLERS.get(type(node), _unknown)(node)
    made.written = node
    return made


def _unknown(node: cst.CSTNode) -> ast.expr:
    return ast.expr()


def _all(nodes: Iterable[cst.CSTNode]) -> list[Any]:
    return [_told(node) for node in nodes]


def _optional(node: cst.CSTNode | None) -> Any:
    return None if node is None else _told(node)


# ---------------------------------------------------------------------------------------------------- atoms

_KEYWORD_VALUES = {"None": None, "True": True, "False": False}


def _name(node: cst.Name) -> ast.expr:
    name = node.value
    return ast.Constant(_KEYWORD_VALUES[name]) if name in _KEYWORD_VALUES else ast.Name(name)


def _literal(value_of: Callable[[Any], Any]) -> Callable[[Any], ast.expr]:
    """The handler of a literal; one that Python refuses may be anything."""

    def told(node: Any) -> ast.expr:
        try:
            value = value_of(node)
        except ValueError:
            return ast.expr()
        return ast.JoinedStr(value) if isinstance(value, list) else ast.Constant(value)

    return told


def _joined(node: Any) -> str | bytes | list[Any]:
    """The value of strings, or the fields of f-strings and the texts around them."""
    pieces: list[Any] = []
    while type(node) is cst.ConcatenatedString:  # LibCST nests them to the right
        pieces.append(node.left)
        node = node.right
    pieces.append(node)
    if all(type(piece) is cst.SimpleString for piece in pieces):
        return literals.joined([piece.value for piece in pieces])
    fields: list[Any] = []
    for piece in pieces:
        if type(piece) is cst.SimpleString:
            value = literals.string(piece.value)
            fields.append(ast.Constant(value if isinstance(value, str) else ""))
        else:
            fields += _fields(piece.parts, "r" in piece.start.lower())
    return fields


def _fields(parts: Iterable[Any], raw: bool) -> Iterable[ast.expr]:
    for part in parts:
        if isinstance(part, cst.FormattedStringText | cst.TemplatedStringText):
            yield ast.Constant(literals.formatted_text(part.value, raw))
            continue
        if part.equal is not None:
            yield ast.Constant(_shown(part))
        spec = ast.JoinedStr(list(_fields(part.format_spec, raw))) if part.format_spec else None
        yield ast.FormattedValue(_told(part.expression), -1, spec)


def _shown(part: cst.FormattedStringExpression | cst.TemplatedStringExpression) -> str:
    """The text that `{ x = }` puts before the value of `x`."""
    module = cst.Module([])
    shown = (part.whitespace_before_expression, part.expression, part.equal)
    return "".join(module.code_for_node(piece) for piece in shown if piece is not None)


# ---------------------------------------------------------------------------------------------------- expressions

# The operators that the two syntaxes name differently.
_OPERATORS = {
    "Subtract": "Sub",
    "Multiply": "Mult",
    "Divide": "Div",
    "FloorDivide": "FloorDiv",
    "Modulo": "Mod",
    "Power": "Pow",
    "LeftShift": "LShift",
    "RightShift": "RShift",
    "MatrixMultiply": "MatMult",
    "Plus": "UAdd",
    "Minus": "USub",
    "BitInvert": "Invert",
    "LessThan": "Lt",
    "GreaterThan": "Gt",
    "Equal": "Eq",
    "NotEqual": "NotEq",
    "LessThanEqual": "LtE",
    "GreaterThanEqual": "GtE",
}


def _operator(node: cst.CSTNode) -> Any:
    name = type(node).__name__.removesuffix("Assign")
    return getattr(ast, _OPERATORS.get(name, name))()


def _argument(node: cst.Arg) -> Any:
    value = _told(node.value)
    if node.keyword is not None:
        return ast.keyword(node.keyword.value, value)
    if node.star == "**":
        return ast.keyword(None, value)
    return ast.Starred(value) if node.star else value


def _subscript(node: cst.Subscript) -> ast.Subscript:
    elements = [_index(part.slice) for part in node.slice]
    if len(elements) == 1 and node.slice[0].comma is cst.MaybeSentinel.DEFAULT and type(elements[0]) is not ast.Starred:
        return ast.Subscript(_told(node.value), elements[0])
    several: Any = ast.Tuple(elements)
    several.written = node
    return ast.Subscript(_told(node.value), several)


def _index(node: cst.BaseSlice) -> Any:
    if not isinstance(node, cst.Index):
        return _told(node)
    return ast.Starred(_told(node.value)) if node.star else _told(node.value)


def _comparison(node: cst.Comparison) -> ast.Compare:
    operators = [_operator(target.operator) for target in node.comparisons]
    return ast.Compare(_told(node.left), operators, _all(target.comparator for target in node.comparisons))


def _boolean(node: cst.BooleanOperation) -> ast.BoolOp:
    """`a and b and c`, which LibCST nests to the left."""
    kind = type(node.operator)
    nodes = [node.right]
    left = node.left
    while isinstance(left, cst.BooleanOperation) and type(left.operator) is kind and not left.lpar:
        nodes.append(left.right)
        left = left.left
    return ast.BoolOp(_operator(node.operator), _all((left, *reversed(nodes))))


def _elements(node: cst.Tuple | cst.List | cst.Set) -> list[Any]:
    return [_element(element) for element in node.elements]


def _element(node: cst.CSTNode) -> Any:
    """An element of a display, which for LibCST is around its value."""
    return _told(node.value if isinstance(node, cst.Element) else node)


def _dict(node: cst.Dict) -> ast.Dict:
    keys = [_told(element.key) if isinstance(element, cst.DictElement) else None for element in node.elements]
    return ast.Dict(keys, _all(element.value for element in node.elements))


def _clauses(clause: cst.CompFor | None) -> list[Any]:
    found = []
    while clause is not None:
        tests = _all(test.test for test in clause.ifs)
        is_async = clause.asynchronous is not None
        made: Any = ast.comprehension(_told(clause.target), _told(clause.iter), tests, int(is_async))
        made.written = clause
        found.append(made)
        clause = clause.inner_for_in
    return found


def _merged_dicts(node: Any) -> Any:
    """`{**a for a in b}`, which has no keys."""
    kind: Any = ast.DictComp
    return kind(None, _told(node.value), _clauses(node.for_in))


def _yield(node: cst.Yield) -> ast.expr:
    if isinstance(node.value, cst.From):
        return ast.YieldFrom(_told(node.value.item))
    return ast.Yield(_optional(node.value))


def _parameters(node: cst.Parameters) -> ast.arguments:
    positional = (*node.posonly_params, *node.params)
    star = node.star_arg if isinstance(node.star_arg, cst.Param) else None
    return ast.arguments(
        posonlyargs=_all(node.posonly_params),
        args=_all(node.params),
        vararg=_optional(star),
        kwonlyargs=_all(node.kwonly_params),
        kw_defaults=[_optional(one.default) for one in node.kwonly_params],
        kwarg=_optional(node.star_kwarg),
        defaults=[_optional(one.default) for one in positional],
    )


def _annotation(node: cst.Annotation | None) -> Any:
    return None if node is None else _told(node.annotation)


def dotted(node: cst.CSTNode) -> str | None:
    """`a.b.c` as text, or None for any other expression."""
    return dotted_name(_told(node))


# ---------------------------------------------------------------------------------------------------- statements


def _suite(node: cst.BaseSuite) -> list[Any]:
    return _statements(node.body)


def _statements(nodes: Iterable[Any]) -> list[Any]:
    """The statements of a suite; of a line with several, each, and of a suite in the line of its header."""
    found = []
    for node in nodes:
        found += _all(node.body) if isinstance(node, cst.SimpleStatementLine) else [_told(node)]
    return found


def _otherwise(clause: cst.If | cst.Else | cst.Finally | None) -> list[Any]:
    if isinstance(clause, cst.If):
        return [_told(clause)]
    return [] if clause is None else _suite(clause.body)


def _if(node: cst.If) -> ast.If:
    made = ast.If(_told(node.test), _suite(node.body), _otherwise(node.orelse))
    # An `elif` stands where its `if` does, an `if` in an `else` behind it.
    below = made.orelse[0].col_offset if made.orelse and isinstance(made.orelse[0], ast.If) else 0
    made.col_offset = below if isinstance(node.orelse, cst.If) else below - 1
    return made


def _for(node: cst.For) -> Any:
    kind: Any = ast.For if node.asynchronous is None else ast.AsyncFor
    return kind(_told(node.target), _told(node.iter), _suite(node.body), _otherwise(node.orelse))


def _item(node: cst.WithItem) -> ast.withitem:
    return ast.withitem(_told(node.item), None if node.asname is None else _told(node.asname.name))


def _try(node: Any) -> ast.Try:
    return ast.Try(_suite(node.body), _all(node.handlers), _otherwise(node.orelse), _otherwise(node.finalbody))


def _handler(node: Any) -> Any:
    name = None if node.name is None else node.name.name
    made = ast.ExceptHandler(_optional(node.type), None if name is None else name.value, _suite(node.body))
    return _naming(made, name)


def _naming(made: Any, name: cst.CSTNode | None) -> Any:
    """A node that binds a name, with the node of it."""
    if name is not None:
        made.named = name
    return made


def _import(node: Any) -> ast.Import:
    return ast.Import(_all(node.names))


def _import_from(node: Any) -> ast.ImportFrom:
    module = dotted(node.module) if node.module is not None else None
    names = [_told(node.names)] if isinstance(node.names, cst.ImportStar) else _all(node.names)
    return ast.ImportFrom(module, names, len(node.relative))


def _alias(node: cst.ImportAlias) -> Any:
    name: Any = node.name if node.asname is None else node.asname.name
    made = ast.alias(dotted(node.name) or "?", None if node.asname is None else name.value)
    while isinstance(name, cst.Attribute):
        name = name.value
    return _naming(made, name)


def _function(node: cst.FunctionDef) -> Any:
    kind: Any = ast.FunctionDef if node.asynchronous is None else ast.AsyncFunctionDef
    decorators = _all(decorator.decorator for decorator in node.decorators)
    name, parameters = node.name.value, _told(node.params)
    made = kind(name, parameters, _suite(node.body), decorators, _annotation(node.returns))
    made.type_params = _type_parameters(node.type_parameters)
    return _naming(made, node.name)


def _class(node: cst.ClassDef) -> Any:
    keywords = [ast.keyword(arg.keyword.value if arg.keyword else None, _told(arg.value)) for arg in node.keywords]
    decorators = _all(decorator.decorator for decorator in node.decorators)
    made: Any = ast.ClassDef(
        node.name.value, [_argument(base) for base in node.bases], keywords, _suite(node.body), decorators
    )
    made.type_params = _type_parameters(node.type_parameters)
    return _naming(made, node.name)


def _type_parameters(node: cst.TypeParameters | None) -> list[Any]:
    return [] if node is None else _all(node.params)


def _type_parameter(node: cst.TypeParam) -> Any:
    name = node.param.name
    return _naming(ast.alias(name.value), name)


# ---------------------------------------------------------------------------------------------------- patterns


def _match_as(node: cst.MatchAs) -> Any:
    return _naming(ast.MatchAs(_optional(node.pattern), _text(node.name)), node.name)


def _match_star(node: cst.MatchStar) -> Any:
    return _naming(ast.MatchStar(_text(node.name)), node.name)


def _text(name: cst.Name | None) -> str | None:
    return None if name is None else name.value


def _match_sequence(node: cst.MatchList | cst.MatchTuple) -> ast.MatchSequence:
    return ast.MatchSequence([_element_of_pattern(one) for one in node.patterns])


def _element_of_pattern(node: cst.CSTNode) -> Any:
    return _told(node.value if isinstance(node, cst.MatchSequenceElement) else node)


def _match_mapping(node: cst.MatchMapping) -> Any:
    keys, patterns = _all(one.key for one in node.elements), _all(one.pattern for one in node.elements)
    return _naming(ast.MatchMapping(keys, patterns, _text(node.rest)), node.rest)


def _match_class(node: cst.MatchClass) -> ast.MatchClass:
    names = [keyword.key.value for keyword in node.kwds]
    patterns = _all(one.value for one in node.patterns)
    return ast.MatchClass(_told(node.cls), patterns, names, _all(keyword.pattern for keyword in node.kwds))


# ---------------------------------------------------------------------------------------------------- tables

_HANDLERS.update(
    {
        cst.Module: lambda node: ast.Module(_statements(node.body), []),
        cst.Name: _name,
        cst.Integer: _literal(lambda node: literals.number(node.value)),
        cst.Float: _literal(lambda node: literals.number(node.value)),
        cst.Imaginary: _literal(lambda node: literals.number(node.value)),
        cst.Ellipsis: lambda node: ast.Constant(...),
        cst.SimpleString: _literal(_joined),
        cst.ConcatenatedString: _literal(_joined),
        cst.FormattedString: _literal(_joined),
        cst.Attribute: lambda node: ast.Attribute(_told(node.value), node.attr.value),
        cst.Call: lambda node: ast.Call(_told(node.func), [_argument(arg) for arg in node.args], []),
        cst.Subscript: _subscript,
        cst.Slice: lambda node: ast.Slice(_optional(node.lower), _optional(node.upper), _optional(node.step)),
        cst.BinaryOperation: lambda node: ast.BinOp(_told(node.left), _operator(node.operator), _told(node.right)),
        cst.UnaryOperation: lambda node: ast.UnaryOp(_operator(node.operator), _told(node.expression)),
        cst.Comparison: _comparison,
        cst.BooleanOperation: _boolean,
        cst.IfExp: lambda node: ast.IfExp(_told(node.test), _told(node.body), _told(node.orelse)),
        cst.Tuple: lambda node: ast.Tuple(_elements(node)),
        cst.List: lambda node: ast.List(_elements(node)),
        cst.Set: lambda node: ast.Set(_elements(node)),
        cst.Dict: _dict,
        cst.StarredElement: lambda node: ast.Starred(_told(node.value)),
        cst.ListComp: lambda node: ast.ListComp(_told(node.elt), _clauses(node.for_in)),
        cst.SetComp: lambda node: ast.SetComp(_told(node.elt), _clauses(node.for_in)),
        cst.GeneratorExp: lambda node: ast.GeneratorExp(_told(node.elt), _clauses(node.for_in)),
        cst.DictComp: lambda node: ast.DictComp(_told(node.key), _told(node.value), _clauses(node.for_in)),
        cst.Await: lambda node: ast.Await(_told(node.expression)),
        cst.Yield: _yield,
        cst.NamedExpr: lambda node: ast.NamedExpr(_told(node.target), _told(node.value)),
        cst.Lambda: lambda node: ast.Lambda(_told(node.params), _told(node.body)),
        cst.Parameters: _parameters,
        cst.Param: lambda node: ast.arg(node.name.value, _annotation(node.annotation)),
        cst.Expr: lambda node: ast.Expr(_told(node.value)),
        cst.Assign: lambda node: ast.Assign(_all(target.target for target in node.targets), _told(node.value)),
        cst.AnnAssign: lambda node: ast.AnnAssign(
            _told(node.target), _annotation(node.annotation), _optional(node.value), 1
        ),
        cst.AugAssign: lambda node: ast.AugAssign(_told(node.target), _operator(node.operator), _told(node.value)),
        cst.Return: lambda node: ast.Return(_optional(node.value)),
        cst.Raise: lambda node: ast.Raise(_optional(node.exc), node.cause and _told(node.cause.item)),
        cst.Assert: lambda node: ast.Assert(_told(node.test), _optional(node.msg)),
        cst.Pass: lambda node: ast.Pass(),
        cst.Break: lambda node: ast.Break(),
        cst.Continue: lambda node: ast.Continue(),
        cst.Del: lambda node: ast.Delete([_told(node.target)]),
        cst.Global: lambda node: ast.Global([item.name.value for item in node.names]),
        cst.Nonlocal: lambda node: ast.Nonlocal([item.name.value for item in node.names]),
        cst.Import: _import,
        cst.ImportFrom: _import_from,
        cst.ImportAlias: _alias,
        cst.ImportStar: lambda node: ast.alias("*"),
        cst.TypeAlias: lambda node: from_ast.TypeAlias(_told(node.name), [], None),
        cst.If: _if,
        cst.For: _for,
        cst.While: lambda node: ast.While(_told(node.test), _suite(node.body), _otherwise(node.orelse)),
        cst.With: lambda node: ast.With(_all(node.items), _suite(node.body)),
        cst.WithItem: _item,
        cst.Try: _try,
        cst.TryStar: _try,
        cst.ExceptHandler: _handler,
        cst.ExceptStarHandler: _handler,
        cst.FunctionDef: _function,
        cst.ClassDef: _class,
        cst.TypeParam: _type_parameter,
        cst.Match: lambda node: ast.Match(_told(node.subject), _all(node.cases)),
        cst.MatchCase: lambda node: ast.match_case(_told(node.pattern), _optional(node.guard), _suite(node.body)),
        cst.MatchValue: lambda node: ast.MatchValue(_told(node.value)),
        cst.MatchSingleton: lambda node: ast.MatchValue(_told(node.value)),
        cst.MatchAs: _match_as,
        cst.MatchStar: _match_star,
        cst.MatchList: _match_sequence,
        cst.MatchTuple: _match_sequence,
        cst.MatchMapping: _match_mapping,
        cst.MatchClass: _match_class,
        cst.MatchOr: lambda node: ast.MatchOr(_all(one.pattern for one in node.patterns)),
    }
)

# Node types that only newer releases of LibCST have.
_NEWER: dict[str, Callable[[Any], Any]] = {
    "TemplatedString": _literal(_joined),
    "StarredDictComp": _merged_dicts,
    "LazyImport": _import,
    "LazyImportFrom": _import_from,
}
_HANDLERS.update({getattr(cst, name): handler for name, handler in _NEWER.items() if hasattr(cst, name)})
