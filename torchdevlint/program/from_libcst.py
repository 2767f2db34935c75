"""Lowers a LibCST module to a Program in one pass, by tables from node type to handler.

Visitors, matchers and metadata providers cost one to seven times the parse; this pass costs a few hundredths of it. Operands are
evaluated in source order.

What is approximate: the body of a `with` is taken not to be left by a swallowed exception; the variables of a comprehension in a
class body see the names of the class; annotations are parsed and not evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import libcst as cst

from torchdevlint.program import control
from torchdevlint.program.builder import BodyBuilder, ProgramBuilder, property_role
from torchdevlint.program.control import Captures
from torchdevlint.program.ir import (
    Attribute,
    AugmentedAssign,
    Declare,
    Delete,
    DeleteAttribute,
    DeleteSubscript,
    Discard,
    Import,
    Program,
    Raise,
    Register,
    Return,
    StoreAttribute,
    StoreSubscript,
    Subscript,
)
from torchdevlint.program.libcst_expressions import (
    OPERATORS,
    evaluate,
    index_of,
    operands,
    optional,
    parameters_of,
    store,
)
from torchdevlint.program.libcst_names import annotation_of, dotted, root
from torchdevlint.source.deep_stack import call_with_deep_stack

Execute = Callable[[BodyBuilder, Any], None]

_SMALL: dict[type[Any], Execute] = {}
_STATEMENTS: dict[type[Any], Execute] = {}
_PATTERNS: dict[type[Any], Callable[[BodyBuilder, Any, Captures], None]] = {}


def lower(module: cst.Module) -> Program:
    """The Program of a parsed file: outer bodies first, function bodies after the bodies that make them."""
    try:
        return _lower(module)
    except RecursionError:  # what nests beyond the chains that are lowered in loops, such as a ** b ** c ...
        return call_with_deep_stack(lambda: _lower(module))


def _lower(module: cst.Module) -> Program:
    program = ProgramBuilder(module)
    _statements(program.module, module.body)
    return program.finish(_FUNCTIONS)


# ---------------------------------------------------------------------------------------------------- small statements


def _expression_statement(b: BodyBuilder, node: cst.Expr) -> None:
    value = evaluate(b, node.value)
    b.ops.append(Discard(node, value))


def _assign(b: BodyBuilder, node: cst.Assign) -> None:
    value = evaluate(b, node.value)
    for target in node.targets:
        store(b, target.target, value)


def _annotated_assign(b: BodyBuilder, node: cst.AnnAssign) -> None:
    annotation = annotation_of(b, node.annotation.annotation)
    target = node.target
    if node.value is not None:
        store(b, target, evaluate(b, node.value), annotation)
    elif isinstance(target, cst.Name):
        b.words.add(target.value)
        b.body.local_names.add(target.value)
        b.ops.append(Declare(target, target.value, annotation))
    elif isinstance(target, cst.Attribute):
        b.words.add(target.attr.value)
        evaluate(b, target.value)


def _augmented_assign(b: BodyBuilder, node: cst.AugAssign) -> None:
    target = node.target
    holder = index = -1
    dst = -1
    if isinstance(target, cst.Attribute):
        holder = evaluate(b, target.value)
        b.words.add(target.attr.value)
        dst = b.registers
        b.registers = dst + 1
        b.ops.append(Attribute(target, dst, holder, target.attr.value))
    elif isinstance(target, cst.Subscript):
        holder = evaluate(b, target.value)
        index = index_of(b, target)
        dst = b.registers
        b.registers = dst + 1
        b.ops.append(Subscript(target, dst, holder, index))
    else:
        dst = evaluate(b, target)
    value = evaluate(b, node.value)
    old, dst = dst, b.registers
    b.registers = dst + 1
    b.ops.append(AugmentedAssign(node, dst, OPERATORS[type(node.operator)], old, value))
    if isinstance(target, cst.Attribute):
        b.ops.append(StoreAttribute(target, holder, target.attr.value, dst))
    elif isinstance(target, cst.Subscript):
        b.ops.append(StoreSubscript(target, holder, index, dst))
    elif isinstance(target, cst.Name):
        b.bind(target, target.value, dst)


def _return(b: BodyBuilder, node: cst.Return) -> None:
    value = optional(b, node.value)
    b.ops.append(Return(node, value))
    b.leave("return")
    b.live = False


def _raise(b: BodyBuilder, node: cst.Raise) -> None:
    value = optional(b, node.exc)
    cause = evaluate(b, node.cause.item) if node.cause is not None else None
    b.ops.append(Raise(node, value, cause))
    b.live = False


def _assert(b: BodyBuilder, node: cst.Assert) -> None:
    control.assert_(b, _SYNTAX, node, node.test, node.msg)


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
        b.ops.append(DeleteAttribute(target, evaluate(b, target.value), target.attr.value))
    elif isinstance(target, cst.Subscript):
        holder = evaluate(b, target.value)
        b.ops.append(DeleteSubscript(target, holder, index_of(b, target)))
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
        qualified = dotted(alias.name) or "?"
        b.words.update(qualified.split("."))
        b.program.imported.add(qualified)
        target = alias.asname.name if alias.asname is not None else root(alias.name)
        b.import_(alias, qualified if alias.asname is not None else target.value, target, target.value)


def _import_from(b: BodyBuilder, node: Any) -> None:
    module = "." * len(node.relative) + (dotted(node.module) or "" if node.module is not None else "")
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
        target = alias.asname.name if alias.asname is not None else alias.name
        b.import_(alias, qualified, target, target.value)


def _type_alias(b: BodyBuilder, node: cst.TypeAlias) -> None:
    # The value is evaluated lazily, if ever.
    b.bind(node.name, node.name.value, b.opaque(node))


# ---------------------------------------------------------------------------------------------------- statements


def _statements(b: BodyBuilder, statements: Iterable[cst.CSTNode]) -> None:
    for statement in statements:
        if not b.live:
            b.revive()
        _STATEMENTS[type(statement)](b, statement)


def _suite(b: BodyBuilder, suite: cst.BaseSuite) -> None:
    if type(suite) is cst.IndentedBlock:
        _statements(b, suite.body)
    else:
        _line(b, suite)


def _line(b: BodyBuilder, line: Any) -> None:
    for statement in line.body:
        if not b.live:
            b.revive()
        _SMALL[type(statement)](b, statement)


def _if(b: BodyBuilder, node: cst.If) -> None:
    branches = []
    branch: cst.If | cst.Else | None = node
    while isinstance(branch, cst.If):
        branches.append((branch.test, branch.body))
        branch = branch.orelse
    control.if_(b, _SYNTAX, branches, _body(branch))


def _for(b: BodyBuilder, node: cst.For) -> None:
    is_async = node.asynchronous is not None
    control.for_(b, _SYNTAX, node, node.target, node.iter, node.body, _body(node.orelse), is_async)


def _while(b: BodyBuilder, node: cst.While) -> None:
    test = None if _is_always_true(node.test) else node.test
    control.while_(b, _SYNTAX, test, node.body, _body(node.orelse))


def _body(clause: cst.Else | cst.Finally | None) -> cst.BaseSuite | None:
    return None if clause is None else clause.body


def _is_always_true(test: cst.BaseExpression) -> bool:
    return (isinstance(test, cst.Name) and test.value == "True") or (
        isinstance(test, cst.Integer) and test.value == "1"
    )


def _with(b: BodyBuilder, node: cst.With) -> None:
    items = [(item, item.item, None if item.asname is None else item.asname.name) for item in node.items]
    control.with_(b, _SYNTAX, items, node.body)


def _try(b: BodyBuilder, node: Any) -> None:
    handlers = [_handler(handler) for handler in node.handlers]
    control.try_(b, _SYNTAX, node.body, handlers, _body(node.orelse), _body(node.finalbody))


def _handler(node: Any) -> control.Handler:
    name = None if node.name is None else (node.name.name, node.name.name.value)
    return control.Handler(node, node.type, _caught(node.type), name, node.body)


def _caught(type_: cst.BaseExpression | None) -> tuple[str, ...]:
    if type_ is None:
        return ("BaseException",)
    if isinstance(type_, cst.Tuple):
        return tuple(dotted(element.value) or "?" for element in type_.elements)
    return (dotted(type_) or "?",)


def _match(b: BodyBuilder, node: cst.Match) -> None:
    cases = [control.Case(case.pattern, case.guard, case.body) for case in node.cases]
    control.match_(b, _SYNTAX, node.subject, cases, _pattern, _is_irrefutable)


def _is_irrefutable(pattern: cst.MatchPattern) -> bool:
    return isinstance(pattern, cst.MatchAs) and (pattern.pattern is None or _is_irrefutable(pattern.pattern))


def _pattern(b: BodyBuilder, pattern: cst.CSTNode, captures: Captures) -> None:
    handler = _PATTERNS.get(type(pattern))
    if handler is not None:
        handler(b, pattern, captures)


def _match_value(b: BodyBuilder, pattern: cst.MatchValue | cst.MatchSingleton, captures: Captures) -> None:
    captures.ask("equal", evaluate(b, pattern.value))


def _match_as(b: BodyBuilder, pattern: cst.MatchAs, captures: Captures) -> None:
    if pattern.pattern is not None:
        _pattern(b, pattern.pattern, captures)
    if pattern.name is not None:
        captures.note(pattern.name, pattern.name.value)


def _match_star(b: BodyBuilder, pattern: cst.MatchStar, captures: Captures) -> None:
    if pattern.name is not None:
        captures.note(pattern.name, pattern.name.value)


def _match_sequence(b: BodyBuilder, pattern: cst.MatchList | cst.MatchTuple, captures: Captures) -> None:
    star = next((at for at, one in enumerate(pattern.patterns) if isinstance(one, cst.MatchStar)), None)
    elements = [one.value if isinstance(one, cst.MatchSequenceElement) else one for one in pattern.patterns]
    control.sequence_pattern(b, elements, star, captures, _pattern)


def _match_mapping(b: BodyBuilder, pattern: cst.MatchMapping, captures: Captures) -> None:
    for element in pattern.elements:
        name = evaluate(b, element.key)
        captures.ask("key", name)
        with captures.inside("key", name):
            _pattern(b, element.pattern, captures)
    if pattern.rest is not None:
        captures.note(pattern.rest, pattern.rest.value, "others")


def _match_class(b: BodyBuilder, pattern: cst.MatchClass, captures: Captures) -> None:
    captures.ask("class", evaluate(b, pattern.cls))
    for at, element in enumerate(pattern.patterns):
        with captures.inside("position", at):
            _pattern(b, element.value, captures)
    for keyword in pattern.kwds:
        b.words.add(keyword.key.value)
        with captures.inside("attribute", keyword.key.value):
            _pattern(b, keyword.pattern, captures)


def _match_or(b: BodyBuilder, pattern: cst.MatchOr, captures: Captures) -> None:
    control.alternatives(b, [element.pattern for element in pattern.patterns], captures, _pattern)


# ---------------------------------------------------------------------------------------------------- definitions


def _function(b: BodyBuilder, node: cst.FunctionDef) -> None:
    decorators, registers = _decorators(b, node.decorators)
    name = node.name.value
    inner = b.function("function", name, node, property_role(name, decorators))
    body = inner.body
    body.decorators = decorators
    body.decorator_registers = registers
    body.is_async = node.asynchronous is not None
    body.parameters = parameters_of(b, inner, node.params)
    if node.returns is not None:
        body.returns = annotation_of(b, node.returns.annotation)
    b.bind(node.name, name, b.make_function(node, inner))


def _function_body(b: BodyBuilder, node: cst.FunctionDef) -> None:
    _type_parameters(b, node.type_parameters)
    _suite(b, node.body)


def _lambda_body(b: BodyBuilder, node: cst.Lambda) -> None:
    value = evaluate(b, node.body)
    b.ops.append(Return(node, value))


def _class(b: BodyBuilder, node: cst.ClassDef) -> None:
    decorators, decorator_registers = _decorators(b, node.decorators)
    bases = tuple("?" if arg.star else _base_name(arg.value) for arg in node.bases)
    registers = tuple(evaluate(b, arg.value) for arg in node.bases)
    keywords = tuple((arg.keyword.value if arg.keyword else "**", evaluate(b, arg.value)) for arg in node.keywords)
    inner = b.class_(node.name.value, node, bases, registers, keywords)
    inner.body.decorators = decorators
    inner.body.decorator_registers = decorator_registers
    _type_parameters(inner, node.type_parameters)
    _suite(inner, node.body)
    b.bind(node.name, node.name.value, b.make_class(node, inner))


def _base_name(node: cst.BaseExpression) -> str:
    return dotted(node.value if isinstance(node, cst.Subscript) else node) or "?"


def _decorators(b: BodyBuilder, decorators: Sequence[cst.Decorator]) -> tuple[tuple[str, ...], tuple[Register, ...]]:
    if not decorators:
        return (), ()
    expressions = [decorator.decorator for decorator in decorators]
    names = tuple(dotted(node.func if isinstance(node, cst.Call) else node) or "?" for node in expressions)
    return names, tuple(evaluate(b, node) for node in expressions)


def _type_parameters(b: BodyBuilder, parameters: cst.TypeParameters | None) -> None:
    """Binds the names of `[T]`; bounds and defaults are evaluated lazily and so not lowered."""
    for parameter in parameters.params if parameters is not None else ():
        name = parameter.param.name
        b.bind(name, name.value, b.opaque(parameter))


# ---------------------------------------------------------------------------------------------------- tables

_SYNTAX = control.Syntax(evaluate, store, operands, _suite)

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
        cst.MatchSingleton: _match_value,
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
_SMALL.update(
    {
        getattr(cst, name): handler
        for name, handler in (("LazyImport", _import), ("LazyImportFrom", _import_from))
        if hasattr(cst, name)
    }
)
