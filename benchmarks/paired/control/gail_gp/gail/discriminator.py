import torch
import torch.nn as nn
from torch import autograd


class Discriminator(nn.Module):
    def __init__(self, input_dim, hidden_dim):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(input_dim, hidden_dim), nn.Tanh(),
            nn.Linear(hidden_dim, hidden_dim), nn.Tanh(),
            nn.Linear(hidden_dim, 1))

    def forward(self, state, action):
        return self.trunk(torch.cat([state, action], dim=1))

    def compute_grad_pen(self, expert_state, expert_action, policy_state, policy_action, lambda_=10.0):
        expert_data = torch.cat([expert_state, expert_action], dim=1)
        policy_data = torch.cat([policy_state, policy_action], dim=1)

        alpha = torch.rand(expert_data.size(0), 1, device=expert_data.device)
        mixup_data = alpha * expert_data + (1 - alpha) * policy_data
        mixup_data.requires_grad = True

        disc = self.trunk(mixup_data)
        ones = torch.ones(disc.size(), device=disc.device)
        grad = autograd.grad(outputs=disc, inputs=mixup_data, grad_outputs=ones,
                             create_graph=True, retain_graph=True, only_inputs=True)[0]
        return lambda_ * (grad.norm(2, dim=1) - 1).pow(2).mean()

    @torch.no_grad()
    def predict_reward(self, state, action):
        s = torch.sigmoid(self(state, action))
        return (s + 1e-6).log() - (1 - s + 1e-6).log()
