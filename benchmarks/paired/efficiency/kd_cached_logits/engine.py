import torch
import torch.nn.functional as F


def fit_teacher(model, loader, cfg, device):
    model.to(device).train()
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for _ in range(cfg.teacher_epochs):
        for batch in loader:
            loss = F.cross_entropy(model(batch["input"].to(device)), batch["target"].to(device))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
    return model


class StudentTrainer:
    def __init__(self, student, cache, criterion, cfg, device):
        self.student = student.to(device)
        self.cache = cache
        self.criterion = criterion
        self.device = device
        self.optimizer = torch.optim.AdamW(self.student.parameters(), lr=cfg.lr)
        self.scheduler = torch.optim.lr_scheduler.MultiStepLR(self.optimizer, cfg.milestones)

    def run_epoch(self, loader):
        self.student.train()
        soft_sum = torch.zeros((), device=self.device)
        hard_sum = torch.zeros((), device=self.device)
        for batch in loader:
            x = batch["input"].to(self.device, non_blocking=True)
            y = batch["target"].to(self.device, non_blocking=True)
            t_logits = self.cache.fetch(batch["index"], device=self.device)
            loss, soft, hard = self.criterion(self.student(x), t_logits, y)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            soft_sum += soft
            hard_sum += hard
        self.scheduler.step()
        n = len(loader)
        return {"soft": (soft_sum / n).item(), "hard": (hard_sum / n).item()}

    @torch.no_grad()
    def evaluate(self, loader):
        self.student.eval()
        preds, targets = [], []
        for batch in loader:
            preds.append(self.student(batch["input"].to(self.device)).argmax(1).cpu())
            targets.append(batch["target"])
        return (torch.cat(preds) == torch.cat(targets)).float().mean().item()
