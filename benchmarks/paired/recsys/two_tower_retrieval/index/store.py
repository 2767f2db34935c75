import torch


class VectorStore:
    """Brute force inner product search with snapshots and partial refresh."""

    def __init__(self, ids, vectors):
        self.ids, self.vectors = ids, vectors

    @classmethod
    def build(cls, encoder):
        return cls(*encoder.encode_all())

    def invalidate(self, ids):
        keep = ~torch.isin(self.ids, ids)
        self.ids, self.vectors = self.ids[keep], self.vectors[keep]

    def refresh(self, encoder):
        ids, vectors = encoder.encode_missing(self.ids)
        if vectors is not None:
            self.ids = torch.cat([self.ids, ids])
            self.vectors = torch.cat([self.vectors, vectors])
        return len(ids)

    def search(self, queries, k):
        # search next to the queries, hand back catalogue ids on the host
        table = self.vectors.to(queries.device, non_blocking=True)
        top = (queries @ table.t()).topk(k, dim=1)
        return self.ids[top.indices.cpu()], top.values.cpu()

    def __len__(self):
        return len(self.ids)
