import argparse
from itertools import islice

import torch
import torch.nn.functional as F

from radio import SCHEMES
from session import Session


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blocks", type=int, default=40)
    parser.add_argument("--test-blocks", type=int, default=6)
    parser.add_argument("--device")
    args = parser.parse_args()

    s = Session(device=args.device) if args.device else Session()
    for i, block in enumerate(islice(s.stream(), args.blocks)):
        x, label = s.receive(block)
        loss = F.cross_entropy(s.model(x), label)
        s.optimizer.zero_grad()
        loss.backward()
        s.optimizer.step()
        if i % 10 == 0:
            print(f"block {i}: loss {loss.item():.4f}")

    right = torch.zeros(len(SCHEMES))
    seen = torch.zeros(len(SCHEMES))
    with torch.no_grad():
        for block in islice(s.stream(offset=1), args.test_blocks):
            x, _ = s.receive(block)
            ok = s.model(x).argmax(1).cpu() == block[1]
            right.index_add_(0, block[1], ok.float())
            seen.index_add_(0, block[1], torch.ones(len(ok)))
    for name, share in zip(SCHEMES, (right / seen.clamp(min=1)).tolist()):
        print(f"{name:6s} {share:.2f}")
    print("bursts through the channel:", s.channel.applied)


if __name__ == "__main__":
    main()
