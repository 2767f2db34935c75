import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

from net import lenet
from pruning import MagnitudePruner, cubic_sparsity


def get_loaders(batch_size, n=320):
    protos = (torch.rand(6, 1, 12, 12) > 0.6).float()

    def split(size):
        y = torch.randint(6, (size,))
        return TensorDataset(protos[y] + 0.3 * torch.randn(size, 1, 12, 12), y)

    return DataLoader(split(n), batch_size, shuffle=True), DataLoader(split(n // 4), 80)


@torch.no_grad()
def test(model, loader, args):
    model.eval()
    correct = total = 0
    for x, y in loader:
        x, y = x.to(args.device), y.to(args.device)
        correct += (model(x).argmax(1) == y).sum().item()
        total += y.numel()
    return 100. * correct / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=4)
    parser.add_argument('--batch-size', type=int, default=32)
    parser.add_argument('--lr', type=float, default=5e-2)
    parser.add_argument('--sparsity', type=float, default=0.8)
    parser.add_argument('--prune-every', type=int, default=5)
    parser.add_argument('--no-cuda', action='store_true')
    args = parser.parse_args()
    args.device = torch.device('cuda' if not args.no_cuda and torch.cuda.is_available() else 'cpu')

    torch.manual_seed(0)
    train_loader, test_loader = get_loaders(args.batch_size)
    model = lenet().to(args.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    pruner = MagnitudePruner(model, skip=('conv1',))
    last = args.epochs * len(train_loader)
    step = 0
    for epoch in range(args.epochs):
        model.train()
        for x, y in train_loader:
            x, y = x.to(args.device), y.to(args.device)
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % args.prune_every == 0:
                pruner.update_masks(cubic_sparsity(step, start=5, end=last * 3 // 4, final=args.sparsity))
            pruner.apply()
            step += 1
        print('Epoch {}: loss {:.3f} acc {:.1f} sparsity {:.3f}'.format(
            epoch, loss.item(), test(model, test_loader, args), pruner.sparsity()))
    pruner.report()


if __name__ == '__main__':
    main()
