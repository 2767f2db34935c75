import itertools

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from fl.tree import snapshot, tree_map, tree_norm, tree_to, zeros_for

CLIENTS = {}


def register(name):
    def deco(cls):
        CLIENTS[name] = cls
        return cls
    return deco


@register("fedavg")
class FedAvgClient:
    def __init__(self, name, dataset, worker, device, args):
        self.name = name
        self.dataset = dataset
        self.worker = worker
        self.device = device
        self.steps = args.local_steps
        self.lr = args.lr
        self.loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=True, drop_last=True)
        self.rounds_seen = 0
        self._last_delta = None

    # hooks -----------------------------------------------------------------
    def on_round_start(self, message):
        pass

    def adjust_gradients(self):
        pass

    def on_round_end(self, start):
        return {}

    # ------------------------------------------------------------------------
    def run(self, message):
        self.worker.load_state_dict(message["weights"])
        self.worker.train()
        start = snapshot(self.worker)
        optimizer = torch.optim.SGD(self.worker.parameters(), lr=self.lr)
        self.on_round_start(message)

        total = 0.0
        for x, y in itertools.islice(itertools.cycle(self.loader), self.steps):
            x, y = x.to(self.device), y.to(self.device)
            loss = F.cross_entropy(self.worker(x), y)
            optimizer.zero_grad()
            loss.backward()
            self.adjust_gradients()
            optimizer.step()
            total += loss.item()

        reply = self.on_round_end(start)
        delta = tree_map(lambda a, b: a - b, snapshot(self.worker), start)
        self._last_delta = tree_to(delta, "cpu")
        self.rounds_seen += 1
        reply.update(delta=self._last_delta, n=len(self.dataset), loss=total / self.steps)
        return reply

    def drift(self):
        return tree_norm(self._last_delta)


@register("scaffold")
class ScaffoldClient(FedAvgClient):
    """Karimireddy et al. 2020, option II for the control variates."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.control = None
        self._c_local = self._c_global = None

    def on_round_start(self, message):
        if self.control is None:
            self.control = zeros_for(self.worker)
        self._c_local = tree_to(self.control, self.device)
        self._c_global = tree_to(message["control"], self.device)

    def adjust_gradients(self):
        for name, p in self.worker.named_parameters():
            p.grad.add_(self._c_global[name] - self._c_local[name])

    def on_round_end(self, start):
        params = {k: p.detach() for k, p in self.worker.named_parameters()}
        scale = 1.0 / (self.steps * self.lr)
        new = tree_map(lambda ci, c, x, y: ci - c + scale * (x - y),
                       self._c_local, self._c_global, {k: start[k] for k in params}, params)
        change = tree_map(lambda a, b: a - b, new, self._c_local)
        # with many hospitals the variates do not fit on the card, keep them in host memory
        self.control = tree_to(new, "cpu")
        self._c_local = self._c_global = None
        return {"control_delta": tree_to(change, "cpu")}
