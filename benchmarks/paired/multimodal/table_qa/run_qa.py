"""Which column does the question talk about? (a small weakly supervised table reader)"""
import argparse
import random

import torch
import torch.nn.functional as F

from tableqa import TableEncoder, encode_table


def random_example(rng):
    rows, cols = rng.choice([(4, 3), (5, 3), (6, 4)])
    table = [[round(rng.gauss(10 * c, 3.0), 2) for c in range(cols)] for _ in range(rows)]
    answer = rng.randrange(cols)
    question = [1 + answer, rng.randrange(6, 16), rng.randrange(6, 16)]
    return encode_table(table, question, answer)


def accuracy(model, examples, device):
    model.eval()
    with torch.no_grad():
        hits = [model(ex.to(device)).argmax().item() == ex.answer for ex in examples]
    model.train()
    return sum(hits) / len(hits)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--examples", type=int, default=60)
    parser.add_argument("--accumulate", type=int, default=6)
    parser.add_argument("--no-cuda", action="store_true")
    args = parser.parse_args()

    rng = random.Random(0)
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu")
    train = [random_example(rng) for _ in range(args.examples)]
    test = [random_example(rng) for _ in range(20)]

    model = TableEncoder().to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(args.epochs):
        rng.shuffle(train)
        running = torch.zeros((), device=device)
        for i, example in enumerate(train, 1):
            logits = model(example.to(device))
            target = torch.tensor(example.answer, device=device)
            loss = F.cross_entropy(logits, target) / args.accumulate
            loss.backward()
            running += loss.detach()
            if i % args.accumulate == 0:
                opt.step()
                opt.zero_grad()
        print(f"epoch {epoch} loss {running.item():.3f} test accuracy {accuracy(model, test, device):.2f}")
    sample = test[0]
    print("smallest value of the asked column is in row", sample.ranking[sample.answer][0])


if __name__ == "__main__":
    main()
