import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from nam import NeuralAdditiveModel, credit_data
from nam.data import FEATURES


def penalized_loss(logits, parts, y, output_reg):
    bce = F.binary_cross_entropy_with_logits(logits, y)
    return bce + output_reg * parts.pow(2).mean()


def main(args):
    torch.manual_seed(args.seed)
    if args.gpu >= 0 and torch.cuda.is_available():
        torch.cuda.set_device(args.gpu)
        use_gpu = True
    else:
        use_gpu = False

    x, y = credit_data(args.n, args.seed)
    split = int(0.75 * args.n)
    train = TensorDataset(x[:split], y[:split])
    valid = x[split:], y[split:]

    pairs = [(0, 4)] if args.interactions else []
    model = NeuralAdditiveModel(x.shape[1], interactions=pairs)
    if use_gpu:
        model.cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-6)

    for epoch in range(args.epochs):
        model.train()
        running = 0.
        for bx, by in DataLoader(train, batch_size=args.batch_size, shuffle=True):
            if use_gpu:
                bx, by = bx.cuda(), by.cuda()
            logits, parts = model(bx)
            loss = penalized_loss(logits, parts, by, args.output_reg)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item() * len(bx)

        model.eval()
        vx, vy = valid
        if use_gpu:
            vx, vy = vx.cuda(), vy.cuda()
        with torch.no_grad():
            logits, parts = model(vx)
            acc = ((logits > 0).float() == vy).float().mean().item()
        print('epoch {} train {:.4f} valid acc {:.3f}'.format(epoch, running / split, acc))

    importance = (parts - parts.mean(0)).abs().mean(0).tolist()
    names = FEATURES + ['x'.join((FEATURES[i], FEATURES[j])) for i, j in pairs]
    for name, imp in sorted(zip(names, importance), key=lambda t: -t[1]):
        print('{:>24s} {:.4f}'.format(name, imp))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--gpu', type=int, default=0)
    parser.add_argument('--n', type=int, default=400)
    parser.add_argument('--epochs', type=int, default=3)
    parser.add_argument('--batch_size', type=int, default=64)
    parser.add_argument('--lr', type=float, default=1e-2)
    parser.add_argument('--output_reg', type=float, default=0.01)
    parser.add_argument('--interactions', action='store_true')
    parser.add_argument('--seed', type=int, default=0)
    main(parser.parse_args())
