import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from batch import collate
from dataset import SyntheticAds
from metrics import normalized_entropy, roc_auc
from model import DLRM


def parse():
    p = argparse.ArgumentParser(description="train a small DLRM")
    p.add_argument("--arch-embedding-size", default="40-30-20")
    p.add_argument("--num-dense", type=int, default=4)
    p.add_argument("--mini-batch-size", type=int, default=64)
    p.add_argument("--nepochs", type=int, default=2)
    p.add_argument("--learning-rate", type=float, default=0.05)
    p.add_argument("--use-gpu", action="store_true")
    return p.parse_args()


def evaluate(model, loader, device):
    model.eval()
    labels, probs = [], []
    with torch.inference_mode():
        for batch in loader:
            b = batch.to(device)
            probs += torch.sigmoid(model(b.dense, b.indices, b.offsets)).tolist()
            labels += batch.labels.tolist()
    return roc_auc(labels, probs), normalized_entropy(labels, probs)


def main():
    args = parse()
    torch.manual_seed(727)
    use_gpu = args.use_gpu and torch.cuda.is_available()
    device = torch.device("cuda", 0) if use_gpu else torch.device("cpu")
    tables = [int(x) for x in args.arch_embedding_size.split("-")]

    loaders = [
        DataLoader(SyntheticAds(n, args.num_dense, tables), batch_size=args.mini_batch_size, shuffle=shuffle,
                   collate_fn=collate, pin_memory=use_gpu)
        for n, shuffle in ((512, True), (128, False))
    ]
    model = DLRM(tables, args.num_dense).to(device)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=args.learning_rate)

    for epoch in range(args.nepochs):
        model.train()
        for it, batch in enumerate(loaders[0]):
            batch = batch.to(device, non_blocking=True)
            logits = model(batch.dense, batch.indices, batch.offsets)
            loss = F.binary_cross_entropy_with_logits(logits, batch.labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if it % 4 == 0:
                print("epoch %d it %d loss %.5f" % (epoch, it, loss.item()))
        print("auc %.4f ne %.4f" % evaluate(model, loaders[1], device))


if __name__ == "__main__":
    main()
