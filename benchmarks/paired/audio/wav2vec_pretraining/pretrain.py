import argparse
import math

import torch
from torch.utils.data import DataLoader, TensorDataset, default_collate

from engine.base import BaseEngine, CheckpointMixin
from engine.contrastive import ContrastiveLoss, NegativeSampler
from engine.masking import SpanMasker
from models import Wav2Vec


class PretrainEngine(CheckpointMixin, BaseEngine):
    def __init__(self, model, optimizer, device, loss_fn, masker, anneal=0.97):
        super().__init__(model, optimizer, device)
        self.loss_fn, self.masker, self.anneal = loss_fn, masker, anneal
        self.snapshot()
        self.best = math.inf

    def training_step(self, wav):
        loss, acc = self.loss_fn(self.model(wav, self.masker))
        return loss, {"acc": acc.item()}

    def on_step_end(self, metrics):
        quantizer = self.model.quantizer
        quantizer.temperature = max(0.5, quantizer.temperature * self.anneal)
        used = (quantizer.usage > 0).sum(1).tolist()
        print(f"step {self.step} loss {metrics['loss']:.3f} acc {metrics['acc']:.2f} codes {used}")
        if metrics["loss"] < self.best:
            self.best = metrics["loss"]
            self.snapshot()
        elif metrics["loss"] > 1.05 * self.best:
            self.rollback()


def synthetic_speech(n, length, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(length) / length
    f0 = 5 + 20 * torch.rand(n, 1, generator=g)
    vibrato = 1 + 0.2 * torch.sin(2 * math.pi * 3 * t)
    carrier = torch.sin(2 * math.pi * f0 * t * vibrato)
    return carrier + 0.05 * torch.randn(n, length, generator=g)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=6)
    p.add_argument("--negatives", type=int, default=5)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = p.parse_args()
    torch.manual_seed(11)

    loader = DataLoader(TensorDataset(synthetic_speech(32, 800, 0)), batch_size=8, shuffle=True,
                        generator=torch.Generator().manual_seed(5),
                        collate_fn=lambda rows: default_collate([r[0] for r in rows]))
    model = Wav2Vec().to(args.device)
    engine = PretrainEngine(model, torch.optim.AdamW(model.parameters(), lr=2e-3), args.device,
                            ContrastiveLoss(NegativeSampler(args.negatives, seed=1)),
                            SpanMasker(seed=2))
    engine.fit(loader, args.steps)
    engine.rollback()

    model.eval()
    with torch.no_grad():
        out = model(synthetic_speech(2, 800, 9).to(args.device))
    print("targets", tuple(out["targets"].shape), "perplexity %.2f" % out["perplexity"])


if __name__ == "__main__":
    main()
