import torch
import torch.nn.functional as F
from ignite.engine import Engine
from ignite.metrics import Average, Metric
from ignite.utils import convert_tensor


class KNNAccuracy(Metric):
    """1-NN accuracy between all embeddings of the epoch (leave one out)."""

    def reset(self):
        self._emb, self._lab = [], []

    def update(self, output):
        emb, lab = output
        self._emb.append(F.normalize(emb.detach()).to(self._device))
        self._lab.append(lab.to(self._device))

    def compute(self):
        e, y = torch.cat(self._emb), torch.cat(self._lab)
        sim = e @ e.t()
        sim.fill_diagonal_(-2)
        return (y[sim.argmax(1)] == y).float().mean().item()


def create_trainer(net, criterion, optimizer, device, clip):
    params = [p for g in optimizer.param_groups for p in g["params"]]

    def update(engine, batch):
        net.train()
        x, y = (convert_tensor(t, device=device, non_blocking=True) for t in batch)
        loss = criterion(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params, clip)
        optimizer.step()
        return {"loss": loss.item()}

    trainer = Engine(update)
    Average(output_transform=lambda o: o["loss"]).attach(trainer, "loss")
    return trainer


def create_embedding_evaluator(net, device):
    @torch.no_grad()
    def step(engine, batch):
        net.eval()
        x, y = (convert_tensor(t, device=device) for t in batch)
        return net(x), y

    evaluator = Engine(step)
    KNNAccuracy(device=device).attach(evaluator, "knn")
    return evaluator
