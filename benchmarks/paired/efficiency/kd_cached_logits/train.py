import logging
import tempfile

import torch

from config import parse_config
from data.blobs import make_loaders
from distill import LogitCache, SoftTargetLoss
from engine import StudentTrainer, fit_teacher
from models import build_student, build_teacher

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
log = logging.getLogger("train")


def main():
    cfg = parse_config()
    torch.manual_seed(cfg.seed)
    device = torch.device(cfg.device or ("cuda" if torch.cuda.is_available() else "cpu"))

    train_loader, ordered_loader, val_loader = make_loaders(cfg)

    teacher = fit_teacher(build_teacher(cfg), train_loader, cfg, device)
    cache = LogitCache(cfg.num_train, cfg.num_classes).fill(teacher, ordered_loader, device)
    log.info("teacher/label agreement %.3f", cache.agreement(train_loader.dataset.targets))
    del teacher

    with tempfile.TemporaryDirectory() as tmp:
        cache = LogitCache.open(cache.save(tmp))
        trainer = StudentTrainer(
            build_student(cfg), cache, SoftTargetLoss(cfg.temperature, cfg.alpha), cfg, device
        )
        for epoch in range(cfg.epochs):
            stats = trainer.run_epoch(train_loader)
            acc = trainer.evaluate(val_loader)
            log.info("epoch %d soft %.4f hard %.4f val acc %.3f", epoch, stats["soft"], stats["hard"], acc)


if __name__ == "__main__":
    main()
