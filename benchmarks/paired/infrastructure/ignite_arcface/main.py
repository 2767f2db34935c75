import argparse

import torch
from ignite.engine import Events
from ignite.handlers import EarlyStopping, LRScheduler
from ignite.utils import manual_seed
from torch.utils.data import DataLoader

from dataset import Glyphs
from engines import create_embedding_evaluator, create_trainer
from losses import ArcFace
from nets import embedder


def run(epochs, lr, dim, device):
    manual_seed(3)
    train_loader = DataLoader(Glyphs(16, seed=1), batch_size=32, shuffle=True)
    val_loader = DataLoader(Glyphs(6, seed=2), batch_size=24)

    net = embedder(dim).to(device)
    criterion = ArcFace(dim, num_classes=8).to(device)
    optimizer = torch.optim.SGD(
        [{"params": net.parameters()}, {"params": criterion.parameters(), "weight_decay": 1e-3}],
        lr=lr, momentum=0.9,
    )

    trainer = create_trainer(net, criterion, optimizer, device, clip=5.0)
    evaluator = create_embedding_evaluator(net, device)
    trainer.add_event_handler(
        Events.EPOCH_COMPLETED, LRScheduler(torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)))
    stopper = EarlyStopping(patience=3, score_function=lambda e: e.state.metrics["knn"], trainer=trainer)
    evaluator.add_event_handler(Events.COMPLETED, stopper)

    @trainer.on(Events.EPOCH_COMPLETED)
    def validate(engine):
        evaluator.run(val_loader)
        print("epoch %d  loss %.4f  1-NN %.3f" % (
            engine.state.epoch, engine.state.metrics["loss"], evaluator.state.metrics["knn"]))

    trainer.run(train_loader, max_epochs=epochs)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--dim", type=int, default=16)
    ap.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    run(**vars(ap.parse_args()))
