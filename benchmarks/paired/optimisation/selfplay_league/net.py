import torch
from torch import nn

import game


class PolicyValueNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(2 * game.ACTIONS, width), nn.ReLU(),
                                   nn.Linear(width, width), nn.ReLU())
        self.policy = nn.Linear(width, game.ACTIONS)
        self.value = nn.Linear(width, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.policy(h), torch.tanh(self.value(h)).squeeze(-1)


class Evaluator:
    """Answers single positions with priors and a value, wherever the net lives."""

    def __init__(self, net):
        self.net = net

    @torch.no_grad()
    def __call__(self, board):
        device = next(self.net.parameters()).device
        x = torch.from_numpy(game.encode(board)).to(device)
        logits, value = self.net(x.unsqueeze(0))
        mask = torch.full((game.ACTIONS,), float("-inf"))
        mask[torch.from_numpy(game.legal(board))] = 0.0
        priors = torch.softmax(logits[0].cpu() + mask, dim=0)
        return priors.numpy(), value.item()
