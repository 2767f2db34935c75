import logging
from pathlib import Path

import torch

from metrics import ConfusionMatrix

logger = logging.getLogger(__name__)


class Trainer:
    def __init__(self, model, criterion, loaders, part_names, lr, out_dir, device):
        self.device = device
        self.model = model.to(device)
        self.criterion = criterion.to(device)
        self.loaders = loaders
        self.part_names = part_names
        self.out_dir = Path(out_dir)
        self.optim = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.sched = torch.optim.lr_scheduler.StepLR(self.optim, 2, 0.7)
        self.best = -1.0

    def _to_device(self, batch):
        return tuple(t.to(self.device, non_blocking=True) for t in batch)

    def train_epoch(self):
        self.model.train()
        total = torch.zeros((), device=self.device)
        for batch in self.loaders["train"]:
            xyz, target = self._to_device(batch)
            logits, trans = self.model(xyz)
            loss = self.criterion(logits, target, trans)
            self.optim.zero_grad(set_to_none=True)
            loss.backward()
            self.optim.step()
            total += loss.detach()
        self.sched.step()
        return total.item() / len(self.loaders["train"])

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        cm = ConfusionMatrix(len(self.part_names))
        for batch in self.loaders["val"]:
            xyz, target = self._to_device(batch)
            logits, _ = self.model(xyz)
            cm.update(target, logits.argmax(1))
        return cm

    def fit(self, epochs):
        for epoch in range(1, epochs + 1):
            loss = self.train_epoch()
            cm = self.evaluate()
            miou = cm.iou().mean().item()
            logger.info("epoch %d loss %.4f acc %.3f mIoU %.3f", epoch, loss, cm.accuracy(), miou)
            if miou > self.best:
                self.best = miou
                torch.save(
                    {"model": self.model.state_dict(), "epoch": epoch, "miou": miou}, self.out_dir / "best.pt"
                )
        self.report()

    def report(self):
        """Score the best checkpoint once more, on the CPU."""
        ckpt = torch.load(self.out_dir / "best.pt", map_location="cpu")
        self.model.cpu().load_state_dict(ckpt["model"])
        home, self.device = self.device, torch.device("cpu")
        try:
            cm = self.evaluate()
        finally:
            self.device = home
            self.model.to(home)
        for name, v in zip(self.part_names, cm.iou().tolist()):
            logger.info("  %-6s IoU %.3f", name, v)
