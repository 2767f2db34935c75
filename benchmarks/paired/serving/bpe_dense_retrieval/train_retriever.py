import argparse
import random

import torch
import torch.nn.functional as F

from bpe import BPETokenizer
from corpus import make_corpus
from encoder import BiEncoder, TextPipeline
from index import FlatIndex, recall_and_mrr


def get_device(no_cuda=False):
    return torch.device("cuda" if torch.cuda.is_available() and not no_cuda else "cpu")


def info_nce(q, p, topics, log_temp):
    logits = q @ p.t() * log_temp.exp()
    same = topics.unsqueeze(0) == topics.unsqueeze(1)
    eye = torch.eye(len(q), dtype=torch.bool, device=q.device)
    logits = logits.masked_fill(same & ~eye, -1e4)
    target = torch.arange(len(q), device=q.device)
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2


def mine_hard_negatives(pipe, rows, k=3):
    """For every row the closest passage of another topic."""
    index = FlatIndex()
    index.add(pipe.embed([r["passage"] for r in rows]).cpu(), range(len(rows)))
    queries = pipe.embed([r["query"] for r in rows]).cpu()
    _, found = index.search(queries, k=k + 3)
    negatives = []
    for r, ids in zip(rows, found):
        other = [i for i in ids if rows[i]["topic"] != r["topic"]]
        negatives.append(rows[other[0]]["passage"] if other else random.choice(rows)["passage"])
    return negatives


def train(pipe, rows, args):
    opt = torch.optim.AdamW(pipe.encoder.parameters(), lr=args.lr)
    negatives = None
    for epoch in range(args.epochs):
        order = random.sample(range(len(rows)), len(rows))
        for i in range(0, len(order), args.batch_size):
            picked = order[i:i + args.batch_size]
            q = pipe([rows[j]["query"] for j in picked])
            p = pipe([rows[j]["passage"] for j in picked])
            topics = torch.tensor([rows[j]["topic"] for j in picked]).to(q.device)
            loss = info_nce(q, p, topics, pipe.encoder.log_temp)
            if negatives is not None:
                n = pipe([negatives[j] for j in picked])
                loss = loss + F.relu(0.2 - (q * p).sum(-1) + (q * n).sum(-1)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        negatives = mine_hard_negatives(pipe, rows)
        print(f"epoch {epoch} loss {loss.item():.3f}")


def evaluate(pipe, rows, k):
    index = FlatIndex()
    index.add(pipe.embed([r["passage"] for r in rows]).cpu().numpy(), [r["topic"] for r in rows])
    queries = pipe.embed([r["query"] for r in rows]).float().cpu()
    _, found = index.search(queries.numpy(), k)
    return recall_and_mrr(found, [r["topic"] for r in rows])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch-size", type=int, default=8)
    ap.add_argument("--merges", type=int, default=40)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--no-cuda", action="store_true")
    args = ap.parse_args()
    random.seed(0)
    torch.manual_seed(0)

    rows = make_corpus()
    tokenizer = BPETokenizer().train([r["query"] for r in rows] + [r["passage"] for r in rows], args.merges)
    pipe = TextPipeline(tokenizer, BiEncoder(len(tokenizer)).to(get_device(args.no_cuda)))
    train(pipe, rows, args)
    recall, mrr = evaluate(pipe, rows, k=3)
    print(f"vocab {len(tokenizer)} recall@3 {recall:.3f} mrr {mrr:.3f}")


if __name__ == "__main__":
    main()
