"""The import hook: rewritten test code from a cache of its own, and repaired texts in the place of files."""

from __future__ import annotations

import ast
import hashlib
import importlib.machinery
import importlib.util
import marshal
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from torchdevlint.machine.cache import cache_folder
from torchdevlint.verify.mutants.rewrite import VERSION, rewrite
from torchdevlint.verify.mutants.testcode import TestCode

Asserts = Callable[[ast.Module, bytes, str], None]


class Finder:
    """First on `sys.meta_path`. `skipped` says which test code could not be rewritten, and why."""

    def __init__(self, code: TestCode, asserts: Asserts | None, overlay: Mapping[str, str]) -> None:
        self.code = code
        self.asserts = asserts
        self.overlay = dict(overlay)
        self.rewritten: list[str] = []
        self.skipped: dict[str, str] = {}
        self.folders = tuple(dict.fromkeys([*code.roots, *(str(Path(path).parent) + os.sep for path in overlay)]))

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        if path is None and name in sys.stdlib_module_names:
            return None
        if path is not None and not any(f"{entry}{os.sep}".startswith(self.folders) for entry in path):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.origin is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        if not self.code.holds(spec.origin) and spec.origin not in self.overlay:
            return None
        locations = spec.submodule_search_locations
        return importlib.util.spec_from_file_location(
            name, spec.origin, loader=_Loader(name, spec.origin, self), submodule_search_locations=locations
        )

    def missed(self) -> list[str]:
        """Test code that this process imported before the hook was there."""
        seen = {*self.rewritten, *self.skipped}
        files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
        return sorted({f for f in files if isinstance(f, str) and f.endswith(".py") and self.code.holds(f)} - seen)


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, finder: Finder) -> None:
        super().__init__(name, path)
        self.finder = finder

    def get_code(self, fullname: str) -> CodeType | None:
        finder, path = self.finder, self.path
        if path in finder.overlay:
            return _compile(ast.parse(Path(finder.overlay[path]).read_bytes(), path), path)
        source = Path(path).read_bytes()
        cached = _cache_file(path, source, finder.asserts is not None)
        code = _read(cached)
        if code is None:
            code = self._rewritten(source)
            if code is None:
                return super().get_code(fullname)
            _write(cached, code)
        finder.rewritten.append(path)
        return code

    def _rewritten(self, source: bytes) -> CodeType | None:
        try:
            tree = ast.parse(source, self.path)
            if self.finder.asserts is not None:
                self.finder.asserts(tree, source, self.path)
            rewrite(tree)
            return _compile(tree, self.path)
        except SyntaxError:
            raise
        except (ValueError, TypeError, RecursionError) as error:
            self.finder.skipped[self.path] = f"{type(error).__name__}: {error}"
            return None

    def exec_module(self, module: ModuleType) -> None:
        code = self.get_code(module.__name__)
        if code is not None:
            exec(code, module.__dict__)


def _compile(tree: ast.Module, path: str) -> CodeType:
    return compile(tree, path, "exec", dont_inherit=True)


def _cache_file(path: str, source: bytes, asserts: bool) -> Path:
    parts = (path.encode(), source, sys.implementation.cache_tag or "", str(sys.hexversion), str(VERSION), str(asserts))
    key = hashlib.sha256(b"\0".join(p if isinstance(p, bytes) else p.encode() for p in parts)).hexdigest()
    return cache_folder() / "mutants" / f"{key[:32]}.bin"


def _read(path: Path) -> CodeType | None:
    """Cached code, checked against its own digest: damage is a miss."""
    try:
        data = path.read_bytes()
        digest, body = data[:32], data[32:]
        if hashlib.sha256(body).digest() != digest:
            return None
        code = marshal.loads(body)
    except (OSError, ValueError, EOFError, TypeError):
        return None
    return code if isinstance(code, CodeType) else None


def _write(path: Path, code: CodeType) -> None:
    body = marshal.dumps(code)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("wb", dir=path.parent, delete=False) as file:
            file.write(hashlib.sha256(body).digest() + body)
        Path(file.name).replace(path)
    except OSError:
        return  # a read-only home costs time, not correctness
