import torch
from torch import nn

from streams import stream
from world import ACTION, STATE


class Ensemble(nn.Module):
    """Members stacked in one set of weights; predicts the change of the state."""

    def __init__(self, members, hidden):
        super().__init__()
        sizes = [STATE + ACTION, hidden, hidden, STATE]
        self.weights = nn.ParameterList(
            [nn.Parameter(torch.randn(members, a, b) / a ** 0.5) for a, b in zip(sizes, sizes[1:])])
        self.biases = nn.ParameterList([nn.Parameter(torch.zeros(members, 1, b)) for b in sizes[1:]])
        self.register_buffer("shift", torch.zeros(STATE + ACTION))
        self.register_buffer("scale", torch.ones(STATE + ACTION))

    def set_statistics(self, x):
        self.shift.copy_(x.mean(0))
        self.scale.copy_(x.std(0) + 1e-4)

    def forward(self, x):
        h = (x - self.shift) / self.scale
        for i, (w, b) in enumerate(zip(self.weights, self.biases)):
            h = torch.baddbmm(b, h, w)
            if i + 1 < len(self.weights):
                h = torch.tanh(h)
        return h


def fit(model, data, epochs, batch_size, lr):
    state, action, delta = data
    x = torch.cat([state, action], dim=1)
    model.set_statistics(x)
    device, members = model.shift.device, model.weights[0].shape[0]
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        order = torch.stack([torch.randperm(len(x), generator=stream("shuffle")) for _ in range(members)])
        total = 0.0
        for rows in order.split(batch_size, dim=1):
            loss = (model(x[rows].to(device)) - delta[rows].to(device)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * rows.shape[1]
        print(f"model epoch {epoch} loss {total / len(x):.4f}")
