import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from config import Config
from events import EventDataset, collate
from model import EventModel
from transfer import Prefetcher


def compute_loss(outputs, targets, weights):
    churn, gap = outputs
    parts = (
        F.binary_cross_entropy_with_logits(churn, targets.churn),
        F.smooth_l1_loss(gap, targets.gap),
    )
    return sum(w * p for w, p in zip(weights, parts))


def main():
    cfg = Config.from_args()
    torch.manual_seed(cfg.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def loader(size, seed, shuffle):
        data = EventDataset(size, cfg.model.max_events, seed)
        return Prefetcher(DataLoader(data, cfg.batch_size, shuffle=shuffle, collate_fn=collate,
                                     pin_memory=device.type == "cuda"), device)

    train, valid = loader(160, 1, True), loader(48, 2, False)
    model = EventModel(cfg.model).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)

    for epoch in range(cfg.epochs):
        model.train()
        opt.zero_grad()
        for i, batch in enumerate(train, 1):
            loss = compute_loss(model(batch["inputs"]), batch["targets"], cfg.loss_weights)
            (loss / cfg.accumulate).backward()
            if i % cfg.accumulate == 0 or i == len(train):
                opt.step()
                opt.zero_grad()

        model.eval()
        hits = seen = 0
        with torch.no_grad():
            for batch in valid:
                churn, _ = model(batch["inputs"])
                hits += ((churn > 0).float() == batch["targets"].churn).sum().item()
                seen += batch["n"]
        print(f"epoch {epoch}: last train loss {loss.item():.4f}  churn accuracy {hits / seen:.3f}")


if __name__ == "__main__":
    main()
