# HyperNetworks (Ha et al.): one small network writes the conv weights of the main net,
# each layer is described by a grid of embeddings.
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parameter import Parameter


class HyperNetwork(nn.Module):
    def __init__(self, f_size=3, z_dim=16, out_size=8, in_size=8):
        super(HyperNetwork, self).__init__()
        self.z_dim = z_dim
        self.f_size = f_size
        self.out_size = out_size
        self.in_size = in_size
        self.w1 = Parameter(torch.randn(z_dim, out_size * f_size * f_size) * 0.1)
        self.b1 = Parameter(torch.zeros(out_size * f_size * f_size))
        self.w2 = Parameter(torch.randn(z_dim, in_size * z_dim) * 0.1)
        self.b2 = Parameter(torch.zeros(in_size * z_dim))

    def forward(self, z):
        h_in = torch.matmul(z, self.w2) + self.b2
        h_in = h_in.view(self.in_size, self.z_dim)
        h_final = torch.matmul(h_in, self.w1) + self.b1
        return h_final.view(self.out_size, self.in_size, self.f_size, self.f_size)


class Embedding(nn.Module):
    def __init__(self, z_num, z_dim):
        super(Embedding, self).__init__()
        self.z_num = z_num
        h, k = z_num
        self.z_list = nn.ParameterList([Parameter(torch.randn(z_dim)) for _ in range(h * k)])

    def forward(self, hyper_net):
        h, k = self.z_num
        ww = []
        for i in range(h):
            w = [hyper_net(self.z_list[i * k + j]) for j in range(k)]
            ww.append(torch.cat(w, dim=1))
        return torch.cat(ww, dim=0)


class ResBlock(nn.Module):
    def __init__(self, in_size, out_size, downsample):
        super(ResBlock, self).__init__()
        self.stride = 2 if downsample else 1
        self.in_size, self.out_size = in_size, out_size
        self.bn1 = nn.BatchNorm2d(out_size)
        self.bn2 = nn.BatchNorm2d(out_size)
        self.reslayer = nn.Conv2d(in_size, out_size, 1, stride=self.stride) if downsample else nn.Identity()

    def forward(self, x, w1, w2):
        out = F.relu(self.bn1(F.conv2d(x, w1, stride=self.stride, padding=1)))
        out = self.bn2(F.conv2d(out, w2, padding=1))
        return F.relu(self.reslayer(x) + out)


class PrimaryNetwork(nn.Module):
    zs_size = [[1, 1], [1, 1], [2, 1], [2, 2]]
    filter_size = [[8, 8, False], [8, 16, True]]

    def __init__(self, num_classes=3, z_dim=16):
        super(PrimaryNetwork, self).__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.hope = HyperNetwork(z_dim=z_dim)

        self.res_net = nn.ModuleList()
        for i, o, down in self.filter_size:
            self.res_net.append(ResBlock(i, o, down))

        self.zs = nn.ModuleList()
        for size in self.zs_size:
            self.zs.append(Embedding(size, z_dim))

        self.final = nn.Linear(16, num_classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for i, block in enumerate(self.res_net):
            w1 = self.zs[2 * i](self.hope)
            w2 = self.zs[2 * i + 1](self.hope)
            x = block(x, w1, w2)
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.final(x)


def make_data(n):
    """horizontal bars, vertical bars, checkers"""
    label = torch.randint(0, 3, (n,))
    r = torch.arange(12)
    base = torch.stack([
        (r[:, None] % 4 < 2).expand(12, 12),
        (r[None, :] % 4 < 2).expand(12, 12),
        (r[:, None] // 2 + r[None, :] // 2) % 2 == 0,
    ]).float()
    return base[label].unsqueeze(1) + 0.3 * torch.randn(n, 1, 12, 12), label


def main(steps=30):
    torch.manual_seed(0)
    gpu = torch.cuda.is_available()
    net = PrimaryNetwork()
    if gpu:
        net.cuda()
    print('parameters:', sum(p.numel() for p in net.parameters()))

    optimizer = torch.optim.Adam(net.parameters(), lr=0.005, weight_decay=0.0005)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[20], gamma=0.5)
    criterion = nn.CrossEntropyLoss()

    running = 0.0
    for i in range(steps):
        inputs, labels = make_data(32)
        if gpu:
            inputs, labels = inputs.cuda(), labels.cuda()
        optimizer.zero_grad()
        loss = criterion(net(inputs), labels)
        loss.backward()
        optimizer.step()
        scheduler.step()
        running += loss.item()
        if i % 10 == 9:
            print('[%d] loss: %.3f' % (i + 1, running / 10))
            running = 0.0

    net.eval()
    inputs, labels = make_data(90)
    with torch.no_grad():
        pred = net(inputs.cuda() if gpu else inputs).max(1)[1].cpu()
    print('accuracy: %.1f %%' % (100. * (pred == labels).float().mean().item()))


if __name__ == '__main__':
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
