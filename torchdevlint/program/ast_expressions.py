"""Lowers the expressions and targets of the standard library's `ast`, by a table from node type to handler.

Operands are evaluated in source order. Chains (`a + b + c`, `a.b().c()`, `a if t else b if u else c`) are lowered in loops, so that their
length does not meet Python's recursion limit.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from torchdevlint.program.annotations import annotation_of
from torchdevlint.program.builder import BodyBuilder, Handlers
from torchdevlint.program.ir import (
    Annotation,
    Argument,
    Attribute,
    Await,
    Binary,
    Block,
    Call,
    Choice,
    Compare,
    Comprehension,
    Constant,
    Element,
    FormattedString,
    Iterate,
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

_EXPRESSIONS = Handlers()


def evaluate(b: BodyBuilder, node: ast.expr) -> Register:
    """The register that holds the value of an expression behind the operations that this adds."""
    return _EXPRESSIONS[type(node)](b, node)


def optional(b: BodyBuilder, node: ast.expr | None) -> Register | None:
    return None if node is None else _EXPRESSIONS[type(node)](b, node)


# ---------------------------------------------------------------------------------------------------- atoms


def _name(b: BodyBuilder, node: ast.Name) -> Register:
    name = b.mangled(node.id) if b.body.kind == "class" else node.id
    b.words.add(name)
    if b.renames:
        name = b.renames.get(name, name)
    return b.add(Load(node, b.register(), name))


def _constant(b: BodyBuilder, node: ast.Constant) -> Register:
    return b.add(Constant(node, b.register(), node.value))


def _formatted(b: BodyBuilder, node: Any) -> Register:
    prefix: list[str] = []
    parts: list[Register] = []
    texts: list[str] = []
    _fields(b, node.values, prefix, parts, texts)
    return b.add(FormattedString(node, b.register(), "".join(prefix), tuple(parts), tuple(texts)))


def _fields(b: BodyBuilder, fields: Iterable[Any], prefix: list[str], parts: list[Register], texts: list[str]) -> None:
    for item in fields:
        if not isinstance(item, ast.Constant):
            parts.append(evaluate(b, item.value))
            texts.append("")
            if item.format_spec is not None:
                _format(b, item.format_spec.values, parts, texts)
        elif not parts:
            prefix.append(str(item.value))
        else:
            texts[-1] += str(item.value)


def _format(b: BodyBuilder, fields: Iterable[Any], parts: list[Register], texts: list[str]) -> None:
    """How a value is written, which may hold expressions."""
    for item in fields:
        if not isinstance(item, ast.Constant):
            _fields(b, [item], [], parts, texts)


# ---------------------------------------------------------------------------------------------------- chains


def _postfix(b: BodyBuilder, node: Any) -> Register:
    """Attributes, calls and subscripts, from the innermost outwards."""
    chain = []
    while True:
        kind = type(node)
        if kind is ast.Call:
            chain.append(node)
            node = node.func
        elif kind is ast.Attribute or kind is ast.Subscript:
            chain.append(node)
            node = node.value
        else:
            break
    value = _EXPRESSIONS[kind](b, node)
    while chain:
        node = chain.pop()
        kind = type(node)
        if kind is ast.Attribute:
            name = b.mangled(node.attr)
            b.words.add(name)
            dst = b.add(Attribute(node, b.register(), value, name))
        elif kind is ast.Call:
            arguments = _arguments(b, node.args, node.keywords) if node.args or node.keywords else ()
            dst = b.add(Call(node, b.register(), value, arguments))
        else:
            index = evaluate(b, node.slice)
            dst = b.add(Subscript(node, b.register(), value, index))
        value = dst
    return value


def _arguments(b: BodyBuilder, args: list[ast.expr], keywords: list[ast.keyword]) -> tuple[Argument, ...]:
    given: list[ast.expr | ast.keyword] = [*args, *keywords]
    if args and keywords and type(args[-1]) is ast.Starred and _place(args[-1]) > _place(keywords[0]):
        given.sort(key=_place)  # f(a, k=1, *rest)
    return tuple([_argument(b, node) for node in given])


def _argument(b: BodyBuilder, node: ast.expr | ast.keyword) -> Argument:
    if type(node) is ast.keyword:
        value = _EXPRESSIONS[type(node.value)](b, node.value)
        name = node.arg
        if name is None:
            return Argument(value, None, "**")
        b.words.add(name)
        return Argument(value, name)
    if type(node) is ast.Starred:
        return Argument(evaluate(b, node.value), None, "*")
    assert isinstance(node, ast.expr)
    return Argument(evaluate(b, node))


def _place(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _slice(b: BodyBuilder, node: ast.Slice) -> Register:
    lower = optional(b, node.lower)
    upper = optional(b, node.upper)
    step = optional(b, node.step)
    return b.add(Slice(node, b.register(), lower, upper, step))


def _binary(b: BodyBuilder, node: ast.BinOp) -> Register:
    chain = []
    inner: ast.expr = node
    while type(inner) is ast.BinOp:
        chain.append(inner)
        inner = inner.left
    left = evaluate(b, inner)
    for link in reversed(chain):
        right = _EXPRESSIONS[type(link.right)](b, link.right)
        dst = b.add(Binary(link, b.register(), OPERATORS[type(link.op)], left, right))
        left = dst
    return left


def _unary(b: BodyBuilder, node: ast.UnaryOp) -> Register:
    chain = []
    inner: ast.expr = node
    while type(inner) is ast.UnaryOp:
        chain.append(inner)
        inner = inner.operand
    operand = evaluate(b, inner)
    for link in reversed(chain):
        dst = b.add(Unary(link, b.register(), OPERATORS[type(link.op)], operand))
        operand = dst
    return operand


def _comparison(b: BodyBuilder, node: ast.Compare) -> Register:
    left = evaluate(b, node.left)
    comparators = tuple([evaluate(b, comparator) for comparator in node.comparators])
    operators = tuple([OPERATORS[type(operator)] for operator in node.ops])
    return b.add(Compare(node, b.register(), left, operators, comparators))


# ---------------------------------------------------------------------------------------------------- branches


def _boolean(b: BodyBuilder, node: ast.BoolOp) -> Register:
    """The value of `a and b and c`."""
    is_and = type(node.op) is ast.And
    *others, last = node.values
    values = []
    ends = []
    for operand in others:
        value = evaluate(b, operand)
        values.append(value)
        further, short = b.new_block(), b.new_block()
        if is_and:
            b.branch(value, further, short)
        else:
            b.branch(value, short, further)
        ends.append(short)
        b.begin(further)
    values.append(evaluate(b, last))
    join = b.enter()
    for end in ends:
        b.edge(end, join)
    return b.add(Choice(node, b.register(), "and" if is_and else "or", tuple(values)))


def _conditional(b: BodyBuilder, node: ast.IfExp) -> Register:
    """The value of `a if t else b if u else c`."""
    pending: list[tuple[ast.IfExp, Register, Register, Block]] = []
    inner: ast.expr = node
    while isinstance(inner, ast.IfExp):
        tested = evaluate(b, inner.test)
        on_true, on_false = b.new_block(), b.new_block()
        b.branch(tested, on_true, on_false)
        b.begin(on_true)
        pending.append((inner, tested, evaluate(b, inner.body), b.block))
        b.begin(on_false)
        inner = inner.orelse
    last = evaluate(b, inner)
    for link, tested, chosen, end in reversed(pending):
        join = b.enter()
        b.edge(end, join)
        last = b.add(Choice(link, b.register(), "if", (chosen, last), tested))
    return last


def condition(b: BodyBuilder, node: ast.expr, on_true: Block, on_false: Block) -> None:
    """Branches on a test; `and` and `or` in it become branches of their own, so that each operand refines by itself."""
    if not isinstance(node, ast.BoolOp):
        b.branch(evaluate(b, node), on_true, on_false)
        return
    *others, last = node.values
    for operand in others:
        further = b.new_block()
        if isinstance(node.op, ast.And):
            condition(b, operand, further, on_false)
        else:
            condition(b, operand, on_true, further)
        b.begin(further)
    condition(b, last, on_true, on_false)


# ---------------------------------------------------------------------------------------------------- displays


def _display(b: BodyBuilder, node: ast.Tuple | ast.List | ast.Set) -> Register:
    elements = []
    for element in node.elts:
        if type(element) is ast.Starred:
            elements.append(Element(evaluate(b, element.value), True))
        else:
            elements.append(Element(_EXPRESSIONS[type(element)](b, element)))
    return b.add(SequenceOp(node, b.register(), _SHAPES[type(node)], tuple(elements)))


def _dict(b: BodyBuilder, node: ast.Dict) -> Register:
    keys: list[Register | None] = []
    values = []
    for key, value in zip(node.keys, node.values, strict=True):
        keys.append(None if key is None else evaluate(b, key))
        values.append(evaluate(b, value))
    return b.add(Mapping(node, b.register(), tuple(keys), tuple(values)))


def _starred(b: BodyBuilder, node: ast.Starred) -> Register:
    return b.opaque(node, evaluate(b, node.value))


def _comprehension(b: BodyBuilder, node: Any) -> Register:
    """The loops of a comprehension, inline, with its variables renamed so that they are its own."""
    clauses: list[ast.comprehension] = node.generators
    iterable = evaluate(b, clauses[0].iter)
    first, is_alone = iterable, len(clauses) == 1 and not clauses[0].ifs
    outside = b.renames
    b.comprehensions += 1
    names = [name for clause in clauses for name in _target_names(clause.target)]
    b.renames = outside | {name: f"{name}@{b.comprehensions}" for name in names}
    after = exit_to = b.new_block()
    for number, clause in enumerate(clauses):
        if number:
            iterable = evaluate(b, clause.iter)
        header = b.enter_loop(after)
        turn = b.new_block()
        header.successors += [turn.index, exit_to.index]
        b.begin(turn)
        dst = b.add(Iterate(clause, b.register(), iterable, bool(clause.is_async), is_alone, is_of_statement=False))
        first = dst if not number else first
        store(b, clause.target, dst)
        for test in clause.ifs:
            further = b.new_block()
            condition(b, test, further, header)
            b.begin(further)
        exit_to = header
    is_dict = type(node) is ast.DictComp
    key = optional(b, node.key) if is_dict else None
    value = evaluate(b, node.value if is_dict else node.elt)
    b.jump(exit_to)
    for _ in clauses:
        b.leave_loop()
    b.renames = outside
    b.begin(after)
    shape = _COMPREHENSIONS[type(node)]
    return b.add(Comprehension(node, b.register(), shape, key, value, first if is_alone else None))


def _target_names(target: ast.expr) -> Iterable[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from _target_names(element)
    elif isinstance(target, ast.Starred):
        yield from _target_names(target.value)


# ---------------------------------------------------------------------------------------------------- other values


def _await(b: BodyBuilder, node: ast.Await) -> Register:
    value = evaluate(b, node.value)
    return b.add(Await(node, b.register(), value))


def _yield(b: BodyBuilder, node: ast.Yield | ast.YieldFrom) -> Register:
    b.body.is_generator = True
    value = optional(b, node.value)
    return b.add(Yield(node, b.register(), value, type(node) is ast.YieldFrom))


def _walrus(b: BodyBuilder, node: ast.NamedExpr) -> Register:
    value = evaluate(b, node.value)
    b.bind(node.target, node.target.id, value)
    return value


def _lambda(b: BodyBuilder, node: ast.Lambda) -> Register:
    inner = b.function("lambda", "<lambda>", node)
    inner.body.parameters = parameters_of(b, inner, node.args)
    for parameter in inner.body.parameters:
        inner.renames.pop(parameter.name, None)
    return b.make_function(node, inner)


# ---------------------------------------------------------------------------------------------------- targets


def store(b: BodyBuilder, target: Any, value: Register, annotation: Annotation | None = None) -> None:
    kind = type(target)
    if kind is ast.Name:
        name = b.mangled(target.id) if b.body.kind == "class" else target.id
        b.words.add(name)
        if b.renames:
            name = b.renames.get(name, name)
        b.body.local_names.add(name)
        b.ops.append(Store(target, name, value, annotation))
    elif kind is ast.Attribute:
        holder = evaluate(b, target.value)
        name = b.mangled(target.attr)
        b.words.add(name)
        b.ops.append(StoreAttribute(target, holder, name, value, annotation))
    elif kind is ast.Subscript:
        holder = evaluate(b, target.value)
        index = evaluate(b, target.slice)
        b.ops.append(StoreSubscript(target, holder, index, value))
    elif kind is ast.Tuple or kind is ast.List:
        _unpack(b, target.elts, value)


def _unpack(b: BodyBuilder, elements: Sequence[ast.expr], value: Register) -> None:
    count = len(elements)
    behind_star = False
    for index, element in enumerate(elements):
        starred = isinstance(element, ast.Starred)
        inner = element.value if isinstance(element, ast.Starred) else element
        dst = b.add(Unpack(inner, b.register(), value, index - count if behind_star else index, count, starred))
        store(b, inner, dst)
        behind_star = behind_star or starred


def parameters_of(b: BodyBuilder, inner: BodyBuilder, arguments: ast.arguments) -> tuple[Parameter, ...]:
    """The parameters in order; their defaults are evaluated in `b`, the body around the function."""
    made: list[Parameter] = []

    def add(parameter: ast.arg, kind: Any, default: ast.expr | None = None) -> None:
        register = optional(b, default)
        written = parameter.annotation
        annotation = None if written is None else annotation_of(written, b.words)
        made.append(Parameter(parameter.arg, kind, register, annotation))

    positional = len(arguments.posonlyargs) + len(arguments.args)
    defaults = [*[None] * (positional - len(arguments.defaults)), *arguments.defaults]
    for parameter in arguments.posonlyargs:
        add(parameter, "positional-only", defaults.pop(0))
    for parameter, default in zip(arguments.args, defaults, strict=True):
        add(parameter, "positional", default)
    if arguments.vararg is not None:
        add(arguments.vararg, "*")
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        add(parameter, "keyword-only", default)
    if arguments.kwarg is not None:
        add(arguments.kwarg, "**")
    names = [parameter.name for parameter in made]
    inner.body.local_names.update(names)
    b.words.update(names)
    return tuple(made)


# ---------------------------------------------------------------------------------------------------- tables

OPERATORS: dict[type[Any], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.BitXor: "^",
    ast.MatMult: "@",
    ast.UAdd: "+",
    ast.USub: "-",
    ast.Invert: "~",
    ast.Not: "not",
    ast.Lt: "<",
    ast.Gt: ">",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.LtE: "<=",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}

_SHAPES: dict[type[Any], Any] = {ast.Tuple: "tuple", ast.List: "list", ast.Set: "set"}

_COMPREHENSIONS: dict[type[Any], Any] = {
    ast.ListComp: "list",
    ast.SetComp: "set",
    ast.GeneratorExp: "generator",
    ast.DictComp: "dict",
}

_EXPRESSIONS.update(
    {
        ast.Name: _name,
        ast.Constant: _constant,
        ast.JoinedStr: _formatted,
        ast.Attribute: _postfix,
        ast.Call: _postfix,
        ast.Subscript: _postfix,
        ast.Slice: _slice,
        ast.BinOp: _binary,
        ast.UnaryOp: _unary,
        ast.Compare: _comparison,
        ast.BoolOp: _boolean,
        ast.IfExp: _conditional,
        ast.Tuple: _display,
        ast.List: _display,
        ast.Set: _display,
        ast.Dict: _dict,
        ast.Starred: _starred,
        ast.ListComp: _comprehension,
        ast.SetComp: _comprehension,
        ast.GeneratorExp: _comprehension,
        ast.DictComp: _comprehension,
        ast.Await: _await,
        ast.Yield: _yield,
        ast.YieldFrom: _yield,
        ast.NamedExpr: _walrus,
        ast.Lambda: _lambda,
    }
)

# Node types that only newer releases of Python have.
if hasattr(ast, "TemplateStr"):
    _EXPRESSIONS[ast.TemplateStr] = _formatted
