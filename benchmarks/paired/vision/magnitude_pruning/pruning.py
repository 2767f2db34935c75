"""
Deep-compression style pruning of a LeNet: train, prune by magnitude, retrain with the mask.
"""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser(description='LeNet pruning')
parser.add_argument('--batch-size', type=int, default=20)
parser.add_argument('--epochs', type=int, default=3)
parser.add_argument('--lr', type=float, default=0.005)
parser.add_argument('--no-cuda', action='store_true', default=False)
parser.add_argument('--sensitivity', type=float, default=1.0,
                    help="multiplied with the std of a layer to give its threshold")
args = parser.parse_args()

use_cuda = not args.no_cuda and torch.cuda.is_available()
device = torch.device("cuda" if use_cuda else "cpu")
torch.manual_seed(42)
np.random.seed(42)


class MaskedLinear(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_features, in_features))
        self.bias = nn.Parameter(torch.zeros(out_features))
        self.mask = nn.Parameter(torch.ones(out_features, in_features), requires_grad=False)
        nn.init.kaiming_uniform_(self.weight, a=5 ** 0.5)

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)

    def prune(self, threshold):
        mask = self.mask.data.cpu().numpy()
        tensor = self.weight.data.cpu().numpy()
        small = abs(tensor) < threshold
        tensor[small] = 0
        mask[small] = 0
        self.weight.data.copy_(torch.from_numpy(tensor))
        self.mask.data.copy_(torch.from_numpy(mask))


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 12, 3)
        self.fc1 = MaskedLinear(12 * 3 * 3, 40)
        self.fc2 = MaskedLinear(40, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.view(x.size(0), -1)
        return self.fc2(F.relu(self.fc1(x)))

    def prune_by_std(self, s):
        for name, module in self.named_modules():
            if name in ['fc1', 'fc2']:
                threshold = np.std(module.weight.data.cpu().numpy()) * s
                print(f'Pruning with threshold : {threshold:.4f} for layer {name}')
                module.prune(threshold)


def loaders():
    y = torch.arange(200) % 10
    base = torch.rand(10, 1, 20, 20)
    x = base[y] + 0.3 * torch.randn(200, 1, 20, 20)
    order = torch.randperm(200)
    x, y = x[order], y[order]
    return (DataLoader(TensorDataset(x[:160], y[:160]), args.batch_size, shuffle=True),
            DataLoader(TensorDataset(x[160:], y[160:]), 40))


def train(model, loader, optimizer, epochs):
    model.train()
    for epoch in range(epochs):
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(data), target)
            loss.backward()
            optimizer.step()
        print(f'Train epoch {epoch}: loss {loss.item():.4f}')


def test(model, loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            correct += (model(data).argmax(1) == target).sum().item()
    return 100. * correct / len(loader.dataset)


def print_nonzeros(model):
    nonzero = total = 0
    for name, p in model.named_parameters():
        if 'mask' in name:
            continue
        tensor = p.data.cpu().numpy()
        nz_count = np.count_nonzero(tensor)
        nonzero += nz_count
        total += tensor.size
        print(f'{name:14} | nonzeros = {nz_count:6} / {tensor.size:6} ({100 * nz_count / tensor.size:6.2f}%)')
    print(f'alive: {nonzero}, pruned : {total - nonzero}, compression rate : {total / nonzero:.2f}x')


train_loader, test_loader = loaders()
model = LeNet().to(device)
optimizer = optim.Adam([p for p in model.parameters() if p.requires_grad], lr=args.lr)

print("--- Initial training ---")
train(model, train_loader, optimizer, args.epochs)
print(f"accuracy {test(model, test_loader):.1f}%")

model.prune_by_std(args.sensitivity)
print(f"accuracy after pruning {test(model, test_loader):.1f}%")

print("--- Retraining ---")
optimizer = optim.Adam([p for p in model.parameters() if p.requires_grad], lr=args.lr * 0.2)
train(model, train_loader, optimizer, 1)
print(f"accuracy after retraining {test(model, test_loader):.1f}%")
print_nonzeros(model)
