import torch
from gpytorch.distributions import MultitaskMultivariateNormal

normal = MultitaskMultivariateNormal(torch.zeros(5, 2, device="cuda"), torch.eye(10, device="cuda"))
normal[torch.tensor([0, 2], device="cuda"), :]
