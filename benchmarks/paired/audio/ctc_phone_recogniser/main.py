#!/usr/bin/env python
import argparse
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

from asr.data import BucketSampler, PhoneCorpus, pad_collate
from asr.models.encoder import CTCEncoder
from asr.utils import AverageMeter, edit_distance, get_device, greedy_decode


def parse_args():
    p = argparse.ArgumentParser(description="Tiny CTC phone recogniser")
    p.add_argument("--epochs", default=2, type=int)
    p.add_argument("--hidden", default=24, type=int)
    p.add_argument("--batch-size", default=8, type=int)
    p.add_argument("--lr", default=1e-2, type=float)
    p.add_argument("--cpu", action="store_true")
    return p.parse_args()


def make_loader(corpus, batch_size, shuffle, device):
    return DataLoader(corpus, batch_sampler=BucketSampler(corpus, batch_size, shuffle),
                      collate_fn=pad_collate, pin_memory=device.type == "cuda")


def run_epoch(model, loader, criterion, device, optimizer=None):
    meter, errors, total = AverageMeter(), 0, 0
    model.train(optimizer is not None)
    for batch in loader:
        batch = batch.to(device, non_blocking=True)
        with torch.set_grad_enabled(optimizer is not None):
            log_probs, lens = model(batch.feats, batch.feat_lens)
            loss = criterion(log_probs.transpose(0, 1), batch.labels, lens, batch.label_lens)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
        else:
            refs = [y[:n].tolist() for y, n in zip(batch.labels, batch.label_lens)]
            for ref, hyp in zip(refs, greedy_decode(log_probs, lens)):
                errors += edit_distance(ref, hyp)
                total += len(ref)
        meter.update(loss.item(), len(batch.feats))
    return meter.avg, errors / max(total, 1)


def main():
    args = parse_args()
    random.seed(0)
    torch.manual_seed(0)
    device = get_device(not args.cpu)
    train_set, dev_set = PhoneCorpus(48, seed=1), PhoneCorpus(12, seed=2)
    train_loader = make_loader(train_set, args.batch_size, True, device)
    dev_loader = make_loader(dev_set, args.batch_size, False, device)

    model = CTCEncoder(n_feats=10, hidden=args.hidden, n_tokens=9).to(device)
    criterion = nn.CTCLoss(blank=0, zero_infinity=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        train_loss, _ = run_epoch(model, train_loader, criterion, device, optimizer)
        dev_loss, per = run_epoch(model, dev_loader, criterion, device)
        print(f"epoch {epoch}: train {train_loss:.3f} dev {dev_loss:.3f} PER {100 * per:.1f}%")


if __name__ == "__main__":
    main()
