import logging
import sys
from collections import defaultdict

import torch

import models
from config import RunConfig
from dermoscopy import loaders
from metrics import ece, fit_temperature, retention_curve

log = logging.getLogger("lesions")


def apply_overrides(cfg, pairs):
    """model.name=mc_dropout epochs=3 ..."""
    for pair in pairs:
        path, value = pair.split("=", 1)
        *parents, leaf = path.split(".")
        node = cfg
        for p in parents:
            node = getattr(node, p)
        old = getattr(node, leaf)
        setattr(node, leaf, value if old is None else type(old)(value))
    return cfg


def train(model, loader, cfg, device):
    optimizers = model.configure_optimizers(cfg.lr)
    for epoch in range(cfg.epochs):
        model.train()
        running = []
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            for opt, loss in zip(optimizers, model.training_losses(x, y)):
                opt.zero_grad()
                loss.backward()
                opt.step()
                running.append(loss.detach())
        log.info("epoch %d loss %.4f", epoch, torch.stack(running).mean().item())


@torch.no_grad()
def collect_logits(model, loader, device):
    model.eval()
    logits, labels = [], []
    for x, y in loader:
        logits.append(model.samples(x.to(device)).cpu())
        labels.append(y)
    return torch.cat(logits, 1), torch.cat(labels)


def evaluate(model, loader, device):
    model.eval()
    acc = defaultdict(list)
    for x, y in loader:
        for k, v in model.predict(x.to(device)).items():
            acc[k].append(v.cpu())
        acc["labels"].append(y)
    out = {k: torch.cat(v) for k, v in acc.items()}
    return {
        "acc": (out["probs"].argmax(1) == out["labels"]).float().mean().item(),
        "ece": ece(out["probs"], out["labels"]),
        "epistemic": out["epistemic"].mean().item(),
        "retention": retention_curve(out["probs"], out["labels"], out["epistemic"]),
    }


def main(argv):
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    cfg = apply_overrides(RunConfig(), argv)
    torch.manual_seed(cfg.seed)
    device = cfg.torch_device()
    data = loaders(cfg)

    model = models.build(cfg).to(device)
    log.info("%s on %s", model.registry_name, device)
    train(model, data["train"], cfg, device)
    log.info("before calibration %s", evaluate(model, data["test"], device))
    temperature = fit_temperature(*collect_logits(model, data["calib"], device))
    model.temperature.copy_(temperature)
    log.info("temperature %.3f, after %s", model.temperature.item(), evaluate(model, data["test"], device))


if __name__ == "__main__":
    main(sys.argv[1:])
