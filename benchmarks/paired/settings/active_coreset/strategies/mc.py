import torch

from .base import Strategy


def entropy(p, dim=-1):
    return -(p * (p + 1e-12).log()).sum(dim)


class BALD(Strategy, name="bald"):
    @torch.no_grad()
    def query(self, model, k):
        idx = self.pool.unlabelled_idx
        model.eval()
        for m in model.modules():
            if isinstance(m, torch.nn.Dropout):
                m.train()
        samples = []
        for _ in range(self.cfg.mc_samples):
            probs = [model(x.to(self.cfg.device)).softmax(-1) for x, _ in self.pool.loader(idx, self.cfg.batch_size)]
            samples.append(torch.cat(probs))
        p = torch.stack(samples)
        score = entropy(p.mean(0)) - entropy(p).mean(0)
        return idx[score.topk(k).indices.cpu().numpy()]
