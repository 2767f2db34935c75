import os

import torch

from networks import ConvNet


def save_teacher(model, folder):
    path = os.path.join(folder, "teacher.pt")
    torch.save({"state_dict": model.state_dict(), "widths": model.widths}, path)
    return path


def load_teacher(path, cfg):
    ckpt = torch.load(path, map_location="cpu")
    teacher = ConvNet(ckpt["widths"], cfg.num_classes)
    teacher.load_state_dict(ckpt["state_dict"])
    teacher.eval()
    for p in teacher.parameters():
        p.requires_grad_(False)
    return teacher.to(cfg.device)
