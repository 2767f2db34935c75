import torch
import torch.nn.functional as F
from tqdm import tqdm

from .utils import AverageMeter


class Trainer:
    def __init__(self, model, normalizer, args):
        self.args = args
        self.device = args.device
        self.model = model.to(self.device)
        self.normalizer = normalizer
        self.opt = torch.optim.Adam(self.model.parameters(), lr=args.lr)

    def fit(self, train_loader, val_loader):
        for epoch in range(self.args.epochs):
            loss = self.train_epoch(train_loader)
            val = self.evaluate(val_loader)
            print(f"[{epoch}] train loss {loss:.4f} | val MAE {val.mean().item():.4f}")

    def train_epoch(self, loader):
        self.model.train()
        meter = AverageMeter()
        for data in tqdm(loader, leave=False, disable=None):
            data = data.to(self.device)
            target = self.normalizer.norm(data.y)
            loss = F.smooth_l1_loss(self.model(data), target)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            meter.update(loss.item(), data.num_graphs)
        return meter.avg

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        errors = []
        for data in loader:
            data = data.to(self.device)
            pred = self.normalizer.denorm(self.model(data))
            errors.append((pred - data.y).abs().cpu())
        return torch.cat(errors).mean(dim=0)
