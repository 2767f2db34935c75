from typing import Callable, List

import torch
from torch import Tensor

from .model import MultiFrequencyNBeats


class BaggedForecaster:
    """Members are trained one after the other; only one is on the accelerator at a time."""

    def __init__(self, build: Callable[[], MultiFrequencyNBeats], n_members: int, device):
        self.build, self.n_members = build, n_members
        self.device = torch.device(device)
        self.members: List[MultiFrequencyNBeats] = []

    def fit(self, train_one: Callable[[MultiFrequencyNBeats, int], float]):
        for i in range(self.n_members):
            member = self.build().to(self.device)
            loss = train_one(member, i)
            print(f"member {i}: loss {loss:.3f}")
            self.members.append(member.cpu())
        return self

    def predict(self, x: Tensor, freq: str) -> Tensor:
        outs = []
        for member in self.members:
            member.to(self.device)
            outs.append(member.predict(x, freq))
            member.cpu()
        return torch.stack(outs).median(0).values

    def state_dict(self):
        return [m.state_dict() for m in self.members]
