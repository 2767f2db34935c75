"""A regression and two classification tasks on the same inputs."""
import torch
import torch.nn.functional as F

TASKS = {"energy": 1, "phase": 3, "stable": 2}


def sample(n, gen):
    x = torch.rand(n, 6, generator=gen) * 2 - 1
    energy = (x[:, :3] ** 2).sum(1) - 0.5 * x[:, 3] * x[:, 4]
    phase = torch.bucketize(x[:, 0] + x[:, 5], torch.tensor([-0.4, 0.4]))
    stable = (energy < 1.0).long()
    return x, {"energy": energy, "phase": phase, "stable": stable}


def losses(out, target):
    return {
        "energy": F.mse_loss(out["energy"].squeeze(-1), target["energy"]),
        "phase": F.cross_entropy(out["phase"], target["phase"]),
        "stable": F.cross_entropy(out["stable"], target["stable"]),
    }
