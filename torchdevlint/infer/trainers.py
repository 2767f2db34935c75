"""Trainers of other libraries, which move the model that they are given, in place, to a device that they choose."""

from __future__ import annotations

# transformers/trainer.py (`Trainer.__init__`: `_move_model_to_device(model, args.device)`), which trl's trainers inherit.
_ROOTS = ("transformers", "trl")


def is_trainer(name: str) -> bool:
    """True for the dotted name of such a class, or of its constructor. What moves is its argument `model`, the first."""
    path = name.removesuffix(".__init__")
    return path.partition(".")[0] in _ROOTS and path.endswith("Trainer")
