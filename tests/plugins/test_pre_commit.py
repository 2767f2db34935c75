"""Both hooks under pre-commit itself, on a git repository made for the test.

A hook of `language: python` is installed into an environment of its own, which needs a package index. The hooks are therefore taken
from .pre-commit-hooks.yaml word for word, but as local hooks of `language: system`: everything except the installation is real.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

HOOKS = Path(__file__).parent.parent.parent / ".pre-commit-hooks.yaml"
FAULTY = 'import torch\n\n\ndef load(model):\n    model.load_state_dict(torch.load("a.pt"))\n'
REPAIRED = FAULTY.replace('"a.pt")', '"a.pt", map_location="cpu")')


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a faulty file, an excluded one and a generated folder."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    root = tmp_path / "repository"
    (root / "gen").mkdir(parents=True)
    git(root, "init", "-q")
    hooks = [{**hook, "language": "system"} for hook in yaml.safe_load(HOOKS.read_text(encoding="utf-8"))]
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    (root / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (root / "pyproject.toml").write_text('[tool.torchdevlint]\nextend-exclude = ["gen/"]\n', encoding="utf-8")
    for name in ("a.py", "gen/b.py", "notes.txt"):
        (root / name).write_text(FAULTY, encoding="utf-8")
    git(root, "add", ".")
    return root


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, timeout=60)


def pre_commit(root: Path, hook: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pre_commit", "run", hook, "--color", "never"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)


def test_the_checking_hook(repository: Path) -> None:
    result = pre_commit(repository, "torchdevlint")
    assert result.returncode == 1, result.stdout + result.stderr
    assert "a.py:5:27: warning: TDL101" in result.stdout
    assert "gen/b.py" not in result.stdout
    assert (repository / "a.py").read_text(encoding="utf-8") == FAULTY
    (repository / "a.py").write_text(REPAIRED, encoding="utf-8")
    git(repository, "add", ".")
    assert pre_commit(repository, "torchdevlint").returncode == 0


def test_the_repairing_hook(repository: Path) -> None:
    result = pre_commit(repository, "torchdevlint-fix")
    assert result.returncode == 1
    assert "Repaired 1 fault, 0 left." in result.stdout
    assert (repository / "a.py").read_text(encoding="utf-8") == REPAIRED
    assert (repository / "gen" / "b.py").read_text(encoding="utf-8") == FAULTY
    git(repository, "add", ".")
    assert pre_commit(repository, "torchdevlint-fix").returncode == 0


@pytest.mark.parametrize("arguments", [None, [], ["--level", "warning", "--"]])
@pytest.mark.parametrize("hook", ["torchdevlint", "torchdevlint-fix"])
def test_a_file_that_is_called_like_an_option(repository: Path, hook: str, arguments: list[str] | None) -> None:
    for name in ("--output-file=a.py", "--verify=x.py"):
        text = 'import torch\nx = torch.zeros(3, device="cuda")\ny = torch.ones(3, device="cpu")\n'
        (repository / name).write_text(text, encoding="utf-8")
    if arguments is not None:
        path = repository / ".pre-commit-config.yaml"
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        for each in config["repos"][0]["hooks"]:
            each["args"] = arguments
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
    git(repository, "add", ".")
    result = pre_commit(repository, hook)
    assert result.returncode == 1
    assert (repository / "a.py").read_text(encoding="utf-8") in (FAULTY, REPAIRED)
    if arguments == []:
        assert "an option, and the name of a file here" in result.stdout
    else:
        assert "--output-file=a.py:2:27" in result.stdout
        assert "--verify=x.py:2:27" in result.stdout


def test_the_hooks_install_from_this_repository() -> None:
    for hook in yaml.safe_load(HOOKS.read_text(encoding="utf-8")):
        assert hook["language"] == "python"
        assert hook["entry"].startswith("torchdevlint check --force-exclude")
