import os
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader

from bank import HardExampleSampler, LossBank
from dataset import XorBands
from options import Options


class HardExampleTrainer:
    def __init__(self, opt):
        self.opt = opt
        self.device = opt.device
        train_set = XorBands(192, seed=0)
        self.bank = LossBank(len(train_set), device=self.device)
        sampler = HardExampleSampler(self.bank, len(train_set), opt.temperature)
        self.train_loader = DataLoader(train_set, opt.batch, sampler=sampler)
        self.val_loader = DataLoader(XorBands(128, seed=1), 64)
        self.net = nn.Sequential(
            nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2)).to(self.device)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=opt.lr)
        self.criterion = nn.CrossEntropyLoss(reduction="none")

    def set_input(self, batch):
        self.x, self.y, self.index = [t.to(self.device) for t in batch]

    def optimize(self):
        per_sample = self.criterion(self.net(self.x), self.y)
        self.optimizer.zero_grad()
        per_sample.mean().backward()
        self.optimizer.step()
        self.bank.update(self.index, per_sample.detach())
        return per_sample.mean().item()

    @torch.no_grad()
    def accuracy(self):
        right = 0
        for batch in self.val_loader:
            self.set_input(batch)
            right += (self.net(self.x).argmax(1) == self.y).sum().item()
        return right / len(self.val_loader.dataset)

    def save(self, folder):
        torch.save({"net": self.net.state_dict(), "bank": self.bank.state_dict()}, os.path.join(folder, "latest.pth"))

    def load(self, folder):
        state = torch.load(os.path.join(folder, "latest.pth"), map_location=self.device)
        self.net.load_state_dict(state["net"])
        self.bank.load_state_dict(state["bank"])

    def fit(self, folder):
        for epoch in range(self.opt.n_epochs):
            losses = []
            for batch in self.train_loader:
                self.set_input(batch)
                losses.append(self.optimize())
            self.save(folder)
            top = self.bank.values.topk(3)
            print("epoch %d loss %.4f val acc %.3f hardest %s" % (
                epoch, sum(losses) / len(losses), self.accuracy(), top.indices.tolist()))


if __name__ == "__main__":
    opt = Options().parse()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as tmp:
        trainer = HardExampleTrainer(opt)
        trainer.fit(tmp)
        again = HardExampleTrainer(opt)
        again.load(tmp)
        print("reloaded: val acc %.3f" % again.accuracy())
