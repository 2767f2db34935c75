from __future__ import print_function

import argparse
import random
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.backends.cudnn as cudnn
from torch.autograd import Variable

from reid import models
from reid.data_manager import SyntheticMarket, get_loaders
from reid.losses import CrossEntropyLabelSmooth, TripletLoss
from reid.utils import AverageMeter, evaluate_rank, save_checkpoint

parser = argparse.ArgumentParser(description='Train image model with cross entropy + triplet loss')
parser.add_argument('-a', '--arch', type=str, default='pcb', choices=models.get_names())
parser.add_argument('--max-epoch', type=int, default=2)
parser.add_argument('--train-batch', type=int, default=8)
parser.add_argument('--test-batch', type=int, default=8)
parser.add_argument('--lr', type=float, default=0.05)
parser.add_argument('--stepsize', type=int, default=1)
parser.add_argument('--htri-weight', type=float, default=0.5)
parser.add_argument('--seed', type=int, default=1)
parser.add_argument('--save-dir', type=str, default='')
parser.add_argument('--use-cpu', action='store_true')
parser.add_argument('--evaluate', action='store_true')
args = parser.parse_args()


def main():
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    use_gpu = torch.cuda.is_available() and not args.use_cpu
    if use_gpu:
        cudnn.benchmark = True
        torch.cuda.manual_seed_all(args.seed)
    save_dir = args.save_dir or tempfile.mkdtemp(prefix='reid_')

    dataset = SyntheticMarket()
    trainloader, queryloader, galleryloader = get_loaders(dataset, args, pin_memory=use_gpu)

    print("Initializing model: {}".format(args.arch))
    model = models.init_model(args.arch, num_classes=dataset.num_train_pids)
    print("Model size: {:.5f}M".format(sum(p.numel() for p in model.parameters()) / 1e6))

    criterion_xent = CrossEntropyLabelSmooth(dataset.num_train_pids, use_gpu=use_gpu)
    criterion_htri = TripletLoss()

    if use_gpu:
        model = nn.DataParallel(model).cuda()

    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=args.stepsize, gamma=0.1)

    if args.evaluate:
        test(model, queryloader, galleryloader, use_gpu)
        return

    best_rank1 = -np.inf
    for epoch in range(args.max_epoch):
        train(epoch, model, criterion_xent, criterion_htri, optimizer, trainloader, use_gpu)
        scheduler.step()
        rank1 = test(model, queryloader, galleryloader, use_gpu)
        is_best = rank1 > best_rank1
        best_rank1 = max(rank1, best_rank1)

        state_dict = model.module.state_dict() if use_gpu else model.state_dict()
        state_dict = {k: v.cpu() for k, v in state_dict.items()}
        save_checkpoint({'state_dict': state_dict, 'rank1': float(rank1), 'epoch': epoch}, is_best, save_dir)
    print("==> Best Rank-1 {:.1%}".format(best_rank1))


def train(epoch, model, criterion_xent, criterion_htri, optimizer, trainloader, use_gpu):
    model.train()
    losses = AverageMeter()
    corrects = AverageMeter()
    for batch_idx, (imgs, pids, _) in enumerate(trainloader):
        if use_gpu:
            imgs, pids = imgs.cuda(), pids.cuda()
        imgs, pids = Variable(imgs), Variable(pids)
        logits, features = model(imgs)
        xent_loss = sum(criterion_xent(l, pids) for l in logits) / len(logits)
        htri_loss = criterion_htri(features, pids)
        loss = xent_loss + args.htri_weight * htri_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.item(), pids.size(0))
        corrects.update((sum(logits).max(1)[1] == pids).float().mean().item(), pids.size(0))
    print("Epoch {}\t Loss {:.4f}\t Acc {:.1%}".format(epoch + 1, losses.avg, corrects.avg))


def extract(model, loader, use_gpu):
    feats, pids_all, camids_all = [], [], []
    with torch.no_grad():
        for imgs, pids, camids in loader:
            if use_gpu:
                imgs = imgs.cuda()
            features = model(imgs)
            feats.append(features.data.cpu())
            pids_all.extend(pids)
            camids_all.extend(camids)
    return torch.cat(feats, 0), np.asarray(pids_all), np.asarray(camids_all)


def test(model, queryloader, galleryloader, use_gpu, ranks=(1, 5)):
    model.eval()
    qf, q_pids, q_camids = extract(model, queryloader, use_gpu)
    gf, g_pids, g_camids = extract(model, galleryloader, use_gpu)
    m, n = qf.size(0), gf.size(0)
    distmat = qf.pow(2).sum(1, keepdim=True).expand(m, n) + gf.pow(2).sum(1, keepdim=True).expand(n, m).t()
    distmat = (distmat - 2 * torch.mm(qf, gf.t())).numpy()
    cmc, mAP = evaluate_rank(distmat, q_pids, g_pids, q_camids, g_camids)
    print("mAP: {:.1%}  ".format(mAP) + "  ".join("Rank-{}: {:.1%}".format(r, cmc[r - 1]) for r in ranks))
    return cmc[0]


if __name__ == '__main__':
    main()
