"""nn.DataParallel on two devices, and data loaders in this process."""

import torch
import torch.nn as nn
from _support import raises
from torch.utils.data import DataLoader, TensorDataset

SHAPE = {"gpus": 2}


class Witness(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 2)
        self.seen: list[str] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert x.device == self.layer.weight.device
        self.seen.append(str(x.device))
        return self.layer(x)


def case_data_parallel() -> None:
    for data in (torch.ones(6, 4, device="cuda"), torch.ones(6, 4)):  # CPU inputs are scattered too
        model = nn.DataParallel(Witness().cuda())
        out = model(data)
        assert out.device == torch.device("cuda:0") and sorted(model.module.seen) == ["cuda:0", "cuda:1"]
        out.sum().backward()
        weight = model.module.layer.weight
        assert weight.grad.device == torch.device("cuda:0") and weight.grad.sum() == 6 * 4 * 2
    with raises(RuntimeError, "module must have its parameters and buffers on device cuda:0 (device_ids[0])"):
        nn.DataParallel(Witness())(torch.ones(6, 4))


def case_replicate_and_gather() -> None:
    copies = nn.parallel.replicate(nn.Linear(2, 2).cuda(), [0, 1])
    assert [next(iter(copy.weight.unsqueeze(0))).device.index for copy in copies] == [0, 1]
    gathered = nn.parallel.gather([torch.ones(2, device="cuda:0"), torch.ones(2, device="cuda:1")], 0)
    assert gathered.device == torch.device("cuda:0") and gathered.shape == (4,)
    assert nn.parallel.comm.reduce_add([torch.ones(2, device="cuda:0"), torch.ones(2, device="cuda:1")]).sum() == 4


def case_loader_with_pinned_memory() -> None:
    for data, target in DataLoader(TensorDataset(torch.ones(8, 2), torch.zeros(8)), batch_size=4, pin_memory=True):
        assert data.is_pinned() and target.is_pinned() and data.device.type == "cpu"
        assert data.to("cuda", non_blocking=True).is_cuda
    on_gpu = TensorDataset(torch.ones(8, 2, device="cuda"))
    with raises(RuntimeError, "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"):
        next(iter(DataLoader(on_gpu, pin_memory=True)))


def case_loader_under_a_default_device() -> None:
    dataset = TensorDataset(torch.ones(8, 2, device="cpu"))
    torch.set_default_device("cuda")
    try:
        with raises(RuntimeError, "Expected a 'cuda' device type for generator but found 'cpu'"):
            next(iter(DataLoader(dataset, shuffle=True)))
        next(iter(DataLoader(dataset, shuffle=True, generator=torch.Generator(device="cuda"))))
    finally:
        torch.set_default_device(None)
