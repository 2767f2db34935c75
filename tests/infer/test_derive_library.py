"""Stubs are derived from the sources in a wheel."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from torchdevlint.infer import derive_library
from torchdevlint.stubs import user

SOURCES = {
    "__init__.py": "from .layers import Block, Gate, Rescale\nfrom .functions import blend as blend\n",
    "layers.py": """
import torch
from torch import nn, Tensor


class Block(nn.Module):
    def __init__(self, wide, act=nn.ReLU):
        super().__init__()
        self.norm = nn.LayerNorm(wide) if wide > 3 else nn.Identity()
        self.inner = nn.Linear(wide, wide)
        self.act = act()

    def forward(self, x, mask=None):
        x = self.inner(self.norm(x))
        return x if mask is None else x * mask


class Gate(nn.Module):
    def __init__(self, wide: int, bias: bool = True):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(wide)) if bias else None

    def forward(self, x):
        return x if self.scale is None else x * self.scale


class Rescale(nn.Module):
    def __init__(self, by: float):
        super().__init__()
        self.by = by

    def forward(self, x):
        return x * self.by


class Around(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


class Made(nn.Module):
    def __init__(self, layer=nn.Linear):
        super().__init__()
        self.one = layer(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.one(x)


class Moving(nn.Module):
    def __init__(self, wide: int):
        super().__init__()
        self.inner = nn.Linear(wide, wide)

    def forward(self, x):
        return self.inner(x.to(self.inner.weight.device))


class Outside(Block):
    pass
""",
    "functions.py": """
from torch import Tensor
import torch


def blend(left: Tensor, right: Tensor, weight: float = 0.5, mode: str = "linear") -> Tensor:
    return left * weight + right * (1 - weight)


def pick(left: Tensor, right: Tensor, first: bool) -> Tensor:
    return left if first else right


def follow(left: Tensor, right: Tensor) -> Tensor:
    return left + right.to(left.device)


def blur(image: Tensor, spread: "float | Tensor" = 1.0) -> Tensor:
    return image * spread


def double(x: Tensor) -> Tensor:
    return 2 * x


def method(self, x: Tensor) -> Tensor:
    return x
""",
}


@pytest.fixture(scope="module")
def derived(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    wheel = folder / "shapes-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in SOURCES.items():
            archive.writestr(f"shapes/{name}", text)
    derive_library.main([str(wheel), "--into", str(folder)])
    text = (folder / "shapes.stub").read_text(encoding="utf-8")
    assert user.of((user.StubFile("shapes.stub", text),)).find("shapes.blend")
    return text.splitlines()


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("Block", "parameters"),
        ("Outside", "parameters"),
        ("Rescale", "empty"),
        ("Gate", "unknown"),  # on one path it has a parameter
        ("Around", "unknown"),  # what it is given may hold anything
        ("Made", "unknown"),
        ("Moving", "weights"),  # it takes its input from anywhere
    ],
)
def test_a_class_is_told_by_what_every_call_of_it_does(derived: list[str], name: str, holds: str) -> None:
    assert f"class shapes.layers.{name}(Module): {holds}" in derived


def test_a_function_tells_which_tensors_meet(derived: list[str]) -> None:
    told = [line for line in derived if line.startswith("def ")]
    assert told == [
        "def shapes.functions.blend(left: Tensor @ d, right: Tensor @ d, weight=..., mode=...) -> Tensor[any] @ d: ...",
        "def shapes.functions.blur(image: Tensor @ d, spread=...) -> Tensor[any] @ d: ...",
        "def shapes.functions.double(x: Tensor @ d) -> Tensor[any] @ d: ...",
    ]


def test_what_a_package_offers_has_a_second_name(derived: list[str]) -> None:
    assert "shapes.Block = shapes.layers.Block" in derived
    assert "shapes.blend = shapes.functions.blend" in derived


def test_only_what_the_package_offers(tmp_path: Path) -> None:
    wheel = tmp_path / "shapes-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in SOURCES.items():
            archive.writestr(f"shapes/{name}", text)
    derive_library.main([str(wheel), "--offered", "--into", str(tmp_path)])
    told = (tmp_path / "shapes.stub").read_text(encoding="utf-8").splitlines()[2:]
    assert told == [f"class shapes.{name}(Module): unknown" for name in ("Block", "Gate", "Rescale")]
