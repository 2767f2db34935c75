# MoCo v1 on synthetic "textures" with the usual kNN monitor.
# Single GPU version, no shuffle-BN.
from functools import partial
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

parser = argparse.ArgumentParser(description='Train MoCo on textures')
parser.add_argument('-a', '--arch', default='tinyconv')
parser.add_argument('--lr', default=0.06, type=float, metavar='LR')
parser.add_argument('--epochs', default=2, type=int, metavar='N')
parser.add_argument('--batch-size', default=32, type=int, metavar='N')
parser.add_argument('--moco-dim', default=32, type=int)
parser.add_argument('--moco-k', default=128, type=int, help='queue size; number of negative keys')
parser.add_argument('--moco-m', default=0.99, type=float)
parser.add_argument('--moco-t', default=0.1, type=float)
parser.add_argument('--knn-k', default=20, type=int)
parser.add_argument('--knn-t', default=0.1, type=float)
args = parser.parse_args()
args.cuda = torch.cuda.is_available()


class Textures(Dataset):
    """Sinusoid gratings; the class is the orientation."""
    num_classes = 4

    def __init__(self, n, pair, seed):
        g = torch.Generator().manual_seed(seed)
        self.targets = torch.randint(0, self.num_classes, (n,), generator=g)
        self.phase = torch.rand(n, generator=g) * 2 * math.pi
        self.pair = pair
        u = torch.linspace(-3, 3, 16)
        self.grid = torch.stack(torch.meshgrid(u, u, indexing='ij'))

    def render(self, i):
        a = math.pi * self.targets[i] / self.num_classes
        g = self.grid[0] * a.cos() + self.grid[1] * a.sin()
        return torch.sin(2 * g + self.phase[i])[None]

    def augment(self, img):
        img = img + 0.2 * torch.randn_like(img)
        return torch.roll(img, shifts=tuple(torch.randint(0, 4, (2,)).tolist()), dims=(1, 2))

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, i):
        img = self.render(i)
        if self.pair:
            return self.augment(img), self.augment(img)
        return img, self.targets[i]


def tinyconv(dim):
    conv = partial(nn.Conv2d, kernel_size=3, stride=2, padding=1, bias=False)
    return nn.Sequential(conv(1, 16), nn.BatchNorm2d(16), nn.ReLU(), conv(16, 32), nn.BatchNorm2d(32), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, dim))


class ModelMoCo(nn.Module):
    def __init__(self, dim=128, K=4096, m=0.99, T=0.1):
        super(ModelMoCo, self).__init__()
        self.K, self.m, self.T = K, m, T
        self.encoder_q = tinyconv(dim)
        self.encoder_k = tinyconv(dim)
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data.copy_(param_q.data)
            param_k.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _momentum_update_key_encoder(self):
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data = param_k.data * self.m + param_q.data * (1. - self.m)

    @torch.no_grad()
    def _dequeue_and_enqueue(self, keys):
        batch_size = keys.shape[0]
        ptr = int(self.queue_ptr)
        assert self.K % batch_size == 0
        self.queue[:, ptr:ptr + batch_size] = keys.t()
        self.queue_ptr[0] = (ptr + batch_size) % self.K

    def forward(self, im_q, im_k):
        with torch.no_grad():
            self._momentum_update_key_encoder()
            k = F.normalize(self.encoder_k(im_k), dim=1)
        q = F.normalize(self.encoder_q(im_q), dim=1)
        l_pos = torch.einsum('nc,nc->n', [q, k]).unsqueeze(-1)
        l_neg = torch.einsum('nc,ck->nk', [q, self.queue.clone().detach()])
        logits = torch.cat([l_pos, l_neg], dim=1) / self.T
        labels = torch.zeros(logits.shape[0], dtype=torch.long, device=logits.device)
        loss = F.cross_entropy(logits, labels)
        self._dequeue_and_enqueue(k)
        return loss


def train(net, data_loader, train_optimizer, epoch):
    net.train()
    total_loss, total_num = 0.0, 0
    for im_1, im_2 in data_loader:
        if args.cuda:
            im_1, im_2 = im_1.cuda(non_blocking=True), im_2.cuda(non_blocking=True)
        loss = net(im_1, im_2)
        train_optimizer.zero_grad()
        loss.backward()
        train_optimizer.step()
        total_num += data_loader.batch_size
        total_loss += loss.item() * data_loader.batch_size
    print('Train Epoch: [{}/{}] Loss: {:.4f}'.format(epoch, args.epochs, total_loss / total_num))


def test(net, memory_loader, test_loader, epoch):
    net.eval()
    classes = memory_loader.dataset.num_classes
    total_top1, total_num, feature_bank = 0.0, 0, []
    with torch.no_grad():
        for data, _ in memory_loader:
            if args.cuda:
                data = data.cuda(non_blocking=True)
            feature = F.normalize(net(data), dim=1)
            feature_bank.append(feature)
        feature_bank = torch.cat(feature_bank, dim=0).t().contiguous()
        feature_labels = memory_loader.dataset.targets.to(feature_bank.device)
        for data, target in test_loader:
            if args.cuda:
                data, target = data.cuda(non_blocking=True), target.cuda(non_blocking=True)
            feature = F.normalize(net(data), dim=1)
            pred_labels = knn_predict(feature, feature_bank, feature_labels, classes, args.knn_k, args.knn_t)
            total_num += data.size(0)
            total_top1 += (pred_labels[:, 0] == target).float().sum().item()
    print('Test Epoch: [{}/{}] Acc@1:{:.2f}%'.format(epoch, args.epochs, total_top1 / total_num * 100))


def knn_predict(feature, feature_bank, feature_labels, classes, knn_k, knn_t):
    sim_matrix = torch.mm(feature, feature_bank)
    sim_weight, sim_indices = sim_matrix.topk(k=knn_k, dim=-1)
    sim_labels = torch.gather(feature_labels.expand(feature.size(0), -1), dim=-1, index=sim_indices)
    sim_weight = (sim_weight / knn_t).exp()
    one_hot_label = torch.zeros(feature.size(0) * knn_k, classes, device=sim_labels.device)
    one_hot_label = one_hot_label.scatter(dim=-1, index=sim_labels.view(-1, 1), value=1.0)
    pred_scores = torch.sum(one_hot_label.view(feature.size(0), -1, classes) * sim_weight.unsqueeze(dim=-1), dim=1)
    return pred_scores.argsort(dim=-1, descending=True)


torch.manual_seed(0)
train_loader = DataLoader(Textures(256, True, 0), batch_size=args.batch_size, shuffle=True, drop_last=True)
memory_loader = DataLoader(Textures(256, False, 0), batch_size=64, shuffle=False)
test_loader = DataLoader(Textures(96, False, 1), batch_size=64, shuffle=False)

model = ModelMoCo(args.moco_dim, args.moco_k, args.moco_m, args.moco_t)
if args.cuda:
    model = model.cuda()
optimizer = torch.optim.SGD(model.encoder_q.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
for epoch in range(1, args.epochs + 1):
    train(model, train_loader, optimizer, epoch)
    test(model.encoder_q, memory_loader, test_loader, epoch)
