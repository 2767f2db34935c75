import argparse

import torch

from checkpoint import CheckpointMixin
from lars import LARS
from nets import TriModal, pairwise_nce, synthetic


class Run(CheckpointMixin):
    _checkpointed = ("model", "step", "history")

    def __init__(self, device, lr, seed=0):
        torch.manual_seed(seed)
        self.device = device
        self.model = TriModal().to(device)
        self.optimizer = LARS(self.model.parameters(), lr=lr)
        self.data_rng = torch.Generator().manual_seed(seed)
        self.weights = {("image", "text"): 2.0}
        self.step = 0
        self.history = []

    def extra_state(self):
        return {"momentum": self.optimizer.export_momentum(), "rng": self.data_rng.get_state()}

    def load_extra_state(self, payload):
        self.optimizer.import_momentum(payload["momentum"])
        self.data_rng.set_state(payload["rng"])

    def next_batch(self, size):
        return {k: v.to(self.device) for k, v in synthetic(size, self.data_rng).items()}

    def advance(self, steps, batch_size):
        self.model.train()
        for _ in range(steps):
            z = self.model(self.next_batch(batch_size))
            loss = pairwise_nce(z, self.model.log_scale, self.weights)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step += 1
            self.history.append(loss.item())

    @torch.no_grad()
    def recall_at_1(self, n=64):
        self.model.eval()
        z = {k: v.cpu() for k, v in self.model(self.next_batch(n)).items()}
        truth = torch.arange(n)
        hits = {}
        for query, gallery in (("text", "image"), ("audio", "image"), ("audio", "text")):
            best = (z[query] @ z[gallery].t()).argmax(dim=1)
            hits[f"{query}->{gallery}"] = round((best == truth).float().mean().item(), 3)
        return hits


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=48)
    parser.add_argument("--lr", type=float, default=0.3)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    run = Run(device, args.lr)
    run.advance(args.steps, args.batch_size)
    print(f"first half: step {run.step}, loss {run.history[0]:.3f} -> {run.history[-1]:.3f}")
    blob = run.dump()
    print("checkpoint of", len(blob) // 1024, "KiB")

    resumed = Run(device, args.lr, seed=1)
    resumed.restore(blob)
    resumed.advance(args.steps, args.batch_size)
    print(f"second half: step {resumed.step}, loss {resumed.history[-1]:.3f}")
    print(resumed.recall_at_1())


if __name__ == "__main__":
    main()
