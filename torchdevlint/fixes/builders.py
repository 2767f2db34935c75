"""Edits of syntax nodes: the only place behind the front end that knows what LibCST nodes look like.

A rule names operations of the Program; a builder reads their nodes and returns the edits, or None when the edit cannot be made
without losing a comment or changing what the code means. This module is imported only when somebody wants a fix.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import libcst as cst

from torchdevlint.fixes.tree import parents_in, walk
from torchdevlint.program import ir

EditKind = Literal["replace", "insert-before", "insert-after", "remove-statement"]


class NodeEdit(NamedTuple):
    """One edit of a syntax node.

    * "replace": the whole text of `target`, with its own parentheses, leading lines and (for a statement line) final newline, becomes
      the replacement.
    * "insert-before", "insert-after": `target` is a statement of a block; the replacement is put before or behind its lines.
    * "remove-statement": the lines of `target` go; the replacement is "".

    A node replacement is rendered with the indentation of the place where `target` stands. A text is put in as it is, with "\\n" for
    the file's newline; as a statement it has no indentation of its own and ends in "\\n". A file may end without a newline.
    """

    target: cst.CSTNode
    replacement: cst.CSTNode | str
    kind: EditKind = "replace"


Edits = tuple[NodeEdit, ...]

# ---------------------------------------------------------------------------------------------------- expressions

# What may stand before `.name` or `(...)` without parentheses (the grammar's "primary").
_PRIMARIES = (
    cst.Name,
    cst.Attribute,
    cst.Subscript,
    cst.Call,
    cst.List,
    cst.Set,
    cst.Dict,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
    cst.SimpleString,
    cst.FormattedString,
    cst.ConcatenatedString,
    cst.Ellipsis,
)


def source_of(op: ir.Op) -> str:
    """The text of an operation's expression; continuation lines have the indentation of a module's top level."""
    return cst.Module([]).code_for_node(op.node)


def _expression(op: ir.Op | None) -> cst.BaseExpression | None:
    """The expression node of an operation; expression statements give their expression."""
    node = None if op is None else op.node
    if isinstance(node, cst.Expr):
        node = node.value
    return node if isinstance(node, cst.BaseExpression) else None


def _call(op: ir.Op | None) -> cst.Call | None:
    node = _expression(op)
    return node if isinstance(node, cst.Call) else None


def _method_of(op: ir.Op | None) -> tuple[Any, Any]:
    """The call `x.name(...)` and its receiver `x`; None twice for anything else."""
    call = _call(op)
    return (call, call.func.value) if call is not None and isinstance(call.func, cst.Attribute) else (None, None)


def _replaced_by(node: cst.CSTNode | None, new: cst.CSTNode | None) -> Edits | None:
    """A node gives its place to another; None where one of them is."""
    return None if node is None or new is None else (NodeEdit(node, new),)


def _keeping_comments(node: cst.CSTNode, new: cst.CSTNode) -> Edits | None:
    """The same; None where a comment would be lost."""
    return _replaced_by(node, new) if len(_comments(new)) >= len(_comments(node)) else None


def _keyword(call: cst.Call | None, name: str) -> cst.Arg | None:
    """The argument that a call is given by this keyword."""
    given = call.args if call is not None else ()
    return next((one for one in given if one.keyword is not None and one.keyword.value == name), None)


def _in_parentheses(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.with_changes(lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()])


def _primary(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression so that `.name` may follow."""
    return node if node.lpar or isinstance(node, _PRIMARIES) else _in_parentheses(node)


