"""Device mutants: a suite of CPU tests run as a user runs it, and the parts of the road alone."""

from __future__ import annotations

import ast
import functools
import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import warm

from torchdevlint.machine.cache import cache_folder
from torchdevlint.verify.mutants.importing import Finder
from torchdevlint.verify.mutants.places import Told, repairs
from torchdevlint.verify.mutants.record import Recorder
from torchdevlint.verify.mutants.rewrite import rewrite
from torchdevlint.verify.mutants.runtime import _Runtime
from torchdevlint.verify.mutants.testcode import TestCode

_LIBRARY = """\
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = torch.arange(n).float()
        self.lin = nn.Linear(n, n)

    def forward(self, x):
        y = self.lin(x) * self.w
        return self.shift(y)

    def shift(self, x):
        return x + torch.ones(x.shape[-1])


class Offset(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.lin = nn.Linear(n, n)
        self.offset = torch.zeros(n)

    def forward(self, x):
        return self.lin(x) + self.offset


class Masked(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.lin = nn.Linear(2, 2)

    @classmethod
    def of(cls, mask):
        return cls(mask)

    def forward(self, x):
        return self.lin(x) * self.mask


def noisy(x, generator=None):
    return x + torch.rand(x.shape, device=x.device, generator=generator)


def seeded(x):
    return noisy(x, torch.Generator().manual_seed(1))


def like(x):
    return torch.zeros(x.shape)


def told(n, x, device=None):
    return torch.ones(n, device=device) + x


def right(x):
    return x + torch.ones_like(x)


def to_numpy(x):
    return x.numpy().sum()


def handed(a, b):
    return a + b
"""
_TESTS = """\
import functools
import unittest

import lib
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers import made_in_a_helper

EXPECTED = torch.tensor([1.0, 2.0])


@pytest.fixture
def model():
    return lib.Scale(4)


@pytest.mark.parametrize("x", [torch.ones(2, 4), torch.zeros(3, 4)])
def test_forward(model, x):
    kept = x.clone().requires_grad_()
    out = model(kept)
    assert out.shape == x.shape
    np.testing.assert_allclose(out.detach().numpy(), out.detach().numpy())
    assert torch.allclose(out, torch.tensor(out.tolist()), atol=1e-4)
    out.sum().backward()
    assert kept.grad is not None and kept.is_leaf


def test_that_expects_the_cpu():
    assert lib.Offset(4)(torch.ones(2, 4)).device.type == "cpu"


@pytest.mark.parametrize("device", ["cpu"])
def test_returned_on_the_cpu(device):
    x = torch.ones(2, 3, device=device)
    assert (lib.like(x) == 0).all()


class TestOfUnittest(unittest.TestCase):
    def setUp(self):
        self.x = torch.ones(3)

    def test_told(self):
        self.assertEqual(lib.told(3, self.x).sum(), 6)

    def test_batches(self):
        for batch in torch.utils.data.DataLoader(torch.arange(4.0), batch_size=2):
            lib.handed(batch, self.x.sum())
            lib.handed(batch, EXPECTED)


@settings(max_examples=3, deadline=None, database=None)
@given(st.integers(1, 3))
def test_right(n):
    assert lib.right(torch.ones(n)).sum() == 2 * n
    assert lib.handed(made_in_a_helper(n), torch.ones(n)).dim() == 1


def test_modules_that_are_made_with_a_gpu_tensor():
    x = torch.ones(3, 2)
    for make in (lib.Masked, functools.partial(lib.Masked, mask=torch.ones(2)), lib.Masked.of):
        model = make() if isinstance(make, functools.partial) else make(torch.ones(2))
        assert model(x).shape == x.shape


def test_generators():
    x = torch.ones(2)
    assert lib.noisy(x, torch.Generator().manual_seed(1)).sum() == lib.seeded(x).sum()


def test_numpy():
    assert lib.to_numpy(torch.ones(2)) == 2
    assert lib.handed(np.ones(2), np.ones(2)).sum() == 4


def test_what_the_test_left_on_the_cpu_is_its_own():
    lib.handed(torch.ones(2), torch.ones(2).cpu())


def test_fails_plainly():
    lib.told(2, torch.ones(2))
    raise AssertionError("in any case")
"""
_HELPERS = '''\
"""Not named as a test, but in a folder of tests.

>>> 1 + 1
3
"""
import torch


def made_in_a_helper(n):
    return torch.zeros(n)
'''


def _line(text: str, source: str = _LIBRARY) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)


