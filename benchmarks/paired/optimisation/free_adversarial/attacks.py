import torch
import torch.nn.functional as F


class PerturbationBank:
    """Keeps one perturbation per training sample in host memory (it may be as big as the data)."""

    def __init__(self, count, shape, epsilon, dtype=torch.float16):
        self.epsilon = epsilon
        self.store = torch.zeros(count, *shape, dtype=dtype)
        self.hits = torch.zeros(count, dtype=torch.long)

    def fetch(self, rows, like):
        self.hits[rows] += 1
        return self.store[rows].to(like.device, like.dtype)

    def put(self, rows, delta):
        delta = delta.clamp(-self.epsilon, self.epsilon)
        self.store[rows] = delta.to(self.store.device, self.store.dtype)

    def summary(self):
        used = self.hits > 0
        return f"{used.float().mean().item():.2f} used, size {self.store[used].float().abs().mean().item():.4f}"


def pgd(model, image, label, epsilon, steps, rate):
    delta = torch.empty_like(image).uniform_(-epsilon, epsilon)
    for _ in range(steps):
        delta.requires_grad_(True)
        loss = F.cross_entropy(model((image + delta).clamp(0, 1)), label)
        (grad,) = torch.autograd.grad(loss, delta)
        delta = (delta.detach() + rate * grad.sign()).clamp(-epsilon, epsilon)
    return (image + delta).clamp(0, 1)
