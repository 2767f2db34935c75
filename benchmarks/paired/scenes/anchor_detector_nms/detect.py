"""Single-shot detector on synthetic shapes. Usage: python detect.py --epochs 2"""
from __future__ import print_function

import argparse
import os
import shutil
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser(description='tiny SSD')
parser.add_argument('--epochs', default=2, type=int)
parser.add_argument('--batch_size', default=4, type=int)
parser.add_argument('--lr', default=0.01, type=float)
parser.add_argument('--no_cuda', action='store_true')
parser.add_argument('--conf_thresh', default=0.2, type=float)
parser.add_argument('--nms_thresh', default=0.45, type=float)
args = parser.parse_args()

use_cuda = not args.no_cuda and torch.cuda.is_available()
torch.manual_seed(3)
np.random.seed(3)

IMG = 32
CLASSES = ('bg', 'square', 'disc', 'cross')
SCALES = {8: (0.25, 0.4), 4: (0.55,)}
VARIANCES = (0.1, 0.2)


class ShapesDataset(Dataset):
    def __init__(self, n):
        self.items = [self.make() for _ in range(n)]

    @staticmethod
    def make():
        img = np.random.rand(3, IMG, IMG).astype(np.float32) * 0.1
        boxes, labels = [], []
        for _ in range(np.random.randint(1, 4)):
            c, s = np.random.randint(1, 4), np.random.randint(7, 16)
            x, y = np.random.randint(0, IMG - s, 2)
            yy, xx = np.mgrid[:s, :s]
            if c == 1:
                m = np.ones((s, s), bool)
            elif c == 2:
                m = (yy - s / 2) ** 2 + (xx - s / 2) ** 2 < s * s / 4
            else:
                m = (abs(yy - s // 2) < 2) | (abs(xx - s // 2) < 2)
            img[c - 1, y:y + s, x:x + s][m] = 1.0
            boxes.append([x / IMG, y / IMG, (x + s) / IMG, (y + s) / IMG])
            labels.append(c)
        return torch.from_numpy(img), torch.tensor(boxes, dtype=torch.float32), torch.tensor(labels)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def detection_collate(batch):
    imgs, boxes, labels = zip(*batch)
    return torch.stack(imgs), list(boxes), list(labels)


def make_priors():
    out = []
    for f, scales in sorted(SCALES.items(), reverse=True):
        for i in range(f):
            for j in range(f):
                for s in scales:
                    out.append([(j + 0.5) / f, (i + 0.5) / f, s, s])
    return torch.tensor(out)


def point_form(b):
    return torch.cat([b[:, :2] - b[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2], 1)


def jaccard(a, b):
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    inter = (rb - lt).clamp(min=0).prod(2)
    area = lambda x: (x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1])
    return inter / (area(a)[:, None] + area(b)[None] - inter)


def encode(matched, priors):
    g_cxcy = (matched[:, :2] + matched[:, 2:]) / 2 - priors[:, :2]
    g_cxcy = g_cxcy / (VARIANCES[0] * priors[:, 2:])
    g_wh = torch.log((matched[:, 2:] - matched[:, :2]) / priors[:, 2:]) / VARIANCES[1]
    return torch.cat([g_cxcy, g_wh], 1)


def decode(loc, priors):
    cxcy = priors[:, :2] + loc[:, :2] * VARIANCES[0] * priors[:, 2:]
    wh = priors[:, 2:] * torch.exp(loc[:, 2:] * VARIANCES[1])
    return point_form(torch.cat([cxcy, wh], 1))


def match(boxes, labels, priors, threshold=0.4):
    """Ground truth of one picture -> regression and class target of each prior."""
    iou = jaccard(boxes, point_form(priors))
    best_prior = iou.argmax(1)
    best_iou, best_truth = iou.max(0)
    best_iou[best_prior] = 2.0
    best_truth[best_prior] = torch.arange(len(boxes))
    conf = labels[best_truth]
    conf[best_iou < threshold] = 0
    return encode(boxes[best_truth], priors), conf


def nms(boxes, scores, overlap, top_k=30):
    order = scores.argsort(descending=True)[:top_k]
    keep = []
    while order.numel() > 0:
        i = order[0]
        keep.append(i.item())
        if order.numel() == 1:
            break
        rest = order[1:]
        order = rest[jaccard(boxes[i][None], boxes[rest])[0] <= overlap]
    return keep


class TinySSD(nn.Module):
    def __init__(self, num_classes):
        super(TinySSD, self).__init__()
        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, 2, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
        self.num_classes = num_classes
        self.base = nn.Sequential(block(3, 12), block(12, 16))
        self.extra = block(16, 24)
        self.loc = nn.ModuleList([nn.Conv2d(16, 8, 3, padding=1), nn.Conv2d(24, 4, 3, padding=1)])
        self.conf = nn.ModuleList([nn.Conv2d(16, 2 * num_classes, 3, padding=1),
                                   nn.Conv2d(24, num_classes, 3, padding=1)])

    def forward(self, x):
        f1 = self.base(x)
        feats = [f1, self.extra(f1)]
        loc = torch.cat([l(f).permute(0, 2, 3, 1).reshape(x.size(0), -1, 4) for f, l in zip(feats, self.loc)], 1)
        conf = torch.cat([c(f).permute(0, 2, 3, 1).reshape(x.size(0), -1, self.num_classes)
                          for f, c in zip(feats, self.conf)], 1)
        return loc, conf


class MultiBoxLoss(nn.Module):
    def __init__(self, priors, neg_ratio=3):
        super(MultiBoxLoss, self).__init__()
        self.priors = priors
        self.neg_ratio = neg_ratio

    def forward(self, preds, boxes, labels):
        loc, conf = preds
        pairs = [match(b, l, self.priors) for b, l in zip(boxes, labels)]
        loc_t = torch.stack([p[0] for p in pairs])
        conf_t = torch.stack([p[1] for p in pairs])
        if loc.is_cuda:
            loc_t, conf_t = loc_t.cuda(), conf_t.cuda()
        pos = conf_t > 0
        loss_l = F.smooth_l1_loss(loc[pos], loc_t[pos], reduction='sum')
        ce = F.cross_entropy(conf.reshape(-1, conf.size(2)), conf_t.reshape(-1), reduction='none').view_as(conf_t)
        rank = ce.detach().masked_fill(pos, 0).argsort(1, descending=True).argsort(1)
        neg = rank < (self.neg_ratio * pos.sum(1, keepdim=True))
        n = pos.sum().clamp(min=1).float()
        return loss_l / n, ce[pos | neg].sum() / n


def detect(net, imgs, priors):
    loc, conf = net(imgs)
    prob = F.softmax(conf, 2).cpu()
    loc = loc.cpu()
    results = []
    for i in range(imgs.size(0)):
        boxes = decode(loc[i], priors)
        dets = []
        for c in range(1, len(CLASSES)):
            m = prob[i, :, c] > args.conf_thresh
            if m.sum() == 0:
                continue
            b, s = boxes[m], prob[i, m, c]
            for k in nms(b, s, args.nms_thresh):
                dets.append((c, s[k].item(), b[k].numpy()))
        results.append(dets)
    return results


def recall(results, boxes, labels, thr=0.3):
    hit = total = 0
    for dets, b, l in zip(results, boxes, labels):
        for box, lab in zip(b, l.tolist()):
            total += 1
            cand = [torch.from_numpy(d[2]) for d in dets if d[0] == lab]
            if cand and jaccard(box[None], torch.stack(cand)).max() > thr:
                hit += 1
    return hit, total


priors = make_priors()
train_loader = DataLoader(ShapesDataset(24), args.batch_size, shuffle=True, collate_fn=detection_collate)
test_loader = DataLoader(ShapesDataset(8), args.batch_size, collate_fn=detection_collate)
net = TinySSD(len(CLASSES))
criterion = MultiBoxLoss(priors)
if use_cuda:
    net.cuda()
optimizer = optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)


def train(epoch):
    net.train()
    tot_l = tot_c = 0.
    for imgs, boxes, labels in train_loader:
        if use_cuda:
            imgs = imgs.cuda()
        optimizer.zero_grad()
        loss_l, loss_c = criterion(net(imgs), boxes, labels)
        (loss_l + loss_c).backward()
        optimizer.step()
        tot_l += loss_l.item()
        tot_c += loss_c.item()
    print('Epoch %d | loc %.3f | conf %.3f' % (epoch, tot_l / len(train_loader), tot_c / len(train_loader)))


def test():
    net.eval()
    hit = total = 0
    with torch.no_grad():
        for imgs, boxes, labels in test_loader:
            if use_cuda:
                imgs = imgs.cuda()
            h, t = recall(detect(net, imgs, priors), boxes, labels)
            hit, total = hit + h, total + t
    print('Recall %d/%d' % (hit, total))


if __name__ == '__main__':
    save_dir = tempfile.mkdtemp()
    for epoch in range(args.epochs):
        train(epoch)
        test()
        torch.save(net.state_dict(), os.path.join(save_dir, 'ssd_%d.pth' % epoch))
    shutil.rmtree(save_dir)
