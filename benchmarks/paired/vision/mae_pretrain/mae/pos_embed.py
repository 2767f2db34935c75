import torch


def sincos_1d(dim: int, pos: torch.Tensor) -> torch.Tensor:
    omega = 1.0 / 10000 ** (torch.arange(dim // 2, dtype=torch.float32) / (dim / 2.0))
    out = pos.reshape(-1, 1).float() * omega.reshape(1, -1)
    return torch.cat([out.sin(), out.cos()], dim=1)


def sincos_2d(dim: int, grid: int) -> torch.Tensor:
    ys, xs = torch.meshgrid(torch.arange(grid), torch.arange(grid), indexing="ij")
    return torch.cat([sincos_1d(dim // 2, ys), sincos_1d(dim // 2, xs)], dim=1).unsqueeze(0)
