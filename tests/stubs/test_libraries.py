"""Stubs of libraries: what is derived from wheels can be read, and a program that uses it is judged by it."""

from __future__ import annotations

import pytest

from torchdevlint.infer.analysis import analyse
from torchdevlint.program import from_ast
from torchdevlint.stubs import loader

TEXT = "import torch\nimport torchaudio\nlayer = torchaudio.transforms.{name}()\nlayer(torch.zeros(2, 9).cuda())\n"


def test_every_entry_can_be_found() -> None:
    known = [name for name in loader.shipped().names() if name.startswith(("torchvision.", "torchaudio."))]
    assert len(known) > 300
    assert [name for name in known if loader.shipped().find(name) is None] == []


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("torchvision.models.resnet18", "parameters"),
        ("torchaudio.transforms.Spectrogram", "parameters"),
        ("torchaudio.transforms.AmplitudeToDB", "empty"),
        ("torchvision.transforms.Normalize", "unknown"),
        ("torchvision.models.detection.fasterrcnn_resnet50_fpn", "unknown"),
    ],
)
def test_classes_tell_what_they_hold(name: str, holds: str) -> None:
    found = loader.shipped().module_class(name)
    assert found is not None
    assert found.holds == holds


@pytest.mark.parametrize(("name", "faults"), [("MelSpectrogram", 1), ("AmplitudeToDB", 0), ("Resample", 0)])
def test_a_class_without_parameters_and_buffers_claims_nothing(name: str, faults: int) -> None:
    program = from_ast.read(TEXT.format(name=name))
    assert program is not None
    assert len(analyse(program).decided()) == faults


def test_the_stubs_of_a_library_are_read_when_one_of_its_names_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    kept = loader._entries_of
    monkeypatch.setattr(loader, "_entries_of", lambda library: read.append(library) or kept(library))
    stubs = loader.Stubs(loader._Shipped())
    assert stubs.find("unheard_of.nn.Layer") is None
    assert "torchaudio" in loader.libraries()
    assert read == []
    assert stubs.module_class("torchaudio.transforms.Spectrogram") is not None
    assert read == ["torchaudio"]
