"""Shapes, the start, and the cache of operator rules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import warm

from torchdevlint.machine.shape import Shape


def _python(code: str, fresh: bool = False, **extra: str) -> subprocess.CompletedProcess[str]:
    command, variables = [sys.executable, "-c", code], {**os.environ, **extra}
    if fresh:
        return subprocess.run(command, capture_output=True, text=True, timeout=120, env=variables)
    return warm.run(command, timeout=120, env=variables)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (Shape(), "1 virtual GPU"),
        (Shape(gpus=2), "2 virtual GPUs"),
        (Shape(build="cpu"), "no GPU (CPU-only build)"),
        (Shape(build="no-driver"), "no GPU (CUDA build, no driver)"),
        (Shape(gpus=0), "no GPU (CUDA build, GPUs hidden)"),
    ],
)
def test_shapes(shape: Shape, words: str) -> None:
    assert shape.describe() == words and Shape.from_json(shape.to_json()) == shape
    assert (shape.gpus == 0) == (shape.build != "cuda")


@pytest.mark.parametrize("options", [{"gpus": -1}, {"gpus": 65}, {"gpus": True}, {"build": "tpu"}])
def test_impossible_shapes(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"a machine has|no such build"):
        Shape(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"gpus": "one", "build": "cuda"}'])
def test_damaged_shapes(text: str) -> None:
    with pytest.raises(ValueError):
        Shape.from_json(text)


def test_importing_the_package_does_not_import_torch() -> None:
    code = "import sys, torchdevlint.machine, torchdevlint.machine.shape, torchdevlint.machine.launch, torchdevlint.machine.child\nprint('torch' in sys.modules)"
    assert _python(code, fresh=True).stdout.strip() == "False"


def test_a_process_is_one_machine() -> None:
    code = """
from torchdevlint.machine import MachineError, Shape, current, start
assert current() is None
machine = start(Shape(1))
assert current() is machine
try:
    start(Shape(2))
except MachineError as error:
    print(error)
"""
    assert _python(code, fresh=True).stdout.strip() == "this process is a machine already: 1 virtual GPU"


def test_a_torch_that_loses_tags_is_refused() -> None:
    code = """
import torch
from torchdevlint.machine import MachineError, Shape, selftest, start
def views_share_the_tag(): return False
def tensors_fall_apart(): raise ValueError("as a torch of long ago")
selftest.ASSUMPTIONS = (views_share_the_tag, tensors_fall_apart)
try:
    start(Shape(1))
except MachineError as error:
    print(error)
print(torch.cuda.is_available())
"""
    first, second = _python(code).stdout.splitlines()
    assert "does not hold what a virtual GPU rests on: views share the tag; tensors fall apart (ValueError" in first
    assert second == "False"


def test_rules_are_kept_and_damage_is_a_miss(tmp_path: Path) -> None:
    code = """
from torchdevlint.machine import op_rules
rules = op_rules.load()
print(op_rules.cache_file(), len(rules.rules), rules.new_wording, rules.rules["index_select.default"])
"""
    first = _python(code, XDG_CACHE_HOME=str(tmp_path)).stdout
    path = Path(first.split()[0])
    assert path.is_relative_to(tmp_path)
    assert "OpRule(kind='cuda', exact=True, method='wrapper_CUDA__index_select', arguments=('self', 'index'))" in first
    good = json.loads(path.read_text(encoding="utf-8"))
    path.write_text('{"rules": {"add.Tensor": 3}}', encoding="utf-8")
    assert _python(code, XDG_CACHE_HOME=str(tmp_path)).stdout == first
    assert json.loads(path.read_text(encoding="utf-8")) == good


def test_rules_without_a_writable_cache() -> None:
    code = "from torchdevlint.machine import op_rules\nprint(len(op_rules.load().rules) > 2000)"
    assert _python(code, XDG_CACHE_HOME="/proc/nowhere").stdout.strip() == "True"


def test_rules_without_yaml_say_what_to_install(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["yaml"] = None
from torchdevlint.machine import MachineError, Shape, start
try:
    start(Shape(1))
except MachineError as error:
    print(error)
"""
    assert "pip install pyyaml" in _python(code, XDG_CACHE_HOME=str(tmp_path)).stdout
