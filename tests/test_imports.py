"""Which room of the program may know which, by the import statements of its files."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "torchdevlint"

# A room may import itself, the rooms named here, and nothing else of the package. Rooms of one file are named by it.
KNOWS: dict[str, frozenset[str]] = {
    "severity": frozenset(),
    "findings": frozenset({"severity"}),
    "source": frozenset({"findings"}),
    "program": frozenset({"source", "findings"}),
    "stubs": frozenset({"source"}),
    "infer": frozenset({"stubs", "program", "source"}),  # the time that one file may take
    "facts": frozenset({"infer", "stubs", "program", "source", "findings"}),
    "fixes": frozenset({"facts", "stubs", "program", "source", "findings"}),
    "rules": frozenset({"facts", "infer", "stubs", "fixes", "program", "source", "findings", "severity"}),
    "settings": frozenset({"rules", "stubs", "program.environment", "severity", "source"}),
    "sieve": frozenset({"stubs", "placing", "rules.rule", "rules.engine", "facts", "program", "findings"}),
    "placing": frozenset({"rules.rule", "rules.message", "fixes", "facts", "program", "source", "findings"}),
    "linter": frozenset(
        {"stubs", "sieve", "placing", "settings", "rules", "fixes", "facts", "program", "source", "findings"}
    ),
    "workspace": frozenset(
        {
            "linter",
            "settings",
            "source",
            "findings",
            "rules.registry",
            "rules.plugins",
            "program.project",
            "program.again",
        }
    ),
    "reporting": frozenset({"findings", "rules.registry"}),  # SARIF tells what a rule is
    "api": frozenset({"rules.registry", "workspace", "linter", "settings", "source", "findings"}),
    "machine": frozenset(),
    "checkpoints": frozenset(),
    "doctor": frozenset({"source"}),
    "explain": frozenset({"stubs", "linter", "settings", "source", "findings", "infer", "program", "rules.registry"}),
    "verify": frozenset(
        {
            *("proofs", "fixes", "workspace", "source", "machine", "linter", "settings", "findings", "reporting"),
            "program.bounds",  # what must not be parsed
        }
    ),
}
ON_TOP = frozenset({"cli", "server", "plugins", "__init__", "__main__", "proofs"})
MODULES = sorted(PACKAGE.rglob("*.py"))


def room_of(module: str) -> str:
    """The room of a dotted name without the package's own name."""
    return module.split(".")[0]


def imports(path: Path) -> set[str]:
    """What a file imports of the package, as dotted names behind `torchdevlint.` ("" for the package itself)."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {
        name.removeprefix("torchdevlint").removeprefix(".") for name in found if name.split(".")[0] == "torchdevlint"
    }


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_what_it_may_know(path: Path) -> None:
    relative = path.relative_to(PACKAGE).with_suffix("")
    room = relative.parts[0]
    if room in ON_TOP:
        return
    assert room in KNOWS, f"a new room: say in KNOWS what {room} may know"
    for name in imports(path):
        if name.split(".")[0] in ("__version__", "") or room_of(name) == room:
            continue
        allowed = any(name == known or name.startswith(known + ".") for known in KNOWS[room])
        assert allowed, f"{relative} imports {name}"


def test_the_package_imports_neither_torch_nor_libcst() -> None:
    probe = (
        "import sys, torchdevlint, torchdevlint.cli.check, torchdevlint.plugins.flake8, torchdevlint.machine;"
        "print([name for name in ('torch', 'libcst', 'rich', 'multiprocessing') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.strip() == "[]"


def test_libcst_is_imported_for_the_first_finding(tmp_path: Path) -> None:
    quiet, loud = tmp_path / "quiet.py", tmp_path / "loud.py"
    quiet.write_text("import torch\n\nx = torch.zeros(3, device='cpu')\nprint(x + 1)  # noqa\n", encoding="utf-8")
    loud.write_text("import torch\n\ntorch.load('model.pt')\n", encoding="utf-8")
    probe = (
        "import sys; from torchdevlint import cli; from torchdevlint.workspace import pool;"
        "pool.can_fork = lambda: False;"  # so that this process does the work
        "code = cli.main(['check', '--isolated', '--extend-select', 'TDL001', '-j', '1', *sys.argv[1:]]);"
        "print(code, 'libcst' in sys.modules)"
    )
    for paths, expected in (([quiet], "0 False"), ([quiet, loud], "1 True")):
        result = subprocess.run(
            [sys.executable, "-c", probe, *map(str, paths)], capture_output=True, text=True, check=True, timeout=60
        )
        assert result.stdout.splitlines()[-1] == expected, result.stderr


def test_the_linter_never_imports_torch() -> None:
    probe = (
        "import sys, torchdevlint; f = torchdevlint.check_source('import torch\\nmodel = torch.load(1)\\n');"
        "print(len(f) > 0, 'torch' in sys.modules, 'numpy' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.strip() == "True False False"
