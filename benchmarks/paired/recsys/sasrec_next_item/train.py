import argparse
import logging
import tempfile

import torch
from torch.utils.data import DataLoader

from data import EvalDataset, SequenceDataset, leave_one_out, synthesize_logs
from models.sasrec import SASRec
from trainer import Trainer


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--num-users", type=int, default=500)
    p.add_argument("--num-items", type=int, default=200)
    p.add_argument("--maxlen", type=int, default=12)
    p.add_argument("--dim", type=int, default=16)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=7)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return p.parse_args()


def main():
    args = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.manual_seed(args.seed)
    device = torch.device(args.device)

    history = synthesize_logs(args.num_users, args.num_items, seed=args.seed)
    train, valid, test = leave_one_out(history)
    pin = device.type == "cuda"
    train_loader = DataLoader(SequenceDataset(train, args.num_items, args.maxlen, args.seed),
                              batch_size=args.batch_size, shuffle=True, pin_memory=pin)
    valid_loader = DataLoader(EvalDataset(train, valid, args.maxlen), batch_size=64)
    with_valid = {u: train[u] + [valid[u]] for u in train}
    test_loader = DataLoader(EvalDataset(with_valid, test, args.maxlen), batch_size=64)

    model = SASRec(args.num_items, args.maxlen, dim=args.dim)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, betas=(0.9, 0.98))
    with tempfile.TemporaryDirectory() as tmp:
        trainer = Trainer(model, optimizer, device, train, tmp)
        for epoch in range(1, args.epochs + 1):
            loss = trainer.train_epoch(train_loader)
            metrics = trainer.evaluate(valid_loader)
            trainer.maybe_save(metrics)
            logging.info("epoch %d loss %.4f %s", epoch, loss, metrics)
        trainer.restore()
        logging.info("test %s", trainer.evaluate(test_loader))


if __name__ == "__main__":
    main()
