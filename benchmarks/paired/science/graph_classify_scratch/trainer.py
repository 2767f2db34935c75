import torch
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, lr=1e-2, device=None):
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def train_one_epoch(self, loader):
        self.model.train()
        total, seen = 0.0, 0
        for batch in loader:
            batch = batch.to(self.device)
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(batch), batch.labels)
            loss.backward()
            self.optimizer.step()
            total += loss.item() * batch.num_graphs
            seen += batch.num_graphs
        return total / seen

    @torch.no_grad()
    def accuracy(self, loader):
        self.model.eval()
        hits, seen = 0, 0
        for batch in loader:
            batch = batch.to(self.device)
            pred = self.model(batch).argmax(dim=1)
            hits += (pred == batch.labels).sum().item()
            seen += batch.num_graphs
        return hits / seen
