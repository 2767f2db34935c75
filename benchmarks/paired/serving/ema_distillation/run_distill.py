import argparse
import os
import tempfile

import torch
from torch.utils.data import DataLoader

from distill.data import pad_batch, splits
from distill.ema import WeightAverage
from distill.loop import KDLoss, macro_f1, run_epoch, supervised
from distill.nets import STUDENT, TEACHER, TinyEncoder


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--teacher-epochs", type=int, default=2)
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--batch-size", type=int, default=8)
    ap.add_argument("--accumulate", type=int, default=2)
    ap.add_argument("--ema-decay", type=float, default=0.95)
    ap.add_argument("--no-cuda", action="store_true")
    args = ap.parse_args()
    device = "cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu"
    torch.manual_seed(0)

    full, train, val = splits()
    loaders = {
        "train": DataLoader(train, args.batch_size, shuffle=True, collate_fn=pad_batch),
        "val": DataLoader(val, args.batch_size, collate_fn=pad_batch),
    }
    teacher = TinyEncoder(full.vocab, n_classes=full.n_classes, **TEACHER).to(device)
    opt = torch.optim.Adam(teacher.parameters(), lr=3e-3)
    for _ in range(args.teacher_epochs):
        loss = run_epoch(teacher, loaders["train"], supervised, opt, device)
    print(f"teacher loss {loss:.3f} f1 {macro_f1(teacher, loaders['val'], device):.3f}")

    student = TinyEncoder(full.vocab, n_classes=full.n_classes, **STUDENT).to(device)
    average = WeightAverage(student, args.ema_decay)
    opt = torch.optim.Adam(student.parameters(), lr=5e-3)
    criterion = KDLoss(teacher)
    with tempfile.TemporaryDirectory() as out:
        for epoch in range(args.epochs):
            loss = run_epoch(student, loaders["train"], criterion, opt, device, args.accumulate, average.update)
            raw = macro_f1(student, loaders["val"], device)
            with average.applied_to(student):
                smoothed = macro_f1(student, loaders["val"], device)
            print(f"epoch {epoch} loss {loss:.3f} f1 {raw:.3f} f1(ema) {smoothed:.3f}")
            torch.save(average.state_dict(), os.path.join(out, f"ema_{epoch}.pt"))


if __name__ == "__main__":
    main()
