import argparse
import copy
import math
import os
import random
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable

parser = argparse.ArgumentParser(description='PyTorch RNN/LSTM Language Model')
parser.add_argument('--model', type=str, default='LSTM', help='RNN_TANH, RNN_RELU, LSTM, GRU')
parser.add_argument('--emsize', type=int, default=16)
parser.add_argument('--nhid', type=int, default=16)
parser.add_argument('--nlayers', type=int, default=1)
parser.add_argument('--lr', type=float, default=5)
parser.add_argument('--clip', type=float, default=0.25)
parser.add_argument('--epochs', type=int, default=3)
parser.add_argument('--batch_size', type=int, default=8)
parser.add_argument('--bptt', type=int, default=10)
parser.add_argument('--dropout', type=float, default=0.2)
parser.add_argument('--tied', action='store_true')
parser.add_argument('--seed', type=int, default=1111)
parser.add_argument('--no-cuda', dest='cuda', action='store_false')
parser.add_argument('--log-interval', type=int, default=5)
parser.add_argument('--save', type=str, default='')
args = parser.parse_args()

args.cuda = args.cuda and torch.cuda.is_available()
torch.manual_seed(args.seed)
if args.cuda:
    torch.cuda.manual_seed(args.seed)
save_dir = args.save or tempfile.mkdtemp()

###############################################################################
# Load data
###############################################################################

class Dictionary(object):
    def __init__(self):
        self.word2idx = {}
        self.idx2word = []

    def add_word(self, word):
        if word not in self.word2idx:
            self.idx2word.append(word)
            self.word2idx[word] = len(self.idx2word) - 1
        return self.word2idx[word]

    def __len__(self):
        return len(self.idx2word)


class Corpus(object):
    """Sentences drawn from a tiny grammar."""

    DET, ADJ = ['the', 'a', 'some'], ['small', 'red', 'old', 'quiet']
    NOUN, VERB = ['dog', 'house', 'river', 'child', 'bird'], ['sees', 'likes', 'hears', 'follows']

    def __init__(self, seed=0):
        self.dictionary = Dictionary()
        rng = random.Random(seed)
        self.train = self.tokenize(120, rng)
        self.valid = self.tokenize(30, rng)
        self.test = self.tokenize(30, rng)

    def _np(self, rng):
        adj = [rng.choice(self.ADJ)] if rng.random() < 0.5 else []
        return [rng.choice(self.DET)] + adj + [rng.choice(self.NOUN)]

    def tokenize(self, n, rng):
        ids = []
        for _ in range(n):
            words = self._np(rng) + [rng.choice(self.VERB)] + self._np(rng) + ['<eos>']
            ids.extend(self.dictionary.add_word(w) for w in words)
        return torch.LongTensor(ids)


corpus = Corpus()
ntokens = len(corpus.dictionary)
eval_batch_size = 4


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    data = data.narrow(0, 0, nbatch * bsz)
    data = data.view(bsz, -1).t().contiguous()
    if args.cuda:
        data = data.cuda()
    return data


train_data = batchify(corpus.train, args.batch_size)
val_data = batchify(corpus.valid, eval_batch_size)
test_data = batchify(corpus.test, eval_batch_size)

###############################################################################
# Build the model
###############################################################################

class RNNModel(nn.Module):
    """Container module with an encoder, a recurrent module, and a decoder."""

    def __init__(self, rnn_type, ntoken, ninp, nhid, nlayers, dropout=0.2, tie_weights=False):
        super(RNNModel, self).__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        if rnn_type in ['LSTM', 'GRU']:
            self.rnn = getattr(nn, rnn_type)(ninp, nhid, nlayers)
        else:
            try:
                nonlinearity = {'RNN_TANH': 'tanh', 'RNN_RELU': 'relu'}[rnn_type]
            except KeyError:
                raise ValueError("An invalid option for `--model` was supplied")
            self.rnn = nn.RNN(ninp, nhid, nlayers, nonlinearity=nonlinearity)
        self.decoder = nn.Linear(nhid, ntoken)
        if tie_weights:
            if nhid != ninp:
                raise ValueError('When using the tied flag, nhid must be equal to emsize')
            self.decoder.weight = self.encoder.weight
        self.init_weights()
        self.rnn_type = rnn_type
        self.nhid = nhid
        self.nlayers = nlayers

    def init_weights(self):
        initrange = 0.1
        self.encoder.weight.data.uniform_(-initrange, initrange)
        self.decoder.bias.data.fill_(0)
        self.decoder.weight.data.uniform_(-initrange, initrange)

    def forward(self, input, hidden):
        emb = self.drop(self.encoder(input))
        output, hidden = self.rnn(emb, hidden)
        output = self.drop(output)
        decoded = self.decoder(output.view(output.size(0) * output.size(1), output.size(2)))
        return decoded.view(output.size(0), output.size(1), decoded.size(1)), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters()).data
        if self.rnn_type == 'LSTM':
            return (Variable(weight.new(self.nlayers, bsz, self.nhid).zero_()),
                    Variable(weight.new(self.nlayers, bsz, self.nhid).zero_()))
        return Variable(weight.new(self.nlayers, bsz, self.nhid).zero_())


