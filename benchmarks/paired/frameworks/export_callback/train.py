import argparse

import torch
import torch.nn.functional as F

from callbacks import ExportBest, Plateau, Progress
from nets import WaveNetLite, waves


class Loop:
    def __init__(self, model, train, val, device, batch=32, lr=5e-3):
        self.device = device
        self.model = model.to(device)
        self.train_x, self.train_y = (t.to(device) for t in train)
        self.val = val
        self.batch = batch
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def train_epoch(self):
        self.model.train()
        order = torch.randperm(len(self.train_x))
        total = 0.0
        for pick in order.split(self.batch):
            loss = F.cross_entropy(self.model(self.train_x[pick]), self.train_y[pick])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(pick)
        return {"loss": total / len(order)}

    @torch.no_grad()
    def evaluate(self, model=None):
        model = self.model if model is None else model
        device = next(model.parameters()).device
        model.eval()
        x, y = self.val
        right = 0
        for xs, ys in zip(x.split(self.batch), y.split(self.batch)):
            right += (model(xs.to(device)).argmax(1).cpu() == ys).sum().item()
        return {"val_acc": right / len(y)}

    def fit(self, epochs, callbacks):
        for epoch in range(epochs):
            logs = self.train_epoch() | self.evaluate()
            for cb in callbacks:
                cb.on_epoch_end(self, epoch, logs)
        for cb in callbacks:
            cb.on_train_end(self)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--classes", type=int, default=4)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    val = waves(96, args.classes, 2)
    loop = Loop(WaveNetLite(args.classes), waves(320, args.classes, 1), val, device)
    loop.fit(args.epochs, [Plateau(), ExportBest(val[0][:8]), Progress()])


if __name__ == "__main__":
    main()
