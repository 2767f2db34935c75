"""Lowers a module of the standard library's `ast` to a Program, in one pass, by tables from node type to handler.

Its nodes hold no comments and white space, so that a fix needs LibCST's: `from_libcst` tells these as nodes of `ast`, for ten times the cost.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

from torchdevlint.findings import Position, Span
from torchdevlint.program.annotations import annotation_of, dotted_name
from torchdevlint.program.ast_expressions import (
    OPERATORS,
    evaluate,
    optional,
    parameters_of,
    store,
)
from torchdevlint.program.bounds import excess
from torchdevlint.program.builder import BodyBuilder, ProgramBuilder, property_role
from torchdevlint.program.control import STATEMENTS, named, suite
from torchdevlint.program.ir import (
    Attribute,
    AugmentedAssign,
    Declare,
    Delete,
    DeleteAttribute,
    DeleteSubscript,
    Discard,
    Import,
    Op,
    Program,
    Raise,
    Register,
    Return,
    Row,
    StoreAttribute,
    StoreSubscript,
    Subscript,
    adopt_nodes,
    forget_nodes,
)
from torchdevlint.program.patterns import match_
from torchdevlint.source.deep_stack import call_with_deep_stack

Execute = Callable[[BodyBuilder, Any], None]


def read(text: str) -> Program | None:
    """The Program of a text, without nodes; None where the running Python refuses the text, or might die of it."""
    program = _read(text) if excess(text) is None else None
    if program is not None:
        program.rows = tuple(map(_rows_of, program.node.body))
        forget_nodes(program)
    return program


def _read(text: str) -> Program | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return lower(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _rows_of(node: ast.stmt) -> Row:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    inner = tuple(map(_rows_of, node.body)) if isinstance(node, ast.ClassDef) else ()
    return Row(min([node.lineno, *(one.lineno for one in decorators)]), node.end_lineno or node.lineno, inner)


def span_of(program: Program, text: str, op: Op) -> Span | None:
    """Where an operation of a Program that `read` made of a text stands in it; None where that cannot be said."""
    again = _read(text)
    if again is None or not adopt_nodes(program, again):
        return None
    node = op.node
    forget_nodes(program)
    if not isinstance(node, (ast.expr, ast.stmt)) or node.end_lineno is None or node.end_col_offset is None:
        return None
    rows = text.split("\n")

    def position(row: int, offset: int) -> Position:
        line = rows[row - 1].encode("utf-8", "surrogatepass")[:offset]  # `ast` counts bytes
        return Position(row, len(line.decode("utf-8", "replace")) + 1)

    return Span(position(node.lineno, node.col_offset), position(node.end_lineno, node.end_col_offset))


def lower(module: ast.Module) -> Program:
    """The Program of a parsed file: outer bodies first, function bodies after the bodies that make them."""
    try:
        return _lower(module)
    except RecursionError:  # what nests beyond the chains that are lowered in loops, such as a ** b ** c ...
        return call_with_deep_stack(lambda: _lower(module))


def _lower(module: ast.Module) -> Program:
    program = ProgramBuilder(module)
    suite(program.module, module.body)
    return program.finish(_FUNCTIONS)


class _TypeAlias(ast.stmt):
    """`type name = value`, for the releases of Python that do not read it."""

    _fields = ("name", "type_params", "value")


TypeAlias: Any = getattr(ast, "TypeAlias", _TypeAlias)


# ---------------------------------------------------------------------------------------------------- simple statements


def _expression_statement(b: BodyBuilder, node: ast.Expr) -> None:
    value = evaluate(b, node.value)
    b.ops.append(Discard(node, value))


def _assign(b: BodyBuilder, node: ast.Assign) -> None:
    value = evaluate(b, node.value)
    for target in node.targets:
        store(b, target, value)


def _annotated_assign(b: BodyBuilder, node: ast.AnnAssign) -> None:
    annotation = annotation_of(node.annotation, b.words)
    target = node.target
    if node.value is not None:
        store(b, target, evaluate(b, node.value), annotation)
    elif isinstance(target, ast.Name):
        name = b.mangled(target.id) if b.body.kind == "class" else target.id
        b.words.add(name)
        b.body.local_names.add(name)
        b.ops.append(Declare(target, name, annotation))
    elif isinstance(target, ast.Attribute):
        b.words.add(b.mangled(target.attr))
        evaluate(b, target.value)


def _augmented_assign(b: BodyBuilder, node: ast.AugAssign) -> None:
    target = node.target
    holder = index = -1
    if isinstance(target, ast.Attribute):
        holder = evaluate(b, target.value)
        b.words.add(b.mangled(target.attr))
        old = b.add(Attribute(target, b.register(), holder, b.mangled(target.attr)))
    elif isinstance(target, ast.Subscript):
        holder = evaluate(b, target.value)
        index = evaluate(b, target.slice)
        old = b.add(Subscript(target, b.register(), holder, index))
    else:
        old = evaluate(b, target)
    value = evaluate(b, node.value)
    dst = b.add(AugmentedAssign(node, b.register(), OPERATORS[type(node.op)], old, value))
    if isinstance(target, ast.Attribute):
        b.ops.append(StoreAttribute(target, holder, b.mangled(target.attr), dst))
    elif isinstance(target, ast.Subscript):
        b.ops.append(StoreSubscript(target, holder, index, dst))
    elif isinstance(target, ast.Name):
        b.bind(target, target.id, dst)


def _return(b: BodyBuilder, node: ast.Return) -> None:
    value = optional(b, node.value)
    b.close("return")
    b.ops.append(Return(node, value))
    b.leave("return")
    b.live = False


def _raise(b: BodyBuilder, node: ast.Raise) -> None:
    value = optional(b, node.exc)
    b.ops.append(Raise(node, value, optional(b, node.cause)))
    b.live = False


def _pass(b: BodyBuilder, node: ast.Pass) -> None:
    """Nothing happens."""


def _leave_loop(b: BodyBuilder, node: ast.Break | ast.Continue) -> None:
    kind: Literal["break", "continue"] = "break" if isinstance(node, ast.Break) else "continue"
    b.close(kind)
    b.leave(kind)
    b.live = False


def _delete(b: BodyBuilder, node: ast.Delete | ast.Tuple | ast.List) -> None:
    for target in node.targets if isinstance(node, ast.Delete) else node.elts:
        if isinstance(target, ast.Name):
            b.words.add(target.id)
            b.body.local_names.add(target.id)
            b.ops.append(Delete(target, target.id))
        elif isinstance(target, ast.Attribute):
            b.words.add(b.mangled(target.attr))
            b.ops.append(DeleteAttribute(target, evaluate(b, target.value), b.mangled(target.attr)))
        elif isinstance(target, ast.Subscript):
            holder = evaluate(b, target.value)
            b.ops.append(DeleteSubscript(target, holder, evaluate(b, target.slice)))
        elif isinstance(target, ast.Tuple | ast.List):
            _delete(b, target)


def _global(b: BodyBuilder, node: ast.Global) -> None:
    b.body.global_names.update(node.names)
    b.words.update(node.names)


def _nonlocal(b: BodyBuilder, node: ast.Nonlocal) -> None:
    b.body.nonlocal_names.update(node.names)
    b.words.update(node.names)


def _import(b: BodyBuilder, node: ast.Import) -> None:
    for alias in node.names:
        names = alias.name.split(".")
        b.words.update(names)
        b.program.imported.add(alias.name)
        if alias.asname is not None:
            b.import_(alias, alias.name, named(alias), alias.asname)
        else:
            b.import_(alias, names[0], named(alias), names[0])


def _import_from(b: BodyBuilder, node: ast.ImportFrom) -> None:
    module = "." * node.level + (node.module or "")
    b.words.update(filter(None, module.split(".")))
    if module.strip("."):
        b.program.imported.add(module)
    if node.names[0].name == "*":
        b.add(Import(node.names[0], b.register(), module, "*"))
        return
    prefix = module if module.endswith(".") else module + "."
    for alias in node.names:
        qualified = prefix + alias.name
        b.words.add(alias.name)
        b.program.imported.add(qualified)
        b.import_(alias, qualified, named(alias), alias.asname or alias.name)


def _type_alias(b: BodyBuilder, node: Any) -> None:
    # The value is evaluated lazily, if ever.
    b.bind(node.name, node.name.id, b.opaque(node))


# ---------------------------------------------------------------------------------------------------- definitions


def _function(b: BodyBuilder, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    decorators, registers = _decorators(b, node.decorator_list)
    name = b.mangled(node.name) if b.body.kind == "class" else node.name
    inner = b.function("function", name, node, property_role(node.name, decorators))
    body = inner.body
    body.decorators = decorators
    body.decorator_registers = registers
    body.is_async = type(node) is ast.AsyncFunctionDef
    body.parameters = parameters_of(b, inner, node.args)
    if node.returns is not None:
        body.returns = annotation_of(node.returns, b.words)
    b.bind(named(node), name, b.make_function(node, inner))


def _function_body(b: BodyBuilder, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    _type_parameters(b, node)
    suite(b, node.body)


def _lambda_body(b: BodyBuilder, node: ast.Lambda) -> None:
    value = evaluate(b, node.body)
    b.ops.append(Return(node, value))


def _class(b: BodyBuilder, node: ast.ClassDef) -> None:
    decorators, decorator_registers = _decorators(b, node.decorator_list)
    bases = tuple("?" if isinstance(base, ast.Starred) else _base_name(base) for base in node.bases)
    registers = tuple(evaluate(b, base.value if isinstance(base, ast.Starred) else base) for base in node.bases)
    keywords = tuple((keyword.arg or "**", evaluate(b, keyword.value)) for keyword in node.keywords)
    inner = b.class_(node.name, node, bases, registers, keywords)
    inner.body.decorators = decorators
    inner.body.decorator_registers = decorator_registers
    _type_parameters(inner, node)
    suite(inner, node.body)
    b.bind(named(node), node.name, b.make_class(node, inner))


def _base_name(node: ast.expr) -> str:
    return dotted_name(node.value if isinstance(node, ast.Subscript) else node) or "?"


def _decorators(b: BodyBuilder, decorators: Sequence[ast.expr]) -> tuple[tuple[str, ...], tuple[Register, ...]]:
    if not decorators:
        return (), ()
    names = tuple(dotted_name(node.func if isinstance(node, ast.Call) else node) or "?" for node in decorators)
    return names, tuple(evaluate(b, node) for node in decorators)


def _type_parameters(b: BodyBuilder, node: Any) -> None:
    """Binds the names of `[T]`; bounds and defaults are evaluated lazily and so not lowered."""
    for parameter in getattr(node, "type_params", ()):
        b.bind(named(parameter), parameter.name, b.opaque(parameter))


# ---------------------------------------------------------------------------------------------------- tables

STATEMENTS.update(
    {
        ast.Expr: _expression_statement,
        ast.Assign: _assign,
        ast.AnnAssign: _annotated_assign,
        ast.AugAssign: _augmented_assign,
        ast.Return: _return,
        ast.Raise: _raise,
        ast.Pass: _pass,
        ast.Break: _leave_loop,
        ast.Continue: _leave_loop,
        ast.Delete: _delete,
        ast.Global: _global,
        ast.Nonlocal: _nonlocal,
        ast.Import: _import,
        ast.ImportFrom: _import_from,
        ast.Match: match_,
        ast.FunctionDef: _function,
        ast.AsyncFunctionDef: _function,
        ast.ClassDef: _class,
        TypeAlias: _type_alias,
    }
)

_FUNCTIONS: dict[type[Any], Execute] = {
    ast.FunctionDef: _function_body,
    ast.AsyncFunctionDef: _function_body,
    ast.Lambda: _lambda_body,
}
