import argparse
import random

import torch

from beam import beam_search
from data import make_pairs, minibatches
from model import NMT
from vocab import Vocab, pad_batch


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--beam_size', type=int, default=3)
    p.add_argument('--epochs', type=int, default=2)
    p.add_argument('--cuda', type=int, default=1)
    args = p.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    device = torch.device('cuda:0' if args.cuda and torch.cuda.is_available() else 'cpu')

    pairs = make_pairs(64)
    src_vocab = Vocab([s for s, _ in pairs])
    tgt_vocab = Vocab([t for _, t in pairs])
    model = NMT(len(src_vocab), len(tgt_vocab)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    for epoch in range(args.epochs):
        model.train()
        for src, tgt in minibatches(pairs, 16):
            src, src_len = pad_batch([src_vocab.encode(s) for s in src], device)
            tgt, _ = pad_batch([tgt_vocab.encode(t) for t in tgt], device)
            loss = model(src, src_len, tgt)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.)
            optimizer.step()
        print('epoch %d, loss %.3f' % (epoch, loss.item()))

    model.eval()
    for sent, ref in make_pairs(3, seed=9):
        src, src_len = pad_batch([src_vocab.encode(sent)], device)
        best = beam_search(model, src, src_len, args.beam_size)[0]
        print(' '.join(sent), '|', ' '.join(tgt_vocab.decode(best.value)), '|', ' '.join(ref))


if __name__ == '__main__':
    main()
