"""The byte test: which files cannot have a finding. It reads bytes alone, so that thousands of files cost next to nothing.

A file is worth parsing when one of the module names or one of the spellings below occurs anywhere in it, in code, strings or
comments. The test may let a file through for nothing; it must never hold one back that a rule would speak of.
"""

from __future__ import annotations

# Packages whose tensors and modules the rules know. A name that is part of a longer one ("torch" in "torchvision",
# "pytorch_lightning", "safetensors.torch") stands for all of these.
MODULES = (
    b"torch",
    b"lightning",
    b"transformers",
    b"accelerate",
    b"diffusers",
    b"ignite",
    b"dgl",
    b"timm",
    b"peft",
    b"fastai",
    b"safetensors",
)

# What device and training code looks like in a file that imports none of them (its tensors come from elsewhere in the project).
SPELLINGS = (
    b".cuda",
    b".to(",
    b"device_map",
    b"map_location",
    b".backward(",
    b".zero_grad(",
)

_NEEDLES = MODULES + SPELLINGS


def may_have_findings(raw: bytes) -> bool:
    """False when no rule can have anything to say about a file of these bytes."""
    # Substring search runs at memory speed: one alternation in `re` over the same words is slower.
    return any(needle in raw for needle in _NEEDLES)


def may_have_suppressions(raw: bytes) -> bool:
    """False when the file holds nothing that could be a suppression comment (any case)."""
    lowered = raw.lower()
    return b"noqa" in lowered or b"torchdevlint" in lowered
