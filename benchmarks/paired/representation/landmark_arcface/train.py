import argparse
import random
import time

import numpy as np
import torch
from torch.utils.data import DataLoader

from src.arcface import ArcFaceLossAdaptiveMargin, margins_from_counts
from src.dataset import LandmarkDataset
from src.metrics import accuracy_at_1, global_average_precision
from src.models import LandmarkNet


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument('--kernel-type', type=str, default='tiny_gem_subcenter')
    parser.add_argument('--n-classes', type=int, default=8)
    parser.add_argument('--batch-size', type=int, default=32)
    parser.add_argument('--n-epochs', type=int, default=3)
    parser.add_argument('--init-lr', type=float, default=3e-3)
    parser.add_argument('--arcface-s', type=float, default=16)
    parser.add_argument('--CUDA_VISIBLE_DEVICES', type=str, default='0')
    return parser.parse_args()


def set_seed(seed=0):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed(seed)


def train_epoch(model, loader, optimizer, criterion, device, out_dim):
    model.train()
    train_loss = []
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        _, logits_m = model(data)
        loss = criterion(logits_m, target, out_dim)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        train_loss.append(loss.detach().cpu().numpy())
    return np.mean(train_loss)


def val_epoch(model, loader, criterion, device, out_dim):
    model.eval()
    val_loss, prods, preds, targets = [], [], [], []
    with torch.no_grad():
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            _, logits_m = model(data)
            lmax = logits_m.max(1)
            prods.append(lmax.values.cpu())
            preds.append(lmax.indices.cpu())
            targets.append(target.cpu())
            val_loss.append(criterion(logits_m, target, out_dim).item())
    prods, preds, targets = (torch.cat(v).numpy() for v in (prods, preds, targets))
    return np.mean(val_loss), accuracy_at_1(preds, targets), global_average_precision(targets, preds, prods)


def main():
    args = parse_args()
    set_seed(0)
    device = torch.device('cuda') if torch.cuda.is_available() else torch.device('cpu')
    ds_train = LandmarkDataset(args.n_classes, 80, 'train')
    ds_valid = LandmarkDataset(args.n_classes, 24, 'val', seed=1)
    train_loader = DataLoader(ds_train, batch_size=args.batch_size, shuffle=True, drop_last=True)
    valid_loader = DataLoader(ds_valid, batch_size=args.batch_size)

    model = LandmarkNet(args.n_classes).to(device)
    criterion = ArcFaceLossAdaptiveMargin(margins_from_counts(ds_train.class_counts()), s=args.arcface_s)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.init_lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.n_epochs)
    for epoch in range(1, args.n_epochs + 1):
        print(time.strftime('%H:%M:%S'), 'Epoch:', epoch)
        train_loss = train_epoch(model, train_loader, optimizer, criterion, device, args.n_classes)
        scheduler.step()
        val_loss, acc_m, gap_m = val_epoch(model, valid_loader, criterion, device, args.n_classes)
        print('lr: %.7f, train loss: %.5f, valid loss: %.5f, acc_m: %.4f, gap_m: %.4f'
              % (optimizer.param_groups[0]['lr'], train_loss, val_loss, acc_m, gap_m))


if __name__ == '__main__':
    main()
