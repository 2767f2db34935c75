import torch
import torch.nn.functional as F

from attacks import PerturbationBank, pgd
from data import DeviceLoader


class Trainer:
    def __init__(self, model, train, test, device, lr=0.05):
        self.model = model.to(device)
        self.device = device
        self.train_loader = DeviceLoader(train, device)
        self.test_loader = DeviceLoader(test, device, keep=("row", "label"))
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    def train_step(self, batch):
        loss = F.cross_entropy(self.model(batch["image"]), batch["label"])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run_epoch(self):
        self.model.train()
        losses = [self.train_step(batch) for batch in self.train_loader]
        return sum(losses) / len(losses)

    def evaluate(self, epsilon=0.0, steps=5):
        self.model.eval()
        hits = torch.zeros(len(self.test_loader.source.dataset), dtype=torch.bool)
        for batch in self.test_loader:
            image = batch["image"]
            if epsilon:
                image = pgd(self.model, image, batch["label"].to(self.device), epsilon, steps, epsilon / 3)
            with torch.no_grad():
                guess = self.model(image).argmax(1).cpu()
            hits[batch["row"]] = guess == batch["label"]
        return hits.float().mean().item()

    def describe(self):
        return ""


class FreeAdversarialTrainer(Trainer):
    """One backward pass serves the weights and the perturbation of the sample."""

    def __init__(self, model, train, test, device, epsilon, **kwargs):
        super().__init__(model, train, test, device, **kwargs)
        self.train_loader = DeviceLoader(train, device, keep=("row",))
        shape = train.dataset.images.shape[1:]
        self.bank = PerturbationBank(len(train.dataset), shape, epsilon)

    def train_step(self, batch):
        image, rows = batch["image"], batch["row"]
        delta = self.bank.fetch(rows, image).requires_grad_(True)
        loss = F.cross_entropy(self.model((image + delta).clamp(0, 1)), batch["label"])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.bank.put(rows, delta.detach() + self.bank.epsilon / 2 * delta.grad.sign())
        return loss.item()

    def describe(self):
        return "bank " + self.bank.summary()
