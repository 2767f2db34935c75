"""TDL514: the lengths of a packed sequence stay on the host."""

import torch
from torch.nn.utils.rnn import pack_padded_sequence

CODE = "TDL514"
SHAPES = ("1",)
EXPECT = r"'lengths' argument should be a 1D CPU int64 tensor"


def fault() -> None:
    x = torch.ones(2, 3, 4, device="cuda")
    lengths = torch.tensor([3, 2]).to("cuda")
    pack_padded_sequence(x, lengths, batch_first=True)


def repair() -> str:
    x = torch.ones(2, 3, 4, device="cuda")
    lengths = torch.tensor([3, 2]).to("cuda")
    return f"packed on {pack_padded_sequence(x, lengths.cpu(), batch_first=True).data.device}"
