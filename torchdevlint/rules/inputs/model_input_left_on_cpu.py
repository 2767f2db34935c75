"""TDL401."""

from __future__ import annotations

from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR


class ModelInputLeftOnCpu(Inferred):
    """Finds inputs that stay on the CPU while the model they are given to was moved.

    ## What it does
    Knows where a model was moved (`model.to(device)`, `model.cuda()`) and what it is called with: the output of a tokenizer or processor,
    an element of a `DataLoader`, a tensor made here. Likewise a loss that gets the model's output and a target that was never moved.

    A model that is an argument may be anywhere: a tensor or batch that the function makes for it on the CPU is a warning. And the other way
    round: a model that is made, never moved, and called with a tensor that was moved.

    ## Why is this bad?
    `model(**inputs)` raises `RuntimeError: Expected all tensors to be on the same device` on every machine with an accelerator.

    ## Example
        model = AutoModel.from_pretrained(name).to(device)
        inputs = tokenizer(text, return_tensors="pt")
        outputs = model(**inputs)

    ## Use instead
        inputs = tokenizer(text, return_tensors="pt").to(device)

    ## When it stays silent
    Models whose device is unknown or that place their inputs themselves (`DataParallel`, `device_map`, a `forward` that moves them); batches
    that the caller, a function that was not followed, or a collate function may have placed; tests; functions that export a model.

    ## Fix safety
    `.to(device)` on a tokenizer's output or a tensor is safe where `device` is where the model was moved: on a CPU run it does nothing. Else it
    is unsafe.

    ## Proof
    A module on an accelerator is called with a CPU tensor and raises; with the moved input it gives the CPU run's values.

    ## References
    aten/src/ATen/core/op_registration/adaption.h; transformers `BatchEncoding.to`.
    """

    code, name, severity = "TDL401", "model-input-left-on-cpu", ERROR
    fixable = "sometimes"
