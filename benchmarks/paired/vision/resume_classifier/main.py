import argparse
import tempfile

import torch
import torch.nn as nn

from checkpoint import load_checkpoint, save_checkpoint
from data import make_loader
from model import MobileNet
from utils import accuracy, seed_everything

parser = argparse.ArgumentParser()
parser.add_argument('--epochs', default=2, type=int)
parser.add_argument('--interrupt-after', default=1, type=int, help='simulated preemption')
parser.add_argument('-b', '--batch-size', default=16, type=int)
parser.add_argument('--lr', default=0.003, type=float)
parser.add_argument('--n-class', default=6, type=int)
parser.add_argument('--resume', default='', type=str, metavar='PATH')


def build(args, device):
    model = MobileNet(args.n_class)
    optimizer = torch.optim.AdamW(model.parameters(), args.lr, weight_decay=1e-2)
    start_epoch, best_acc = 0, 0.0

    model.to(device)
    if args.resume:
        start_epoch, best_acc = load_checkpoint(args.resume, model, optimizer)
    return model, optimizer, start_epoch, best_acc


def run(args, device, folder, stop):
    model, optimizer, start, best_acc = build(args, device)
    train_loader = make_loader(64, args.n_class, args.batch_size, True, 0)
    val_loader = make_loader(32, args.n_class, 32, False, 1)
    criterion = nn.CrossEntropyLoss().to(device)

    path = None
    for epoch in range(start, stop):
        model.train()
        for images, target in train_loader:
            images, target = images.to(device), target.to(device)
            loss = criterion(model(images), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        model.eval()
        with torch.no_grad():
            for images, target in val_loader:
                images, target = images.to(device), target.to(device)
                acc1, acc3 = accuracy(model(images), target, topk=(1, 3))
        best_acc = max(acc1, best_acc)
        print('epoch {}  loss {:.4f}  prec@1 {:.2f}  prec@3 {:.2f}'.format(epoch, loss.item(), acc1, acc3))
        path = save_checkpoint(folder, epoch, model, optimizer, best_acc)
    return path


def main():
    args = parser.parse_args()
    seed_everything(0)
    device = torch.device('cuda:0' if torch.cuda.is_available() else 'cpu')
    with tempfile.TemporaryDirectory() as folder:
        args.resume = run(args, device, folder, args.interrupt_after)
        run(args, device, folder, args.epochs)


if __name__ == '__main__':
    main()