def _argument(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression so that it may stand between commas."""
    bare = isinstance(node, (cst.Tuple, cst.GeneratorExp, cst.NamedExpr, cst.Yield)) and not node.lpar
    return _in_parentheses(node) if bare else node


def _arguments(text: str) -> list[cst.Arg]:
    """The arguments written in `text` ("device, non_blocking=True")."""
    call = cst.parse_expression(f"_({text})")
    assert isinstance(call, cst.Call)
    return list(call.args)


def _method_call(receiver: cst.BaseExpression, method: str, arguments: str = "") -> cst.Call:
    return cst.Call(func=cst.Attribute(value=_primary(receiver), attr=cst.Name(method)), args=_arguments(arguments))


def _comments(*nodes: Any) -> list[str]:
    """The comments below the nodes (sentinels and None have none), in order."""
    return [node.value for root in nodes for node in walk(root) if isinstance(node, cst.Comment)]


def wrap_method(op: ir.Op | None, method: str, arguments: str = "") -> Edits | None:
    """`x` -> `x.cpu()`, `a + b` -> `(a + b).to(device)`."""
    node = _expression(op)
    if node is None or isinstance(node, cst.StarredElement):
        return None
    return (NodeEdit(node, _method_call(node, method, arguments)),)


def append_attribute(op: ir.Op | None, name: str) -> Edits | None:
    """`x.device` -> `x.device.type`."""
    node = _expression(op)
    return None if node is None else (NodeEdit(node, cst.Attribute(value=_primary(node), attr=cst.Name(name))),)


def attribute_to_item(op: ir.Op | None) -> Edits | None:
    """`x.name` -> `x["name"]`, also as the target of an assignment."""
    node = _expression(op)
    if not isinstance(node, cst.Attribute) or _comments(node):
        return None
    key = cst.SubscriptElement(cst.Index(cst.SimpleString(f'"{node.attr.value}"')))
    return (NodeEdit(node, cst.Subscript(value=node.value, slice=[key], lpar=node.lpar, rpar=node.rpar)),)


def wrap_in_call(op: ir.Op | None, callee: str) -> Edits | None:
    """`[a, b]` -> `nn.ModuleList([a, b])`."""
    node = _expression(op)
    if node is None or isinstance(node, cst.StarredElement):
        return None
    return (NodeEdit(node, cst.Call(func=cst.parse_expression(callee), args=[cst.Arg(_argument(node))])),)


def replace_expression(op: ir.Op | None, text: str) -> Edits | None:
    """The expression becomes `text`, in parentheses where a looser expression takes a tighter one's place; None when a comment would be lost."""
    node = _expression(op)
    if node is None or any(comment not in text for comment in _comments(node)):
        return None
    new = cst.parse_expression(text)
    tight = bool(node.lpar) or isinstance(node, _PRIMARIES)
    return (NodeEdit(node, _primary(new) if tight else new),)


def append_call_parentheses(op: ir.Op | None) -> Edits | None:
    """`x.cuda` -> `x.cuda()`."""
    node = _expression(op)
    if not isinstance(node, (cst.Attribute, cst.Name)):
        return None
    bare = node.with_changes(lpar=[], rpar=[])
    return (NodeEdit(node, cst.Call(func=bare, lpar=node.lpar, rpar=node.rpar)),)


def remove_call_parentheses(op: ir.Op | None) -> Edits | None:
    """`x.device()` -> `x.device`; None when something stands between the parentheses."""
    call = _call(op)
    if call is None or call.args or _comments(call.whitespace_before_args):
        return None
    return (NodeEdit(call, _take_parentheses(call, call.func)),)


def _take_parentheses(outer: cst.BaseExpression, inner: cst.BaseExpression) -> cst.BaseExpression:
    """`inner` for the place of `outer`, with the parentheses of both."""
    return inner.with_changes(lpar=[*outer.lpar, *inner.lpar], rpar=[*inner.rpar, *outer.rpar])


# ---------------------------------------------------------------------------------------------------- calls


def replace_callee(op: ir.Op | None, text: str) -> Edits | None:
    """`torch.cuda.amp.autocast(...)` -> `text(...)`; None when a comment stands within the callee."""
    call = _call(op)
    if call is None or _comments(call.func):
        return None
    return (NodeEdit(call.func, _primary(cst.parse_expression(text))),)


def rename_callee(op: ir.Op | None, name: str) -> Edits | None:
    """The last name of the callee: `x.cuda(...)` -> `x.name(...)`."""
    call = _call(op)
    last = None if call is None else call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    return (NodeEdit(last, last.with_changes(value=name)),) if isinstance(last, cst.Name) else None


def replace_keyword_value(op: ir.Op | None, name: str, text: str) -> Edits | None:
    """`f(name=old)` -> `f(name=text)`; None when a comment would be lost."""
    return _replaced(_keyword(_call(op), name), text)


def replace_argument(op: ir.Op | None, position: int, text: str) -> Edits | None:
    """Positional argument `position` becomes `text`; None when it is absent, hidden behind `*args` or would lose a comment."""
    return _replaced(_positional(_call(op), position), text)


def _replaced(argument: cst.Arg | None, text: str) -> Edits | None:
    """The value of an argument becomes `text`; None when there is none, or a comment would be lost."""
    if argument is None or any(comment not in text for comment in _comments(argument.value)):
        return None
    return (NodeEdit(argument.value, _argument(cst.parse_expression(text))),)


def _positional(call: cst.Call | None, position: int) -> cst.Arg | None:
    """The argument that a call is given at a position; None where `*args` may be before it."""
    seen = 0
    for argument in call.args if call is not None else ():
        if argument.star == "*":
            return None
        if argument.keyword is None and not argument.star:
            if seen == position:
                return argument
            seen += 1
    return None


def add_keyword(op: ir.Op | None, name: str, text: str) -> Edits | None:
    """`f(a)` -> `f(a, name=text)`, before any `**kwargs`, in the call's own layout; None when `name` is given already."""
    call = _call(op)
    return None if call is None else _replaced_by(call, _keyword_added(call, name, text))


def _keyword_added(call: cst.Call, name: str, text: str) -> cst.Call | None:
    if _keyword(call, name) is not None:
        return None
    new = cst.Arg(value=_argument(cst.parse_expression(text)), keyword=cst.Name(name), equal=_TIGHT_EQUAL)
    splat = next((index for index, argument in enumerate(call.args) if argument.star == "**"), len(call.args))
    return _with_argument(call, splat, new)


def give_argument(op: ir.Op | None, name: str, position: int, text: str) -> Edits | None:
    """Argument `name` becomes `text`, be it given by keyword, at `position`, or not at all; None where a splat may hide it."""
    call = _call(op)
    if call is None or _keyword(call, name) is not None:
        return replace_keyword_value(op, name, text)
    if any(argument.star for argument in call.args):
        return None
    return replace_argument(op, position, text) if _positional(call, position) else add_keyword(op, name, text)


_TIGHT_EQUAL = cst.AssignEqual(whitespace_before=cst.SimpleWhitespace(""), whitespace_after=cst.SimpleWhitespace(""))


def insert_first_argument(op: ir.Op | None, text: str, names: tuple[str, ...] = ()) -> Edits | None:
    """`f(a)` -> `f(text, a)`; with `names`, the old positional arguments are passed by these keywords: `f(text, enabled=a)`.

    None when a `*args` splat hides positions or there are more positional arguments than names.
    """
    call = _call(op)
    if call is None:
        return None
    arguments = list(call.args)
    if names:
        if any(argument.star == "*" for argument in arguments):
            return None
        plain = [index for index, argument in enumerate(arguments) if argument.keyword is None and not argument.star]
        if len(plain) > len(names):
            return None
        for index, name in zip(plain, names, strict=False):
            old = arguments[index]
            arguments[index] = old.with_changes(keyword=cst.Name(name), equal=_TIGHT_EQUAL, value=_argument(old.value))
    new = cst.Arg(_argument(cst.parse_expression(text)))
    return (NodeEdit(call, _with_argument(call.with_changes(args=arguments), 0, new)),)


def _with_argument(call: cst.Call, index: int, new: cst.Arg) -> cst.Call:
    """The call with `new` put at `index`; commas, line breaks, comments and a trailing comma stay as the call has them."""
    arguments = [argument.with_changes(value=_argument(argument.value)) for argument in call.args]
    between = _separator(call)
    if index < len(arguments):
        arguments.insert(index, new.with_changes(comma=cst.Comma(whitespace_after=between)))
        return call.with_changes(args=arguments)
    if not arguments:
        return call.with_changes(args=[new])
    last = arguments[-1]
    if isinstance(last.comma, cst.Comma):
        # The trailing comma's white space (line break, comment) stays behind the old argument; the new one gets a comma of its own.
        old_after, end = last.comma.whitespace_after, _without_comment(last.comma.whitespace_after)
        arguments[-1] = last.with_changes(
            comma=last.comma.with_changes(whitespace_after=_continued(old_after, between))
        )
        return call.with_changes(args=[*arguments, new.with_changes(comma=cst.Comma(whitespace_after=end))])
    old_after = last.whitespace_after_arg
    arguments[-1] = last.with_changes(
        comma=cst.Comma(whitespace_after=_continued(old_after, between)), whitespace_after_arg=cst.SimpleWhitespace("")
    )
    return call.with_changes(args=[*arguments, new.with_changes(whitespace_after_arg=_without_comment(old_after))])


def _separator(call: cst.Call) -> cst.BaseParenthesizableWhitespace:
    """What stands behind the commas of the call: a line break where its arguments stand on lines of their own."""
    for argument in call.args[:-1]:
        if isinstance(argument.comma, cst.Comma):
            return _without_comment(argument.comma.whitespace_after)
    before = call.whitespace_before_args
    return _without_comment(before) if call.args and "\n" in _plain(before) else cst.SimpleWhitespace(" ")


def _plain(space: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(space)


def _without_comment(space: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    """The same white space with at most one line break and no comment."""
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return space
    first = space.first_line.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))
    return space.with_changes(first_line=first, empty_lines=[])


def _continued(
    old: cst.BaseParenthesizableWhitespace, between: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """White space behind a comma that is no longer the last: the comments of `old`, then a new line as in `between`."""
    if not _comments(old):
        return between
    assert isinstance(old, cst.ParenthesizedWhitespace)  # only these hold comments
    if isinstance(between, cst.ParenthesizedWhitespace):
        return old.with_changes(indent=between.indent, last_line=between.last_line)
    return old


def remove_keyword(op: ir.Op | None, name: str) -> Edits | None:
    """`f(a, name=x)` -> `f(a)`; None when it is absent or a comment would be lost."""
    call = _call(op)
    removed = _keyword(call, name)
    if call is None or removed is None:
        return None
    arguments = [argument for argument in call.args if argument is not removed]
    if removed is call.args[-1] and arguments:
        last = arguments[-1]
        arguments[-1] = last.with_changes(comma=removed.comma, whitespace_after_arg=removed.whitespace_after_arg)
    new = call.with_changes(args=arguments)
    if not arguments:
        new = new.with_changes(whitespace_before_args=cst.SimpleWhitespace(""))
    return _keeping_comments(call, new)


def name_argument(op: ir.Op | None, position: int, name: str) -> Edits | None:
    """`f(a, b)` -> `f(a, name=b)` for positional argument `position`; None unless it is the last of them, or where `name` is given already."""
    call = _call(op)
    argument = None if call is None else _positional(call, position)
    if call is None or argument is None or _positional(call, position + 1) is not None:
        return None
    if any(other.star for other in call.args) or _keyword(call, name) is not None:
        return None
    named = argument.with_changes(keyword=cst.Name(name), equal=_TIGHT_EQUAL, value=_argument(argument.value))
    return (NodeEdit(call, call.with_changes(args=[named if item is argument else item for item in call.args])),)


def call_instead(op: ir.Op | None, callee: str, without: str) -> Edits | None:
    """`f(a, without=x)` -> `callee(a)`; None when the keyword is absent or a comment would be lost."""
    call = _call(op)
    shorter = remove_keyword(op, without)
    if call is None or shorter is None or _comments(call.func):
        return None
    new = shorter[0].replacement
    assert isinstance(new, cst.Call)
    return (NodeEdit(call, new.with_changes(func=_primary(cst.parse_expression(callee)))),)


def map_method(op: ir.Op | None, variable: str, method: str) -> Edits | None:
    """`xs` -> `[variable.method() for variable in xs]`."""
    node = _expression(op)
    if node is None or isinstance(node, cst.StarredElement):
        return None
    element = _method_call(cst.Name(variable), method)
    listed = cst.ListComp(elt=element, for_in=cst.CompFor(target=cst.Name(variable), iter=_argument(node)))
    return (NodeEdit(node, listed),)


def replace_call_arguments(op: ir.Op | None, method: str, arguments: str) -> Edits | None:
    """`x.cuda(...)` -> `x.method(arguments)`; None when a comment stands within the old arguments."""
    call, _ = _method_of(op)
    if call is None or _comments(call.whitespace_before_args, *call.args):
        return None
    func, space = call.func.with_changes(attr=cst.Name(method)), cst.SimpleWhitespace("")
    return _replaced_by(call, call.with_changes(func=func, args=_arguments(arguments), whitespace_before_args=space))


# ---------------------------------------------------------------------------------------------------- method chains


def insert_method_before(op: ir.Op | None, method: str, arguments: str = "") -> Edits | None:
    """`x.numpy()` -> `x.cpu().numpy()`, for a call of a method."""
    _, receiver = _method_of(op)
    return None if receiver is None else (NodeEdit(receiver, _method_call(receiver, method, arguments)),)


def detach_to_host(op: ir.Op | None, *, receiver: bool) -> Edits | None:
    """`x` -> `x.detach().cpu()`; with `receiver`, that of the method call: `x.numpy()` -> `x.detach().cpu().numpy()`."""
    node = _method_of(op)[1] if receiver else _expression(op)
    return None if node is None else (NodeEdit(node, _method_call(_method_call(node, "detach"), "cpu")),)


def remove_method(op: ir.Op | None) -> Edits | None:
    """`x.to(device)` -> `x`; None when a comment would be lost."""
    call, receiver = _method_of(op)
    if call is None or len(_comments(receiver)) < len(_comments(call)):
        return None
    return (NodeEdit(call, _take_parentheses(call, receiver)),)


def undo_method(program: ir.Program, op: ir.Op | None) -> Edits | None:
    """`x.to(d)` and `x = x.to(d)` as statements go, with the comment behind them; elsewhere `x.to(d)` -> `x`, or None as in `remove_method`.

    A statement with a comment between its own lines stays: that comment is about more than what goes.
    """
    call, place = _method_of(op)
    if call is None:
        return None
    statement = _enclosing(program, call, cst.Expr, cst.Assign)
    if statement is None or statement.value is not call:
        return remove_method(op)
    receiver = _plain(place)
    places = [] if isinstance(statement, cst.Expr) else [_plain(target.target) for target in statement.targets]
    is_other = any(other != receiver for other in places) or not _is_plain_place(place)
    if is_other or _comments(statement):
        return remove_method(op)
    return (NodeEdit(statement, "", "remove-statement"),)


def swap_chained_methods(op: ir.Op | None) -> Edits | None:
    """`x.numpy().cpu()` -> `x.cpu().numpy()`, for the outer call of two method calls in a row."""
    outer, inner = _method_of(op)
    if not isinstance(inner, cst.Call) or not isinstance(inner.func, cst.Attribute) or inner.lpar:
        return None
    first = inner.with_changes(func=inner.func.with_changes(attr=outer.func.attr), **_parentheses_of(outer))
    func = outer.func.with_changes(attr=inner.func.attr, value=first)
    return _replaced_by(outer, outer.with_changes(func=func, **_parentheses_of(inner)))


def _parentheses_of(call: cst.Call) -> dict[str, Any]:
    """The parts of a call between and around its argument parentheses."""
    return {
        "args": call.args,
        "whitespace_after_func": call.whitespace_after_func,
        "whitespace_before_args": call.whitespace_before_args,
    }


def replace_method_by_keyword(op: ir.Op | None, name: str, text: str) -> Edits | None:
    """`torch.zeros(n).to(d)` -> `torch.zeros(n, device=d)`: the method goes, its receiver gets the keyword `name=text`.

    None when the receiver is no call, has the keyword already, or a comment would be lost.
    """
    outer, inner = _method_of(op)
    new = _keyword_added(inner, name, text) if isinstance(inner, cst.Call) else None
    return None if new is None else _keeping_comments(outer, _take_parentheses(outer, new))


def move_method_into_argument(op: ir.Op | None, keyword: str = "") -> Edits | None:
    """`nn.Parameter(t).to(d)` -> `nn.Parameter(t.to(d))`; the argument is the first one, or that called `keyword`.

    None when there is no such argument, it is hidden behind a splat, or a comment would be lost.
    """
    outer, inner = _method_of(op)
    if not isinstance(inner, cst.Call):
        return None
    argument = _positional(inner, 0) or (_keyword(inner, keyword) if keyword else None)
    if argument is None:
        return None
    func = cst.Attribute(value=_primary(argument.value), attr=outer.func.attr)
    moved = outer.with_changes(func=func, lpar=[], rpar=[])
    args = [item.with_changes(value=moved) if item is argument else item for item in inner.args]
    return _keeping_comments(outer, _take_parentheses(outer, inner.with_changes(args=args)))


# ---------------------------------------------------------------------------------------------------- statements


def assign_statement(op: ir.Op | None, target: ir.Op | None = None) -> Edits | None:
    """`x.to(d)` as a statement -> `x = x.to(d)`; the target is the receiver of the call, or the expression of `target`.

    None when the target cannot be assigned to, or writing it twice would run something twice (`f().x`, `xs[next(i)]`).
    """
    call = _expression(op)
    place = _expression(target) if target is not None else _method_of(op)[1]
    if call is None or place is None or not _is_plain_place(place):
        return None
    bare: Any = place.with_changes(lpar=[], rpar=[])
    return (NodeEdit(call, cst.Assign(targets=[cst.AssignTarget(bare)], value=call)),)


def assign_data(op: ir.Op | None) -> Edits | None:
    """`p.to(d)` of a Parameter as a statement -> `p.data = p.data.to(d)`, as a module moves its own; None as for `assign_statement`."""
    call, place = _method_of(op)
    if call is None or not _is_plain_place(place):
        return None
    data = cst.Attribute(place, cst.Name("data"))
    bare: Any = cst.Attribute(place.deep_clone(), cst.Name("data"))
    moved = call.with_changes(func=call.func.with_changes(value=data))
    return (NodeEdit(call, cst.Assign(targets=[cst.AssignTarget(bare)], value=moved)),)


_PLAIN_PARTS = (
    cst.Name,
    cst.Attribute,
    cst.Subscript,
    cst.Integer,
    cst.SimpleString,
    cst.ConcatenatedString,
    cst.UnaryOperation,
    cst.BinaryOperation,
    cst.Tuple,
)


def _is_plain_place(node: cst.BaseExpression) -> bool:
    """True for names, attributes and subscripts whose evaluation has no effect and that stand on one line."""
    if not isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)) or "\n" in _plain(node):
        return False
    return all(isinstance(part, _PLAIN_PARTS) for part in walk(node) if isinstance(part, cst.BaseExpression))


