import torch
import torch.nn.functional as F

from .landmarks import batches


def batch_hard_triplet(feats, labels, margin=0.2):
    dist = torch.cdist(feats, feats)
    same = labels[:, None] == labels[None, :]
    hardest_pos = dist.masked_fill(~same, 0).max(dim=1).values
    hardest_neg = dist.masked_fill(same, float("inf")).min(dim=1).values
    return F.relu(hardest_pos - hardest_neg + margin).mean()


def fit(net, dataset, device, epochs=2, lr=3e-3):
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    net.train()
    for epoch in range(epochs):
        total = 0.0
        for x, y in batches(dataset, 16, shuffle=True):
            loss = batch_hard_triplet(net(x.to(device)), y.to(device))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch}: triplet loss {total:.3f}")
