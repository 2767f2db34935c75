import argparse
import math
import time

import numpy as np
import torch
import torch.nn as nn

import data
import model
from utils import batchify, get_batch, repackage_hidden

parser = argparse.ArgumentParser(description='PyTorch RNN/LSTM Language Model')
parser.add_argument('--emsize', type=int, default=24)
parser.add_argument('--nhid', type=int, default=32)
parser.add_argument('--nlayers', type=int, default=2)
parser.add_argument('--lr', type=float, default=5)
parser.add_argument('--clip', type=float, default=0.25)
parser.add_argument('--epochs', type=int, default=2)
parser.add_argument('--batch_size', type=int, default=8, metavar='N')
parser.add_argument('--bptt', type=int, default=16)
parser.add_argument('--alpha', type=float, default=2, help='alpha L2 regularization on RNN activation')
parser.add_argument('--beta', type=float, default=1, help='beta slowness regularization')
parser.add_argument('--wdecay', type=float, default=1.2e-6)
parser.add_argument('--seed', type=int, default=1111)
parser.add_argument('--no-cuda', action='store_true')
args = parser.parse_args()
args.cuda = torch.cuda.is_available() and not args.no_cuda

np.random.seed(args.seed)
torch.manual_seed(args.seed)
if args.cuda:
    torch.cuda.manual_seed(args.seed)

corpus = data.Corpus()
eval_batch_size = 4
train_data = batchify(corpus.train, args.batch_size, args)
val_data = batchify(corpus.valid, eval_batch_size, args)

rnn = model.RNNModel(corpus.ntokens, args.emsize, args.nhid, args.nlayers)
criterion = nn.CrossEntropyLoss()
if args.cuda:
    rnn = rnn.cuda()
    criterion = criterion.cuda()
optimizer = torch.optim.SGD(rnn.parameters(), lr=args.lr, weight_decay=args.wdecay)


def evaluate(source, batch_size):
    rnn.eval()
    total_loss = 0
    hidden = rnn.init_hidden(batch_size)
    with torch.no_grad():
        for i in range(0, source.size(0) - 1, args.bptt):
            x, targets = get_batch(source, i, args)
            output, hidden, _, _ = rnn(x, hidden)
            total_loss += len(x) * criterion(output, targets).item()
    return total_loss / (len(source) - 1)


def train():
    rnn.train()
    total_loss, batch, i = 0, 0, 0
    hidden = rnn.init_hidden(args.batch_size)
    while i < train_data.size(0) - 2:
        bptt = args.bptt if np.random.random() < 0.95 else args.bptt / 2.
        seq_len = max(5, int(np.random.normal(bptt, 2)))
        x, targets = get_batch(train_data, i, args, seq_len=seq_len)
        lr2 = optimizer.param_groups[0]['lr']
        optimizer.param_groups[0]['lr'] = lr2 * seq_len / args.bptt

        hidden = [repackage_hidden(h) for h in hidden]
        optimizer.zero_grad()
        output, hidden, raw, dropped = rnn(x, hidden)
        loss = criterion(output, targets)
        total_loss += loss.item()
        loss = loss + args.alpha * dropped.pow(2).mean()
        if raw.size(0) > 1:
            loss = loss + args.beta * (raw[1:] - raw[:-1]).pow(2).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(rnn.parameters(), args.clip)
        optimizer.step()
        optimizer.param_groups[0]['lr'] = lr2
        batch += 1
        i += seq_len
    return total_loss / batch


for epoch in range(1, args.epochs + 1):
    t = time.time()
    train_loss = train()
    val_loss = evaluate(val_data, eval_batch_size)
    print('| epoch {:3d} | time {:4.1f}s | train loss {:5.2f} | valid loss {:5.2f} | valid ppl {:7.2f}'.format(
        epoch, time.time() - t, train_loss, val_loss, math.exp(val_loss)))
