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


def knows_its_accelerator(kind: type[Exception], text: str) -> None:
    """A CUDA build without GPU: the accelerator has a name, and every use of it is refused."""
    assert torch.accelerator.current_accelerator() == torch.device("cuda")
    assert torch.accelerator.current_accelerator(check_available=True) is None
    assert not torch.accelerator.is_available() and torch.accelerator.device_count() == 0
    assert torch.device(1) == torch.device("cuda", 1)
    x = torch.ones(2)
    for call in (
        lambda: x.to(0),
        lambda: x.cuda(0),
        lambda: torch.zeros(1, device=0),
        lambda: torch.nn.Linear(1, 1).to(0),
        lambda: torch.cuda.set_device(0),
        lambda: torch.cuda.FloatTensor(2),
        torch.cuda.get_rng_state,
        torch.accelerator.synchronize,
        torch.accelerator.current_device_index,
        x.pin_memory,
    ):
        with raises(kind, text):
            call()


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
