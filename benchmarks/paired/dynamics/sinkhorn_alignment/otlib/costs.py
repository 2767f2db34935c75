import torch.nn.functional as F


def sqeuclidean_cost(x, y):
    return (x.unsqueeze(1) - y.unsqueeze(0)).pow(2).sum(-1)


def cosine_cost(x, y):
    return 1.0 - F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).T


COSTS = {"sqeuclidean": sqeuclidean_cost, "cosine": cosine_cost}