def _suite(folder: Path) -> Path:
    (folder / "lib").mkdir()
    (folder / "tests").mkdir()
    (folder / "lib" / "__init__.py").write_text(_LIBRARY)
    (folder / "tests" / "__init__.py").write_text("")
    (folder / "tests" / "test_lib.py").write_text(_TESTS)
    (folder / "tests" / "helpers.py").write_text(_HELPERS)
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    return folder


def _environment() -> dict[str, str]:
    """Options that this test run got are not meant for the runs inside."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "TORCHDEVLINT", "COV"))}


@functools.cache
def _cache(root: Path) -> str:
    """A cache of its own for the rewritten tests of this module, with the machine's rules as they were derived before."""
    known, mine = cache_folder() / "machine", root / "torchdevlint" / "machine"
    if known.is_dir():
        shutil.copytree(known, mine)
    return str(root)


def _run(folder: Path, *arguments: str, fresh: bool = False) -> subprocess.CompletedProcess[str]:
    """pytest as a user runs it; else than `fresh`, no process of it imports torch."""
    environment = _environment() | {"XDG_CACHE_HOME": _cache(folder.parent / "cache")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-q",
        "--virtual-gpus",
        "1",
        "--device-mutants",
    ]
    command += arguments
    if fresh:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, env=environment)
    return warm.run(command, cwd=folder, timeout=900, env=environment)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str], dict[str, Any]]:
    folder = _suite(tmp_path_factory.mktemp("suite"))
    done = _run(
        folder,
        "--doctest-modules",
        "--device-mutants-report",
        "r.json",
        "--junitxml",
        "j.xml",
        "--device-mutants-fix",
        "tests",
    )
    return folder, done, json.loads((folder / "r.json").read_text())


def _places(report: dict[str, Any]) -> dict[tuple[int | None, int], dict[str, Any]]:
    return {(p["created"] and p["created"][1], p["met"][1]): p for p in report["places"]}


_EXPECTED_PLACES = {
    (_line("self.w ="), _line("self.lin(x) *")),
    (_line("self.offset ="), _line("+ self.offset")),
    (_line("x + torch.ones(x"), _line("x + torch.ones(x")),
    (_line("device=device) + x"), _line("device=device) + x")),
    (None, _line("x.numpy()")),
    (_line("torch.Generator()"), _line("generator=generator)")),
}


def test_every_fault_of_the_library_is_told_once(full: Any) -> None:
    _, done, report = full
    places = _places(report)
    assert set(places) == _EXPECTED_PLACES, done.stdout
    assert done.returncode == 1
    first = places[_line("self.w ="), _line("self.lin(x) *")]
    assert [test.split("::")[1] for test in first["tests"]] == ["test_forward[x0]", "test_forward[x1]"]


def test_what_fails_plainly_is_no_witness(full: Any) -> None:
    place = _places(full[2])[(_line("device=device) + x"),) * 2]
    assert any("test_told" in test for test in place["tests"])
    assert full[2]["failed_otherwise"] == {}


def test_a_place_that_the_library_can_be_told_is_marked(full: Any) -> None:
    places = _places(full[2])
    marked = {key for key, place in places.items() if place["only_untold"]}
    assert marked == {(_line("device=device) + x"),) * 2}
    assert places[(_line("x + torch.ones(x"),) * 2]["only_without_default"]


def test_returned_cpu_tensors_are_told_apart(full: Any) -> None:
    (returned,) = full[2]["returns"]
    assert returned["operator"] == "lib.like" and returned["created"][1] == _line("zeros(x.shape)")


def test_the_linter_speaks_and_its_repair_is_run(full: Any) -> None:
    _, done, report = full
    place = _places(report)[_line("self.w ="), _line("self.lin(x) *")]
    assert "TDL603" in {told["code"] for told in place["linter"]}
    assert place["repair"] == "confirmed"
    assert "+        self.register_buffer(" in report["diff"] and report["diff"] in done.stdout + "\n"


def test_a_test_that_fails_as_before_does_not_speak_against_a_repair_or_a_device(full: Any) -> None:
    """Its own look at the device fails with every mutant."""
    place = _places(full[2])[_line("self.offset ="), _line("+ self.offset")]
    assert [test.split("::")[1] for test in place["tests"]] == ["test_that_expects_the_cpu"]
    assert place["repair"] == "confirmed" and place["only_without_default"]


def test_lines_with_gpu_operands(full: Any) -> None:
    folder, _, report = full
    lines = report["lines_with_gpu_operands"][str(folder / "lib" / "__init__.py")]
    assert {_line("self.lin(x) *"), _line("ones_like(x)"), _line("return a + b")} <= set(lines)
    assert _line("self.w =") not in lines and _line("torch.zeros(x.shape)") not in lines
    assert list(report["lines_with_gpu_operands"]) == [str(folder / "lib" / "__init__.py")]


