import argparse
import copy
import tempfile

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

from quant import calibrate, prepare


def toy_data(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (n,), generator=g)
    x = 0.5 * torch.randn(n, 1, 8, 8, generator=g)
    for i, c in enumerate(y.tolist()):
        x[i, 0, (c // 2) * 4:(c // 2) * 4 + 4, (c % 2) * 4:(c % 2) * 4 + 4] += 1.0
    return TensorDataset(x, y)


def build():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        nn.Linear(64, 4),
    )


def evaluate(model, loader):
    device = next(model.parameters()).device
    preds, labels = [], []
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            preds.append(model(x.to(device)).argmax(1).cpu())
            labels.append(y)
    return (torch.cat(preds) == torch.cat(labels)).float().mean().item()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--observer", default="entropy", choices=["minmax", "entropy"])
    ap.add_argument("--bits", type=int, nargs="+", default=[8, 4])
    ap.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = ap.parse_args()

    torch.manual_seed(0)
    train = DataLoader(toy_data(128, 0), batch_size=32, shuffle=True)
    test = DataLoader(toy_data(64, 1), batch_size=32)
    model = build().to(args.device)
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(args.epochs):
        model.train()
        for x, y in train:
            loss = nn.functional.cross_entropy(model(x.to(args.device)), y.to(args.device))
            opt.zero_grad()
            loss.backward()
            opt.step()
    print("float  acc %.3f" % evaluate(model, test))

    # keep the float master on the host while its quantised copies use the device
    master = model.cpu()
    for bits in args.bits:
        q = prepare(copy.deepcopy(master), args.observer, bits, skip=("0",)).to(args.device)
        calibrate(q, train)
        print("int%-2d   acc %.3f" % (bits, evaluate(q, test)))
        q.cpu()
        print("on cpu acc %.3f" % evaluate(q, test))
        torch.save(q.state_dict(), tempfile.mktemp(suffix=f"_int{bits}.pt"))
