"""The rewriting of test code: every call, subscript and loop goes through the runtime, and devices named "cpu" say "cuda:0".

`f(x)` becomes `CALL(f)(x)`: for most functions CALL gives back `f` itself, so that no frame stands between caller and callee.
"""

from __future__ import annotations

import ast

CALL, ITEM, LOOP = "__torchdevlint_call__", "__torchdevlint_item__", "__torchdevlint_loop__"
VERSION = 2
"""Part of the name of a cached module: raise it when the rewriting changes."""
GPU = "cuda:0"
_UNTOUCHED = frozenset(
    """super locals globals vars dir eval exec isinstance issubclass len print range int str type hasattr getattr setattr callable
    enumerate zip id repr bool property staticmethod classmethod slice dict list tuple set frozenset iter open float complex abs
    sorted reversed format hash NotImplementedError ValueError RuntimeError TypeError KeyError AssertionError NamedTuple namedtuple
    TypeVar""".split()
)
"""Names whose call makes no tensor, or looks at the frame that called it."""

_PYTEST_NAMES = ("@pytest_ar", "@py_builtins")
"""Modules that pytest's rewriting of asserts imports."""


def rewrite(tree: ast.Module) -> None:
    """Rewrite a module in place. Pytest's rewriting of asserts comes first, so that failures read as always."""
    _Rewriter().visit(tree)
    _locate(tree, 1, 0)


def _locate(node: ast.AST, line: int, column: int) -> None:
    """Give every node a range that `compile` takes. Pytest's nodes have a first line and no last one."""
    if "lineno" in node._attributes:
        line, column = getattr(node, "lineno", None) or line, getattr(node, "col_offset", None) or 0
        end = (getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or column)
        node.lineno, node.col_offset = line, column  # type: ignore[attr-defined]
        node.end_lineno, node.end_col_offset = max(end, (line, column))  # type: ignore[attr-defined]
    for child in ast.iter_child_nodes(node):
        _locate(child, line, column)


def _through(name: str, node: ast.expr, *values: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Call(ast.copy_location(ast.Name(name, ast.Load()), node), list(values), []), node)


def _names_device(target: ast.AST | str | None) -> bool:
    name = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else target
    return isinstance(name, str) and "device" in name.lower()


def _to_gpu(value: ast.AST | None) -> None:
    if isinstance(value, ast.Constant) and value.value == "cpu":
        value.value = GPU


class _Rewriter(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name) and function.id in _UNTOUCHED:
            return node
        root: ast.expr = function
        while isinstance(root, ast.Attribute):
            if root.attr == "mark":
                return node
            root = root.value
        if isinstance(root, ast.Name) and root.id in _PYTEST_NAMES:
            return node
        node.func = _through(CALL, function, function)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or _slices(node.slice):
            return node
        return _through(ITEM, node, node.value, node.slice)

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        node.iter = _through(LOOP, node.iter, node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        if not node.is_async:
            node.iter = _through(LOOP, node.iter, node.iter)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._defaults(node.args)
        node.args = self.visit(node.args)
        node.decorator_list = [self.visit(item) for item in node.decorator_list]
        node.body = [self.visit(item) for item in node.body]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def _defaults(self, arguments: ast.arguments) -> None:
        positional = [*arguments.posonlyargs, *arguments.args]
        pairs = list(zip(reversed(positional), reversed(arguments.defaults)))  # noqa: B905 - the first have none
        pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
        for argument, default in pairs:
            if _names_device(argument.arg):
                _to_gpu(default)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if any(map(_names_device, node.targets)):
            _to_gpu(node.value)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if _names_device(node.target):
            _to_gpu(node.value)
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = [self.visit(item) for item in node.decorator_list]  # bases such as Generic[T] stay
        node.body = [self.visit(item) for item in node.body]
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        node.subject = self.visit(node.subject)
        for case in node.cases:  # patterns are no expressions
            case.body = [self.visit(item) for item in case.body]
            if case.guard is not None:
                case.guard = self.visit(case.guard)
        return node

    def visit_Delete(self, node: ast.Delete) -> ast.Delete:
        return node


def _slices(key: ast.expr) -> bool:
    return isinstance(key, ast.Slice) or (
        isinstance(key, ast.Tuple) and any(isinstance(e, (ast.Slice, ast.Starred)) for e in key.elts)
    )
