"""Runs each program of the table on a virtual machine: `python -m tests.textbook.judge SHAPE [NAME ...]` prints JSON, fault name to what both sides did.

SHAPE is gpu, gpus2 or cpu-only. A side is {"error": text or null, "fault": whether it was a device fault, "hazards": count, "printed": text}.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
import types
import warnings
from pathlib import Path
from typing import Any

from torchdevlint.machine import Shape, start

from .table import Program, faults

SHAPES = {"gpu": Shape(gpus=1), "gpus2": Shape(gpus=2), "cpu-only": Shape(gpus=0, build="cpu")}


def main() -> None:
    shape, *wanted = sys.argv[1:]
    machine = start(SHAPES[shape])
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    _install_transformers(torch)
    verdicts = {}
    for fault in faults():
        if wanted and fault.name not in wanted:
            continue
        if fault.verdict.startswith("-") or shape_of(fault.verdict) != shape:
            continue
        verdicts[fault.name] = [_run(side, fault.files, machine) for side in (fault.faulty, fault.repaired)]
    print("\nVERDICTS " + json.dumps(verdicts))


def shape_of(verdict: str) -> str:
    """The machine that shows a fault."""
    return verdict if verdict in SHAPES else "gpu"


def _run(program: Program, files: tuple[tuple[str, str], ...], machine: Any) -> dict[str, Any]:
    import torch

    source = str(program.imports + program.definitions + program.calls)
    printed, error, fault = io.StringIO(), None, False
    before = len(getattr(machine, "hazards", ()))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, kind in files:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            _save(kind, name)
        torch.manual_seed(0)
        module = types.ModuleType("textbook_program")
        sys.modules[module.__name__] = module
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(source, str(Path(folder) / "program.py"), "exec"), module.__dict__)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}".split("\n")[0]
            fault = getattr(raised, "torchdevlint_places", None) is not None
        os.chdir(Path(__file__).parent)
    hazards = len(getattr(machine, "hazards", ())) - before
    return {"error": error, "fault": fault, "hazards": hazards, "printed": printed.getvalue()}


def _save(kind: str, name: str) -> None:
    """A checkpoint as a machine with a GPU writes it."""
    import torch
    from torch import nn

    from torchdevlint.proofs._checkpoints import archive_from, checkpoint_from

    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    if kind == "script":
        archive_from("cuda:0", model, name)
        return
    checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}
    checkpoint_from("cuda:0", {"state": model.state_dict(), "checkpoint": checkpoint, "module": model}[kind], name)


def _install_transformers(torch: Any) -> None:
    """Stands for the library: a tokenizer that gives CPU tensors, a model with an embedding."""

    class Batch(dict):  # type: ignore[type-arg]
        def to(self, device: object) -> Batch:
            self.update({key: value.to(device) for key, value in self.items()})
            return self

    class Tokenizer:
        from_pretrained = classmethod(lambda cls, name: cls())

        def encode(self, text: str, return_tensors: str) -> object:
            return torch.tensor([[1, 2]])

        def __call__(self, text: str, return_tensors: str) -> Batch:
            return Batch(input_ids=torch.tensor([[1, 2]]))

    class Model(torch.nn.Module):  # type: ignore[misc]
        from_pretrained = classmethod(lambda cls, name: cls())

        def __init__(self) -> None:
            super().__init__()
            self.embedding = torch.nn.Embedding(5, 4)

        def forward(self, input_ids: object) -> object:
            return types.SimpleNamespace(logits=self.embedding(input_ids))

    module = types.ModuleType("transformers")
    module.AutoTokenizer = Tokenizer  # type: ignore[attr-defined]
    module.AutoModelForCausalLM = module.AutoModelForSequenceClassification = Model  # type: ignore[attr-defined]
    sys.modules["transformers"] = module


if __name__ == "__main__":
    main()
