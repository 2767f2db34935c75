import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from data import ANSWERS, SyntheticVQA, collate
from model import BottomUpVQA


def run_epoch(model, loader, device, optimizer=None):
    model.train(optimizer is not None)
    loss_sum, score, seen = 0.0, 0.0, 0
    for batch in loader:
        batch = batch.to(device)
        with torch.set_grad_enabled(optimizer is not None):
            logits, _ = model(batch)
            loss = F.binary_cross_entropy_with_logits(logits, batch.target)
        if optimizer is not None:
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
        loss_sum += loss.item() * len(batch)
        score += batch.target.gather(1, logits.argmax(1, keepdim=True)).sum().item()
        seen += len(batch)
    return loss_sum / seen, score / seen


@torch.no_grad()
def show_predictions(model, batch, device, limit=3):
    logits, weights = model(batch.to(device))
    weights = weights.cpu()
    for i in range(min(limit, len(batch))):
        focus = weights[i, : len(batch.regions[i])]
        print(batch.ids[i], ANSWERS[int(logits[i].argmax())], "region", int(focus.argmax()))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=3e-3)
    args = p.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train = DataLoader(SyntheticVQA(160), args.batch_size, shuffle=True, collate_fn=collate)
    val = DataLoader(SyntheticVQA(48, seed=7), args.batch_size, collate_fn=collate)
    model = BottomUpVQA(n_answers=len(ANSWERS)).to(device)
    optimizer = torch.optim.Adamax(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        tr_loss, tr_acc = run_epoch(model, train, device, optimizer)
        va_loss, va_acc = run_epoch(model, val, device)
        print(f"[{epoch}] train {tr_loss:.4f}/{tr_acc:.3f} val {va_loss:.4f}/{va_acc:.3f}")
    show_predictions(model, next(iter(val)), device)


if __name__ == "__main__":
    main()
