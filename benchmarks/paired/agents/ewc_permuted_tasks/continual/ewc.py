import torch
import torch.nn.functional as F

from .base import ContinualStrategy


class EWC(ContinualStrategy):
    """Elastic weight consolidation, one (anchor, Fisher) pair per finished task.

    Finished tasks are archived in host memory; before a task starts they are merged
    into a single quadratic, so the cost of a step does not grow with the number of tasks.
    """

    def __init__(self, model, device, lam=50.0, fisher_batches=4, **options):
        super().__init__(model, device, **options)
        self.lam = lam
        self.fisher_batches = fisher_batches
        self.archive = []
        self.fisher = None
        self.center = None

    def before_task(self, task_id):
        if not self.archive:
            return
        fisher, center = {}, {}
        for name in self.archive[0]["fisher"]:
            fs = torch.stack([a["fisher"][name] for a in self.archive])
            ws = torch.stack([a["weights"][name] for a in self.archive])
            total = fs.sum(0)
            center[name] = (fs * ws).sum(0) / total.clamp_min(1e-12)
            fisher[name] = total
        self.fisher = {k: v.to(self.device) for k, v in fisher.items()}
        self.center = {k: v.to(self.device) for k, v in center.items()}

    def penalty(self):
        if self.fisher is None:
            return 0.0
        reg = 0.0
        for name, p in self.model.named_parameters():
            if name in self.fisher:
                reg = reg + (self.fisher[name] * (p - self.center[name]) ** 2).sum()
        return 0.5 * self.lam * reg

    def after_task(self, task_id, loader):
        fisher = {n: torch.zeros_like(p) for n, p in self.model.named_parameters()}
        seen = 0
        self.model.eval()
        for i, (x, _) in enumerate(loader):
            if i == self.fisher_batches:
                break
            x = x.to(self.device)
            logp = F.log_softmax(self.model(x), dim=1)
            sampled = torch.multinomial(logp.exp().detach(), 1).squeeze(1)
            self.model.zero_grad()
            F.nll_loss(logp, sampled).backward()
            for n, p in self.model.named_parameters():
                fisher[n] += p.grad.detach() ** 2 * x.size(0)
            seen += x.size(0)
        self.model.zero_grad()
        self.archive.append({
            "task": task_id,
            "fisher": {n: (f / seen).cpu() for n, f in fisher.items()},
            "weights": {n: p.detach().cpu().clone() for n, p in self.model.named_parameters()},
        })
