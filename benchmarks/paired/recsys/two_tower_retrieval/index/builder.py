import torch


class ItemEncoder:
    """Runs the item tower over the catalogue in chunks. The feature table stays in host memory."""

    def __init__(self, tower, tag_table, chunk=32):
        self.tower, self.tag_table, self.chunk = tower, tag_table, chunk

    @torch.no_grad()
    def _encode(self, ids):
        self.tower.eval()
        for part in ids.split(self.chunk):
            yield self.tower(part.to(self.tower.device), self.tag_table[part].to(self.tower.device))

    def encode_all(self):
        ids = torch.arange(len(self.tag_table))
        return ids, torch.cat([v.cpu() for v in self._encode(ids)])

    def encode_missing(self, have):
        known = torch.zeros(len(self.tag_table), dtype=torch.bool)
        known[have] = True
        ids = torch.nonzero(~known).squeeze(1)
        if len(ids) == 0:
            return ids, None
        return ids, torch.cat(list(self._encode(ids))).cpu()