def register_buffer(program: ir.Program, op: ir.Op) -> Edits | None:
    """`self.x = E` -> `self.register_buffer("x", E, persistent=False)`; None for other forms of assignment."""
    statement = _enclosing(program, op.node, cst.Assign, cst.AnnAssign)
    if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        place: cst.CSTNode = statement.targets[0].target
    elif isinstance(statement, cst.AnnAssign):
        place = statement.target
    else:
        return None
    if not isinstance(place, cst.Attribute) or not isinstance(place.value, cst.Name) or statement.value is None:
        return None
    arguments = [
        cst.Arg(cst.SimpleString(f'"{place.attr.value}"')),
        cst.Arg(_argument(statement.value)),
        cst.Arg(cst.Name("False"), keyword=cst.Name("persistent"), equal=_TIGHT_EQUAL),
    ]
    function = cst.Attribute(value=place.value, attr=cst.Name("register_buffer"))
    return (NodeEdit(statement, cst.Expr(cst.Call(func=function, args=arguments))),)


def insert_statements_before(program: ir.Program, op: ir.Op, text: str) -> Edits | None:
    """Puts the statements of `text` (no indentation, one per line) before the statement that `op` stands in."""
    found = _statement_of(program, op.node)
    if found is None:
        return None
    _, statement = found
    return (NodeEdit(statement, text.rstrip("\n") + "\n", "insert-before"),)


