# coding: utf-8
import argparse
import math
import tempfile

import torch

from checkpoint import load_checkpoint, save_checkpoint
from data_utils import LMOrderedIterator, random_corpus
from mem_transformer import MemTransformerLM

parser = argparse.ArgumentParser(description='PyTorch Transformer Language Model')
parser.add_argument('--n_token', type=int, default=40)
parser.add_argument('--tgt_len', type=int, default=8)
parser.add_argument('--mem_len', type=int, default=8)
parser.add_argument('--batch_size', type=int, default=6)
parser.add_argument('--lr', type=float, default=0.005)
parser.add_argument('--clip', type=float, default=0.25)
parser.add_argument('--max_step', type=int, default=16)
parser.add_argument('--save_interval', type=int, default=8)
parser.add_argument('--log_interval', type=int, default=4)
parser.add_argument('--cuda', action='store_true', help='use CUDA')
parser.add_argument('--seed', type=int, default=1111)
args = parser.parse_args()

torch.manual_seed(args.seed)
if torch.cuda.is_available() and not args.cuda:
    print('WARNING: You have a CUDA device, so you should probably run with --cuda')
device = torch.device('cuda' if args.cuda and torch.cuda.is_available() else 'cpu')


def build():
    model = MemTransformerLM(args.n_token, mem_len=args.mem_len).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    return model, optimizer


def train(model, optimizer, tr_iter, mems, step, position, stop):
    model.train()
    total = 0.
    for data, target in tr_iter.get_fixlen_iter(position):
        loss, mems = model(data, target, mems)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        total += loss.item()
        step += 1
        position += args.tgt_len
        if step % args.log_interval == 0:
            print('| step {:5d} | loss {:5.2f} | ppl {:8.2f}'.format(
                step, total / args.log_interval, math.exp(total / args.log_interval)))
            total = 0.
        if step >= stop:
            break
    return mems, step, position


tr_iter = LMOrderedIterator(random_corpus(args.n_token, 1200, args.seed), args.batch_size, args.tgt_len, device)

with tempfile.TemporaryDirectory() as work_dir:
    model, optimizer = build()
    mems, step, position = train(model, optimizer, tr_iter, None, 0, 0, args.save_interval)
    path = save_checkpoint(work_dir, model, optimizer, mems, step, position)

    # a preempted job starts again from here
    model, optimizer = build()
    mems, step, position = load_checkpoint(path, model, optimizer, device)
    print('Resumed at step %d' % step)
    train(model, optimizer, tr_iter, mems, step, position, args.max_step)
