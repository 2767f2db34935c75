# Character-level language model, trained with truncated backpropagation
# through time. Layout follows the old word_language_model example.
import argparse
import math
import random
import time

import torch
import torch.nn as nn
import torch.optim as optim

parser = argparse.ArgumentParser(description='char LM')
parser.add_argument('--model', type=str, default='LSTM', choices=['LSTM', 'GRU'])
parser.add_argument('--emsize', type=int, default=16)
parser.add_argument('--nhid', type=int, default=32)
parser.add_argument('--nlayers', type=int, default=1)
parser.add_argument('--lr', type=float, default=5.0)
parser.add_argument('--clip', type=float, default=0.5)
parser.add_argument('--epochs', type=int, default=2)
parser.add_argument('--batch_size', type=int, default=8)
parser.add_argument('--bptt', type=int, default=20)
parser.add_argument('--seed', type=int, default=1111)
parser.add_argument('--no-cuda', action='store_true')
args = parser.parse_args()

torch.manual_seed(args.seed)
random.seed(args.seed)
args.cuda = torch.cuda.is_available() and not args.no_cuda
device = torch.device('cuda' if args.cuda else 'cpu')


###############################################################################
# Data
###############################################################################

class Corpus(object):
    WORDS = ['the', 'cat', 'sat', 'on', 'a', 'mat', 'and', 'saw', 'one', 'dog', 'run']

    def __init__(self, n_train=700, n_valid=120):
        text = [' '.join(random.choice(self.WORDS) for _ in range(n)) for n in (n_train, n_valid)]
        self.chars = sorted(set(text[0]))
        self.idx = {c: i for i, c in enumerate(self.chars)}
        self.train, self.valid = (torch.tensor([self.idx[c] for c in t]) for t in text)


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    data = data.narrow(0, 0, nbatch * bsz)
    return data.view(bsz, -1).t().contiguous().to(device)


def get_batch(source, i):
    seq_len = min(args.bptt, len(source) - 1 - i)
    return source[i:i + seq_len], source[i + 1:i + 1 + seq_len].reshape(-1)


###############################################################################
# Model
###############################################################################

class RNNModel(nn.Module):
    def __init__(self, rnn_type, ntoken, ninp, nhid, nlayers):
        super(RNNModel, self).__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = getattr(nn, rnn_type)(ninp, nhid, nlayers)
        self.decoder = nn.Linear(nhid, ntoken)
        self.rnn_type, self.nhid, self.nlayers = rnn_type, nhid, nlayers
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        return self.decoder(output).view(-1, self.decoder.out_features), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        shape = (self.nlayers, bsz, self.nhid)
        if self.rnn_type == 'LSTM':
            return weight.new_zeros(shape), weight.new_zeros(shape)
        return weight.new_zeros(shape)


def repackage_hidden(h):
    """Wraps hidden states in new Tensors, to detach them from their history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


###############################################################################
# Training
###############################################################################

def evaluate(model, source, bsz):
    model.eval()
    total = 0.
    hidden = model.init_hidden(bsz)
    with torch.no_grad():
        for i in range(0, source.size(0) - 1, args.bptt):
            data, targets = get_batch(source, i)
            output, hidden = model(data, hidden)
            total += len(data) * criterion(output, targets).item()
    return total / (len(source) - 1)


def train(model, source, optimizer):
    model.train()
    total, n = 0., 0
    hidden = model.init_hidden(args.batch_size)
    for i in range(0, source.size(0) - 1, args.bptt):
        data, targets = get_batch(source, i)
        hidden = repackage_hidden(hidden)
        optimizer.zero_grad()
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        total += loss.item()
        n += 1
    return total / n


corpus = Corpus()
eval_batch_size = 4
train_data = batchify(corpus.train, args.batch_size)
val_data = batchify(corpus.valid, eval_batch_size)

model = RNNModel(args.model, len(corpus.chars), args.emsize, args.nhid, args.nlayers).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=args.lr)
scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.25, patience=0)

for epoch in range(1, args.epochs + 1):
    start = time.time()
    tr = train(model, train_data, optimizer)
    val = evaluate(model, val_data, eval_batch_size)
    scheduler.step(val)
    print('| epoch {:2d} | {:4.1f}s | train {:5.2f} | valid {:5.2f} | ppl {:6.2f}'.format(
        epoch, time.time() - start, tr, val, math.exp(val)))
