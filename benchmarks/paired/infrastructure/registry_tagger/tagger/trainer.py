import torch
from torch.utils.data import DataLoader, TensorDataset

from tagger import hooks, losses, models  # noqa: F401  (registration)
from tagger.registry import HOOKS, LOSSES, MODELS


def pick_device(name):
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def make_set(n, features, tags, seed):
    g = torch.Generator().manual_seed(seed)
    proj = torch.randn(features, tags, generator=torch.Generator().manual_seed(0))
    x = torch.randn(n, features, generator=g)
    bias = torch.linspace(0.0, 5.0, tags)
    return TensorDataset(x, (x @ proj - bias > 0).float())


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.device = pick_device(cfg["device"])
        d = cfg["data"]
        self.train_loader = DataLoader(
            make_set(d["train_size"], d["num_features"], d["num_tags"], 1), d["batch_size"], shuffle=True)
        self.val_loader = DataLoader(
            make_set(d["val_size"], d["num_features"], d["num_tags"], 2), d["batch_size"])

        self.model = MODELS.build(cfg["model"], in_dim=d["num_features"], out_dim=d["num_tags"]).to(self.device)
        self.criterion = LOSSES.build(cfg["loss"]).to(self.device)
        opt = dict(cfg["optimizer"])
        self.optimizer = getattr(torch.optim, opt.pop("type"))(self.model.parameters(), **opt)
        self.hooks = [HOOKS.build(h) for h in cfg["trainer"]["hooks"]]
        self.step = self.epoch = 0

    def call(self, where):
        for h in self.hooks:
            getattr(h, where)(self)

    def train_epoch(self):
        self.model.train()
        for batch in self.train_loader:
            x, tags = (t.to(self.device) for t in batch)
            loss = self.criterion(self.model(x), tags)
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg["trainer"]["grad_clip"])
            self.optimizer.step()
            self.loss = loss.item()
            self.step += 1
            self.call("after_step")

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        tp = fp = fn = 0
        losses = []
        for batch in self.val_loader:
            x, tags = (t.to(self.device) for t in batch)
            logits = self.model(x)
            losses.append(self.criterion(logits, tags).item())
            pred, true = logits > 0, tags > 0.5
            tp += (pred & true).sum().item()
            fp += (pred & ~true).sum().item()
            fn += (~pred & true).sum().item()
        self.val_loss = sum(losses) / len(losses)
        self.f1 = 2 * tp / max(1, 2 * tp + fp + fn)

    def fit(self):
        for self.epoch in range(self.cfg["trainer"]["max_epochs"]):
            self.call("before_epoch")
            self.train_epoch()
            self.validate()
            self.call("after_epoch")
