"""Mean teachers are better role models (Tarvainen & Valpola, 2017), toy images."""
import argparse
import copy
import itertools
import logging
import os
import shutil
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.sampler import Sampler

LOG = logging.getLogger('main')
NO_LABEL = -1

args = None
best_prec1 = 0
global_step = 0


def parse_args():
    parser = argparse.ArgumentParser(description='Mean teacher training')
    parser.add_argument('--arch', '-a', default='convnet', choices=['convnet', 'mlp'])
    parser.add_argument('--epochs', default=2, type=int)
    parser.add_argument('-b', '--batch-size', default=16, type=int)
    parser.add_argument('--labeled-batch-size', default=4, type=int)
    parser.add_argument('--lr', default=0.05, type=float)
    parser.add_argument('--ema-decay', default=0.99, type=float)
    parser.add_argument('--consistency', default=5.0, type=float)
    parser.add_argument('--consistency-type', default='mse', choices=['mse', 'kl'])
    parser.add_argument('--consistency-rampup', default=2, type=int)
    parser.add_argument('--resume', default='', type=str)
    parser.add_argument('--no-cuda', action='store_true')
    parser.add_argument('--out', default='')
    return parser.parse_args()


class ToyImages(Dataset):
    def __init__(self, n, num_labels, classes=4, seed=0):
        rng = np.random.RandomState(seed)
        proto = np.random.RandomState(123).randn(classes, 3, 12, 12)
        self.labels = rng.randint(0, classes, n)
        self.images = (proto[self.labels] + 0.8 * rng.randn(n, 3, 12, 12)).astype(np.float32)
        self.targets = self.labels.copy()
        if num_labels is not None:
            self.targets[num_labels:] = NO_LABEL

    def __len__(self):
        return len(self.images)

    def _transform(self, x):
        if np.random.rand() < 0.5:
            x = x[:, :, ::-1].copy()
        return torch.from_numpy(x + 0.15 * np.random.randn(*x.shape).astype(np.float32))

    def __getitem__(self, i):
        return (self._transform(self.images[i]), self._transform(self.images[i])), int(self.targets[i])


class TwoStreamBatchSampler(Sampler):
    """Iterate two sets of indices; an epoch is one pass over the unlabeled one."""

    def __init__(self, primary, secondary, batch_size, secondary_batch_size):
        self.primary, self.secondary = primary, secondary
        self.secondary_batch_size = secondary_batch_size
        self.primary_batch_size = batch_size - secondary_batch_size

    def __iter__(self):
        first = np.random.permutation(self.primary)
        second = itertools.chain.from_iterable(np.random.permutation(self.secondary) for _ in itertools.count())
        for i in range(len(self)):
            batch = first[i * self.primary_batch_size:(i + 1) * self.primary_batch_size].tolist()
            yield batch + [int(next(second)) for _ in range(self.secondary_batch_size)]

    def __len__(self):
        return len(self.primary) // self.primary_batch_size


def convnet(num_classes):
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.LeakyReLU(0.1), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.LeakyReLU(0.1), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Dropout(0.3), nn.Linear(16, num_classes))


def mlp(num_classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * 144, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, num_classes))


def create_model(num_classes=4):
    LOG.info('=> creating model %s', args.arch)
    model = {'convnet': convnet, 'mlp': mlp}[args.arch](num_classes)
    if args.cuda:
        model = nn.DataParallel(model).cuda()
    return model


def make_teacher(model):
    ema_model = copy.deepcopy(model)
    for param in ema_model.parameters():
        param.detach_()
    return ema_model


def sigmoid_rampup(current, length):
    if length == 0:
        return 1.0
    phase = 1.0 - np.clip(current, 0.0, length) / length
    return float(np.exp(-5.0 * phase * phase))


def softmax_mse_loss(a, b):
    return F.mse_loss(F.softmax(a, dim=1), F.softmax(b, dim=1), reduction='sum') / a.size(1)


def softmax_kl_loss(a, b):
    return F.kl_div(F.log_softmax(a, dim=1), F.softmax(b, dim=1), reduction='sum')


