import argparse

import torch
from torch.utils.data import DataLoader

from latent_ode.dataset import Vitals, collate, to_device
from latent_ode.losses import elbo
from latent_ode.nets import LatentODE


def main():
    ap = argparse.ArgumentParser(description="Latent ODE for ICU vitals")
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--patients", type=int, default=48)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--beta", type=float, default=0.1)
    ap.add_argument("--cls-weight", type=float, default=1.0)
    ap.add_argument("--seed", type=int, default=0)
    a = ap.parse_args()

    torch.manual_seed(a.seed)
    device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")

    train = DataLoader(Vitals(a.patients, seed=1), a.batch, shuffle=True, collate_fn=collate)
    valid = DataLoader(Vitals(a.patients // 3, seed=2), a.batch, collate_fn=collate)
    model = LatentODE(dims=2).to(device)
    optimizer = torch.optim.Adamax(model.parameters(), lr=a.lr)

    for epoch in range(a.epochs):
        model.train()
        for batch in train:
            batch = to_device(batch, device)
            loss, parts = elbo(model(batch), batch, a.beta, a.cls_weight)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
        model.eval()
        total, hits, n = 0.0, 0, 0
        with torch.no_grad():
            for batch in valid:
                batch = to_device(batch, device)
                out = model(batch)
                total += elbo(out, batch, a.beta, a.cls_weight)[0].item() * len(batch.outcome)
                hits += ((out[1] > 0).float() == batch.outcome).sum().item()
                n += len(batch.outcome)
        print(f"epoch {epoch} train {parts} valid loss {total / n:.3f} acc {hits / n:.3f}")


if __name__ == "__main__":
    main()
