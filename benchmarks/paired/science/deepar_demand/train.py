import logging

import numpy as np
import torch
from torch.utils.data import DataLoader

import params as params_mod
from dataset import DemandWindows, make_demand
from net import DeepAR, neg_binomial, nll

logging.basicConfig(level=logging.INFO, format='%(name)s: %(message)s')
logger = logging.getLogger('DeepAR.Train')


def train_epoch(model, optimizer, loader, params):
    model.train()
    losses = np.zeros(len(loader))
    for i, (item, lag, cov, y, scale) in enumerate(loader):
        optimizer.zero_grad()
        item = item.to(params.device)
        lag, cov, y = lag.to(params.device), cov.to(params.device), y.to(params.device)
        scale = scale.to(params.device)
        hidden = model.init_hidden(len(item))
        cell = model.init_cell(len(item))
        loss = 0
        for t in range(y.shape[1]):
            mu, alpha, hidden, cell = model(item, lag[:, t] / scale, cov[:, t], hidden, cell)
            loss = loss + nll(mu, alpha, scale, y[:, t])
        loss = loss / y.shape[1]
        loss.backward()
        optimizer.step()
        losses[i] = loss.item()
    return losses.mean()


@torch.no_grad()
def evaluate(model, loader, params):
    model.eval()
    abs_err, total, covered, count = 0., 0., 0., 0
    for batch in loader:
        item, lag, cov, y, scale = [b.to(params.device) for b in batch]
        n = params.samples
        rep = lambda v: v.repeat_interleave(n, dim=0)
        item_s, cov_s, scale_s = rep(item), rep(cov), rep(scale)
        hidden, cell = model.init_hidden(len(item_s)), model.init_cell(len(item_s))
        prev, paths = rep(lag[:, 0]), []
        for t in range(y.shape[1]):
            mu, alpha, hidden, cell = model(item_s, prev / scale_s, cov_s[:, t], hidden, cell)
            if t < params.context:
                prev = rep(y[:, t])
            else:
                prev = neg_binomial(mu, alpha, scale_s).sample()
                paths.append(prev)
        paths = torch.stack(paths, 1).view(len(item), n, params.horizon)
        truth = y[:, params.context:]
        median = paths.median(dim=1).values
        low, high = paths.quantile(0.1, dim=1), paths.quantile(0.9, dim=1)
        abs_err += (median - truth).abs().sum().item()
        total += truth.abs().sum().item()
        covered += ((truth >= low) & (truth <= high)).sum().item()
        count += truth.numel()
    return abs_err / total, covered / count


if __name__ == '__main__':
    params = params_mod.from_cli()
    torch.manual_seed(params.seed)
    df = make_demand(params)
    train_loader = DataLoader(DemandWindows(df, params), batch_size=params.batch_size, shuffle=True)
    test_loader = DataLoader(DemandWindows(df, params, test=True), batch_size=params.batch_size)
    logger.info('%d training windows, device %s', len(train_loader.dataset), params.device)

    model = DeepAR(params).to(params.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=params.lr)
    for epoch in range(params.epochs):
        loss = train_epoch(model, optimizer, train_loader, params)
        nd, coverage = evaluate(model, test_loader, params)
        logger.info('epoch %d nll %.3f ND %.3f coverage(80%%) %.2f', epoch, loss, nd, coverage)