def replace_import_source(program: ir.Program, op: ir.Op, module: str) -> Edits | None:
    """`from a.b import x, y` -> `from module import x, y`; None for other import statements."""
    statement = _enclosing(program, op.node, cst.ImportFrom)
    if not isinstance(statement, cst.ImportFrom) or statement.module is None or statement.relative:
        return None
    return (NodeEdit(statement.module, cst.parse_expression(module)),)


def move_statement_below(program: ir.Program, op: ir.Op, anchor: ir.Op) -> Edits | None:
    """Moves the statement line of `op` below the statement of the same block that `anchor` stands in.

    Comments directly above the statement and at the end of its line go with it, blank lines stay. None when the two are in
    different blocks or in the wrong order, or when `op` shares its line with other statements.
    """
    first, last = _statement_of(program, op.node), _statement_of(program, anchor.node)
    if first is None:
        return None
    block, moved = first
    body = block.body
    # The anchor may stand deeper (`if gpu: model.cuda()`): climb to the statement of this block.
    while last is not None and last[0] is not block:
        last = _statement_of(program, last[0])
    if last is None or not isinstance(moved, cst.SimpleStatementLine) or len(moved.body) != 1:
        return None
    start, end = _index(body, moved), _index(body, last[1])
    if start >= end:
        return None
    blank, own = _split_leading(moved)
    if _comments(*blank):
        return None
    follower = body[start + 1]
    kept = "\n" * len(blank) if not _split_leading(follower)[0] else ""
    return (
        NodeEdit(moved, kept),
        NodeEdit(last[1], moved.with_changes(leading_lines=own), "insert-after"),
    )


