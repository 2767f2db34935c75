import argparse
import os
import tempfile

import torch
from torch.utils.data import DataLoader

from tagger import BiLSTMCRF, Vocab
from tagger.batching import Collate
from tagger.scoring import SpanF1
from tagger.vocab import toy_sentences


def evaluate(model, loader, tag_vocab, device, constrain):
    model.eval()
    f1 = SpanF1()
    for batch in loader:
        batch = batch.to(device)
        paths = model.tag(batch.words, batch.lengths, constrain=constrain)
        for gold, n, path in zip(batch.tags.tolist(), batch.lengths.tolist(), paths):
            f1.update(tag_vocab.decode(gold[:n]), tag_vocab.decode(path))
    return f1.compute()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch_size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--cpu", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() and not args.cpu else "cpu")

    train, dev = list(toy_sentences(96, 1)), list(toy_sentences(32, 2))
    words = Vocab(w for ws, _ in train for w in ws)
    tags = Vocab((t for _, ts in train for t in ts), specials=())
    collate = Collate(words, tags)
    train_loader = DataLoader(train, args.batch_size, shuffle=True, collate_fn=collate)
    dev_loader = DataLoader(dev, args.batch_size, collate_fn=collate)

    model = BiLSTMCRF(len(words), tags.itos).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    with tempfile.TemporaryDirectory() as tmp:
        ckpt, best = os.path.join(tmp, "best.pt"), -1.0
        for epoch in range(args.epochs):
            model.train()
            total = 0.0
            for batch in train_loader:
                words_, lengths, tags_ = batch.to(device)
                loss = model.loss(words_, lengths, tags_)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                optimizer.step()
                total += loss.item()
            free = evaluate(model, dev_loader, tags, device, constrain=False)
            print(f"epoch {epoch} nll {total / len(train_loader):.3f} dev f1 {free:.3f}")
            if free > best:
                best = free
                torch.save(model.state_dict(), ckpt)
        model.load_state_dict(torch.load(ckpt, map_location="cpu"))
    print(f"best epoch, constrained decoding: {evaluate(model, dev_loader, tags, device, True):.3f}")


if __name__ == "__main__":
    main()
