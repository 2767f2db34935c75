import torch
import torch.nn as nn
import torch.nn.functional as F


class CTRModel(nn.Module):
    """Owns the field embeddings; subclasses implement `logits`."""

    def __init__(self, schema, embed_dim):
        super().__init__()
        self.schema = schema
        self.tables = nn.ModuleDict({f.name: nn.Embedding(f.cardinality, embed_dim) for f in schema.sparse})
        for table in self.tables.values():
            nn.init.normal_(table.weight, std=0.01)
        self.linear_dense = nn.Linear(len(schema.dense), 1)
        self.register_buffer("dense_mean", torch.zeros(len(schema.dense)))
        self.register_buffer("dense_std", torch.ones(len(schema.dense)))

    def fit_statistics(self, frame):
        logs = torch.log1p(torch.tensor(frame[[f.name for f in self.schema.dense]].to_numpy()))
        self.dense_mean.copy_(logs.mean(0))
        self.dense_std.copy_(logs.std(0).clamp_min(1e-3))

    def embed(self, sparse):
        return torch.stack([self.tables[f.name](sparse[:, i]) for i, f in enumerate(self.schema.sparse)], dim=1)

    def normalize(self, dense):
        return (torch.log1p(dense) - self.dense_mean) / self.dense_std

    def logits(self, emb, dense):
        raise NotImplementedError

    def forward(self, sparse, dense, target=None):
        out = self.logits(self.embed(sparse), self.normalize(dense))
        if target is None:
            return torch.sigmoid(out)
        return F.binary_cross_entropy_with_logits(out, target), torch.sigmoid(out.detach())
