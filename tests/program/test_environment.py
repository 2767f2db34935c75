"""Packages of the user's environment: found by their files, read, never run."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchdevlint.linter import lint
from torchdevlint.program.environment import Environment, EnvironmentNotFound, packages_of, usual
from torchdevlint.settings import Resolver, SettingsError
from torchdevlint.workspace.memory import forget_projects

MOVING = """
import torch
from torch import nn

raise SystemExit("an installed package is read and never run")

def to_device(batch, device):
    if isinstance(batch, dict):
        return {key: to_device(value, device) for key, value in batch.items()}
    return batch.to(device)

class Rescale(nn.Module):
    def forward(self, x):
        return x / 255
"""
PROGRAM = """
import torch
from mylib import to_device

x = to_device(torch.randn(8, 4), "cuda")
noise = torch.randn(8, 4)
print(x + noise)
"""


def _install(packages: Path, name: str, needs: str, files: dict[str, str]) -> None:
    info = packages / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    required = f"Requires-Dist: {needs}\n" if needs else ""
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\n{required}\nRequires-Dist: torch, says the text\n"
    )
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))
    for path, text in files.items():
        (packages / path).parent.mkdir(parents=True, exist_ok=True)
        (packages / path).write_text(text)


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """The packages of an environment in `env`, with torch and a library that needs it."""
    folder = tmp_path / "env" / "lib" / "python3.12" / "site-packages"
    (folder / "torch").mkdir(parents=True)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "env" / "bin").mkdir()
    (tmp_path / "env" / "bin" / "python").touch()
    _install(
        folder,
        "My_Lib",
        "torch >=2.0",
        {
            "mylib/__init__.py": "from .deep.moving import to_device, Rescale\n",
            "mylib/deep/__init__.py": "",
            "mylib/deep/moving.py": MOVING,
        },
    )
    forget_projects()
    return folder


def test_an_environment_is_found_by_its_folder_and_by_its_interpreter(packages: Path, tmp_path: Path) -> None:
    assert packages_of(str(tmp_path / "env")) == str(packages)
    assert packages_of(str(tmp_path / "env" / "bin" / "python")) == str(packages)


def test_what_is_no_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentNotFound, match="does not exist"):
        packages_of(str(tmp_path / "none"))
    with pytest.raises(EnvironmentNotFound, match="no environment of Python"):
        packages_of(str(tmp_path))


def test_of_several_folders_the_one_with_torch_is_taken(tmp_path: Path) -> None:
    for version in ("python3.12", "python3"):
        (tmp_path / "lib" / version / "dist-packages").mkdir(parents=True)
    (tmp_path / "lib" / "python3" / "dist-packages" / "torch").mkdir()
    assert packages_of(str(tmp_path)) == str(tmp_path / "lib" / "python3" / "dist-packages")


def test_the_usual_environment_has_torch(packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    assert usual(str(tmp_path)) == ""
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "env"))
    assert usual(str(tmp_path)) == str(packages)
    (packages / "torch").rmdir()
    assert usual(str(tmp_path)) == ""
    monkeypatch.delenv("VIRTUAL_ENV")
    own = tmp_path / ".venv"
    (own / "lib" / "python3.13" / "site-packages" / "torch").mkdir(parents=True)
    (own / "pyvenv.cfg").touch()
    assert usual(str(tmp_path)) == str(own / "lib" / "python3.13" / "site-packages")


def test_only_packages_that_need_torch_are_read(packages: Path) -> None:
    _install(packages, "Above", "my.lib[all]; python_version > '3'", {"above.py": "", "above_too/__init__.py": ""})
    _install(packages, "apart", "numpy", {"apart/__init__.py": ""})
    environment = Environment(str(packages))
    own = str(packages.parent / "train.py")
    assert environment.resolve("mylib.deep.moving", own) == tuple(
        str(packages / path) for path in ("mylib/__init__.py", "mylib/deep/__init__.py", "mylib/deep/moving.py")
    )
    assert environment.resolve("above", own) == (str(packages / "above.py"),)
    assert environment.resolve("above_too", own) == (str(packages / "above_too" / "__init__.py"),)
    for name in ("apart", "torch", "nothing"):
        assert environment.resolve(name, own) == ()


def test_a_relative_import_stays_in_the_environment(packages: Path) -> None:
    environment = Environment(str(packages))
    inner = str(packages / "mylib" / "deep" / "moving.py")
    assert environment.resolve("..deep", inner) == (str(packages / "mylib" / "deep" / "__init__.py"),)
    assert environment.resolve("....setup", inner) == ()


def _codes(path: Path, settings: Resolver) -> list[str]:
    forget_projects()
    return [finding.code for finding in lint(str(path), path.read_bytes(), settings.for_file(str(path))).findings]


def test_a_function_of_an_installed_package_is_understood(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "train.py").write_text(PROGRAM)
    assert "TDL505" not in _codes(project / "train.py", Resolver())
    assert "TDL505" in _codes(project / "train.py", Resolver(overrides={"python": str(tmp_path / "env")}))
    assert "TDL505" not in _codes(
        project / "train.py", Resolver(overrides={"python": str(tmp_path / "env"), "project": False})
    )
    (project / "pyproject.toml").write_text('[tool.torchdevlint]\npython = "../env"\n')
    assert "TDL505" in _codes(project / "train.py", Resolver())
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "env"))
    (project / "pyproject.toml").unlink()
    assert "TDL505" in _codes(project / "train.py", Resolver())


def test_a_module_of_the_project_stands_above_an_installed_one(packages: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "train.py").write_text(PROGRAM)
    (project / "mylib.py").write_text("def to_device(batch, device):\n    return batch\n")
    assert "TDL505" not in _codes(project / "train.py", Resolver(overrides={"python": str(tmp_path / "env")}))


def test_a_library_that_the_stubs_tell_of_is_not_read(packages: Path, tmp_path: Path) -> None:
    _install(packages, "torchvision", "torch", {"torchvision/__init__.py": "", "torchvision/helpers.py": MOVING})
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "train.py").write_text(PROGRAM.replace("mylib", "torchvision.helpers"))
    assert "TDL505" not in _codes(project / "train.py", Resolver(overrides={"python": str(tmp_path / "env")}))


def test_a_wrong_path_in_the_settings_is_told_with_its_key(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.torchdevlint]\npython = "nowhere"\n')
    with pytest.raises(SettingsError, match=r"python: .*nowhere does not exist"):
        Resolver().for_folder(str(tmp_path))
