from pathlib import Path

import torch
import yaml
from accelerate import Accelerator
from accelerate.utils import set_seed

from retrieval.data import Interactions, build_loaders
from retrieval.losses import InBatchSoftmax
from retrieval.model import TwoTower


@torch.no_grad()
def recall_at_k(model, loader, catalogue, k, device):
    model.eval()
    items = model.item_tower(catalogue.item_ids.to(device), catalogue.categories.to(device))
    hits, total = 0, 0
    for batch in loader:
        query = model.query_tower(batch["user_id"])
        top = (query @ items.t()).topk(k, dim=1).indices
        hits += (top == batch["item_id"][:, None]).any(1).sum().item()
        total += len(query)
    return hits / total


def main():
    cfg = yaml.safe_load((Path(__file__).parent / "config.yml").read_text())
    set_seed(0)
    accelerator = Accelerator()
    dataset = Interactions(**cfg["data"])
    train_loader, val_loader = build_loaders(dataset, cfg["train"]["batch_size"])

    sizes = {k: v for k, v in cfg["data"].items() if k != "interactions"}
    model = TwoTower(**sizes, **cfg["model"])
    criterion = InBatchSoftmax(dataset.sampling_log_prob(), cfg["train"]["temperature"]).to(accelerator.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["train"]["lr"])
    model, optimizer, train_loader, val_loader = accelerator.prepare(model, optimizer, train_loader, val_loader)

    for epoch in range(cfg["train"]["epochs"]):
        model.train()
        running = 0.0
        for batch in train_loader:
            query, item = model(**batch)
            loss = criterion(query, item, batch["item_id"])
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            running += loss.item()
        recall = recall_at_k(accelerator.unwrap_model(model), val_loader, dataset.catalogue(), cfg["eval"]["k"],
                             accelerator.device)
        accelerator.print(f"epoch {epoch}: loss {running / len(train_loader):.4f} recall@{cfg['eval']['k']} {recall:.3f}")


if __name__ == "__main__":
    main()
