"""BiLSTM-CRF tagger (Lample et al., 2016), one file."""
import argparse
import collections
import os
import random
import tempfile

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

PAD, UNK = 0, 1
TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]

FIRST = "anna boris carla dmitri elena felix".split()
LAST = "meyer okafor rossi tanaka".split()
PLACE = "paris lagos oslo lima".split()
FILL = "went to the market with a friend from work yesterday and saw it in".split()


def make_sentence(rng):
    words, tags = [], []
    for _ in range(rng.randint(2, 4)):
        for _ in range(rng.randint(1, 3)):
            words.append(rng.choice(FILL))
            tags.append("O")
        if rng.random() < 0.5:
            words += [rng.choice(FIRST), rng.choice(LAST)]
            tags += ["B-PER", "I-PER"]
        else:
            words.append(rng.choice(PLACE))
            tags.append("B-LOC")
            if rng.random() < 0.3:
                words.append("north")
                tags.append("I-LOC")
    return words, tags


def build_vocab(sentences, min_freq=1):
    counter = collections.Counter(w for words, _ in sentences for w in words)
    vocab = {"<pad>": PAD, "<unk>": UNK}
    for w, c in sorted(counter.items()):
        if c >= min_freq:
            vocab[w] = len(vocab)
    return vocab


def make_collate(vocab):
    tag2id = {t: i for i, t in enumerate(TAGS)}

    def collate(batch):
        batch = sorted(batch, key=lambda b: len(b[0]), reverse=True)
        xs = [torch.tensor([vocab.get(w, UNK) for w in words]) for words, _ in batch]
        ys = [torch.tensor([tag2id[t] for t in tags]) for _, tags in batch]
        lengths = torch.tensor([len(x) for x in xs])
        x = pad_sequence(xs, batch_first=True, padding_value=PAD)
        y = pad_sequence(ys, batch_first=True, padding_value=0)
        return x, y, x != PAD, lengths

    return collate


class CRF(nn.Module):
    def __init__(self, num_tags):
        super().__init__()
        self.start = nn.Parameter(torch.empty(num_tags).uniform_(-0.1, 0.1))
        self.end = nn.Parameter(torch.empty(num_tags).uniform_(-0.1, 0.1))
        self.trans = nn.Parameter(torch.empty(num_tags, num_tags).uniform_(-0.1, 0.1))

    def forward(self, emissions, tags, mask):
        return (self._norm(emissions, mask) - self._score(emissions, tags, mask)).mean()

    def _score(self, e, tags, mask):
        b, t, _ = e.shape
        rows = torch.arange(b, device=e.device)
        score = self.start[tags[:, 0]] + e[rows, 0, tags[:, 0]]
        for i in range(1, t):
            step = self.trans[tags[:, i - 1], tags[:, i]] + e[rows, i, tags[:, i]]
            score = score + step * mask[:, i].float()
        last = tags[rows, mask.long().sum(1) - 1]
        return score + self.end[last]

    def _norm(self, e, mask):
        alpha = self.start + e[:, 0]
        for i in range(1, e.size(1)):
            nxt = torch.logsumexp(alpha.unsqueeze(2) + self.trans, dim=1) + e[:, i]
            alpha = torch.where(mask[:, i].unsqueeze(1), nxt, alpha)
        return torch.logsumexp(alpha + self.end, dim=1)

    @torch.no_grad()
    def decode(self, e, lengths):
        """Viterbi, sentence by sentence."""
        start, end, trans = (p.detach().cpu() for p in (self.start, self.end, self.trans))
        paths = []
        for emit, n in zip(e.cpu(), lengths.tolist()):
            score, back = start + emit[0], []
            for i in range(1, n):
                best, arg = (score.unsqueeze(1) + trans).max(0)
                score = best + emit[i]
                back.append(arg)
            tag = int((score + end).argmax())
            path = [tag]
            for arg in reversed(back):
                tag = int(arg[tag])
                path.append(tag)
            paths.append(path[::-1])
        return paths


class BiLSTMCRF(nn.Module):
    def __init__(self, vocab_size, num_tags, emb=16, hidden=16, dropout=0.2):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, emb, padding_idx=PAD)
        self.drop = nn.Dropout(dropout)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, num_tags)
        self.crf = CRF(num_tags)

    def emissions(self, x, lengths):
        packed = pack_padded_sequence(self.drop(self.emb(x)), lengths, batch_first=True)
        h, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.out(self.drop(h))

    def loss(self, x, y, mask, lengths):
        return self.crf(self.emissions(x, lengths), y, mask)

    def predict(self, x, lengths):
        return self.crf.decode(self.emissions(x, lengths), lengths)


def spans(tags):
    out, start, kind = set(), None, None
    for i, t in enumerate(list(tags) + ["O"]):
        if start is not None and not (t.startswith("I-") and t[2:] == kind):
            out.add((start, i, kind))
            start = None
        if t.startswith("B-"):
            start, kind = i, t[2:]
    return out


def f1(gold, pred):
    tp = sum(len(spans(g) & spans(p)) for g, p in zip(gold, pred))
    n_gold = sum(len(spans(g)) for g in gold)
    n_pred = sum(len(spans(p)) for p in pred)
    return 2 * tp / max(n_gold + n_pred, 1)


def train_epoch(model, loader, optimizer, args):
    model.train()
    total = 0.0
    for x, y, mask, lengths in loader:
        x, y, mask = (t.to(args.device) for t in (x, y, mask))
        optimizer.zero_grad()
        loss = model.loss(x, y, mask, lengths)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def evaluate(model, loader, args):
    model.eval()
    gold, pred = [], []
    for x, y, _, lengths in loader:
        with torch.no_grad():
            paths = model.predict(x.to(args.device), lengths)
        for row, n, path in zip(y.tolist(), lengths.tolist(), paths):
            gold.append([TAGS[t] for t in row[:n]])
            pred.append([TAGS[t] for t in path])
    return f1(gold, pred)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--clip", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--save", default=None)
    args = parser.parse_args()
    args.device = torch.device(args.device)
    torch.manual_seed(args.seed)

    rng = random.Random(args.seed)
    train, dev = ([make_sentence(rng) for _ in range(n)] for n in (40, 12))
    vocab = build_vocab(train)
    collate = make_collate(vocab)
    train_loader = DataLoader(train, args.batch_size, shuffle=True, collate_fn=collate)
    dev_loader = DataLoader(dev, args.batch_size, collate_fn=collate)

    model = BiLSTMCRF(len(vocab), len(TAGS)).to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    path = args.save or os.path.join(tempfile.mkdtemp(), "ner.pt")
    best = -1.0
    for epoch in range(args.epochs):
        loss = train_epoch(model, train_loader, optimizer, args)
        score = evaluate(model, dev_loader, args)
        print(f"epoch {epoch} loss {loss:.3f} dev F1 {score:.3f}")
        if score > best:
            best = score
            torch.save({"model": model.state_dict(), "vocab": vocab}, path)

    ckpt = torch.load(path, map_location="cpu")
    tagger = BiLSTMCRF(len(ckpt["vocab"]), len(TAGS))
    tagger.load_state_dict(ckpt["model"])
    tagger.eval()
    x, _, _, lengths = collate([("yesterday elena rossi went to oslo".split(), ["O"] * 6)])
    print([TAGS[t] for t in tagger.predict(x, lengths)[0]])


if __name__ == "__main__":
    main()
