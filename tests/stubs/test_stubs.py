"""Stub files: every entry can be read, and what is derived agrees with the machine's operator rules."""

from __future__ import annotations

import pytest

from torchdevlint.stubs import loader


def test_every_entry_can_be_read() -> None:
    assert sum(loader.shipped().find(name) is not None for name in loader.shipped().names()) > 1_000


def test_a_signature_is_what_is_written() -> None:
    where, positions = loader.shipped().functions("torch.where")
    assert positions.result.shape == "list" and positions.result.parts[0].rank == 1
    assert [(p.name, p.kind, p.tolerant) for p in where.parameters[:3]] == [
        ("condition", "tensor", True),
        ("input", "tensor", True),
        ("other", "tensor", True),
    ]
    assert loader.shipped().functions("torch.concat") == loader.shipped().functions("torch.cat")
    assert loader.shipped().functions("torch.nothing") == ()


def test_methods_fall_back_to_functions() -> None:
    assert loader.shipped().method("matmul") == loader.shipped().functions("torch.matmul")
    assert loader.shipped().method("add_")[0].result.shape == "self"


def test_methods_are_those_of_python() -> None:
    torch = pytest.importorskip("torch")
    assert [name for name in ("slice", "alias", "set_data") if loader.shipped().method(name)] == []
    methods = [
        name.removeprefix("torch.Tensor.") for name in loader.shipped().names() if name.startswith("torch.Tensor.")
    ]
    assert [name for name in methods if not hasattr(torch.Tensor, name)] == ["methods"]  # the list of their names


@pytest.mark.parametrize(
    ("name", "holds"), [("Linear", "parameters"), ("ReLU", "empty"), ("CrossEntropyLoss", "buffers")]
)
def test_modules_tell_what_they_hold(name: str, holds: str) -> None:
    found = loader.shipped().module_class("torch.nn." + name)
    assert found is not None
    assert found.holds == holds


def test_derived_operators_agree_with_the_machine() -> None:
    """An operator lets zero-dimensional CPU tensors through in its stub where its kernel makes no check of its own, and nowhere else."""
    pytest.importorskip("torch")
    op_rules = pytest.importorskip("torchdevlint.machine.op_rules")
    rules = op_rules.load().rules
    by_hand = {line.split("(")[0].removeprefix("def ") for line in _written() if line.startswith("def ")}
    wrong = []
    for name in loader.shipped().names():
        base = name.removeprefix("torch.")
        if name in by_hand or "." in base:
            continue
        for signature in loader.shipped().functions(name):
            if signature.name != name:
                continue  # another name of an entry by hand
            tensors = [p for p in signature.parameters if p.kind == "tensor" and p.device == "d"]
            overloads = [
                rule
                for key, rule in rules.items()
                if key.startswith(base + ".") and len(rule.arguments) == len(tensors) > 1
            ]
            if overloads and all(rule.exact for rule in overloads) and any(p.tolerant for p in tensors):
                wrong.append(name)
            if overloads and not any(rule.exact for rule in overloads) and not any(p.tolerant for p in tensors):
                wrong.append(name)
    assert wrong == []


def _written() -> list[str]:
    from importlib import resources

    return resources.files("torchdevlint.stubs").joinpath("written/torch.stub").read_text(encoding="utf-8").splitlines()


def test_a_number_is_no_tensor_of_a_quantile() -> None:
    number, tensor = loader.shipped().functions("torch.quantile")
    assert (number.parameters[1].kind, tensor.parameters[1].kind) == ("number", "tensor")
