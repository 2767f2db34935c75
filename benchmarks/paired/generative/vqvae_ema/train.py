import argparse
import logging
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader

from dataset import Gratings
from vqvae import VQVAE

log = logging.getLogger("vqvae")


def code_histogram(model, loader, device):
    """Usage of every code over a data set, as a NumPy array."""
    hist = np.zeros(model.quantizer.num_codes, dtype=np.int64)
    model.eval()
    with torch.no_grad():
        for x in loader:
            codes = model(x.to(device))["codes"]
            hist += np.bincount(codes.flatten().cpu().numpy(), minlength=len(hist))
    return hist


def main(args):
    torch.manual_seed(args.seed)
    device = torch.device(args.device)
    train_loader = DataLoader(Gratings(96), batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(Gratings(32, seed=1), batch_size=args.batch_size)

    model = VQVAE(num_codes=args.num_codes).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    ckpt = Path(tempfile.mkdtemp()) / "vqvae.pt"

    for epoch in range(args.epochs):
        model.train()
        for x in train_loader:
            x = x.to(device, non_blocking=True)
            out = model(x)
            optimizer.zero_grad(set_to_none=True)
            out["loss"].backward()
            optimizer.step()
        revived = model.quantizer.restart_dead(patience=2)
        hist = code_histogram(model, val_loader, device)
        log.info("epoch %d loss %.4f perplexity %.2f revived %d used %d/%d", epoch, out["loss"].item(),
                 out["perplexity"].item(), revived, int((hist > 0).sum()), len(hist))
        torch.save({k: v.cpu() for k, v in model.state_dict().items()}, ckpt)

    best = VQVAE(num_codes=args.num_codes)
    best.load_state_dict(torch.load(ckpt))
    x = next(iter(val_loader))
    err = (best.eval()(x)["recon"] - model.eval()(x.to(device))["recon"].cpu()).abs().max()
    log.info("reload difference %.2e", err.item())


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--num-codes", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    main(p.parse_args())
