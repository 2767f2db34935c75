import copy
from dataclasses import asdict

import torch
from torch import nn
from torch.utils.data import DataLoader

from ner.config import NERConfig
from ner.dataset import IGNORE, SyntheticNER, collate
from ner.metrics import TagConfusion
from ner.model import Tagger


def train_epoch(model, loader, criterion, optimizer, device):
    model.train()
    total = 0.0
    for batch in loader:
        batch = {k: v.to(device) for k, v in batch.items()}
        logits = model(batch["words"], batch["chars"])
        loss = criterion(logits.flatten(0, 1), batch["tags"].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        total += loss.item()
    return total / len(loader)


@torch.no_grad()
def evaluate(model, loader, metric, device):
    model.eval()
    metric.reset()
    for batch in loader:
        logits = model(batch["words"].to(device), batch["chars"].to(device))
        metric.update(logits, batch["tags"].to(device))
    return metric.scores()


def main():
    cfg = NERConfig()
    print({k: v for k, v in asdict(cfg).items() if k != "labels"})
    torch.manual_seed(cfg.seed)
    train_dl = DataLoader(SyntheticNER(cfg, 96, 1), cfg.batch_size, shuffle=True, collate_fn=collate)
    dev_dl = DataLoader(SyntheticNER(cfg, 32, 2), cfg.batch_size, collate_fn=collate)

    model = Tagger(cfg).to(cfg.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    criterion = nn.CrossEntropyLoss(ignore_index=IGNORE)
    metric = TagConfusion(cfg.labels)

    best, best_state = -1.0, None
    for epoch in range(cfg.epochs):
        loss = train_epoch(model, train_dl, criterion, optimizer, cfg.device)
        scores = evaluate(model, dev_dl, metric, cfg.device)
        print(f"epoch {epoch} loss {loss:.4f} " + " ".join(f"{k}={v:.3f}" for k, v in scores.items()))
        if scores["macro"] > best:
            best, best_state = scores["macro"], copy.deepcopy(model.state_dict())
    model.load_state_dict(best_state)
    print(f"best macro f1 {best:.3f}")


if __name__ == "__main__":
    main()
