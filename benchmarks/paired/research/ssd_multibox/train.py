import argparse
import os
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.init as init
import torch.optim as optim
import torch.utils.data as data
from torch.autograd import Variable

from data import ShapesDetection, detection_collate, shapes_cfg
from eval import test_net
from layers import MultiBoxLoss
from ssd import build_ssd


def str2bool(v):
    return v.lower() in ("yes", "true", "t", "1")


parser = argparse.ArgumentParser(description='Single Shot MultiBox Detector Training')
parser.add_argument('--batch_size', default=8, type=int)
parser.add_argument('--max_iter', default=12, type=int)
parser.add_argument('--resume', default=None, type=str)
parser.add_argument('--cuda', default=True, type=str2bool, help='Use CUDA to train model')
parser.add_argument('--lr', '--learning-rate', default=5e-3, type=float)
parser.add_argument('--momentum', default=0.9, type=float)
parser.add_argument('--gamma', default=0.1, type=float)
parser.add_argument('--save_folder', default=None)
args = parser.parse_args()

args.cuda = args.cuda and torch.cuda.is_available()
torch.manual_seed(0)
save_folder = args.save_folder or tempfile.mkdtemp()


def weights_init(m):
    if isinstance(m, nn.Conv2d):
        init.xavier_uniform_(m.weight.data)
        m.bias.data.zero_()


def adjust_learning_rate(optimizer, gamma, step):
    lr = args.lr * (gamma ** step)
    for param_group in optimizer.param_groups:
        param_group['lr'] = lr


def train():
    cfg = shapes_cfg
    dataset = ShapesDetection(32, cfg)
    ssd_net = build_ssd('train', cfg)
    net = ssd_net
    if args.resume:
        print('Resuming training, loading {}...'.format(args.resume))
        ssd_net.load_state_dict(torch.load(args.resume, map_location='cpu'))
    else:
        ssd_net.apply(weights_init)
    if args.cuda:
        net = torch.nn.DataParallel(ssd_net)
        net = net.cuda()

    optimizer = optim.SGD(net.parameters(), lr=args.lr, momentum=args.momentum, weight_decay=5e-4)
    criterion = MultiBoxLoss(cfg['num_classes'], 0.5, 3, cfg['variance'], args.cuda)
    net.train()

    step_index = 0
    data_loader = data.DataLoader(dataset, args.batch_size, shuffle=True, collate_fn=detection_collate,
                                  pin_memory=args.cuda)
    batch_iterator = iter(data_loader)
    for iteration in range(args.max_iter):
        if iteration in cfg['lr_steps']:
            step_index += 1
            adjust_learning_rate(optimizer, args.gamma, step_index)
        try:
            images, targets = next(batch_iterator)
        except StopIteration:
            batch_iterator = iter(data_loader)
            images, targets = next(batch_iterator)
        if args.cuda:
            images = Variable(images.cuda())
        else:
            images = Variable(images)
        t0 = time.time()
        out = net(images)
        optimizer.zero_grad()
        loss_l, loss_c = criterion(out, targets)
        loss = loss_l + loss_c
        loss.backward()
        optimizer.step()
        if iteration % 4 == 0:
            print('iter %d || Loss: %.4f || timer: %.3f sec.' % (iteration, loss.item(), time.time() - t0))

    path = os.path.join(save_folder, 'ssd_shapes.pth')
    torch.save(ssd_net.state_dict(), path)
    val = data.DataLoader(ShapesDetection(8, cfg, seed=9), 4, collate_fn=detection_collate)
    test_net(path, cfg, val, args.cuda)


if __name__ == '__main__':
    train()
