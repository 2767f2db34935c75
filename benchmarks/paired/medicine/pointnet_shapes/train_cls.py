from __future__ import print_function

import argparse
import os
import random
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument('--batchSize', type=int, default=8)
parser.add_argument('--num_points', type=int, default=64)
parser.add_argument('--nepoch', type=int, default=2)
parser.add_argument('--outf', type=str, default='', help='output folder')
parser.add_argument('--model', type=str, default='', help='model path')
parser.add_argument('--no-cuda', action='store_true', default=False)
parser.add_argument('--feature_transform', action='store_true', help='use feature transform')
parser.add_argument('--manualSeed', type=int, default=42)
opt = parser.parse_args()
print(opt)

use_cuda = not opt.no_cuda and torch.cuda.is_available()

random.seed(opt.manualSeed)
np.random.seed(opt.manualSeed)
torch.manual_seed(opt.manualSeed)
if use_cuda:
    torch.cuda.manual_seed_all(opt.manualSeed)

SHAPES = ['sphere', 'cube', 'cylinder', 'plane']
blue = lambda x: '\033[94m' + x + '\033[0m'


def sample_shape(kind, n, rng):
    if kind == 'sphere':
        p = rng.randn(n, 3)
        p /= np.linalg.norm(p, axis=1, keepdims=True)
    elif kind == 'cube':
        p = rng.uniform(-1, 1, (n, 3))
        axis = rng.randint(0, 3, n)
        p[np.arange(n), axis] = np.sign(p[np.arange(n), axis])
    elif kind == 'cylinder':
        t = rng.uniform(0, 2 * np.pi, n)
        p = np.stack([np.cos(t), np.sin(t), rng.uniform(-1, 1, n)], 1)
    else:
        p = np.concatenate([rng.uniform(-1, 1, (n, 2)), np.zeros((n, 1))], 1)
    return p


class ShapeDataset(Dataset):
    def __init__(self, size, npoints, augment, seed):
        self.rng = np.random.RandomState(seed)
        self.npoints = npoints
        self.augment = augment
        self.labels = self.rng.randint(0, len(SHAPES), size)
        self.clouds = [sample_shape(SHAPES[l], npoints * 2, self.rng) for l in self.labels]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        pts = self.clouds[index]
        pts = pts[self.rng.choice(len(pts), self.npoints, replace=True)]
        pts = pts - pts.mean(0, keepdims=True)
        pts = pts / np.max(np.sqrt((pts ** 2).sum(1)))
        if self.augment:
            theta = self.rng.uniform(0, np.pi * 2)
            rot = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
            pts[:, [0, 2]] = pts[:, [0, 2]].dot(rot)
            pts += self.rng.normal(0, 0.02, pts.shape)
        return torch.from_numpy(pts.astype(np.float32)), torch.tensor([self.labels[index]]).long()


class STNkd(nn.Module):
    def __init__(self, k=3):
        super(STNkd, self).__init__()
        self.conv1 = nn.Conv1d(k, 16, 1)
        self.conv2 = nn.Conv1d(16, 32, 1)
        self.fc1 = nn.Linear(32, 16)
        self.fc2 = nn.Linear(16, k * k)
        self.bn1 = nn.BatchNorm1d(16)
        self.bn2 = nn.BatchNorm1d(32)
        self.k = k

    def forward(self, x):
        batchsize = x.size()[0]
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        x = torch.max(x, 2)[0]
        x = F.relu(self.fc1(x))
        x = self.fc2(x)
        iden = torch.from_numpy(np.eye(self.k).flatten().astype(np.float32)).view(1, self.k * self.k)
        iden = iden.repeat(batchsize, 1)
        if x.is_cuda:
            iden = iden.cuda()
        x = x + iden
        return x.view(-1, self.k, self.k)


