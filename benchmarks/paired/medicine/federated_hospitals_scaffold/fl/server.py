import random

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from fl.tree import snapshot, zeros_for


class Server:
    """Holds the global weights in host memory and never touches an accelerator."""

    def __init__(self, model, clients, args):
        self.model = model
        self.clients = clients
        self.n_pick = max(1, round(args.fraction * len(clients)))
        self.control = zeros_for(model)

    def round(self):
        picked = random.sample(self.clients, self.n_pick)
        message = {"weights": snapshot(self.model), "control": self.control}
        replies = [c.run(message) for c in picked]
        self._merge(replies)
        return {
            "loss": float(np.mean([r["loss"] for r in replies])),
            "spread": float(np.std([r["loss"] for r in replies])),
        }

    @torch.no_grad()
    def _merge(self, replies):
        n = sum(r["n"] for r in replies)
        state = self.model.state_dict()
        for key, value in state.items():
            mean = sum(r["delta"][key].double() * (r["n"] / n) for r in replies)
            value.copy_((value.double() + mean).to(value.dtype))
        for key, value in self.control.items():
            for r in replies:
                if "control_delta" in r:
                    value.add_(r["control_delta"][key], alpha=1.0 / len(self.clients))

    @torch.no_grad()
    def evaluate(self, x, y):
        self.model.eval()
        p = self.model(x).softmax(1)
        return {"acc": (p.argmax(1) == y).float().mean().item(), "auc": roc_auc_score(y.numpy(), p[:, 1].numpy())}
