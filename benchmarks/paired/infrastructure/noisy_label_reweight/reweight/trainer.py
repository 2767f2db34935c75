import torch
import torch.nn.functional as F

from .scores import SampleScores


class Trainer:
    def __init__(self, model, train_loader, test_loader, lr, warmup_epochs, device):
        self.device = device
        self.model = model.to(device)
        self.train_loader = train_loader
        self.test_loader = test_loader
        self.warmup_epochs = warmup_epochs
        self.scores = SampleScores(len(train_loader.dataset), device)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=lr)

    def train_epoch(self, epoch):
        self.model.train()
        total = 0.0
        for index, x, y in self.train_loader:
            x, y = x.to(self.device), y.to(self.device)
            logits = self.model(x)
            loss = F.cross_entropy(logits, y, reduction="none")
            w = self.scores.weights(index.to(self.device))
            loss = (w * loss).sum() / w.sum()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
            if epoch >= self.warmup_epochs:
                agree = logits.detach().softmax(1).gather(1, y[:, None]).squeeze(1)
                self.scores.update(index.numpy(), agree.cpu().numpy())
        return total / len(self.train_loader)

    @torch.no_grad()
    def test(self):
        self.model.eval()
        ok = n = 0
        for _, x, y in self.test_loader:
            ok += (self.model(x.to(self.device)).argmax(1).cpu() == y).sum().item()
            n += len(y)
        return ok / n

    def run(self, epochs):
        noisy = self.train_loader.dataset.noisy
        for epoch in range(epochs):
            loss = self.train_epoch(epoch)
            print("epoch %d  weighted loss %.4f  clean test acc %.3f  %s"
                  % (epoch, loss, self.test(), self.scores.summary(noisy)))
