import torch
from nflows.distributions.discrete import ConditionalIndependentBernoulli

context = torch.randn(4, 3, device="cuda")
ConditionalIndependentBernoulli([3]).cuda().sample(2, context=context)
