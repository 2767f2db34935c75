from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

from segkit.metrics import AverageMeter, ConfusionMeter


def train_one_epoch(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer,
                    device: torch.device) -> float:
    model.train()
    meter = AverageMeter()
    for image, mask in loader:
        image, mask = image.to(device), mask.to(device)
        loss = F.cross_entropy(model(image), mask, ignore_index=255)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss.item(), image.size(0))
    return meter.avg


@torch.inference_mode()
def evaluate(model: nn.Module, loader: DataLoader, num_classes: int, device: torch.device) -> dict[str, float]:
    model.eval()
    meter = ConfusionMeter(num_classes, device=device)
    for image, mask in loader:
        logits = model(image.to(device))
        meter.update(logits.argmax(dim=1), mask.to(device))
    return meter.compute()
