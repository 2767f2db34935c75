"""Solubility regression from several conformers per molecule (pytorch-ignite)."""
import argparse
import tempfile

import torch
from ignite.engine import Engine, Events
from ignite.handlers import Checkpoint, DiskSaver, EarlyStopping
from ignite.metrics import Average, MeanAbsoluteError
from torch.utils.data import DataLoader, random_split

from molnet.batch import ConformerBatch
from molnet.data import ConformerDataset, TargetScaler
from molnet.model import ConformerNet


def create_trainer(model, optimizer, scaler, device):
    def step(engine, batch):
        model.train()
        target = scaler.transform(batch.y)
        batch = batch.to(device)
        pred, _ = model(batch)
        loss = torch.nn.functional.smooth_l1_loss(pred, target.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return {"loss": loss.item(), "atoms": batch.num_atoms}

    trainer = Engine(step)
    Average(output_transform=lambda o: o["loss"]).attach(trainer, "loss")
    return trainer


def create_evaluator(model, scaler, device):
    @torch.no_grad()
    def step(engine, batch):
        model.eval()
        y = batch.y
        pred, attention = model(batch.to(device))
        engine.state.attention = attention.cpu()
        return scaler.inverse(pred.cpu()), y

    evaluator = Engine(step)
    MeanAbsoluteError(device="cpu").attach(evaluator, "mae")
    return evaluator


def run(args):
    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu"

    dataset = ConformerDataset(args.molecules, args.conformers, seed=args.seed)
    n_val = len(dataset) // 4
    train_set, val_set = random_split(dataset, [len(dataset) - n_val, n_val],
                                      generator=torch.Generator().manual_seed(args.seed))
    scaler = TargetScaler.fit(dataset[i].y for i in train_set.indices)
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True, collate_fn=ConformerBatch.collate)
    val_loader = DataLoader(val_set, args.batch_size, collate_fn=ConformerBatch.collate)

    model = ConformerNet(dataset.n_elements, args.hidden, args.layers).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    trainer = create_trainer(model, optimizer, scaler, device)
    evaluator = create_evaluator(model, scaler, device)

    @trainer.on(Events.EPOCH_COMPLETED)
    def validate(engine):
        metrics = evaluator.run(val_loader).metrics
        print(f"epoch {engine.state.epoch} loss {engine.state.metrics['loss']:.4f} "
              f"val mae {metrics['mae']:.4f} max attention {evaluator.state.attention.max():.3f}")

    score = lambda engine: -engine.state.metrics["mae"]
    evaluator.add_event_handler(Events.COMPLETED, EarlyStopping(5, score, trainer))
    saver = DiskSaver(tempfile.mkdtemp(), require_empty=False)
    best = Checkpoint({"model": model}, saver, n_saved=1, score_function=score, score_name="neg_mae")
    evaluator.add_event_handler(Events.COMPLETED, best)
    trainer.run(train_loader, max_epochs=args.epochs)
    print("best:", best.last_checkpoint)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--molecules", type=int, default=24)
    p.add_argument("--conformers", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=6)
    p.add_argument("--hidden", type=int, default=16)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--no-cuda", action="store_true")
    run(p.parse_args())
