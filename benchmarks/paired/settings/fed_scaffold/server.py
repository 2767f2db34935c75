import logging
import os

import numpy as np
import torch
from torch.utils.data import DataLoader

import statedict_ops as sd

log = logging.getLogger("scaffold")


class Server:
    def __init__(self, model, clients, testset, cfg, device):
        self.device = device
        self.model = model.to(device)
        self.clients = clients
        self.cfg = cfg
        self.test_loader = DataLoader(testset, batch_size=64)
        self.params = sd.detach_clone(dict(self.model.named_parameters()))
        self.c_global = sd.zeros_like(self.params)
        self.rng = np.random.RandomState(cfg.seed)
        self.history = []

    def sample_clients(self):
        k = max(1, int(round(self.cfg.participation * len(self.clients))))
        ids = self.rng.choice(len(self.clients), size=k, replace=False)
        return [self.clients[i] for i in ids]

    def run_round(self, rnd):
        picked = self.sample_clients()
        total = sum(len(c) for c in picked)
        agg_w = sd.zeros_like(self.params)
        agg_c = sd.zeros_like(self.params)
        losses = []
        for client in picked:
            dw, dc, stats = client.fit(self.model, self.params, self.c_global, self.device)
            sd.add_(agg_w, dw, alpha=stats["n"] / total)
            sd.add_(agg_c, dc, alpha=1.0 / len(picked))
            losses.append(stats["loss"])
        sd.add_(self.params, agg_w, alpha=self.cfg.server_lr)
        sd.add_(self.c_global, agg_c, alpha=len(picked) / len(self.clients))
        acc = self.evaluate()
        self.history.append({"round": rnd, "loss": float(np.mean(losses)), "acc": acc})
        log.info("round %d  clients %s  loss %.3f  acc %.3f  |c| %.3f", rnd,
                 [c.cid for c in picked], np.mean(losses), acc, sd.norm(self.c_global))

    @torch.no_grad()
    def evaluate(self):
        for k, p in self.model.named_parameters():
            p.copy_(self.params[k])
        self.model.eval()
        hits, n = 0, 0
        for x, y in self.test_loader:
            pred = self.model(x.to(self.device)).argmax(1).cpu()
            hits += (pred == y).sum().item()
            n += len(y)
        return hits / n

    def save(self, folder):
        path = os.path.join(folder, "server.pt")
        torch.save({"params": sd.to(self.params, "cpu"), "c": sd.to(self.c_global, "cpu"),
                    "history": self.history}, path)
        return path

    def restore(self, path):
        blob = torch.load(path, map_location=self.device)
        self.params, self.c_global = blob["params"], blob["c"]
        self.history = blob["history"]
