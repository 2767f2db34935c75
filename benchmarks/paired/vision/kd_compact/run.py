import tempfile

import torch

from checkpoint import load_teacher, save_teacher
from config import DistillConfig
from data import get_loaders
from distill import accuracy, train_student, train_supervised
from networks import ConvNet, HintRegressor


def main():
    cfg = DistillConfig()
    torch.manual_seed(cfg.seed)
    train_loader, val_loader = get_loaders(cfg)

    with tempfile.TemporaryDirectory() as folder:
        big = ConvNet(cfg.teacher_widths, cfg.num_classes)
        big.widths = cfg.teacher_widths
        train_supervised(big, train_loader, cfg.teacher_epochs, cfg.lr, cfg.device)
        print(f"teacher accuracy {accuracy(big, val_loader):.3f}")
        path = save_teacher(big, folder)
        teacher = load_teacher(path, cfg)

    student = ConvNet(cfg.student_widths, cfg.num_classes)
    regressor = HintRegressor(student.out_channels, teacher.out_channels)
    train_student(student, regressor, teacher, train_loader, cfg)
    print(f"student accuracy {accuracy(student, val_loader):.3f}")


if __name__ == "__main__":
    main()
