"""Lowers LibCST's expressions and targets, by a table from node type to handler.

Chains that LibCST nests (`a + b + c`, `a.b().c()`, `a if t else b if u else c`) are lowered in loops, so that their length does not
meet Python's recursion limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import libcst as cst

from torchdevlint.program import control, literals
from torchdevlint.program.builder import BodyBuilder, Handlers
from torchdevlint.program.ir import (
    Annotation,
    Argument,
    Attribute,
    Await,
    Binary,
    Call,
    Compare,
    Constant,
    Element,
    FormattedString,
    Load,
    Mapping,
    Parameter,
    Register,
    Slice,
    Store,
    StoreAttribute,
    StoreSubscript,
    Subscript,
    Unary,
    Unpack,
    Yield,
)
from torchdevlint.program.ir import Sequence as SequenceOp
from torchdevlint.program.libcst_names import KEYWORD_VALUES, annotation_of, pieces_of

_EXPRESSIONS = Handlers()


def evaluate(b: BodyBuilder, node: cst.CSTNode) -> Register:
    """The register that holds the value of an expression behind the operations that this adds."""
    return _EXPRESSIONS[type(node)](b, node)


# ---------------------------------------------------------------------------------------------------- atoms


def _name(b: BodyBuilder, node: cst.Name) -> Register:
    name = node.value
    dst = b.registers
    b.registers = dst + 1
    if name in KEYWORD_VALUES:
        b.ops.append(Constant(node, dst, KEYWORD_VALUES[name]))
        return dst
    b.words.add(name)
    if b.renames:
        name = b.renames.get(name, name)
    b.ops.append(Load(node, dst, name))
    return dst


def _constant(b: BodyBuilder, node: cst.CSTNode, value: object) -> Register:
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Constant(node, dst, value))
    return dst


def _number(b: BodyBuilder, node: cst.Integer | cst.Float | cst.Imaginary) -> Register:
    try:
        return _constant(b, node, literals.number(node.value))
    except ValueError:
        return b.opaque(node)


def _ellipsis(b: BodyBuilder, node: cst.Ellipsis) -> Register:
    return _constant(b, node, ...)


def _string(b: BodyBuilder, node: cst.SimpleString) -> Register:
    try:
        return _constant(b, node, literals.string(node.value))
    except ValueError:
        return b.opaque(node)


def _formatted(b: BodyBuilder, node: cst.FormattedString | cst.TemplatedString | cst.ConcatenatedString) -> Register:
    prefix: list[str] = []
    parts: list[Register] = []
    texts: list[str] = []
    for piece in pieces_of(node):
        if isinstance(piece, cst.SimpleString):
            value = literals.string(piece.value)
            _add_text(value if isinstance(value, str) else "", prefix, texts)
        else:
            _fields(b, piece.parts, prefix, parts, texts, raw="r" in piece.start.lower())
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(FormattedString(node, dst, "".join(prefix), tuple(parts), tuple(texts)))
    return dst


def _fields(
    b: BodyBuilder,
    fields: Iterable[cst.CSTNode],
    prefix: list[str],
    parts: list[Register],
    texts: list[str],
    raw: bool,
    *,
    is_format: bool = False,
) -> None:
    """The expressions of an f-string and the texts around them; of how a value is written, the expressions alone."""
    for item in fields:
        if isinstance(item, cst.FormattedStringExpression | cst.TemplatedStringExpression):
            if item.equal is not None and not is_format:
                _add_text(_shown(item), prefix, texts)
            parts.append(evaluate(b, item.expression))
            texts.append("")
            _fields(b, item.format_spec or (), prefix, parts, texts, raw, is_format=True)
        elif not is_format:
            assert isinstance(item, cst.FormattedStringText | cst.TemplatedStringText)
            _add_text(literals.formatted_text(item.value, raw), prefix, texts)


def _add_text(text: str, prefix: list[str], texts: list[str]) -> None:
    """Literal text, before the first expression or behind the last one."""
    if texts:
        texts[-1] += text
    else:
        prefix.append(text)


def _shown(item: cst.FormattedStringExpression | cst.TemplatedStringExpression) -> str:
    """The text that `{ x = }` puts before the value of `x`."""
    module = cst.Module([])
    shown = (item.whitespace_before_expression, item.expression, item.equal)
    return "".join(module.code_for_node(part) for part in shown if part is not None)


def _concatenated(b: BodyBuilder, node: cst.ConcatenatedString) -> Register:
    pieces = pieces_of(node)
    try:
        if any(type(piece) is not cst.SimpleString for piece in pieces):
            return _formatted(b, node)
        return _constant(b, node, literals.joined([piece.value for piece in pieces]))
    except ValueError:
        return b.opaque(node)


# ---------------------------------------------------------------------------------------------------- chains


def _postfix(b: BodyBuilder, node: Any) -> Register:
    """Attributes, calls and subscripts, from the innermost outwards."""
    chain = []
    while True:
        kind = type(node)
        if kind is cst.Attribute:
            chain.append(node)
            node = node.value
        elif kind is cst.Call:
            chain.append(node)
            node = node.func
        elif kind is cst.Subscript:
            chain.append(node)
            node = node.value
        else:
            break
    value = _EXPRESSIONS[kind](b, node)
    while chain:
        node = chain.pop()
        kind = type(node)
        if kind is cst.Attribute:
            name = node.attr.value
            b.words.add(name)
            dst = b.registers
            b.registers = dst + 1
            b.ops.append(Attribute(node, dst, value, name))
        elif kind is cst.Call:
            arguments = _arguments(b, node.args) if node.args else ()
            dst = b.registers
            b.registers = dst + 1
            b.ops.append(Call(node, dst, value, arguments))
        else:
            index = index_of(b, node)
            dst = b.registers
            b.registers = dst + 1
            b.ops.append(Subscript(node, dst, value, index))
        value = dst
    return value


def _arguments(b: BodyBuilder, args: Sequence[cst.Arg]) -> tuple[Argument, ...]:
    arguments = []
    for arg in args:
        node = arg.value
        value = _EXPRESSIONS[type(node)](b, node)
        keyword = arg.keyword
        if keyword is not None:
            b.words.add(keyword.value)
            arguments.append(Argument(value, keyword.value))
        elif arg.star:
            arguments.append(Argument(value, None, arg.star))
        else:
            arguments.append(Argument(value))
    return tuple(arguments)


def index_of(b: BodyBuilder, node: cst.Subscript) -> Register:
    """The index of a subscript: one register; a tuple of several is a Sequence, as Python makes it."""
    first = node.slice[0]
    if len(node.slice) == 1 and first.comma is cst.MaybeSentinel.DEFAULT and not _is_starred(first.slice):
        return _index_item(b, first.slice)
    elements = tuple(Element(_index_item(b, part.slice), _is_starred(part.slice)) for part in node.slice)
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(SequenceOp(node, dst, "tuple", elements))
    return dst


def _is_starred(item: cst.BaseSlice) -> bool:
    return type(item) is cst.Index and bool(item.star)


def _index_item(b: BodyBuilder, item: cst.BaseSlice) -> Register:
    if type(item) is cst.Index:
        return evaluate(b, item.value)
    assert isinstance(item, cst.Slice)
    lower = optional(b, item.lower)
    upper = optional(b, item.upper)
    step = optional(b, item.step)
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Slice(item, dst, lower, upper, step))
    return dst


def optional(b: BodyBuilder, node: cst.CSTNode | None) -> Register | None:
    return None if node is None else _EXPRESSIONS[type(node)](b, node)


def _binary(b: BodyBuilder, node: cst.BinaryOperation) -> Register:
    chain = []
    inner: cst.BaseExpression = node
    while type(inner) is cst.BinaryOperation:
        chain.append(inner)
        inner = inner.left
    left = evaluate(b, inner)
    for link in reversed(chain):
        right = _EXPRESSIONS[type(link.right)](b, link.right)
        dst = b.registers
        b.registers = dst + 1
        b.ops.append(Binary(link, dst, OPERATORS[type(link.operator)], left, right))
        left = dst
    return left


def _unary(b: BodyBuilder, node: cst.UnaryOperation) -> Register:
    chain = []
    inner: cst.BaseExpression = node
    while type(inner) is cst.UnaryOperation:
        chain.append(inner)
        inner = inner.expression
    operand = evaluate(b, inner)
    for link in reversed(chain):
        dst = b.registers
        b.registers = dst + 1
        b.ops.append(Unary(link, dst, OPERATORS[type(link.operator)], operand))
        operand = dst
    return operand


def _comparison(b: BodyBuilder, node: cst.Comparison) -> Register:
    left = evaluate(b, node.left)
    operators = []
    comparators = []
    for target in node.comparisons:
        operator = target.operator
        kind = type(operator)
        operators.append("!=" if kind is cst.NotEqual else OPERATORS[kind])
        comparators.append(evaluate(b, target.comparator))
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Compare(node, dst, left, tuple(operators), tuple(comparators)))
    return dst


# ---------------------------------------------------------------------------------------------------- branches


def operands(node: cst.BaseExpression) -> control.Operands | None:
    """The operands of `a and b and c`, which LibCST nests to the left."""
    if type(node) is not cst.BooleanOperation:
        return None
    kind = type(node.operator)
    nodes = [node.right]
    left = node.left
    while isinstance(left, cst.BooleanOperation) and type(left.operator) is kind and not left.lpar:
        nodes.append(left.right)
        left = left.left
    nodes.append(left)
    nodes.reverse()
    return control.Operands("and" if kind is cst.And else "or", nodes)


def _boolean(b: BodyBuilder, node: cst.BooleanOperation) -> Register:
    found = operands(node)
    assert found is not None
    return control.boolean(b, _SYNTAX, node, found)


def _conditional(b: BodyBuilder, node: cst.IfExp) -> Register:
    links = []
    inner: cst.BaseExpression = node
    while type(inner) is cst.IfExp:
        links.append((inner, inner.test, inner.body))
        inner = inner.orelse
    return control.conditional(b, _SYNTAX, links, inner)


# ---------------------------------------------------------------------------------------------------- displays


def _display(b: BodyBuilder, node: cst.Tuple | cst.List | cst.Set) -> Register:
    elements = []
    for element in node.elements:
        value = element.value
        elements.append(Element(_EXPRESSIONS[type(value)](b, value), type(element) is cst.StarredElement))
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(SequenceOp(node, dst, _SHAPES[type(node)], tuple(elements)))
    return dst


def _dict(b: BodyBuilder, node: cst.Dict) -> Register:
    keys: list[Register | None] = []
    values = []
    for element in node.elements:
        keys.append(evaluate(b, element.key) if isinstance(element, cst.DictElement) else None)
        values.append(evaluate(b, element.value))
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Mapping(node, dst, tuple(keys), tuple(values)))
    return dst


def _starred(b: BodyBuilder, node: cst.StarredElement) -> Register:
    return b.opaque(node, evaluate(b, node.value))


def _comprehension(b: BodyBuilder, node: cst.BaseComp) -> Register:
    clauses = []
    clause: cst.CompFor | None = node.for_in
    while clause is not None:
        tests = [filter_.test for filter_ in clause.ifs]
        names = list(_target_names(clause.target))
        is_async = clause.asynchronous is not None
        clauses.append(control.Clause(clause, clause.target, names, clause.iter, tests, is_async))
        clause = clause.inner_for_in
    if isinstance(node, cst.DictComp):
        element: tuple[Any, Any] = (node.key, node.value)
    else:
        element = (None, node.elt if isinstance(node, cst.BaseSimpleComp) else node.value)  # type: ignore[attr-defined]
    return control.comprehension(b, _SYNTAX, node, _COMPREHENSIONS[type(node)], clauses, element)


def _target_names(target: cst.CSTNode) -> Iterable[str]:
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _target_names(element.value)


# ---------------------------------------------------------------------------------------------------- other values


def _await(b: BodyBuilder, node: cst.Await) -> Register:
    value = evaluate(b, node.expression)
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Await(node, dst, value))
    return dst


def _yield(b: BodyBuilder, node: cst.Yield) -> Register:
    b.body.is_generator = True
    source = node.value
    delegates = isinstance(source, cst.From)
    value = optional(b, source.item if isinstance(source, cst.From) else source)
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Yield(node, dst, value, delegates))
    return dst


def _walrus(b: BodyBuilder, node: cst.NamedExpr) -> Register:
    value = evaluate(b, node.value)
    assert isinstance(node.target, cst.Name)
    b.bind(node.target, node.target.value, value)
    return value


def _lambda(b: BodyBuilder, node: cst.Lambda) -> Register:
    inner = b.function("lambda", "<lambda>", node)
    inner.body.parameters = parameters_of(b, inner, node.params)
    for parameter in inner.body.parameters:
        inner.renames.pop(parameter.name, None)
    return b.make_function(node, inner)


# ---------------------------------------------------------------------------------------------------- targets


def store(b: BodyBuilder, target: Any, value: Register, annotation: Annotation | None = None) -> None:
    kind = type(target)
    if kind is cst.Name:
        name = target.value
        b.words.add(name)
        if b.renames:
            name = b.renames.get(name, name)
        b.body.local_names.add(name)
        b.ops.append(Store(target, name, value, annotation))
    elif kind is cst.Attribute:
        holder = evaluate(b, target.value)
        b.words.add(target.attr.value)
        b.ops.append(StoreAttribute(target, holder, target.attr.value, value, annotation))
    elif kind is cst.Subscript:
        holder = evaluate(b, target.value)
        index = index_of(b, target)
        b.ops.append(StoreSubscript(target, holder, index, value))
    elif kind is cst.Tuple or kind is cst.List:
        _unpack(b, target.elements, value)


def _unpack(b: BodyBuilder, elements: Sequence[cst.BaseElement], value: Register) -> None:
    count = len(elements)
    behind_star = False
    for index, element in enumerate(elements):
        starred = isinstance(element, cst.StarredElement)
        dst = b.registers
        b.registers = dst + 1
        b.ops.append(Unpack(element.value, dst, value, index - count if behind_star else index, count, starred))
        store(b, element.value, dst)
        behind_star = behind_star or starred


def parameters_of(b: BodyBuilder, inner: BodyBuilder, parameters: cst.Parameters) -> tuple[Parameter, ...]:
    """The parameters in order; their defaults are evaluated in `b`, the body around the function."""
    made: list[Parameter] = []

    def add(parameter: cst.Param, kind: Any) -> None:
        name = parameter.name.value
        default = optional(b, parameter.default)
        written = parameter.annotation
        annotation = None if written is None else annotation_of(b, written.annotation)
        made.append(Parameter(name, kind, default, annotation))

    for parameter in parameters.posonly_params:
        add(parameter, "positional-only")
    for parameter in parameters.params:
        add(parameter, "positional")
    if isinstance(parameters.star_arg, cst.Param):
        add(parameters.star_arg, "*")
    for parameter in parameters.kwonly_params:
        add(parameter, "keyword-only")
    if parameters.star_kwarg is not None:
        add(parameters.star_kwarg, "**")
    names = [parameter.name for parameter in made]
    inner.body.local_names.update(names)
    b.words.update(names)
    return tuple(made)


# ---------------------------------------------------------------------------------------------------- tables

OPERATORS: dict[type[Any], str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.BitOr: "|",
    cst.BitAnd: "&",
    cst.BitXor: "^",
    cst.MatrixMultiply: "@",
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
    cst.PowerAssign: "**",
    cst.LeftShiftAssign: "<<",
    cst.RightShiftAssign: ">>",
    cst.BitOrAssign: "|",
    cst.BitAndAssign: "&",
    cst.BitXorAssign: "^",
    cst.MatrixMultiplyAssign: "@",
    cst.Plus: "+",
    cst.Minus: "-",
    cst.BitInvert: "~",
    cst.Not: "not",
    cst.LessThan: "<",
    cst.GreaterThan: ">",
    cst.Equal: "==",
    cst.LessThanEqual: "<=",
    cst.GreaterThanEqual: ">=",
    cst.In: "in",
    cst.NotIn: "not in",
    cst.Is: "is",
    cst.IsNot: "is not",
}

_SYNTAX = control.Expressions(evaluate, store, operands)

_SHAPES: dict[type[Any], Any] = {cst.Tuple: "tuple", cst.List: "list", cst.Set: "set"}

_COMPREHENSIONS: dict[type[Any], Any] = {
    cst.ListComp: "list",
    cst.SetComp: "set",
    cst.GeneratorExp: "generator",
    cst.DictComp: "dict",
}

_EXPRESSIONS.update(
    {
        cst.Name: _name,
        cst.Integer: _number,
        cst.Float: _number,
        cst.Imaginary: _number,
        cst.Ellipsis: _ellipsis,
        cst.SimpleString: _string,
        cst.ConcatenatedString: _concatenated,
        cst.FormattedString: _formatted,
        cst.Attribute: _postfix,
        cst.Call: _postfix,
        cst.Subscript: _postfix,
        cst.BinaryOperation: _binary,
        cst.UnaryOperation: _unary,
        cst.Comparison: _comparison,
        cst.BooleanOperation: _boolean,
        cst.IfExp: _conditional,
        cst.Tuple: _display,
        cst.List: _display,
        cst.Set: _display,
        cst.Dict: _dict,
        cst.StarredElement: _starred,
        cst.ListComp: _comprehension,
        cst.SetComp: _comprehension,
        cst.GeneratorExp: _comprehension,
        cst.DictComp: _comprehension,
        cst.Await: _await,
        cst.Yield: _yield,
        cst.NamedExpr: _walrus,
        cst.Lambda: _lambda,
    }
)

# Node types that only newer releases of LibCST have.
if hasattr(cst, "TemplatedString"):
    _EXPRESSIONS[cst.TemplatedString] = _formatted
if hasattr(cst, "StarredDictComp"):
    _EXPRESSIONS[cst.StarredDictComp] = _comprehension
    _COMPREHENSIONS[cst.StarredDictComp] = "dict"
