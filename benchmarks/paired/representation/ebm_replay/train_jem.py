import argparse
import numpy as np
import torch as t, torch.nn as nn

from energy import F
from sgld import get_buffer, sample_q
from toydata import get_data

t.manual_seed(1)
np.random.seed(1)


def eval_classification(f, dload, device):
    corrects, losses = [], []
    for x, y in dload:
        x, y = x.to(device), y.to(device)
        logits = f.classify(x)
        losses.extend(nn.CrossEntropyLoss(reduction='none')(logits, y).detach().cpu().numpy())
        corrects.extend((logits.max(1)[1] == y).float().cpu().numpy())
    return np.mean(corrects), np.mean(losses)


def main(args):
    device = t.device('cuda' if t.cuda.is_available() else 'cpu')
    dload_train, dload_labeled, dload_valid = get_data(args)
    f = F()
    replay_buffer = get_buffer(args)
    f = f.to(device)

    optim = t.optim.Adam(f.parameters(), lr=args.lr, betas=[.9, .999])
    for epoch in range(args.n_epochs):
        for i, (x_p_d, _) in enumerate(dload_train):
            x_p_d = x_p_d.to(device)
            x_lab, y_lab = next(dload_labeled)
            x_lab, y_lab = x_lab.to(device), y_lab.to(device)

            L = 0.
            # maximize log p(x)
            x_q = sample_q(args, device, f, replay_buffer, args.n_steps)
            fp, fq = f(x_p_d).mean(), f(x_q).mean()
            l_p_x = -(fp - fq) + args.l2 * (fp ** 2 + fq ** 2)
            L += args.p_x_weight * l_p_x
            # maximize log p(y | x)
            l_p_y_given_x = nn.CrossEntropyLoss()(f.classify(x_lab), y_lab)
            L += args.p_y_given_x_weight * l_p_y_given_x

            if L.abs().item() > 1e8:
                print("loss diverged, stopping")
                return
            optim.zero_grad()
            L.backward()
            optim.step()
        f.eval()
        with t.no_grad():
            acc, loss = eval_classification(f, dload_valid, device)
        print('Epoch {}: f(x_p) {:.3f} f(x_q) {:.3f} valid loss {:.3f} acc {:.3f}'.format(
            epoch, fp.item(), fq.item(), loss, acc))
        f.train()


if __name__ == '__main__':
    parser = argparse.ArgumentParser('Joint energy based model')
    parser.add_argument('--lr', type=float, default=2e-3)
    parser.add_argument('--n_epochs', type=int, default=2)
    parser.add_argument('--batch_size', type=int, default=32)
    parser.add_argument('--n_data', type=int, default=128)
    parser.add_argument('--im_sz', type=int, default=8)
    parser.add_argument('--n_ch', type=int, default=1)
    parser.add_argument('--buffer_size', type=int, default=200)
    parser.add_argument('--n_steps', type=int, default=5)
    parser.add_argument('--reinit_freq', type=float, default=.05)
    parser.add_argument('--sgld_lr', type=float, default=1.0)
    parser.add_argument('--sgld_std', type=float, default=1e-2)
    parser.add_argument('--p_x_weight', type=float, default=1.)
    parser.add_argument('--p_y_given_x_weight', type=float, default=1.)
    parser.add_argument('--l2', type=float, default=.1)
    main(parser.parse_args())
