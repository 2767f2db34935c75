"""Row/column index grids of tables, and reductions over cells.

The grids are asked for in every layer and for every example while there are
only a few table shapes, so they are remembered.
"""
import torch

_GRIDS = {}


def cell_grid(rows, cols, device="cpu"):
    """(rows * cols, 2) tensor of the row and column of every cell."""
    key = (rows, cols, str(device))
    if key not in _GRIDS:
        r = torch.arange(rows, device=device).repeat_interleave(cols)
        c = torch.arange(cols, device=device).repeat(rows)
        _GRIDS[key] = torch.stack([r, c], dim=1)
    return _GRIDS[key]


def segment_mean(values, segments, count):
    total = values.new_zeros(count, values.shape[-1]).index_add(0, segments, values)
    size = values.new_zeros(count).index_add(0, segments, values.new_ones(len(values)))
    return total / size.clamp_min(1.0).unsqueeze(-1)


def neighbours(grid):
    """Cells that share a row or a column."""
    same = grid[:, None, :] == grid[None, :, :]
    return same.any(dim=-1)
