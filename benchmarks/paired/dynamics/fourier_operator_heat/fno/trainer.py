import torch
from torch.utils.data import DataLoader

from .normalizer import UnitGaussianNormalizer
from .registry import CALLBACKS, DATASETS, NETS


def relative_l2(pred, target):
    diff = (pred - target).flatten(1).norm(dim=1)
    return (diff / target.flatten(1).norm(dim=1)).mean()


class Trainer:
    def __init__(self, cfg, out_dir):
        self.cfg = cfg
        self.device = self.resolve_device(cfg.get("device", "auto"))
        train_set, test_set = DATASETS.build(cfg["data"])
        self.train_loader = DataLoader(train_set, batch_size=cfg["batch_size"], shuffle=True)
        self.test_loader = DataLoader(test_set, batch_size=cfg["batch_size"])

        x, y = train_set.tensors
        self.x_norm = UnitGaussianNormalizer(x).to(self.device)
        self.y_norm = UnitGaussianNormalizer(y).to(self.device)

        self.net = NETS.build(cfg["net"]).to(self.device)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=cfg["lr"])
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=10, gamma=0.5)
        self.callbacks = [CALLBACKS.build(c, out_dir=out_dir) for c in cfg.get("callbacks", [])]

    @staticmethod
    def resolve_device(name):
        if name == "auto":
            name = "cuda" if torch.cuda.is_available() else "cpu"
        return torch.device(name)

    def step(self, x, y):
        x, y = x.to(self.device), y.to(self.device)
        pred = self.y_norm.decode(self.net(self.x_norm.encode(x)))
        return relative_l2(pred, y)

    def fit(self):
        for epoch in range(1, self.cfg["epochs"] + 1):
            self.net.train()
            train = 0.0
            for x, y in self.train_loader:
                self.optimizer.zero_grad()
                loss = self.step(x, y)
                loss.backward()
                self.optimizer.step()
                train += loss.item()
            self.scheduler.step()

            self.net.eval()
            with torch.no_grad():
                test = sum(self.step(x, y).item() for x, y in self.test_loader)
            logs = {"train": train / len(self.train_loader), "test": test / len(self.test_loader)}
            print(f"epoch {epoch}: " + " ".join(f"{k} {v:.4f}" for k, v in logs.items()))
            for cb in self.callbacks:
                cb.on_epoch_end(self, epoch, logs)
        for cb in self.callbacks:
            cb.on_fit_end(self)
