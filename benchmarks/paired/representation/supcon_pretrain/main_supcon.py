from __future__ import print_function

import argparse
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

from colors import ColorPatches, jitter_and_flip
from losses import SupConLoss
from networks import LinearClassifier, SupConConvNet
from util import AverageMeter, TwoCropTransform, accuracy, adjust_learning_rate


def parse_option():
    parser = argparse.ArgumentParser('argument for training')
    parser.add_argument('--batch_size', type=int, default=32)
    parser.add_argument('--epochs', type=int, default=2)
    parser.add_argument('--learning_rate', type=float, default=0.1)
    parser.add_argument('--lr_decay_rate', type=float, default=0.1)
    parser.add_argument('--method', type=str, default='SupCon', choices=['SupCon', 'SimCLR'])
    parser.add_argument('--temp', type=float, default=0.1)
    parser.add_argument('--n_cls', type=int, default=6)
    return parser.parse_args()


def set_model(opt):
    model = SupConConvNet()
    criterion = SupConLoss(temperature=opt.temp)
    if torch.cuda.is_available():
        model = model.cuda()
        criterion = criterion.cuda()
    return model, criterion


def train(train_loader, model, criterion, optimizer, epoch, opt):
    model.train()
    losses = AverageMeter()
    end = time.time()
    for idx, (images, labels) in enumerate(train_loader):
        images = torch.cat([images[0], images[1]], dim=0)
        if torch.cuda.is_available():
            images = images.cuda(non_blocking=True)
            labels = labels.cuda(non_blocking=True)
        bsz = labels.shape[0]

        f1, f2 = torch.split(model(images), [bsz, bsz], dim=0)
        features = torch.cat([f1.unsqueeze(1), f2.unsqueeze(1)], dim=1)
        loss = criterion(features, labels) if opt.method == 'SupCon' else criterion(features)
        losses.update(loss.item(), bsz)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print('Train: [{0}] loss {1:.3f} total time {2:.2f}'.format(epoch, losses.avg, time.time() - end))


def linear_probe(loader, model, opt):
    model.eval()
    classifier = LinearClassifier(num_classes=opt.n_cls)
    if torch.cuda.is_available():
        classifier = classifier.cuda()
    optimizer = torch.optim.Adam(classifier.parameters(), lr=0.02)
    top1 = AverageMeter()
    for images, labels in loader:
        if torch.cuda.is_available():
            images, labels = images.cuda(), labels.cuda()
        with torch.no_grad():
            features = model.encoder(images)
        output = classifier(features.detach())
        loss = nn.functional.cross_entropy(output, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        top1.update(accuracy(output, labels)[0].item(), labels.size(0))
    print('Probe: Acc@1 {:.2f}'.format(top1.avg))


def main():
    opt = parse_option()
    torch.manual_seed(0)
    dataset = ColorPatches(192, opt.n_cls, TwoCropTransform(jitter_and_flip))
    train_loader = DataLoader(dataset, batch_size=opt.batch_size, shuffle=True, drop_last=True)
    model, criterion = set_model(opt)
    optimizer = torch.optim.SGD(model.parameters(), lr=opt.learning_rate, momentum=0.9, weight_decay=1e-4)
    for epoch in range(1, opt.epochs + 1):
        adjust_learning_rate(opt, optimizer, epoch)
        train(train_loader, model, criterion, optimizer, epoch, opt)
    probe_set = ColorPatches(192, opt.n_cls, jitter_and_flip, seed=1)
    linear_probe(DataLoader(probe_set, batch_size=32), model, opt)


if __name__ == '__main__':
    main()
