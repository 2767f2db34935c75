"""Lowers a LibCST module to a Program in one pass, by a table from node type to handler.

Visitors, matchers and metadata providers cost one to seven times the parse; this pass costs a few hundredths of it. Operands are
evaluated in source order. Chains that LibCST nests (`a + b + c`, `a.b().c()`, `elif`, `a if t else b if u else c`) are lowered in
loops, so that their length does not meet Python's recursion limit.

What is approximate: the body of a `with` is taken not to be left by a swallowed exception; the variables of a comprehension in a
class body see the names of the class; annotations are parsed and not evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import libcst as cst

from torchdevlint.program import literals
from torchdevlint.program.annotations import UNKNOWN, is_literal, parse_annotation
from torchdevlint.program.builder import BodyBuilder, FinallyExit, ProgramBuilder
from torchdevlint.program.ir import (
    Annotation,
    Argument,
    Attribute,
    AugmentedAssign,
    Await,
    Binary,
    Block,
    Call,
    Choice,
    Compare,
    Comprehension,
    Constant,
    Declare,
    Delete,
    Discard,
    Element,
    Enter,
    FormattedString,
    Import,
    Iterate,
    Load,
    MakeClass,
    MakeFunction,
    Mapping,
    Opaque,
    Parameter,
    Program,
    Raise,
    Register,
    Return,
    Slice,
    Store,
    StoreAttribute,
    StoreSubscript,
    Subscript,
    TryContext,
    Unary,
    Unpack,
    Yield,
)
from torchdevlint.program.ir import Sequence as SequenceOp

Evaluate = Callable[[BodyBuilder, Any], Register]
Execute = Callable[[BodyBuilder, Any], None]

_EXPRESSIONS: dict[type[Any], Evaluate] = {}
_SMALL: dict[type[Any], Execute] = {}
_STATEMENTS: dict[type[Any], Execute] = {}
_PATTERNS: dict[type[Any], Callable[[BodyBuilder, Any, _Captures], None]] = {}

_KEYWORD_VALUES = {"None": None, "True": True, "False": False}


def lower(module: cst.Module) -> Program:
    """The Program of a parsed file: outer bodies first, function bodies after the bodies that make them."""
    program = ProgramBuilder(module)
    _statements(program.module, module.body)
    program.module.finish()
    for builder in program.pending:  # grows while it is walked
        _FUNCTIONS[type(builder.body.node)](builder, builder.body.node)
        builder.finish()
    return program.finish()


def _evaluate(b: BodyBuilder, node: cst.CSTNode) -> Register:
    handler = _EXPRESSIONS.get(type(node))
    return handler(b, node) if handler is not None else _opaque(b, node)


def _opaque(b: BodyBuilder, node: cst.CSTNode | None, *operands: Register) -> Register:
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Opaque(node, dst, operands))
    return dst


# ---------------------------------------------------------------------------------------------------- atoms


def _name(b: BodyBuilder, node: cst.Name) -> Register:
    name = node.value
    dst = b.registers
    b.registers = dst + 1
    if name in _KEYWORD_VALUES:
        b.ops.append(Constant(node, dst, _KEYWORD_VALUES[name]))
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
        return _opaque(b, node)


def _ellipsis(b: BodyBuilder, node: cst.Ellipsis) -> Register:
    return _constant(b, node, ...)


def _string(b: BodyBuilder, node: cst.SimpleString) -> Register:
    try:
        return _constant(b, node, literals.string(node.value))
    except ValueError:
        return _opaque(b, node)


def _formatted(b: BodyBuilder, node: cst.FormattedString | cst.TemplatedString | cst.ConcatenatedString) -> Register:
    prefix: list[str] = []
    parts: list[Register] = []
    for piece in _pieces(node):
        if isinstance(piece, cst.SimpleString):
            if not parts:
                value = literals.string(piece.value)
                prefix.append(value if isinstance(value, str) else "")
        else:
            _fields(b, piece.parts, prefix, parts, raw="r" in piece.start.lower())
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(FormattedString(node, dst, "".join(prefix), tuple(parts)))
    return dst


def _fields(b: BodyBuilder, fields: Iterable[cst.CSTNode], prefix: list[str], parts: list[Register], raw: bool) -> None:
    for item in fields:
        if isinstance(item, cst.FormattedStringExpression | cst.TemplatedStringExpression):
            parts.append(_evaluate(b, item.expression))
            _fields(b, item.format_spec or (), [], parts, raw)
        elif not parts:
            assert isinstance(item, cst.FormattedStringText | cst.TemplatedStringText)
            prefix.append(literals.formatted_text(item.value, raw))


def _pieces(node: cst.CSTNode) -> list[Any]:
    """The strings that are joined by standing side by side, which LibCST nests to the right."""
    pieces: list[Any] = []
    while isinstance(node, cst.ConcatenatedString):
        pieces.append(node.left)
        node = node.right
    pieces.append(node)
    return pieces


def _concatenated(b: BodyBuilder, node: cst.ConcatenatedString) -> Register:
    pieces = _pieces(node)
    try:
        if any(type(piece) is not cst.SimpleString for piece in pieces):
            return _formatted(b, node)
        return _constant(b, node, literals.joined([piece.value for piece in pieces]))
    except ValueError:
        return _opaque(b, node)


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
    value = _EXPRESSIONS[kind](b, node) if kind in _EXPRESSIONS else _opaque(b, node)
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
            index = _index(b, node)
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


def _index(b: BodyBuilder, node: cst.Subscript) -> Register:
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
    return isinstance(item, cst.Index) and bool(item.star)


def _index_item(b: BodyBuilder, item: cst.BaseSlice) -> Register:
    if isinstance(item, cst.Index):
        return _evaluate(b, item.value)
    assert isinstance(item, cst.Slice)
    lower = _optional(b, item.lower)
    upper = _optional(b, item.upper)
    step = _optional(b, item.step)
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Slice(item, dst, lower, upper, step))
    return dst


def _optional(b: BodyBuilder, node: cst.CSTNode | None) -> Register | None:
    return None if node is None else _evaluate(b, node)


def _binary(b: BodyBuilder, node: cst.BinaryOperation) -> Register:
    chain = []
    inner: cst.BaseExpression = node
    while isinstance(inner, cst.BinaryOperation):
        chain.append(inner)
        inner = inner.left
    left = _evaluate(b, inner)
    for link in reversed(chain):
        right = _evaluate(b, link.right)
        dst = b.registers
        b.registers = dst + 1
        b.ops.append(Binary(link, dst, _OPERATORS[type(link.operator)], left, right))
        left = dst
    return left


def _unary(b: BodyBuilder, node: cst.UnaryOperation) -> Register:
    chain = []
    inner: cst.BaseExpression = node
    while isinstance(inner, cst.UnaryOperation):
        chain.append(inner)
        inner = inner.expression
    operand = _evaluate(b, inner)
    for link in reversed(chain):
        dst = b.registers
        b.registers = dst + 1
        b.ops.append(Unary(link, dst, _OPERATORS[type(link.operator)], operand))
        operand = dst
    return operand


def _comparison(b: BodyBuilder, node: cst.Comparison) -> Register:
    left = _evaluate(b, node.left)
    operators = []
    comparators = []
    for target in node.comparisons:
        operator = target.operator
        operators.append(operator.value if isinstance(operator, cst.NotEqual) else _OPERATORS[type(operator)])
        comparators.append(_evaluate(b, target.comparator))
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Compare(node, dst, left, tuple(operators), tuple(comparators)))
    return dst


# ---------------------------------------------------------------------------------------------------- branches


def _operands(node: cst.BooleanOperation) -> list[cst.BaseExpression]:
    """The operands of `a and b and c`, which LibCST nests to the left."""
    kind = type(node.operator)
    operands = [node.right]
    left = node.left
    while isinstance(left, cst.BooleanOperation) and type(left.operator) is kind and not left.lpar:
        operands.append(left.right)
        left = left.left
    operands.append(left)
    operands.reverse()
    return operands


def _boolean(b: BodyBuilder, node: cst.BooleanOperation) -> Register:
    is_and = isinstance(node.operator, cst.And)
    operands = _operands(node)
    values = []
    ends = []
    for operand in operands[:-1]:
        value = _evaluate(b, operand)
        values.append(value)
        further, short = b.new_block(), b.new_block()
        if is_and:
            b.branch(value, further, short)
        else:
            b.branch(value, short, further)
        ends.append(short)
        b.begin(further)
    values.append(_evaluate(b, operands[-1]))
    join = b.enter()
    for end in ends:
        b.edge(end, join)
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Choice(node, dst, "and" if is_and else "or", tuple(values)))
    return dst


def _conditional(b: BodyBuilder, node: cst.IfExp) -> Register:
    pending: list[tuple[cst.IfExp, Register, Register, Block]] = []
    inner: cst.BaseExpression = node
    while isinstance(inner, cst.IfExp):
        test = _evaluate(b, inner.test)
        on_true, on_false = b.new_block(), b.new_block()
        b.branch(test, on_true, on_false)
        b.begin(on_true)
        value = _evaluate(b, inner.body)
        pending.append((inner, test, value, b.block))
        b.begin(on_false)
        inner = inner.orelse
    otherwise = _evaluate(b, inner)
    for link, test, value, end in reversed(pending):
        join = b.enter()
        b.edge(end, join)
        dst = b.registers
        b.registers = dst + 1
        b.ops.append(Choice(link, dst, "if", (value, otherwise), test))
        otherwise = dst
    return otherwise


def _condition(b: BodyBuilder, node: cst.BaseExpression, on_true: Block, on_false: Block) -> None:
    """Branches on a test; `and` and `or` in it become branches of their own, so that each operand refines by itself."""
    if not isinstance(node, cst.BooleanOperation):
        b.branch(_evaluate(b, node), on_true, on_false)
        return
    is_and = isinstance(node.operator, cst.And)
    *operands, last = _operands(node)
    for operand in operands:
        further = b.new_block()
        if is_and:
            _condition(b, operand, further, on_false)
        else:
            _condition(b, operand, on_true, further)
        b.begin(further)
    _condition(b, last, on_true, on_false)


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
        keys.append(_evaluate(b, element.key) if isinstance(element, cst.DictElement) else None)
        values.append(_evaluate(b, element.value))
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Mapping(node, dst, tuple(keys), tuple(values)))
    return dst


def _starred(b: BodyBuilder, node: cst.StarredElement) -> Register:
    return _opaque(b, node, _evaluate(b, node.value))


def _comprehension(b: BodyBuilder, node: cst.BaseComp) -> Register:
    """The loops of a comprehension, inline, with its variables renamed so that they are its own."""
    clause: cst.CompFor | None = node.for_in
    assert clause is not None
    iterable = _evaluate(b, clause.iter)
    outside = b.renames
    b.comprehensions += 1
    b.renames = outside | {name: f"{name}@{b.comprehensions}" for name in _comprehension_names(clause)}
    after = b.new_block()
    depth = 0
    exit_to = after
    while clause is not None:
        header = b.enter_loop(after)
        turn = b.new_block()
        header.successors += [turn.index, exit_to.index]
        b.begin(turn)
        dst = b.registers
        b.registers = dst + 1
        b.ops.append(Iterate(clause, dst, iterable, clause.asynchronous is not None))
        _store(b, clause.target, dst)
        for condition in clause.ifs:
            further = b.new_block()
            _condition(b, condition.test, further, header)
            b.begin(further)
        depth += 1
        exit_to = header
        clause = clause.inner_for_in
        if clause is not None:
            iterable = _evaluate(b, clause.iter)
    key = None
    if isinstance(node, cst.DictComp):
        key = _evaluate(b, node.key)
        value = _evaluate(b, node.value)
    else:
        value = _evaluate(b, node.elt if isinstance(node, cst.BaseSimpleComp) else node.value)  # type: ignore[attr-defined]
    b.jump(header)
    for _ in range(depth):
        b.leave_loop()
    b.renames = outside
    b.begin(after)
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Comprehension(node, dst, _COMPREHENSIONS[type(node)], key, value))
    return dst


def _comprehension_names(clause: cst.CompFor | None) -> Iterable[str]:
    while clause is not None:
        yield from _target_names(clause.target)
        clause = clause.inner_for_in


def _target_names(target: cst.CSTNode) -> Iterable[str]:
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _target_names(element.value)


# ---------------------------------------------------------------------------------------------------- other values


def _await(b: BodyBuilder, node: cst.Await) -> Register:
    value = _evaluate(b, node.expression)
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Await(node, dst, value))
    return dst


def _yield(b: BodyBuilder, node: cst.Yield) -> Register:
    b.body.is_generator = True
    source = node.value
    delegates = isinstance(source, cst.From)
    value = _optional(b, source.item if isinstance(source, cst.From) else source)
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Yield(node, dst, value, delegates))
    return dst


def _walrus(b: BodyBuilder, node: cst.NamedExpr) -> Register:
    value = _evaluate(b, node.value)
    assert isinstance(node.target, cst.Name)
    _bind(b, node.target, node.target.value, value)
    return value


def _lambda(b: BodyBuilder, node: cst.Lambda) -> Register:
    inner = b.function("lambda", "<lambda>", node)
    inner.body.parameters = _parameters(b, inner, node.params)
    for parameter in inner.body.parameters:
        inner.renames.pop(parameter.name, None)
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(MakeFunction(node, dst, inner.body))
    return dst


def _lambda_body(b: BodyBuilder, node: cst.Lambda) -> None:
    value = _evaluate(b, node.body)
    b.ops.append(Return(node, value))


# ---------------------------------------------------------------------------------------------------- targets


def _bind(b: BodyBuilder, node: cst.CSTNode, name: str, value: Register, annotation: Annotation | None = None) -> None:
    b.words.add(name)
    b.body.local_names.add(name)
    b.ops.append(Store(node, name, value, annotation))


def _store(b: BodyBuilder, target: Any, value: Register, annotation: Annotation | None = None) -> None:
    kind = type(target)
    if kind is cst.Name:
        name = target.value
        b.words.add(name)
        if b.renames:
            name = b.renames.get(name, name)
        b.body.local_names.add(name)
        b.ops.append(Store(target, name, value, annotation))
    elif kind is cst.Attribute:
        holder = _evaluate(b, target.value)
        b.words.add(target.attr.value)
        b.ops.append(StoreAttribute(target, holder, target.attr.value, value, annotation))
    elif kind is cst.Subscript:
        holder = _evaluate(b, target.value)
        index = _index(b, target)
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
        _store(b, element.value, dst)
        behind_star = behind_star or starred


# ---------------------------------------------------------------------------------------------------- small statements


def _expression_statement(b: BodyBuilder, node: cst.Expr) -> None:
    value = _EXPRESSIONS[type(node.value)](b, node.value)
    b.ops.append(Discard(node, value))


def _assign(b: BodyBuilder, node: cst.Assign) -> None:
    value = _evaluate(b, node.value)
    for target in node.targets:
        _store(b, target.target, value)


def _annotated_assign(b: BodyBuilder, node: cst.AnnAssign) -> None:
    annotation = _annotation(b, node.annotation.annotation)
    target = node.target
    if node.value is not None:
        _store(b, target, _evaluate(b, node.value), annotation)
    elif isinstance(target, cst.Name):
        b.words.add(target.value)
        b.body.local_names.add(target.value)
        b.ops.append(Declare(target, target.value, annotation))
    elif isinstance(target, cst.Attribute):
        b.words.add(target.attr.value)
        _evaluate(b, target.value)


def _augmented_assign(b: BodyBuilder, node: cst.AugAssign) -> None:
    target = node.target
    holder = index = -1
    dst = -1
    if isinstance(target, cst.Attribute):
        holder = _evaluate(b, target.value)
        b.words.add(target.attr.value)
        dst = b.registers
        b.registers = dst + 1
        b.ops.append(Attribute(target, dst, holder, target.attr.value))
    elif isinstance(target, cst.Subscript):
        holder = _evaluate(b, target.value)
        index = _index(b, target)
        dst = b.registers
        b.registers = dst + 1
        b.ops.append(Subscript(target, dst, holder, index))
    else:
        dst = _evaluate(b, target)
    value = _evaluate(b, node.value)
    old, dst = dst, b.registers
    b.registers = dst + 1
    b.ops.append(AugmentedAssign(node, dst, _OPERATORS[type(node.operator)], old, value))
    if isinstance(target, cst.Attribute):
        b.ops.append(StoreAttribute(target, holder, target.attr.value, dst))
    elif isinstance(target, cst.Subscript):
        b.ops.append(StoreSubscript(target, holder, index, dst))
    elif isinstance(target, cst.Name):
        _bind(b, target, target.value, dst)


def _return(b: BodyBuilder, node: cst.Return) -> None:
    value = _optional(b, node.value)
    b.ops.append(Return(node, value))
    b.leave("return")
    b.live = False


def _raise(b: BodyBuilder, node: cst.Raise) -> None:
    value = _optional(b, node.exc)
    if node.cause is not None:
        _evaluate(b, node.cause.item)
    b.ops.append(Raise(node, value))
    b.live = False


def _assert(b: BodyBuilder, node: cst.Assert) -> None:
    holds, fails = b.new_block(), b.new_block()
    _condition(b, node.test, holds, fails)
    b.begin(fails)
    if node.msg is not None:
        _evaluate(b, node.msg)
    b.ops.append(Raise(node, None))
    b.begin(holds)


def _pass(b: BodyBuilder, node: cst.Pass) -> None:
    """Nothing happens."""


def _break(b: BodyBuilder, node: cst.Break) -> None:
    b.leave("break")
    b.live = False


def _continue(b: BodyBuilder, node: cst.Continue) -> None:
    b.leave("continue")
    b.live = False


def _delete(b: BodyBuilder, node: cst.Del) -> None:
    _delete_target(b, node.target)


def _delete_target(b: BodyBuilder, target: cst.CSTNode) -> None:
    if isinstance(target, cst.Name):
        b.words.add(target.value)
        b.body.local_names.add(target.value)
        b.ops.append(Delete(target, target.value))
    elif isinstance(target, cst.Attribute):
        b.words.add(target.attr.value)
        _evaluate(b, target.value)
    elif isinstance(target, cst.Subscript):
        _evaluate(b, target.value)
        _index(b, target)
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            _delete_target(b, element.value)


def _global(b: BodyBuilder, node: cst.Global) -> None:
    b.body.global_names.update(item.name.value for item in node.names)
    b.words.update(item.name.value for item in node.names)


def _nonlocal(b: BodyBuilder, node: cst.Nonlocal) -> None:
    b.body.nonlocal_names.update(item.name.value for item in node.names)
    b.words.update(item.name.value for item in node.names)


def _import(b: BodyBuilder, node: Any) -> None:
    for alias in node.names:
        qualified = _dotted(alias.name) or "?"
        b.words.update(qualified.split("."))
        b.program.imported.add(qualified)
        target = alias.asname.name if alias.asname is not None else _root(alias.name)
        _import_as(b, alias, qualified if alias.asname is not None else target.value, target)


def _import_from(b: BodyBuilder, node: Any) -> None:
    module = "." * len(node.relative) + (_dotted(node.module) or "" if node.module is not None else "")
    b.words.update(filter(None, module.split(".")))
    if module.strip("."):
        b.program.imported.add(module)
    if isinstance(node.names, cst.ImportStar):
        dst = b.registers
        b.registers = dst + 1
        b.ops.append(Import(node.names, dst, module, "*"))
        return
    prefix = module if module.endswith(".") else module + "."
    for alias in node.names:
        qualified = prefix + alias.name.value
        b.words.add(alias.name.value)
        b.program.imported.add(qualified)
        _import_as(b, alias, qualified, alias.asname.name if alias.asname is not None else alias.name)


def _import_as(b: BodyBuilder, alias: cst.ImportAlias, qualified: str, target: cst.Name) -> None:
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Import(alias, dst, qualified, target.value))
    _bind(b, target, target.value, dst)


def _type_alias(b: BodyBuilder, node: cst.TypeAlias) -> None:
    # The value is evaluated lazily, if ever.
    _bind(b, node.name, node.name.value, _opaque(b, node))


# ---------------------------------------------------------------------------------------------------- statements


def _statements(b: BodyBuilder, statements: Iterable[cst.CSTNode]) -> None:
    for statement in statements:
        if not b.live:
            b.revive()
        _STATEMENTS[type(statement)](b, statement)


def _suite(b: BodyBuilder, suite: cst.BaseSuite) -> None:
    if isinstance(suite, cst.IndentedBlock):
        _statements(b, suite.body)
    else:
        _line(b, suite)


def _line(b: BodyBuilder, line: Any) -> None:
    for statement in line.body:
        if not b.live:
            b.revive()
        _SMALL[type(statement)](b, statement)


def _if(b: BodyBuilder, node: cst.If) -> None:
    ends: list[Block] = []
    branch: cst.If | cst.Else | None = node
    while isinstance(branch, cst.If):
        on_true, on_false = b.new_block(), b.new_block()
        _condition(b, branch.test, on_true, on_false)
        b.begin(on_true)
        _suite(b, branch.body)
        if b.live:
            ends.append(b.block)
        b.begin(on_false)
        branch = branch.orelse
    if branch is None:
        # Nothing stands on the last false edge: the block it leads to is where the branches meet.
        for end in ends:
            b.edge(end, on_false)
        return
    _suite(b, branch.body)
    if b.live:
        ends.append(b.block)
    b.join(ends)


def _for(b: BodyBuilder, node: cst.For) -> None:
    iterable = _evaluate(b, node.iter)
    after = b.new_block()
    otherwise = b.new_block() if node.orelse is not None else after
    header = b.enter_loop(after)
    turn = b.new_block()
    b.edge(header, turn)
    b.edge(header, otherwise)
    b.begin(turn)
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(Iterate(node, dst, iterable, node.asynchronous is not None))
    _store(b, node.target, dst)
    _suite(b, node.body)
    b.jump(header)
    b.leave_loop()
    _loop_end(b, node.orelse, otherwise, after)


def _while(b: BodyBuilder, node: cst.While) -> None:
    after = b.new_block()
    otherwise = b.new_block() if node.orelse is not None else after
    header = b.enter_loop(after)
    turn = b.new_block()
    if _is_always_true(node.test):
        b.jump(turn)
    else:
        _condition(b, node.test, turn, otherwise)
    b.begin(turn)
    _suite(b, node.body)
    b.jump(header)
    b.leave_loop()
    _loop_end(b, node.orelse, otherwise, after)


def _loop_end(b: BodyBuilder, orelse: cst.Else | None, otherwise: Block, after: Block) -> None:
    if orelse is not None:
        b.begin_if_reached(otherwise)
        if not b.live:
            b.begin(otherwise)
        _suite(b, orelse.body)
        if otherwise.index in b.reached:
            b.jump(after)
    b.begin_if_reached(after)


def _is_always_true(test: cst.BaseExpression) -> bool:
    return (isinstance(test, cst.Name) and test.value == "True") or (
        isinstance(test, cst.Integer) and test.value == "1"
    )


def _with(b: BodyBuilder, node: cst.With) -> None:
    outside = b.withs
    for item in node.items:
        manager = _evaluate(b, item.item)
        dst = b.registers
        b.registers = dst + 1
        b.ops.append(Enter(item, dst, manager))
        if item.asname is not None:
            _store(b, item.asname.name, dst)
        b.withs = (*b.withs, manager)
        b.enter()
    _suite(b, node.body)
    b.withs = outside
    if b.live:
        b.enter()


def _try(b: BodyBuilder, node: Any) -> None:
    b.try_count += 1
    identity = b.try_count
    caught = [_caught(handler.type) for handler in node.handlers]
    catches = tuple(name for names in caught for name in names)
    outside = b.tries
    final: FinallyExit | None = None
    if node.finalbody is not None:
        b.tries = (*outside, TryContext(identity, "finally", catches))
        final = FinallyExit(b.new_block())
        b.exits.append(final)
    before = b.block
    first = len(b.body.blocks)

    b.tries = (*outside, TryContext(identity, "body", catches))
    b.enter()
    _suite(b, node.body)
    raising = [before, *b.body.blocks[first:]]
    if node.orelse is not None:
        b.tries = (*outside, TryContext(identity, "else", catches))
        b.enter()
        _suite(b, node.orelse.body)
    ends = [b.block] if b.live else []

    for handler, names in zip(node.handlers, caught, strict=True):
        b.tries = (*outside, TryContext(identity, "handler", names))
        entry = b.new_block()
        b.edge(before, entry)
        b.raise_into(raising, entry)
        b.begin(entry)
        if handler.type is not None:
            value = _opaque(b, handler, _evaluate(b, handler.type))
            if handler.name is not None:
                _store(b, handler.name.name, value)
        _suite(b, handler.body)
        if b.live:
            ends.append(b.block)

    if node.finalbody is None or final is None:
        b.tries = outside
        b.join(ends)
        return
    b.exits.pop()
    b.tries = (*outside, TryContext(identity, "finally", catches))
    b.edge(before, final.entry)
    b.raise_into(b.body.blocks[first:], final.entry)
    for end in ends:
        b.edge(end, final.entry)
    b.begin(final.entry)
    _suite(b, node.finalbody.body)
    for kind in sorted(final.exits):
        b.leave(kind)
    b.tries = outside
    if b.live and ends:
        b.enter()
    else:
        b.live = False


def _caught(type_: cst.BaseExpression | None) -> tuple[str, ...]:
    if type_ is None:
        return ("BaseException",)
    if isinstance(type_, cst.Tuple):
        return tuple(_dotted(element.value) or "?" for element in type_.elements)
    return (_dotted(type_) or "?",)


def _match(b: BodyBuilder, node: cst.Match) -> None:
    subject = _evaluate(b, node.subject)
    ends: list[Block] = []
    for case in node.cases:
        if not b.live:
            b.revive()
        captures: _Captures = []
        _pattern(b, case.pattern, captures)
        always = case.guard is None and _is_irrefutable(case.pattern)
        matched = b.enter() if always else b.new_block()
        otherwise = None if always else b.new_block()
        if otherwise is not None:
            b.edge(b.block, matched)
            b.edge(b.block, otherwise)
            b.begin(matched)
        for name in captures:
            _bind(b, name, name.value, _opaque(b, name, subject))
        if case.guard is not None and otherwise is not None:
            body = b.new_block()
            _condition(b, case.guard, body, otherwise)
            b.begin(body)
        _suite(b, case.body)
        if b.live:
            ends.append(b.block)
        if otherwise is not None:
            b.begin(otherwise)
        else:
            b.live = False
    if b.live:
        ends.append(b.block)
    b.join(ends)


_Captures = list[cst.Name]


def _is_irrefutable(pattern: cst.MatchPattern) -> bool:
    return isinstance(pattern, cst.MatchAs) and (pattern.pattern is None or _is_irrefutable(pattern.pattern))


def _pattern(b: BodyBuilder, pattern: cst.CSTNode, captures: _Captures) -> None:
    handler = _PATTERNS.get(type(pattern))
    if handler is not None:
        handler(b, pattern, captures)


def _match_value(b: BodyBuilder, pattern: cst.MatchValue, captures: _Captures) -> None:
    _evaluate(b, pattern.value)


def _match_as(b: BodyBuilder, pattern: cst.MatchAs, captures: _Captures) -> None:
    if pattern.pattern is not None:
        _pattern(b, pattern.pattern, captures)
    if pattern.name is not None:
        captures.append(pattern.name)


def _match_star(b: BodyBuilder, pattern: cst.MatchStar, captures: _Captures) -> None:
    if pattern.name is not None:
        captures.append(pattern.name)


def _match_sequence(b: BodyBuilder, pattern: cst.MatchList | cst.MatchTuple, captures: _Captures) -> None:
    for element in pattern.patterns:
        _pattern(b, element.value if isinstance(element, cst.MatchSequenceElement) else element, captures)


def _match_mapping(b: BodyBuilder, pattern: cst.MatchMapping, captures: _Captures) -> None:
    for element in pattern.elements:
        _evaluate(b, element.key)
        _pattern(b, element.pattern, captures)
    if pattern.rest is not None:
        captures.append(pattern.rest)


def _match_class(b: BodyBuilder, pattern: cst.MatchClass, captures: _Captures) -> None:
    _evaluate(b, pattern.cls)
    for element in pattern.patterns:
        _pattern(b, element.value, captures)
    for keyword in pattern.kwds:
        b.words.add(keyword.key.value)
        _pattern(b, keyword.pattern, captures)


def _match_or(b: BodyBuilder, pattern: cst.MatchOr, captures: _Captures) -> None:
    bound = {name.value for name in captures}
    for element in pattern.patterns:
        found: _Captures = []
        _pattern(b, element.pattern, found)
        captures += [name for name in found if name.value not in bound]
        bound.update(name.value for name in found)


# ---------------------------------------------------------------------------------------------------- definitions


def _function(b: BodyBuilder, node: cst.FunctionDef) -> None:
    decorators, registers = _decorators(b, node.decorators)
    name = node.name.value
    inner = b.function("function", name, node)
    body = inner.body
    body.decorators = decorators
    body.decorator_registers = registers
    body.is_async = node.asynchronous is not None
    body.parameters = _parameters(b, inner, node.params)
    if node.returns is not None:
        body.returns = _annotation(b, node.returns.annotation)
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(MakeFunction(node, dst, body))
    _bind(b, node.name, name, dst)


def _function_body(b: BodyBuilder, node: cst.FunctionDef) -> None:
    _type_parameters(b, node.type_parameters)
    _suite(b, node.body)


def _class(b: BodyBuilder, node: cst.ClassDef) -> None:
    decorators, decorator_registers = _decorators(b, node.decorators)
    bases = tuple("?" if arg.star else _base_name(arg.value) for arg in node.bases)
    registers = tuple(_evaluate(b, arg.value) for arg in node.bases)
    for arg in node.keywords:
        _evaluate(b, arg.value)
    inner = b.class_(node.name.value, node, bases, registers)
    inner.body.decorators = decorators
    inner.body.decorator_registers = decorator_registers
    _type_parameters(inner, node.type_parameters)
    _suite(inner, node.body)
    inner.finish()
    assert inner.body.owner is not None
    dst = b.registers
    b.registers = dst + 1
    b.ops.append(MakeClass(node, dst, inner.body.owner))
    _bind(b, node.name, node.name.value, dst)


def _base_name(node: cst.BaseExpression) -> str:
    return _dotted(node.value if isinstance(node, cst.Subscript) else node) or "?"


def _decorators(b: BodyBuilder, decorators: Sequence[cst.Decorator]) -> tuple[tuple[str, ...], tuple[Register, ...]]:
    if not decorators:
        return (), ()
    expressions = [decorator.decorator for decorator in decorators]
    names = tuple(_dotted(node.func if isinstance(node, cst.Call) else node) or "?" for node in expressions)
    return names, tuple(_evaluate(b, node) for node in expressions)


def _parameters(b: BodyBuilder, inner: BodyBuilder, parameters: cst.Parameters) -> tuple[Parameter, ...]:
    """The parameters in order; their defaults are evaluated in `b`, the body around the function."""
    made: list[Parameter] = []

    def add(parameter: cst.Param, kind: Any) -> None:
        name = parameter.name.value
        default = _optional(b, parameter.default)
        written = parameter.annotation
        annotation = None if written is None else _annotation(b, written.annotation)
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


def _type_parameters(b: BodyBuilder, parameters: cst.TypeParameters | None) -> None:
    """Binds the names of `[T]`; bounds and defaults are evaluated lazily and so not lowered."""
    for parameter in parameters.params if parameters is not None else ():
        name = parameter.param.name
        _bind(b, name, name.value, _opaque(b, parameter))


# ---------------------------------------------------------------------------------------------------- names


def _dotted(node: cst.CSTNode) -> str | None:
    """`a.b.c` as text, or None for any other expression."""
    if isinstance(node, cst.Name):
        return node.value
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    parts.append(node.value)
    parts.reverse()
    return ".".join(parts)


def _root(node: Any) -> cst.Name:
    while isinstance(node, cst.Attribute):
        node = node.value
    assert isinstance(node, cst.Name)
    return node


def _annotation(b: BodyBuilder, node: cst.BaseExpression) -> Annotation:
    if isinstance(node, cst.Name | cst.Attribute):
        name = _dotted(node)
        if name is None:
            return UNKNOWN
        b.words.update(name.split("."))
        return Annotation(name)
    if isinstance(node, cst.Subscript):
        name = _dotted(node.value)
        if name is None:
            return UNKNOWN
        b.words.update(name.split("."))
        if is_literal(name):
            return Annotation(name)
        items = (part.slice for part in node.slice)
        return Annotation(
            name, tuple(_annotation(b, item.value) if isinstance(item, cst.Index) else UNKNOWN for item in items)
        )
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
        rights = []
        left: cst.BaseExpression = node
        while isinstance(left, cst.BinaryOperation) and isinstance(left.operator, cst.BitOr):
            rights.append(left.right)
            left = left.left
        return Annotation("|", tuple(_annotation(b, part) for part in (left, *reversed(rights))))
    if isinstance(node, cst.List):
        return Annotation("[]", tuple(_annotation(b, element.value) for element in node.elements))
    if isinstance(node, cst.SimpleString | cst.ConcatenatedString):
        pieces = _pieces(node)
        if all(isinstance(piece, cst.SimpleString) for piece in pieces):
            try:
                text = literals.joined([piece.value for piece in pieces])
            except ValueError:
                return UNKNOWN
            return parse_annotation(text) if isinstance(text, str) else UNKNOWN
    return UNKNOWN


# ---------------------------------------------------------------------------------------------------- tables

_OPERATORS: dict[type[Any], str] = {
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

_SMALL.update(
    {
        cst.Expr: _expression_statement,
        cst.Assign: _assign,
        cst.AnnAssign: _annotated_assign,
        cst.AugAssign: _augmented_assign,
        cst.Return: _return,
        cst.Raise: _raise,
        cst.Assert: _assert,
        cst.Pass: _pass,
        cst.Break: _break,
        cst.Continue: _continue,
        cst.Del: _delete,
        cst.Global: _global,
        cst.Nonlocal: _nonlocal,
        cst.Import: _import,
        cst.ImportFrom: _import_from,
        cst.TypeAlias: _type_alias,
    }
)

_STATEMENTS.update(
    {
        cst.SimpleStatementLine: _line,
        cst.If: _if,
        cst.For: _for,
        cst.While: _while,
        cst.With: _with,
        cst.Try: _try,
        cst.TryStar: _try,
        cst.Match: _match,
        cst.FunctionDef: _function,
        cst.ClassDef: _class,
    }
)

_PATTERNS.update(
    {
        cst.MatchValue: _match_value,
        cst.MatchAs: _match_as,
        cst.MatchStar: _match_star,
        cst.MatchList: _match_sequence,
        cst.MatchTuple: _match_sequence,
        cst.MatchMapping: _match_mapping,
        cst.MatchClass: _match_class,
        cst.MatchOr: _match_or,
    }
)

_FUNCTIONS: dict[type[Any], Execute] = {cst.FunctionDef: _function_body, cst.Lambda: _lambda_body}

# Node types that only newer releases of LibCST have.
_NEWER: tuple[tuple[dict[type[Any], Any], dict[str, Any]], ...] = (
    (_EXPRESSIONS, {"TemplatedString": _formatted, "StarredDictComp": _comprehension}),
    (_SMALL, {"LazyImport": _import, "LazyImportFrom": _import_from}),
    (_COMPREHENSIONS, {"StarredDictComp": "dict"}),
)
for _table, _newer in _NEWER:
    for _type_name, _handler in _newer.items():
        if hasattr(cst, _type_name):
            _table[getattr(cst, _type_name)] = _handler
