"""TDL805: the old names of automatic mixed precision warn."""

import torch

CODE = "TDL805"
SHAPES = ("1", "cpu")
EXPECT = r"FutureWarning: .torch\.(cuda|cpu)\.amp\.\w+\(args...\). is deprecated"


def fault() -> str:
    scaler = torch.cuda.amp.GradScaler(enabled=False)
    return f"enabled: {scaler.is_enabled()}"


def repair() -> str:
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    return f"enabled: {scaler.is_enabled()}"
