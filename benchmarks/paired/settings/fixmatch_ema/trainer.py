import torch
import torch.nn.functional as F

from align import DistributionAlignment
from datasets import cycle
from ema import ModelEMA


class FixMatchTrainer:
    def __init__(self, model, labelled, unlabelled, prior, opts, callbacks=()):
        self.opts = opts
        self.num_classes = len(prior)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device)
        self.ema = ModelEMA(self.model, opts.ema_decay)
        self.align = DistributionAlignment(prior).to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=opts.lr, momentum=0.9, nesterov=True)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, opts.steps)
        self.labelled, self.unlabelled = cycle(labelled), cycle(unlabelled)
        self.callbacks = list(callbacks)

    def _fire(self, event, *args):
        for cb in self.callbacks:
            getattr(cb, event)(self, *args)

    def _losses(self):
        (xl, _), yl = next(self.labelled)
        (xw, xs), _ = next(self.unlabelled)
        sizes = [len(xl), len(xw), len(xs)]
        out = self.model(torch.cat([xl, xw, xs]).to(self.device))
        ll, lw, ls = out.split(sizes)
        sup = F.cross_entropy(ll, yl.to(self.device))
        with torch.no_grad():
            conf, pseudo = self.align(lw.softmax(1)).max(1)
            mask = (conf >= self.opts.threshold).float()
        unsup = (F.cross_entropy(ls, pseudo, reduction="none") * mask).mean()
        return sup, unsup, mask.mean()

    def train(self):
        self.model.train()
        self._fire("on_train_start")
        for step in range(1, self.opts.steps + 1):
            sup, unsup, used = self._losses()
            loss = sup + self.opts.lambda_u * unsup
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
            self.ema.update(self.model)
            self._fire("on_step_end", step, {"sup": sup, "unsup": unsup, "mask": used})
        self._fire("on_train_end")