def update_ema_variables(model, ema_model, alpha, step):
    alpha = min(1 - 1 / (step + 1), alpha)
    for ema_param, param in zip(ema_model.parameters(), model.parameters()):
        ema_param.data.mul_(alpha).add_(param.data, alpha=1 - alpha)


def train(train_loader, model, ema_model, optimizer, epoch):
    global global_step
    class_criterion = nn.CrossEntropyLoss(reduction='sum', ignore_index=NO_LABEL)
    if args.cuda:
        class_criterion = class_criterion.cuda()
    consistency_criterion = softmax_mse_loss if args.consistency_type == 'mse' else softmax_kl_loss
    model.train()
    ema_model.train()
    for i, ((input, ema_input), target) in enumerate(train_loader):
        labeled = int((target != NO_LABEL).sum())
        if args.cuda:
            input, ema_input, target = input.cuda(), ema_input.cuda(), target.cuda()
        input_var, target_var = Variable(input), Variable(target)
        with torch.no_grad():
            ema_logit = ema_model(Variable(ema_input))
        logit = model(input_var)
        n = len(target_var)
        class_loss = class_criterion(logit, target_var) / max(labeled, 1)
        weight = args.consistency * sigmoid_rampup(epoch + i / len(train_loader), args.consistency_rampup)
        consistency_loss = weight * consistency_criterion(logit, ema_logit) / n
        loss = class_loss + consistency_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        global_step += 1
        update_ema_variables(model, ema_model, args.ema_decay, global_step)
    LOG.info('epoch %d class %.4f cons %.4f', epoch, class_loss.item(), consistency_loss.item())


def validate(eval_loader, model, name):
    model.eval()
    correct, total = 0, 0
    for (input, _), target in eval_loader:
        if args.cuda:
            input = input.cuda()
        with torch.no_grad():
            pred = model(Variable(input)).data.max(1)[1].cpu()
        correct += (pred == target).sum().item()
        total += target.size(0)
    LOG.info(' * %s Prec@1 %.3f', name, 100.0 * correct / total)
    return 100.0 * correct / total


def save_checkpoint(state, is_best, dirpath, epoch):
    path = os.path.join(dirpath, 'checkpoint.{}.ckpt'.format(epoch))
    torch.save(state, path)
    if is_best:
        shutil.copyfile(path, os.path.join(dirpath, 'best.ckpt'))


def main():
    global best_prec1, global_step
    out = args.out or tempfile.mkdtemp()
    train_set, eval_set = ToyImages(64, 16), ToyImages(32, None, seed=8)
    sampler = TwoStreamBatchSampler(np.where(train_set.targets == NO_LABEL)[0],
                                    np.where(train_set.targets != NO_LABEL)[0],
                                    args.batch_size, args.labeled_batch_size)
    train_loader = DataLoader(train_set, batch_sampler=sampler, pin_memory=args.cuda)
    eval_loader = DataLoader(eval_set, batch_size=args.batch_size)

    model = create_model()
    ema_model = make_teacher(model)
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, nesterov=True, weight_decay=2e-4)
    start_epoch = 0
    if args.resume:
        checkpoint = torch.load(args.resume, map_location='cpu')
        start_epoch, global_step = checkpoint['epoch'], checkpoint['global_step']
        model.load_state_dict(checkpoint['state_dict'])
        ema_model.load_state_dict(checkpoint['ema_state_dict'])
        optimizer.load_state_dict(checkpoint['optimizer'])

    for epoch in range(start_epoch, args.epochs):
        train(train_loader, model, ema_model, optimizer, epoch)
        validate(eval_loader, model, 'student')
        prec1 = validate(eval_loader, ema_model, 'teacher')
        is_best, best_prec1 = prec1 > best_prec1, max(prec1, best_prec1)
        save_checkpoint({'epoch': epoch + 1, 'global_step': global_step, 'arch': args.arch,
                         'state_dict': model.state_dict(), 'ema_state_dict': ema_model.state_dict(),
                         'optimizer': optimizer.state_dict()}, is_best, out, epoch + 1)


if __name__ == '__main__':
    logging.basicConfig(level=logging.INFO)
    args = parse_args()
    args.cuda = not args.no_cuda and torch.cuda.is_available()
    torch.manual_seed(0)
    np.random.seed(0)
    main()
