import argparse
import os
import tempfile

import torch
from torch.autograd import Variable
from torch.utils import data

from datasets.shapes import ShapesVOC
from networks import get_network
from utils.loss import BalancedCrossEntropy2d, MultiLoss
from utils.metrics import runningScore


def poly_lr_scheduler(optimizer, init_lr, it, max_iter, power=0.9):
    lr = init_lr * (1 - float(it) / max_iter) ** power
    for group in optimizer.param_groups:
        group['lr'] = lr
    return lr


def validate(args, model, loader, metrics):
    model.eval()
    metrics.reset()
    for images, labels in loader:
        if args.cuda:
            images = images.cuda()
        with torch.no_grad():
            outputs, _ = model(Variable(images))
        pred = outputs.data.max(1)[1].cpu().numpy()
        metrics.update(labels.numpy(), pred)
    model.train()
    return metrics.get_scores()


def train(args):
    t_loader = data.DataLoader(ShapesVOC('train'), batch_size=args.batch_size, shuffle=True, pin_memory=args.cuda)
    v_loader = data.DataLoader(ShapesVOC('val', n=8), batch_size=args.batch_size)
    n_classes = ShapesVOC.n_classes
    metrics = runningScore(n_classes)

    model = get_network(args.arch, n_classes)
    balanced = BalancedCrossEntropy2d(n_classes)
    criterion = MultiLoss(balanced)
    start_epoch, best_iou = 0, -100.0
    if args.resume and os.path.isfile(args.resume):
        checkpoint = torch.load(args.resume, map_location='cpu')
        model.load_state_dict(checkpoint['model_state'])
        criterion.load_state_dict(checkpoint['criterion_state'])
        start_epoch = checkpoint['epoch']
    if args.cuda:
        model = torch.nn.DataParallel(model, device_ids=range(torch.cuda.device_count())).cuda()
        criterion.cuda()

    optimizer = torch.optim.SGD(model.parameters(), lr=args.l_rate, momentum=0.9, weight_decay=5e-4)
    max_iter = args.n_epoch * len(t_loader)
    for epoch in range(start_epoch, args.n_epoch):
        model.train()
        criterion.train()
        for i, (images, labels) in enumerate(t_loader):
            poly_lr_scheduler(optimizer, args.l_rate, epoch * len(t_loader) + i, max_iter)
            if args.cuda:
                images, labels = images.cuda(), labels.cuda()
            images, labels = Variable(images), Variable(labels)
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            if i % args.print_freq == 0:
                print("Epoch [%d/%d] Loss: %.4f" % (epoch + 1, args.n_epoch, loss.item()))

        score, class_iou = validate(args, model, v_loader, metrics)
        print(' '.join('{}: {:.3f}'.format(k, v) for k, v in score.items()))
        print('class weights', ['%.2f' % w for w in balanced.class_weights().tolist()])
        if score['Mean IoU'] >= best_iou:
            best_iou = score['Mean IoU']
            net = model.module if args.cuda else model
            torch.save({'epoch': epoch + 1, 'model_state': net.state_dict(),
                        'criterion_state': criterion.state_dict()},
                       os.path.join(args.save_folder, '{}_best.pkl'.format(args.arch)))


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description='Hyperparams')
    parser.add_argument('--arch', nargs='?', type=str, default='pspnet')
    parser.add_argument('--n_epoch', nargs='?', type=int, default=2)
    parser.add_argument('--batch_size', nargs='?', type=int, default=6)
    parser.add_argument('--l_rate', nargs='?', type=float, default=1e-2)
    parser.add_argument('--print_freq', type=int, default=2)
    parser.add_argument('--resume', nargs='?', type=str, default=None)
    parser.add_argument('--save_folder', type=str, default=None)
    parser.add_argument('--no-cuda', action='store_true', default=False)
    args = parser.parse_args()
    args.cuda = not args.no_cuda and torch.cuda.is_available()
    args.save_folder = args.save_folder or tempfile.mkdtemp()
    torch.manual_seed(1337)
    train(args)