net = RNNModel(args.model, ntokens, args.emsize, args.nhid, args.nlayers, args.dropout, args.tied)
if args.cuda:
    net.cuda()
criterion = nn.CrossEntropyLoss()


def export_embeddings(model, dictionary, path):
    vectors = model.encoder.weight.data.cpu().numpy()
    norms = np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-8
    np.savez(path, vectors=vectors / norms, words=np.array(dictionary.idx2word))


def sample(model, dictionary, nwords, temperature=1.0):
    hidden = model.init_hidden(1)
    input = Variable(torch.LongTensor([[dictionary.word2idx['<eos>']]]))
    words = []
    with torch.no_grad():
        for _ in range(nwords):
            output, hidden = model(input, hidden)
            weights = output.squeeze().data.div(temperature).exp()
            idx = torch.multinomial(weights, 1)[0]
            input.data.fill_(idx.item())
            words.append(dictionary.idx2word[idx.item()])
    return ' '.join(words)


def export_model(model, corpus, folder, tag):
    snapshot = copy.deepcopy(model).cpu()
    training = snapshot.training
    snapshot.eval()
    torch.save(snapshot.state_dict(), os.path.join(folder, 'lm_%s.pt' % tag))
    export_embeddings(snapshot, corpus.dictionary, os.path.join(folder, 'emb_%s.npz' % tag))
    text = sample(snapshot, corpus.dictionary, 10)
    snapshot.train(training)
    return text


def repackage_hidden(h):
    """Wraps hidden states in new Variables, to detach them from their history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def get_batch(source, i):
    seq_len = min(args.bptt, len(source) - 1 - i)
    return Variable(source[i:i + seq_len]), Variable(source[i + 1:i + 1 + seq_len].view(-1))


def evaluate(data_source):
    net.eval()
    total_loss = 0.
    hidden = net.init_hidden(eval_batch_size)
    with torch.no_grad():
        for i in range(0, data_source.size(0) - 1, args.bptt):
            source, targets = get_batch(data_source, i)
            output, hidden = net(source, hidden)
            total_loss += len(source) * criterion(output.view(-1, ntokens), targets).item()
            hidden = repackage_hidden(hidden)
    return total_loss / len(data_source)


def train(epoch, lr):
    net.train()
    total_loss = 0.
    start_time = time.time()
    hidden = net.init_hidden(args.batch_size)
    for batch, i in enumerate(range(0, train_data.size(0) - 1, args.bptt)):
        source, targets = get_batch(train_data, i)
        hidden = repackage_hidden(hidden)
        net.zero_grad()
        output, hidden = net(source, hidden)
        loss = criterion(output.view(-1, ntokens), targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), args.clip)
        for p in net.parameters():
            p.data.add_(p.grad.data, alpha=-lr)
        total_loss += loss.item()
        if batch % args.log_interval == 0 and batch > 0:
            cur = total_loss / args.log_interval
            ms = (time.time() - start_time) * 1000 / args.log_interval
            print('| epoch {:3d} | {:3d} batches | lr {:02.2f} | ms/batch {:5.2f} | loss {:5.2f} | ppl {:8.2f}'.format(
                epoch, batch, lr, ms, cur, math.exp(cur)))
            total_loss = 0
            start_time = time.time()


###############################################################################
# Training code
###############################################################################

lr = args.lr
best_val_loss = None
for epoch in range(1, args.epochs + 1):
    train(epoch, lr)
    val_loss = evaluate(val_data)
    print('| end of epoch {:3d} | valid loss {:5.2f} | valid ppl {:8.2f}'.format(epoch, val_loss, math.exp(val_loss)))
    if not best_val_loss or val_loss < best_val_loss:
        best_val_loss = val_loss
        print('| sample: ' + export_model(net, corpus, save_dir, 'best'))
    else:
        lr /= 4.0

state = torch.load(os.path.join(save_dir, 'lm_best.pt'), map_location='cpu')
net.load_state_dict(state)
test_loss = evaluate(test_data)
print('| End of training | test loss {:5.2f} | test ppl {:8.2f}'.format(test_loss, math.exp(test_loss)))
