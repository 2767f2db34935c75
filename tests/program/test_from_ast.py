"""The lowering of `ast` modules: the same Program as that of LibCST modules, operation by operation."""

from __future__ import annotations

import ast
import contextlib
import gc
import sys
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import libcst as cst
import pytest
from invariants import check as check_invariants

from torchdevlint.program import from_ast, from_libcst, ir
from torchdevlint.program.bounds import ParseFailure, parse
from torchdevlint.program.dump import dump

ROOT = Path(__file__).parents[2]
SECTIONS = (Path(__file__).parent / "lowered.txt").read_text(encoding="utf-8").split("=== ")[1:]
CASES = {section.partition("\n")[0]: section.partition("\n")[2].partition("\n---\n")[0] + "\n" for section in SECTIONS}


def told(program: ir.Program) -> tuple[object, ...]:
    """All that a Program says beside its nodes."""
    names = [
        (body.register_count, body.local_names, body.global_names, body.nonlocal_names, body.decorator_registers)
        for body in program.bodies
    ]
    classes = [(cls.qualname, cls.bases, cls.base_registers, sorted(cls.methods)) for cls in program.classes]
    return dump(program), program.words, program.imported, names, classes


def check_same(text: str) -> None:
    program = from_ast.read(text)
    assert program is not None
    assert told(program) == told(from_libcst.lower(parse(text)))


@pytest.mark.parametrize("name", CASES)
def test_the_reviewed_cases(name: str) -> None:
    if from_ast.read(CASES[name]) is None:
        assert sys.version_info < (3, 12), "only syntax that is newer than this Python is refused"
        pytest.skip("this Python does not read it")
    check_same(CASES[name])


@pytest.mark.parametrize(
    "text",
    [
        "f(a, k=1, *rest, **more)\nf(*a, b, *c, k=1)\nf(**a, k=b)\nf(x for x in y)",
        "@a\n@b.c(d)\n@e[f]\nclass A(B[T], *C, metaclass=M, **k): x = 1\n@None\nclass A(None, a.b): pass",
        "x = a and (b and c) or (d or e) or not (f or g)",
        "if (a and b) and (c or d): x\nwhile (a or b) and not c: y",
        "x = f'a{b}{c!r:>{d}}' 'e' f'{f}'\ny = 'a' f'b' 'c'\nz = f''",
        "x = f'a{{{ b = }'\ny = f'{a}{b=}'\nz = f'\\N{EM DASH}{a}' rf'\\d{b}'",
        "x = a[b, c:d, ...], a[(b, c)], a[b,], a[:], a[()], a[b := c]",
        "x = [*a, b], {*a}, (*a,), {**a, 'b': c}\nfor x in *a, b: pass",
        "x = [a for (b, *c), d[0] in e if f if g and h for i in b]\ny = {a: b async for a, b in c}",
        "x = [lambda y=a: (a, b, y) for a in b]\ny = (z for z in [w for w in z])",
        "match a, *b:\n case [1, *c, None] | (2, c): x\n case {'k': v, **r} if v: y\n case P(q, k=w) as z: pass\n case -1 | 'a' 'b': z\n case _: x",
        "try: a\nexcept B: c\nexcept (D, e.F, *g) as h: i\nelse: j\nfinally: k",
        "def f():\n for a in b:\n  try:\n   continue\n  finally: c\n  try: return d\n  except: break\n else: e",
        "while 1: a\nb\nwhile True:\n break\nelse: c\nwhile 2: d\nwhile 1.0: e",
        "if a: b\nelse:\n if c: d\n elif e: f\n else: g\nif a: b\nelif c: d",
        "async def f():\n async with a as b, c: d\n async for e in f: g\n else: h\n await i\n yield\n x = yield from j",
        "def f(a, b=c, /, d: T = e, *f: T, g, h: 'T[U]' = i, **j) -> 'V | None': return\ng = lambda *, a=b: a",
        "x: Optional[torch.Tensor] = a\ny: Literal['b', None]\nz: Callable[[A], B | None] = c\nd.e: F[(A, B)]\ng[h]: Tuple[()] = i\nj: f()[k]",
        "x: None | True | 1 = a\ny: A[B, 1:2, ...]\nz: A[B[C, 'D'], [F, *G]]\nw: 'A' 'B'\nv: f'A'\nu: b'A'",
        "import a.b, c.d as e\nfrom . import f\nfrom ..g.h import i as j, k\nfrom l import *",
        "del a, (b, [c.d, e[f]])\nglobal g, h\nassert a or b, c\nraise d from e",
        "a = b, *c[d], (e.f, *g) = h = i\na[b, c] += d\na.b @= c\na //= b",
        "x = -a ** -b, not a, ~a + b - c, a < b <= c != d is not e not in f\ny = a if b else c if d else (e if f else g)",
        "x = 0x10, 1_0, 1e3, 1j, ..., b'a' b'b', 'a' '''b\r\nc''', r'\\d', u'e', '\\x41\\u0042\\101\\\n'",
        "\ufeff",
        "\fa\r\nb\rc",
    ],
)
def test_what_the_two_syntaxes_write_differently(text: str) -> None:
    check_same(text.removeprefix("\ufeff") + "\n")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python reads it since 3.11")
