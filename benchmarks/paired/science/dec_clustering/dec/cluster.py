import torch
import torch.nn as nn
from torch.nn import Parameter


class ClusterAssignment(nn.Module):
    """Soft assignment with a Student's t kernel."""

    def __init__(self, n_clusters: int, embed_dim: int, alpha: float = 1.0):
        super().__init__()
        self.alpha = alpha
        centers = torch.zeros(n_clusters, embed_dim)
        nn.init.xavier_uniform_(centers)
        self.cluster_centers = Parameter(centers)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        norm_squared = torch.sum((z.unsqueeze(1) - self.cluster_centers) ** 2, 2)
        numerator = 1.0 / (1.0 + norm_squared / self.alpha)
        numerator = numerator ** (float(self.alpha + 1) / 2)
        return numerator / numerator.sum(dim=1, keepdim=True)


class DEC(nn.Module):
    def __init__(self, n_clusters: int, embed_dim: int, encoder: nn.Module):
        super().__init__()
        self.encoder = encoder
        self.assignment = ClusterAssignment(n_clusters, embed_dim)

    def forward(self, batch):
        return self.assignment(self.encoder(batch))


def target_distribution(q: torch.Tensor) -> torch.Tensor:
    weight = (q ** 2) / q.sum(0)
    return (weight.t() / weight.sum(1)).t()
