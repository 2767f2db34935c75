import torch.nn as nn


class DropoutMLP(nn.Module):
    def __init__(self, width: int = 48, p: float = 0.1):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Dropout(p),
            nn.Linear(width, width), nn.Tanh(), nn.Dropout(p),
        )
        self.mean = nn.Linear(width, 1)
        self.log_var = nn.Linear(width, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.log_var(h).clamp(-6, 4)


def enable_dropout(model: nn.Module) -> None:
    """Switch on dropout layers only; everything else stays in eval mode."""
    for m in model.modules():
        if isinstance(m, nn.Dropout):
            m.train()
