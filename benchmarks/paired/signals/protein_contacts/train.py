import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from folds import make_chains
from gnn import FoldNet
from records import Collate
from transfer import transfer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--chains", type=int, default=96)
    parser.add_argument("--radii", type=float, nargs="+", default=[6.0, 10.0])
    args = parser.parse_args()

    torch.manual_seed(3)
    device = torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")
    g = torch.Generator().manual_seed(5)
    collate = Collate(args.radii)
    train = DataLoader(make_chains(args.chains, g), 16, shuffle=True, collate_fn=collate)
    test = DataLoader(make_chains(args.chains // 4, g), 16, collate_fn=collate)

    model = FoldNet(args.radii).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(args.epochs):
        for batch in train:
            batch = transfer(batch, device)
            loss = F.cross_entropy(model(batch), batch.target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        wrong = []
        with torch.no_grad():
            for host in test:
                guess = model(transfer(host, device)).argmax(1).cpu()
                wrong += [n for n, ok in zip(host.names, guess == host.target) if not ok]
        print(f"epoch {epoch}: loss {loss.item():.4f}, {len(wrong)} wrong: {wrong[:4]}")


if __name__ == "__main__":
    main()