def test_junit_properties(full: Any) -> None:
    folder, _, _ = full
    cases = ET.parse(folder / "j.xml").getroot().iter("testcase")
    told = {case.get("name"): [p.get("name") for p in case.iter("property")] for case in cases}
    assert told["test_forward[x0]"].count("device_mutant") == 2
    assert told["test_returned_on_the_cpu[cpu]"] == ["device_mutant_return"]
    assert told["test_right"] == []


def test_terminal(full: Any) -> None:
    text = full[1].stdout
    assert "DEVICE MUTANTS, values of test code live on cuda:0; doctests are off" in text or "-q" in full[1].args
    assert f"lib/__init__.py:{_line('self.lin(x) *')}: Expected all tensors" in text
    assert f"created on the CPU at lib/__init__.py:{_line('self.w =')}" in text
    assert "gone when the library is told its device by a parameter" in text
    assert "6 places with a device fault, reached by" in text


def test_with_workers_and_plain_asserts(tmp_path: Path) -> None:
    folder = _suite(tmp_path)
    done = _run(folder, "-n", "2", "--assert=plain", "--device-mutants-report", "r.json", "tests")
    assert set(_places(json.loads((folder / "r.json").read_text()))) == _EXPECTED_PLACES, done.stdout


def test_later_runs_with_workers(tmp_path: Path) -> None:
    """More tests than one process takes again alone: those that fail plainly, on workers too, are no failures of the mutants."""
    folder = _suite(tmp_path)
    (folder / "tests" / "test_lib.py").write_text(
        "import lib, pytest, torch\n\n\n"
        "def test_told():\n    assert lib.told(3, torch.ones(3)).sum() == 6\n\n\n"
        "@pytest.mark.parametrize('n', range(20))\n"
        "def test_fails_on_a_worker(n, worker_id):\n    assert worker_id == 'master', f'never {n}'\n"
    )
    done = _run(folder, "-n", "2", "--device-mutants-report", "r.json", "tests")
    report = json.loads((folder / "r.json").read_text())
    places = _places(report)
    assert set(places) == {(_line("device=device) + x"),) * 2}, done.stdout
    assert places[(_line("device=device) + x"),) * 2]["only_untold"]
    assert report["tests"] == {"failed": 21}
    assert report["failed_otherwise"] == {}


def test_a_run_that_is_stopped_tells_what_it_saw(tmp_path: Path) -> None:
    folder = _suite(tmp_path)
    (folder / "tests" / "test_stop.py").write_text(
        "import os, signal, lib, torch\n\n\n"
        "def test_it():\n    lib.Scale(3)(torch.ones(2, 3))\n\n\n"
        "def test_stop():\n    os.kill(int(os.environ['PARENT_OF_TESTS']), signal.SIGTERM)\n    signal.pause()\n"
    )
    (folder / "conftest.py").write_text("import os\nos.environ['PARENT_OF_TESTS'] = str(os.getppid())\n")
    done = _run(folder, "--device-mutants-report", "r.json", "--device-mutants-fix", "tests/test_stop.py", fresh=True)
    assert done.returncode not in (0, 1)
    place = _places(json.loads((folder / "r.json").read_text()))[_line("self.w ="), _line("self.lin(x) *")]
    assert any(told["fix"] for told in place["linter"]), done.stdout
    assert place["repair"] is None  # not tried, so not refuted


def test_without_a_virtual_gpu_it_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "--device-mutants"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 4 and "--device-mutants needs --virtual-gpus N" in done.stderr


# ---------------------------------------------------------------------------------------------------- the parts


def _rewritten(source: str) -> str:
    tree = ast.parse(source)
    rewrite(tree)
    return ast.unparse(tree)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f(x)", "__torchdevlint_call__(f)(x)"),
        ("a.b(c(1))", "__torchdevlint_call__(a.b)(__torchdevlint_call__(c)(1))"),
        ("super().f(len(x))", "__torchdevlint_call__(super().f)(len(x))"),
        ("x[0]", "__torchdevlint_item__(x, 0)"),
        ("x[0] = x[1:]", "x[0] = x[1:]"),
        ("device = 'cpu'", "device = 'cuda:0'"),
        ("name = 'cpu'", "name = 'cpu'"),
        ("x: list[int] = f()", "x: list[int] = __torchdevlint_call__(f)()"),
        ("def f(x: g(1), device='cpu', *, n='cpu'): pass", "def f(x: g(1), device='cuda:0', *, n='cpu'):\n    pass"),
        ("class C(Generic[T]): pass", "class C(Generic[T]):\n    pass"),
        ("[a for a in b]", "[a for a in __torchdevlint_loop__(b)]"),
        ("@pytest.mark.parametrize('n', [1])\ndef f(): pass", "@pytest.mark.parametrize('n', [1])\ndef f():\n    pass"),
        ("match f(x):\n    case C(a): pass", "match __torchdevlint_call__(f)(x):\n    case C(a):\n        pass"),
        ("del x[0]", "del x[0]"),
    ],
)
def test_rewriting(source: str, expected: str) -> None:
    assert _rewritten(source) == expected


