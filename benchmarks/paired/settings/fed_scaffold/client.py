import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

import statedict_ops as sd


class Client:
    """One participant. Everything that has to survive between rounds sits in host
    memory, because there can be thousands of clients and only a few run at a time."""

    def __init__(self, cid, dataset, cfg):
        self.cid = cid
        self.dataset = dataset
        self.cfg = cfg
        self.c_local = None
        self.rounds_seen = 0

    def __len__(self):
        return len(self.dataset)

    def _loader(self):
        g = torch.Generator().manual_seed(self.cfg.seed + 31 * self.cid + self.rounds_seen)
        return DataLoader(self.dataset, batch_size=self.cfg.batch_size, shuffle=True, generator=g)

    def _control(self, params, device):
        if self.c_local is None:
            return sd.zeros_like(params)
        return sd.to(self.c_local, device)

    def fit(self, model, global_params, c_global, device):
        """Runs local SGD with SCAFFOLD correction and returns (delta_w, delta_c, stats)."""
        params = dict(model.named_parameters())
        with torch.no_grad():
            for k, p in params.items():
                p.copy_(global_params[k])
        c_local = self._control(params, device)
        opt = torch.optim.SGD(model.parameters(), lr=self.cfg.lr)

        model.train()
        steps, loss_sum = 0, 0.0
        for _ in range(self.cfg.local_epochs):
            for x, y in self._loader():
                x, y = x.to(device), y.to(device)
                opt.zero_grad()
                loss = F.cross_entropy(model(x), y)
                loss.backward()
                for k, p in params.items():
                    p.grad.add_(c_global[k] - c_local[k])
                opt.step()
                steps += 1
                loss_sum += loss.item()

        trained = sd.detach_clone(params)
        delta_w = sd.sub(trained, global_params)
        scale = 1.0 / (steps * self.cfg.lr)
        c_new = {k: c_local[k] - c_global[k] - scale * delta_w[k] for k in delta_w}
        delta_c = sd.sub(c_new, c_local)

        self.c_local = sd.to(c_new, "cpu")
        self.rounds_seen += 1
        return delta_w, delta_c, {"loss": loss_sum / steps, "n": len(self)}
