from .encode import TableEncoder, encode_table
from .geometry import cell_grid, segment_mean

__all__ = ["TableEncoder", "encode_table", "cell_grid", "segment_mean"]
