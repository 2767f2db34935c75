# Character level RNN, after https://github.com/karpathy/char-rnn
import argparse
import random
import string
import time

import torch
import torch.nn as nn
from torch.autograd import Variable

parser = argparse.ArgumentParser()
parser.add_argument('--n_epochs', type=int, default=12)
parser.add_argument('--print_every', type=int, default=6)
parser.add_argument('--hidden_size', type=int, default=32)
parser.add_argument('--n_layers', type=int, default=2)
parser.add_argument('--model', type=str, default='gru', choices=['gru', 'lstm'])
parser.add_argument('--learning_rate', type=float, default=0.01)
parser.add_argument('--chunk_len', type=int, default=20)
parser.add_argument('--batch_size', type=int, default=4)
parser.add_argument('--no-cuda', action='store_true')
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()

all_characters = string.printable
n_characters = len(all_characters)

text = """First Citizen:
Before we proceed any further, hear me speak.

All:
Speak, speak.

First Citizen:
You are all resolved rather to die than to famish?

All:
Resolved. resolved.

First Citizen:
First, you know Caius Marcius is chief enemy to the people.
"""


class CharRNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size, model="gru", n_layers=1):
        super(CharRNN, self).__init__()
        self.model = model.lower()
        self.hidden_size = hidden_size
        self.n_layers = n_layers

        self.encoder = nn.Embedding(input_size, hidden_size)
        if self.model == "gru":
            self.rnn = nn.GRU(hidden_size, hidden_size, n_layers)
        else:
            self.rnn = nn.LSTM(hidden_size, hidden_size, n_layers)
        self.decoder = nn.Linear(hidden_size, output_size)

    def forward(self, inp, hidden):
        batch_size = inp.size(0)
        encoded = self.encoder(inp)
        output, hidden = self.rnn(encoded.view(1, batch_size, -1), hidden)
        output = self.decoder(output.view(batch_size, -1))
        return output, hidden

    def init_hidden(self, batch_size):
        h = Variable(torch.zeros(self.n_layers, batch_size, self.hidden_size))
        if self.model == "lstm":
            return h, h.clone()
        return h


def char_tensor(s):
    tensor = torch.zeros(len(s)).long()
    for c in range(len(s)):
        tensor[c] = all_characters.index(s[c])
    return tensor


def cuda_state(hidden):
    if isinstance(hidden, tuple):
        return tuple(h.cuda() for h in hidden)
    return hidden.cuda()


def random_training_set(chunk_len, batch_size):
    inp = torch.LongTensor(batch_size, chunk_len)
    target = torch.LongTensor(batch_size, chunk_len)
    for bi in range(batch_size):
        start = random.randint(0, len(text) - chunk_len - 1)
        chunk = text[start:start + chunk_len + 1]
        inp[bi] = char_tensor(chunk[:-1])
        target[bi] = char_tensor(chunk[1:])
    if args.cuda:
        inp = inp.cuda()
        target = target.cuda()
    return Variable(inp), Variable(target)


def generate(decoder, prime_str='A', predict_len=100, temperature=0.8):
    hidden = decoder.init_hidden(1)
    prime_input = Variable(char_tensor(prime_str).unsqueeze(0))
    if args.cuda:
        hidden = cuda_state(hidden)
        prime_input = prime_input.cuda()
    predicted = prime_str

    # Use priming string to "build up" hidden state
    for p in range(len(prime_str) - 1):
        _, hidden = decoder(prime_input[:, p], hidden)
    inp = prime_input[:, -1]

    for p in range(predict_len):
        output, hidden = decoder(inp, hidden)
        # Sample from the network as a multinomial distribution
        output_dist = output.data.view(-1).div(temperature).exp()
        top_i = torch.multinomial(output_dist, 1)[0]
        predicted_char = all_characters[int(top_i)]
        predicted += predicted_char
        inp = Variable(char_tensor(predicted_char).unsqueeze(0))[:, 0]
        if args.cuda:
            inp = inp.cuda()
    return predicted


decoder = CharRNN(n_characters, args.hidden_size, n_characters, model=args.model, n_layers=args.n_layers)
decoder_optimizer = torch.optim.Adam(decoder.parameters(), lr=args.learning_rate)
criterion = nn.CrossEntropyLoss()
if args.cuda:
    decoder.cuda()


def train(inp, target):
    hidden = decoder.init_hidden(args.batch_size)
    if args.cuda:
        hidden = cuda_state(hidden)
    decoder.zero_grad()
    loss = 0
    for c in range(args.chunk_len):
        output, hidden = decoder(inp[:, c], hidden)
        loss += criterion(output.view(args.batch_size, -1), target[:, c])
    loss.backward()
    decoder_optimizer.step()
    return loss.item() / args.chunk_len


start = time.time()
loss_avg = 0
print("Training for %d epochs..." % args.n_epochs)
for epoch in range(1, args.n_epochs + 1):
    loss = train(*random_training_set(args.chunk_len, args.batch_size))
    loss_avg += loss
    if epoch % args.print_every == 0:
        print('[%.1fs (%d %d%%) %.4f]' % (time.time() - start, epoch, epoch / args.n_epochs * 100, loss_avg / epoch))
        print(generate(decoder, 'Wh', 60), '\n')