@pytest.mark.parametrize(
    "text", ["def f(*a: *T): return a[*b], a[b, *c]\n", "x: A[B, *C]\ntry: a\nexcept* B as c: d\n"]
)
def test_stars_that_are_newer(text: str) -> None:
    check_same(text)


def _library_files() -> list[Path]:
    """Some files of the standard library, the same each time."""
    library = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("[!_s]*/**/*.py"))
    small = [path for path in library if 500 < path.stat().st_size < 30_000 and "site-packages" not in path.parts]
    return small[:: max(1, len(small) // 100)]


def _compared(texts: Iterable[tuple[Path, str]]) -> int:
    """Compares the Programs of files; how many there are."""
    compared = 0
    gc.disable()
    try:
        for path, text in texts:
            try:
                module = parse(text)
            except ParseFailure:
                continue  # test data that is wrong on purpose
            program = from_ast.read(text)
            assert program is not None, path
            other = from_libcst.lower(module)
            assert told(program) == told(other), path
            check_invariants(other)
            compared += 1
    finally:
        gc.enable()
    return compared


def _texts(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    for path in paths:
        with contextlib.suppress(UnicodeDecodeError):
            yield path, path.read_bytes().decode("utf-8")


def test_files_of_the_library_and_fixtures() -> None:
    assert _compared(_texts([*sorted((ROOT / "fixtures").rglob("*.py")), *_library_files()])) > 350


def test_our_own_files() -> None:
    """All that is new in them: the definitions and statements with a syntax node where no text before them has such a one."""
    seen: set[tuple[type, ...]] = set()
    files = list(_texts(sorted((ROOT / "torchdevlint").rglob("*.py"))))
    assert len(files) > 300
    news = [(path, "".join(_new_statements(text, seen))) for path, text in files]
    assert _compared((path, text) for path, text in news if text) > 100
    assert len(seen) > 2000


@pytest.mark.fuzz
def test_all_of_our_own_files() -> None:
    assert _compared(_texts(sorted((ROOT / "torchdevlint").rglob("*.py")))) > 300


def _new_statements(text: str, seen: set[tuple[type, ...]]) -> Iterator[str]:
    """The statements of a module that have a node of a type below two of types that no other has had there; adds those to `seen`."""
    lines = text.splitlines(keepends=True)
    for statement in ast.parse(text).body:
        found = {(ast.Module, type(statement))}
        waiting: list[tuple[type, type, ast.AST]] = [(ast.Module, type(statement), statement)]
        while waiting:
            above, own, node = waiting.pop()
            for child in ast.iter_child_nodes(node):
                found.add((above, own, type(child)))
                waiting.append((own, type(child), child))
        if not found <= seen:
            seen |= found
            first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
            yield "".join(lines[first - 1 : statement.end_lineno]) + "\n"


@pytest.mark.parametrize("text", ["x = (", "print 'x'", "x = '\udc80'", "\0", "(" * 1000 + ")" * 1000, "x = 0777"])
def test_what_python_refuses_is_not_read(text: str) -> None:
    assert from_ast.read(text) is None


def test_no_warning_gets_out() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert from_ast.read("x = '\\d'\ny = 1if x else 2\nassert (x, 'always')\n") is not None


@pytest.mark.parametrize(
    "text",
    ["x = a" + " + a" * 900, "x = a" + ".b(c)" * 400, "x = a" + " ** a" * 150, "if a: x\n" + "elif a: x\n" * 150],
)
def test_long_chains(text: str) -> None:
    check_same(text + "\n")


def test_nodes_are_those_of_ast_until_the_text_was_read() -> None:
    text = "x = f(a)\n"
    lowered, read = from_ast.lower(ast.parse(text)), from_ast.read(text)
    assert read is not None
    assert [type(op.node).__name__ for op in lowered.module.blocks[0].ops] == ["Name", "Name", "Call", "Name"]
    assert [op.node for op in read.module.blocks[0].ops] == [None] * 4


def test_both_read_the_same_text() -> None:
    """Guards the comparison: two Programs that differ are told apart."""
    program = from_ast.read("x = f(a, b)\n")
    assert program is not None
    assert told(program) != told(from_libcst.lower(cst.parse_module("x = f(b, a)\n")))
