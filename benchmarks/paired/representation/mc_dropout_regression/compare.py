"""MC dropout against a deep ensemble on heteroscedastic toy data with a gap."""
import numpy as np
import torch
from omegaconf import OmegaConf

from uq.calibration import interval_coverage, rmse
from uq.fit import fit
from uq.nets import DropoutMLP
from uq.predict import ensemble, mc_dropout

defaults = OmegaConf.create(
    {"n": 256, "epochs": 12, "lr": 5e-3, "members": 3, "passes": 20, "dropout": 0.1, "seed": 0, "device": "auto"}
)


def toy(n, rng, gap=True):
    x = rng.uniform(-3, 3, (n, 1))
    if gap:
        x = x[np.abs(x[:, 0] - 1) > 0.7]
    y = np.sin(2 * x) + (0.05 + 0.1 * np.abs(x)) * rng.standard_normal(x.shape)
    return x.astype(np.float32), y.astype(np.float32)


def main():
    cfg = OmegaConf.merge(defaults, OmegaConf.from_cli())
    if cfg.device == "auto":
        cfg.device = "cuda" if torch.cuda.is_available() else "cpu"
    rng = np.random.default_rng(cfg.seed)
    torch.manual_seed(cfg.seed)
    x, y = map(torch.from_numpy, toy(cfg.n, rng))
    x_test, y_test = toy(200, rng, gap=False)
    x_test = torch.from_numpy(x_test)

    models = []
    for i in range(cfg.members):
        model = DropoutMLP(p=cfg.dropout)
        history = fit(model, x, y, cfg.epochs, cfg.lr, cfg.device)
        print(f"member {i}: nll {history[0]:.3f} -> {history[-1]:.3f}")
        models.append(model)

    for name, pred in {
        "ensemble": ensemble(models, x_test),
        "mc dropout": mc_dropout(models[0], x_test, cfg.passes),
    }.items():
        cov = ", ".join(f"{k:.0%}: {v:.2f}" for k, v in interval_coverage(y_test, pred).items())
        print(f"{name:>10s} rmse {rmse(y_test, pred):.3f} epistemic {pred.epistemic.mean():.4f} coverage {cov}")


if __name__ == "__main__":
    main()
