"""Training loops: on the machine every loss is that of the CPU, bit by bit."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPE = {"gpus": 1}


def losses(build, batch, optimize, device: str, steps: int = 6) -> list[float]:
    torch.manual_seed(0)
    model = build().to(device)
    optimizer = optimize(model.parameters())
    data, target = (tensor.to(device) for tensor in batch())
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    assert all(p.grad.device.type == device for p in model.parameters())
    return found


def equal_on_both(build, batch, optimize=lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9)) -> None:
    on_cpu, on_gpu = losses(build, batch, optimize, "cpu"), losses(build, batch, optimize, "cuda")
    assert on_cpu == on_gpu and on_cpu[-1] != on_cpu[0]


def vectors() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(16, 8), torch.randint(0, 3, (16,))


def case_mlp() -> None:
    build = lambda: nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))  # noqa: E731
    equal_on_both(build, vectors)
    for flag in ("foreach", "fused"):
        equal_on_both(build, vectors, lambda parameters, flag=flag: torch.optim.AdamW(parameters, **{flag: True}))


def case_cnn() -> None:
    layers = (nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3))
    equal_on_both(
        lambda: nn.Sequential(*[_fresh(layer) for layer in layers]),
        lambda: (torch.randn(4, 1, 8, 8), torch.randint(0, 3, (4,))),
    )


def _fresh(layer: nn.Module) -> nn.Module:
    if hasattr(layer, "reset_parameters"):
        layer.cpu().reset_parameters()
    return layer


class Recurrent(nn.Module):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.rnn = getattr(nn, kind)(8, 6, num_layers=2, batch_first=True)
        self.head = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.rnn(x)[0][:, -1])


def case_recurrent() -> None:
    for kind in ("LSTM", "GRU", "RNN"):
        equal_on_both(lambda kind=kind: Recurrent(kind), lambda: (torch.randn(4, 5, 8), torch.randint(0, 3, (4,))))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1]).to(x.device)
        return self.head(self.encoder(self.embed(x), mask=mask).mean(1))


def case_transformer() -> None:
    equal_on_both(Transformer, lambda: (torch.randint(0, 10, (4, 6)), torch.randint(0, 3, (4,))))
    model = Transformer().cuda().eval()
    with torch.inference_mode():  # the fused fast path
        assert model(torch.zeros(1, 4, dtype=torch.long, device="cuda")).is_cuda


def case_activation_checkpointing() -> None:
    from torch.utils.checkpoint import checkpoint

    for reentrant in (True, False):
        layer = nn.Linear(4, 4).cuda()
        checkpoint(layer, torch.ones(2, 4, device="cuda", requires_grad=True), use_reentrant=reentrant).sum().backward()
        assert layer.weight.grad.is_cuda


def case_gradient_clipping_and_schedules() -> None:
    model = nn.Linear(4, 4).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    model(torch.ones(2, 4, device="cuda")).sum().backward()
    assert nn.utils.clip_grad_norm_(model.parameters(), 1.0).is_cuda
    optimizer.step()
    schedule.step()
    averaged = torch.optim.swa_utils.AveragedModel(model)
    averaged.update_parameters(model)
    assert next(averaged.parameters()).is_cuda


def case_resumed_optimizer_state() -> None:
    """State loaded before the move stays behind; loaded after it, it follows the parameters."""
    model = nn.Linear(4, 4)
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    state = optimizer.state_dict()

    late = nn.Linear(4, 4)
    before = torch.optim.Adam(late.parameters(), foreach=False)
    before.load_state_dict(state)
    late.cuda()
    late(torch.ones(2, 4, device="cuda")).sum().backward()
    try:
        before.step()
    except RuntimeError as error:
        assert "Expected all tensors to be on the same device" in str(error)
    else:
        raise AssertionError("the state was left behind and nothing was said")

    early = nn.Linear(4, 4).cuda()
    after = torch.optim.Adam(early.parameters(), foreach=False)
    after.load_state_dict(state)
    early(torch.ones(2, 4, device="cuda")).sum().backward()
    after.step()
    assert after.state[early.weight]["exp_avg"].is_cuda
