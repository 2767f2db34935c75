import argparse
import io

import torch
import torch.nn.functional as F

from config import MetaConfig
from metalearn.evaluation import evaluate
from metalearn.learner import MetaSGD, SineNet
from metalearn.tasks import make_loaders, to_device


def meta_step(learner, batch, cfg):
    sx, sy = batch["support"]
    qx, qy = batch["query"]
    total = 0.0
    for i in range(sx.size(0)):
        fast = learner.adapt(sx[i], sy[i], F.mse_loss, cfg.inner_steps)
        total = total + F.mse_loss(learner.predict(fast, qx[i]), qy[i])
    return total / sx.size(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--inner-steps", type=int, default=1)
    args = parser.parse_args()
    cfg = MetaConfig(epochs=args.epochs, inner_steps=args.inner_steps)
    torch.manual_seed(0)

    train_loader, val_loader = make_loaders(cfg.shots, cfg.queries, cfg.meta_batch)
    learner = MetaSGD(SineNet(cfg.width), cfg.inner_lr).to(cfg.device)
    optimizer = torch.optim.Adam(learner.meta_parameters(), lr=cfg.meta_lr)

    for epoch in range(cfg.epochs):
        running = 0.0
        for batch in train_loader:
            loss = meta_step(learner, to_device(batch, cfg.device), cfg)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        per_amp = evaluate(learner, val_loader, F.mse_loss, cfg.device, cfg.inner_steps + 1)
        table = "  ".join(f"A={k}: {v:.2f}" for k, v in per_amp.items())
        print(f"epoch {epoch}: meta-loss {running / len(train_loader):.3f} | {table}")

    blob = io.BytesIO()
    torch.save({"learner": learner.state_dict(), "optimizer": optimizer.state_dict()}, blob)
    print(f"checkpoint: {blob.tell() / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