def _index(body: Any, node: cst.CSTNode) -> int:
    return next(index for index, item in enumerate(body) if item is node)


def _split_leading(statement: Any) -> tuple[list[cst.EmptyLine], list[cst.EmptyLine]]:
    """The leading lines up to the last blank one, and the comments directly above the statement."""
    lines = list(getattr(statement, "leading_lines", ()))
    cut = max((index + 1 for index, line in enumerate(lines) if line.comment is None), default=0)
    return lines[:cut], lines[cut:]


def _statement_of(program: ir.Program, node: Any) -> tuple[Any, cst.CSTNode] | None:
    """The block (with a `body`) and the statement of it that the node stands in."""
    parents = parents_in(program.node)
    while node is not None:
        parent = parents.get(node)
        if isinstance(parent, (cst.Module, cst.IndentedBlock)):
            return parent, node
        node = parent
    return None


def _enclosing(program: ir.Program, node: Any, *kinds: type[cst.CSTNode]) -> Any:
    """The nearest node of one of the kinds around `node`, within its statement."""
    parents = parents_in(program.node)
    while node is not None and not isinstance(node, kinds):
        node = None if isinstance(node, cst.BaseSuite) else parents.get(node)
    return node


def combine(*parts: Edits | None) -> Edits | None:
    """All the edits as one, or None when one of them cannot be made."""
    edits: list[NodeEdit] = []
    for part in parts:
        if part is None:
            return None
        edits += part
    return tuple(edits)