def test_rewritten_asserts_compile(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    from _pytest.assertion.rewrite import rewrite_asserts

    source = b"# a comment\n\nimport a\n\n\ndef test_b():\n    assert (\n        a.b(1)[0] ==\n        [c(d) for d in a]\n    ), f(\n        1)\n"
    tree = ast.parse(source)
    rewrite_asserts(tree, source, str(tmp_path / "test_a.py"), request.config)
    rewrite(tree)
    compile(tree, "test_a.py", "exec")
    assert "__torchdevlint_call__(a.b)(1)" in ast.unparse(
        tree
    ) and "__torchdevlint_call__(@pytest_ar" not in ast.unparse(tree)


def test_what_was_called_is_not_kept_alive() -> None:
    """A method of a list or a dict is known by its class: the run does not hold each one that a test makes."""
    code = TestCode("/suite")
    runtime = _Runtime(code, Recorder(code, Path("/nonexistent")), "untold")
    runtime.torch = pytest.importorskip("torch")
    for _ in range(3):
        assert runtime._kind([].append) == runtime._kind({}.update) == runtime._kind("".join)
    assert len(runtime.kinds) == 3


@pytest.mark.parametrize(
    ("path", "is_test", "is_library"),
    [
        ("/r/lib/core.py", False, True),
        ("/r/lib/contest.py", False, True),
        ("/r/tests/anything.py", True, False),
        ("/r/lib/testing/case.py", True, False),
        ("/r/lib/test_utils.py", True, False),
        ("/r/conftest.py", True, False),
        ("/r/lib/x_test.py", True, False),
        ("/tmp/test_x/lib.py", False, False),
        ("/r/.venv/lib/site-packages/other/tests/x.py", False, False),
    ],
)
def test_test_code_by_path(path: str, is_test: bool, is_library: bool) -> None:
    code = TestCode("/r")
    assert (code.holds(path), code.is_library(path)) == (is_test, is_library)


def test_an_installed_library_is_named() -> None:
    code = TestCode("/r", ["/v/site-packages/lib"])
    assert code.is_library("/v/site-packages/lib/a.py") and not code.is_library("/r/lib/a.py")
    assert code.holds("/v/site-packages/lib/test/a.py")


def test_a_damaged_cache_is_a_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "test_a.py").write_text("x = 1\n")
    for _ in range(2):
        finder = Finder(TestCode(str(tmp_path)), None, {})
        spec = finder.find_spec("test_a", [str(tmp_path)])
        assert spec.loader.get_code("test_a").co_filename == str(tmp_path / "test_a.py")
        (cached,) = tmp_path.rglob("mutants/*.bin")
        cached.write_bytes(cached.read_bytes()[:40])


def test_repairs_know_the_lines_before(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("a = 1\nb = 2\nc = 3\n")
    told = Told("TDL501", "error", str(path), 2, "", ((1, 1, 1, 1, "import torch\n"), (2, 5, 2, 6, "22")))
    made = repairs([told, told])
    assert made.texts[str(path)] == "import torch\na = 1\nb = 22\nc = 3\n"
    assert [made.before([str(path), row])[1] for row in (2, 3, 4)] == [1, 2, 3]
    assert made.before([str(path), 4]) == [str(path), 3] and made.before(None) is None


def test_verify_takes_the_same_road(tmp_path: Path) -> None:
    folder = _suite(tmp_path)
    command = [
        sys.executable,
        "-m",
        "torchdevlint",
        "verify",
        "--device",
        "virtual",
        "--unsafe-fixes",
        "--select",
        "TDL603",
        "--json",
    ]
    environment = _environment()
    words = ["--device-mutants", "--pytest", "tests/test_lib.py", "-k", "test_forward"]
    done = warm.run([*command, *words], cwd=folder, timeout=900, env=environment)
    found = [(case["location"]["row"], case["verdict"]) for case in json.loads(done.stdout)["findings"]]
    assert found == [(8, "confirmed"), (23, "not reached")], done.stdout + done.stderr
