'''Non-parametric instance discrimination with a memory bank (NCE replaced by full softmax, data is small).'''
from __future__ import print_function

import time
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.data as data
from torch.autograd import Function

use_cuda = torch.cuda.is_available()
device = 'cuda' if use_cuda else 'cpu'


class IndexedShapes(data.Dataset):
    """returns (img, target, index), as the CIFAR10Instance class of the original repo"""

    def __init__(self, n=200, seed=1):
        g = torch.Generator()
        g.manual_seed(seed)
        proto = torch.randn(5, 3, 8, 8, generator=g)
        self.labels = torch.randint(5, (n,), generator=g)
        self.imgs = proto[self.labels] + 0.5 * torch.randn(n, 3, 8, 8, generator=g)

    def __getitem__(self, index):
        img = self.imgs[index]
        if torch.rand(1).item() < 0.5:
            img = img.flip(-1)
        return img, self.labels[index], index

    def __len__(self):
        return self.imgs.size(0)


class LinearAverageOp(Function):
    @staticmethod
    def forward(ctx, x, y, memory, params):
        T = params[0].item()
        out = torch.mm(x, memory.t())
        out.div_(T)
        ctx.save_for_backward(x, memory, y, params)
        return out

    @staticmethod
    def backward(ctx, gradOutput):
        x, memory, y, params = ctx.saved_tensors
        T = params[0].item()
        momentum = params[1].item()
        gradOutput = gradOutput.div(T)
        gradInput = torch.mm(gradOutput, memory).resize_as_(x)

        # update the non-parametric data
        weight_pos = memory.index_select(0, y.view(-1)).resize_as_(x)
        weight_pos.mul_(momentum)
        weight_pos.add_(x * (1 - momentum))
        updated_weight = F.normalize(weight_pos, dim=1)
        memory.index_copy_(0, y, updated_weight)
        return gradInput, None, None, None


class LinearAverage(nn.Module):
    def __init__(self, inputSize, outputSize, T=0.07, momentum=0.5):
        super(LinearAverage, self).__init__()
        self.nLem = outputSize
        self.register_buffer('params', torch.tensor([T, momentum]))
        stdv = 1. / (inputSize / 3) ** 0.5
        self.register_buffer('memory', torch.rand(outputSize, inputSize).mul_(2 * stdv).add_(-stdv))

    def forward(self, x, y):
        return LinearAverageOp.apply(x, y, self.memory, self.params)


class Net(nn.Module):
    def __init__(self, low_dim=16):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.bn2 = nn.BatchNorm2d(32)
        self.fc = nn.Linear(32, low_dim)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        x = x.mean(dim=(2, 3))
        return F.normalize(self.fc(x))


trainset = IndexedShapes()
trainloader = data.DataLoader(trainset, batch_size=40, shuffle=True)
testset = IndexedShapes(60)
testloader = data.DataLoader(testset, batch_size=30)

torch.manual_seed(0)
net = Net().to(device)
lemniscate = LinearAverage(16, len(trainset)).to(device)
criterion = nn.CrossEntropyLoss().to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9, weight_decay=5e-4)


def train(epoch):
    net.train()
    train_loss, seen, end = 0., 0, time.time()
    for batch_idx, (inputs, targets, indexes) in enumerate(trainloader):
        inputs, indexes = inputs.to(device), indexes.to(device)
        optimizer.zero_grad()
        features = net(inputs)
        outputs = lemniscate(features, indexes)
        loss = criterion(outputs, indexes)
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * inputs.size(0)
        seen += inputs.size(0)
    print('Epoch: [{}] time: {:.2f}s  loss: {:.4f}'.format(epoch, time.time() - end, train_loss / seen))


def kNN(epoch, K=10):
    net.eval()
    trainLabels = trainset.labels.to(device)
    correct, total = 0, 0
    with torch.no_grad():
        for inputs, targets, indexes in testloader:
            targets = targets.to(device)
            features = net(inputs.to(device))
            dist = torch.mm(features, lemniscate.memory.t())
            _, yi = dist.topk(K, dim=1)
            votes = F.one_hot(trainLabels[yi], 5).sum(1)
            correct += votes.argmax(1).eq(targets).sum().item()
            total += targets.size(0)
    print('Epoch: [{}] top1: {:.2f}'.format(epoch, 100. * correct / total))


for epoch in range(2):
    train(epoch)
    kNN(epoch)