class PointNetfeat(nn.Module):
    def __init__(self, feature_transform=False):
        super(PointNetfeat, self).__init__()
        self.stn = STNkd(3)
        self.conv1 = nn.Conv1d(3, 16, 1)
        self.conv2 = nn.Conv1d(16, 32, 1)
        self.bn1 = nn.BatchNorm1d(16)
        self.bn2 = nn.BatchNorm1d(32)
        self.feature_transform = feature_transform
        if self.feature_transform:
            self.fstn = STNkd(k=16)

    def forward(self, x):
        trans = self.stn(x)
        x = torch.bmm(x.transpose(2, 1), trans).transpose(2, 1)
        x = F.relu(self.bn1(self.conv1(x)))
        if self.feature_transform:
            trans_feat = self.fstn(x)
            x = torch.bmm(x.transpose(2, 1), trans_feat).transpose(2, 1)
        else:
            trans_feat = None
        x = self.bn2(self.conv2(x))
        x, crit = torch.max(x, 2)
        return x, trans, trans_feat, crit


class PointNetCls(nn.Module):
    def __init__(self, k=2, feature_transform=False):
        super(PointNetCls, self).__init__()
        self.feat = PointNetfeat(feature_transform)
        self.fc1 = nn.Linear(32, 16)
        self.fc2 = nn.Linear(16, k)
        self.dropout = nn.Dropout(p=0.3)

    def forward(self, x):
        x, trans, trans_feat, crit = self.feat(x)
        x = self.fc2(F.relu(self.dropout(self.fc1(x))))
        return F.log_softmax(x, dim=1), trans, trans_feat, crit


def feature_transform_regularizer(trans):
    d = trans.size()[1]
    I = torch.eye(d)[None, :, :]
    if trans.is_cuda:
        I = I.cuda()
    return torch.mean(torch.norm(torch.bmm(trans, trans.transpose(2, 1)) - I, dim=(1, 2)))


dataset = ShapeDataset(32, opt.num_points, True, opt.manualSeed)
test_dataset = ShapeDataset(16, opt.num_points, False, opt.manualSeed + 1)
dataloader = DataLoader(dataset, batch_size=opt.batchSize, shuffle=True)
testdataloader = DataLoader(test_dataset, batch_size=opt.batchSize, shuffle=False)
print(len(dataset), len(test_dataset))

outf = opt.outf or tempfile.mkdtemp()
os.makedirs(outf, exist_ok=True)

classifier = PointNetCls(k=len(SHAPES), feature_transform=opt.feature_transform)
if opt.model != '':
    classifier.load_state_dict(torch.load(opt.model, map_location='cpu'))
if use_cuda:
    classifier.cuda()

optimizer = optim.Adam(classifier.parameters(), lr=0.001, betas=(0.9, 0.999))
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.5)
num_batch = len(dataset) // opt.batchSize

for epoch in range(opt.nepoch):
    for i, (points, target) in enumerate(dataloader):
        target = target[:, 0]
        points = points.transpose(2, 1)
        if use_cuda:
            points, target = points.cuda(), target.cuda()
        optimizer.zero_grad()
        classifier = classifier.train()
        pred, trans, trans_feat, _ = classifier(points)
        loss = F.nll_loss(pred, target)
        if opt.feature_transform:
            loss += feature_transform_regularizer(trans_feat) * 0.001
        loss.backward()
        optimizer.step()
        pred_choice = pred.data.max(1)[1]
        correct = pred_choice.eq(target.data).cpu().sum()
        print('[%d: %d/%d] train loss: %f accuracy: %f' % (
            epoch, i, num_batch, loss.item(), correct.item() / float(opt.batchSize)))
    scheduler.step()
    # checkpoints are written from the cpu, the viewer machine has no card
    torch.save(classifier.cpu().state_dict(), '%s/cls_model_%d.pth' % (outf, epoch))
    if use_cuda:
        classifier.cuda()

total_correct = 0
total = 0
usage = torch.zeros(opt.num_points)
confusion = np.zeros((len(SHAPES), len(SHAPES)), dtype=int)
classifier = classifier.eval()
with torch.no_grad():
    for points, target in testdataloader:
        target = target[:, 0]
        points = points.transpose(2, 1)
        if use_cuda:
            points = points.cuda()
        pred, _, _, crit = classifier(points)
        choice = pred.max(1)[1].cpu()
        total_correct += choice.eq(target).sum().item()
        total += points.size()[0]
        np.add.at(confusion, (target.numpy(), choice.numpy()), 1)
        usage += torch.bincount(crit.cpu().flatten(), minlength=opt.num_points).float()

print(blue('final accuracy'), total_correct / float(total))
print(confusion)
print('critical points used', int((usage > 0).sum()), 'of', opt.num_points)
