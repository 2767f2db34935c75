import torch
from torch import nn
from torch.func import functional_call


class SineNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.net(x)


class MetaSGD(nn.Module):
    """Meta-SGD (Li et al., 2017): the initialisation and one step size per weight are learned."""

    def __init__(self, model, init_lr=0.01):
        super().__init__()
        self.model = model
        # parameter names may not contain dots
        self.alpha = nn.ParameterDict({
            name.replace(".", "_"): nn.Parameter(torch.full_like(p, init_lr))
            for name, p in model.named_parameters()
        })

    def meta_parameters(self):
        yield from self.model.parameters()
        yield from self.alpha.values()

    def adapt(self, x, y, loss_fn, steps=1, create_graph=True):
        fast = dict(self.model.named_parameters())
        for _ in range(steps):
            loss = loss_fn(functional_call(self.model, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=create_graph)
            fast = {
                name: w - self.alpha[name.replace(".", "_")] * g
                for (name, w), g in zip(fast.items(), grads)
            }
        return fast

    def predict(self, fast, x):
        return functional_call(self.model, fast, (x,))
