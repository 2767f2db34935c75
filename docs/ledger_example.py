"""Three steps that copy and wait more often than they must."""

import torch

model = torch.nn.Linear(64, 64).cuda()
history = []
for _ in range(3):
    batch = torch.randn(32, 64).cuda()
    loss = model(batch).square().mean()
    loss.backward()
    history.append(loss.item())
    if loss > 100:
        break
print(f"{len(history)} steps")
