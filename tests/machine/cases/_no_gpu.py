"""What every machine without GPU does."""

import io

import torch
from _support import raises


def refuses(kind: type[Exception], text: str) -> None:
    """CUDA is refused with this error wherever it is asked for; the CPU works."""
    x = torch.ones(2)
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
    assert torch.device("cuda").type == "cuda"
    for call in (
        lambda: x.cuda(),
        lambda: x.to("cuda"),
        lambda: torch.zeros(1, device="cuda"),
        lambda: torch.nn.Linear(1, 1).cuda(),
        lambda: torch.nn.Linear(1, 1, device="cuda"),
        torch.cuda.current_device,
        torch.cuda.synchronize,
        torch.cuda.init,
    ):
        with raises(kind, text):
            call()
    loss = torch.nn.Linear(2, 1)(x).sum()
    loss.backward()
    checkpoint = io.BytesIO(_CUDA_CHECKPOINT)
    with raises(
        RuntimeError, "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False."
    ):
        torch.load(checkpoint)
    checkpoint.seek(0)
    assert torch.load(checkpoint, map_location="cpu")["w"].tolist() == [1.0, 2.0]


def _cuda_checkpoint() -> bytes:
    """A checkpoint whose storage says cuda:0, made by giving the location when it is saved."""
    storage_location = torch.serialization.location_tag
    torch.serialization.location_tag = lambda storage: "cuda:0"
    try:
        buffer = io.BytesIO()
        torch.save({"w": torch.tensor([1.0, 2.0])}, buffer)
    finally:
        torch.serialization.location_tag = storage_location
    return buffer.getvalue()


_CUDA_CHECKPOINT = _cuda_checkpoint()
