import argparse
import logging
import os
import tempfile

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from data import RandomMolecules, collate_graphs, fit_atomref
from models import build_model
from utils.metrics import MAEMeter
from utils.train_utils import prepare, save_checkpoint, seed_everything

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("qm")


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--hidden", type=int, default=32)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--cutoff", type=float, default=5.0)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=7)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return p.parse_args()


def run_epoch(model, loader, device, optimizer=None):
    model.train(optimizer is not None)
    meter, total = MAEMeter(), 0.0
    with torch.set_grad_enabled(optimizer is not None):
        for batch in loader:
            batch = prepare(batch, device)
            pred = model(batch)
            loss = F.smooth_l1_loss(pred, batch["energy"])
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
                optimizer.step()
            total += loss.item() * batch["num_graphs"]
            meter.update(pred, batch)
    return total / len(loader.dataset), meter.compute()


def main():
    args = parse_args()
    seed_everything(args.seed)
    device = torch.device(args.device)

    train_set = RandomMolecules(64, args.cutoff, seed=args.seed)
    val_set = RandomMolecules(24, args.cutoff, seed=args.seed + 1)
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True, collate_fn=collate_graphs)
    val_loader = DataLoader(val_set, args.batch_size, collate_fn=collate_graphs)

    model = build_model(vars(args)).to(device)
    model.set_reference(*fit_atomref(train_set))
    log.info("%d parameters on %s", sum(p.numel() for p in model.parameters()), device)

    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2)
    best = float("inf")
    with tempfile.TemporaryDirectory() as workdir:
        path = os.path.join(workdir, "best.pt")
        for epoch in range(args.epochs):
            loss, _ = run_epoch(model, train_loader, device, optimizer)
            val_loss, metrics = run_epoch(model, val_loader, device)
            sched.step(val_loss)
            log.info("epoch %d train %.4f val %.4f mae %.4f", epoch, loss, val_loss, metrics["mae"])
            if val_loss < best:
                best = val_loss
                save_checkpoint(path, model, optimizer, epoch)

        ckpt = torch.load(path, map_location=device)
        model.load_state_dict(ckpt["model"])
        _, metrics = run_epoch(model, val_loader, device)
        log.info("best epoch %d: %s", ckpt["epoch"], metrics)


if __name__ == "__main__":
    main()
