import argparse
import contextlib
import logging

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from memtrain import DeepStack, GradAccumulator, OffloadActivations
from series import EnergySeries


def build_parser():
    p = argparse.ArgumentParser(description="Train a deep stack with little device memory")
    g = p.add_argument_group("memory")
    g.add_argument("--offload", dest="offload", action="store_true", default=True)
    g.add_argument("--no-offload", dest="offload", action="store_false")
    g.add_argument("--offload-half", action="store_true")
    g.add_argument("--recompute", type=int, default=1)
    g.add_argument("--accum", type=int, default=3)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--micro-batch", type=int, default=12)
    p.add_argument("--depth", type=int, default=4)
    p.add_argument("--dim", type=int, default=24)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--amp", action="store_true")
    return p


def main():
    args = build_parser().parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(2)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    data = EnergySeries()
    loader = DataLoader(data, batch_size=args.micro_batch, shuffle=True)
    model = DeepStack(8, 6, args.dim, args.depth, args.recompute).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    scaler = torch.amp.GradScaler(device.type, enabled=args.amp and device.type == "cuda")
    accumulator = GradAccumulator(model, optimizer, scaler, args.accum)

    for epoch in range(args.epochs):
        model.train()
        store = OffloadActivations(half=args.offload_half) if args.offload else contextlib.nullcontext()
        running = 0.0
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            with store, torch.autocast(device.type, dtype=torch.bfloat16, enabled=args.amp):
                pred = model(x)
                loss = F.smooth_l1_loss(pred.float(), y)
            accumulator.backward(loss)
            running += loss.item()
        accumulator.flush()

        model.eval()
        with torch.inference_mode():
            preds = torch.cat([model(x.to(device)).cpu() for x, _ in DataLoader(data, batch_size=32)])
        err = (data.denormalise(preds) - data.denormalise(data.y)).abs().mean()
        logging.info("epoch %d loss %.4f abs error %.4f updates %d clip %.3f",
                     epoch, running / len(loader), err, accumulator.updates, accumulator.bound())
        if args.offload:
            logging.info("offloaded %.1f kB, kept %d tensors", store.moved_bytes / 1024, store.kept)


if __name__ == "__main__":
    main()
