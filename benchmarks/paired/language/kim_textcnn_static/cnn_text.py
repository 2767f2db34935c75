import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser(description='CNN text classifier (Kim, 2014)')
parser.add_argument('-lr', type=float, default=0.01)
parser.add_argument('-epochs', type=int, default=6)
parser.add_argument('-batch-size', type=int, default=16)
parser.add_argument('-dropout', type=float, default=0.3)
parser.add_argument('-max-norm', type=float, default=3.0, help='l2 constraint of the last layer')
parser.add_argument('-embed-dim', type=int, default=20)
parser.add_argument('-kernel-num', type=int, default=8)
parser.add_argument('-kernel-sizes', type=str, default='2,3,4')
parser.add_argument('-static', action='store_true', help='keep the pretrained embeddings fixed')
parser.add_argument('-gpu', type=int, default=0, help='-1 means cpu')
args = parser.parse_args()
args.kernel_sizes = [int(k) for k in args.kernel_sizes.split(',')]
args.use_gpu = args.gpu >= 0 and torch.cuda.is_available()

random.seed(7)
np.random.seed(7)
torch.manual_seed(7)

POS = ['good', 'great', 'superb', 'fun', 'moving', 'clever', 'warm', 'fresh']
NEG = ['bad', 'dull', 'awful', 'boring', 'flat', 'stale', 'cold', 'silly']
REST = ['the', 'film', 'plot', 'actor', 'scene', 'was', 'is', 'a', 'and', 'story', 'with', 'music']


def make_reviews(n, pos, neg):
    out = []
    for _ in range(n):
        label = random.randint(0, 1)
        words = [random.choice(REST) for _ in range(8)]
        for p in random.sample(range(8), 2):
            words[p] = random.choice(pos if label else neg)
        out.append((words, label))
    return out


def word_vectors(dim):
    """stands in for a GloVe file: related words have similar vectors"""
    table = {}
    centers = {name: np.random.randn(dim) * 1.5 for name in ('pos', 'neg', 'rest')}
    for name, words in (('pos', POS), ('neg', NEG), ('rest', REST)):
        for w in words:
            table[w] = (centers[name] + 0.2 * np.random.randn(dim)).astype('float32')
    return table


class CNN_Text(nn.Module):

    def __init__(self, vocab_size, args):
        super(CNN_Text, self).__init__()
        self.embed = nn.Embedding(vocab_size, args.embed_dim, padding_idx=0)
        self.embed.weight.data.mul_(0.01)
        self.convs = nn.ModuleList([nn.Conv2d(1, args.kernel_num, (k, args.embed_dim)) for k in args.kernel_sizes])
        self.dropout = nn.Dropout(args.dropout)
        self.fc1 = nn.Linear(len(args.kernel_sizes) * args.kernel_num, 2)
        if args.static:
            self.embed.weight.requires_grad = False

    def forward(self, x):
        x = self.embed(x).unsqueeze(1)  # (N, Ci, W, D)
        x = [F.relu(conv(x)).squeeze(3) for conv in self.convs]
        x = [F.max_pool1d(i, i.size(2)).squeeze(2) for i in x]
        x = self.dropout(torch.cat(x, 1))
        return self.fc1(x)


def load_pretrained(model, vocab, vectors):
    weight = model.embed.weight.data.cpu().numpy()
    found = 0
    for word, idx in vocab.items():
        if word in vectors:
            weight[idx] = vectors[word]
            found += 1
    model.embed.weight.data.copy_(torch.from_numpy(weight))
    print('pretrained vectors: %d of %d words' % (found, len(vocab)))


def batches(data, vocab, shuffle=False):
    data = list(data)
    if shuffle:
        random.shuffle(data)
    for i in range(0, len(data), args.batch_size):
        chunk = data[i:i + args.batch_size]
        feature = torch.LongTensor([[vocab[w] for w in words] for words, _ in chunk])
        target = torch.LongTensor([label for _, label in chunk])
        if args.use_gpu:
            feature, target = feature.cuda(args.gpu), target.cuda(args.gpu)
        yield feature, target


def train(model, train_data, dev_data, vocab):
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        model.train()
        for feature, target in batches(train_data, vocab, shuffle=True):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(feature), target)
            loss.backward()
            optimizer.step()
            model.fc1.weight.data.renorm_(2, 0, args.max_norm)
        print('epoch %d loss %.4f dev acc %.3f' % (epoch, loss.item(), evaluate(model, dev_data, vocab)))


def evaluate(model, data, vocab):
    model.eval()
    corrects = 0
    with torch.no_grad():
        for feature, target in batches(data, vocab):
            corrects += (model(feature).argmax(1) == target).sum().item()
    return corrects / len(data)


vocab = {'<pad>': 0}
for w in POS + NEG + REST:
    vocab[w] = len(vocab)

# half of the sentiment words are only seen in the dev set
train_data = make_reviews(96, POS[:4], NEG[:4])
dev_data = make_reviews(48, POS[4:], NEG[4:])

cnn = CNN_Text(len(vocab), args)
if args.use_gpu:
    torch.cuda.set_device(args.gpu)
    cnn = cnn.cuda()
load_pretrained(cnn, vocab, word_vectors(args.embed_dim))
train(cnn, train_data, dev_data, vocab)
