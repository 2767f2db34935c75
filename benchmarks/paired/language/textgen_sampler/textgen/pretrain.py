import torch
from torch.nn import functional as F


def pretrain(model, tokens: torch.Tensor, steps: int, block: int = 32, batch: int = 8, lr: float = 1e-2):
    """tokens: 1-d tensor on the device of the model"""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for step in range(steps):
        starts = torch.randint(len(tokens) - block - 1, (batch,)).tolist()
        chunk = torch.stack([tokens[s:s + block + 1] for s in starts])
        logits, _ = model(chunk[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), chunk[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()
