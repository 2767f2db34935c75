"""TDL523: a default argument that starts CUDA when the module is imported."""

import torch

CODE = "TDL523"
SHAPES = ("1",)
EXPECT = r"CUDA is started by the definition: True"


def fault() -> str:
    def scale(x: torch.Tensor, by: torch.Tensor = torch.ones(1).cuda()) -> torch.Tensor:
        return x * by

    return f"CUDA is started by the definition: {torch.cuda.is_initialized()}"


def repair() -> str:
    def scale(x: torch.Tensor, by: torch.Tensor | None = None) -> torch.Tensor:
        return x if by is None else x * by

    return f"CUDA is started by the definition: {torch.cuda.is_initialized()}"
