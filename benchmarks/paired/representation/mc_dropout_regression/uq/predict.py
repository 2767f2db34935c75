from typing import NamedTuple

import numpy as np
import torch

from uq.nets import enable_dropout


class Prediction(NamedTuple):
    mean: np.ndarray
    epistemic: np.ndarray
    aleatoric: np.ndarray

    @property
    def total(self):
        return self.epistemic + self.aleatoric


@torch.no_grad()
def mc_dropout(model, x, passes=25):
    model.eval()
    enable_dropout(model)
    x = x.to(next(model.parameters()).device)
    outs = [model(x) for _ in range(passes)]
    means = torch.stack([m for m, _ in outs])
    variances = torch.stack([lv.exp() for _, lv in outs])
    return Prediction(means.mean(0).cpu().numpy(), means.var(0).cpu().numpy(), variances.mean(0).cpu().numpy())


@torch.no_grad()
def ensemble(models, x):
    device = next(models[0].parameters()).device
    x = x.to(device)
    means, variances = [], []
    for model in models:
        model.eval()
        mean, log_var = model(x)
        means.append(mean.cpu().numpy())
        variances.append(log_var.exp().cpu().numpy())
    means, variances = np.stack(means), np.stack(variances)
    return Prediction(means.mean(0), means.var(0), variances.mean(0))
