import torch
import torch.nn.functional as F

from .pruning import MagnitudePruner
from .task import WindowLM, loaders


class Trial:
    """A model in training that can be put aside and taken up again."""

    def __init__(self, settings, max_epochs):
        self.settings = settings
        torch.manual_seed(settings.seed)
        self.train_loader, self.val_loader = loaders(settings)
        self.model = WindowLM(settings.width, settings.dropout).to(settings.device)
        self.optimizer = torch.optim.RMSprop(self.model.parameters(), lr=settings.lr)
        self.pruner = MagnitudePruner(self.model, settings.sparsity, max_epochs * len(self.train_loader))
        self.step = 0
        self.scores = []

    def run(self, epochs):
        for _ in range(epochs):
            self._train_epoch()
            self.scores.append(self._validate())
        return self.scores[-1]

    def _train_epoch(self):
        self.model.train()
        for x, y in self.train_loader:
            x = x.to(self.settings.device, non_blocking=True)
            y = y.to(self.settings.device, non_blocking=True)
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.pruner.apply()
            self.step += 1
        self.pruner.update(self.step)

    @torch.no_grad()
    def _validate(self):
        self.model.eval()
        total = torch.zeros((), device=self.settings.device)
        for x, y in self.val_loader:
            logits = self.model(x.to(self.settings.device))
            total += F.cross_entropy(logits, y.to(self.settings.device), reduction="sum")
        return (total / len(self.val_loader.dataset)).item()

    def release(self):
        """Weights to host memory, the rest is dropped."""
        weights = {k: v.cpu() for k, v in self.model.state_dict().items()}
        self.model = self.optimizer = self.pruner = None
        return weights
