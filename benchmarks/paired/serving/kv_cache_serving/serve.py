import argparse
import logging
import random

import torch

from engine import ModelConfig, Request, Scheduler, TinyLlama


def make_requests(n, vocab, max_new, seed):
    rng = random.Random(seed)
    for _ in range(n):
        prompt = [rng.randrange(vocab) for _ in range(rng.randint(2, 7))]
        yield Request(priority=rng.randint(0, 2), prompt=prompt, max_new=rng.randint(max_new // 2, max_new))


def main(argv=None):
    parser = argparse.ArgumentParser(description="continuous batching with swapping of KV caches")
    parser.add_argument("--requests", type=int, default=6)
    parser.add_argument("--max-new", type=int, default=10)
    parser.add_argument("--max-running", type=int, default=2)
    parser.add_argument("--quantum", type=int, default=3)
    parser.add_argument("--device", default=None)
    args = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")

    torch.manual_seed(0)
    device = args.device or ("cuda" if torch.cuda.is_available() else "cpu")
    cfg = ModelConfig()
    model = TinyLlama(cfg).to(device).eval()
    scheduler = Scheduler(model, args.max_running, args.quantum)
    for request in make_requests(args.requests, cfg.vocab_size, args.max_new, seed=1):
        scheduler.submit(request)
    for request in scheduler.run():
        print(f"#{request.order} {request.prompt} -> {request.output}")
    print(scheduler.stats)


if __name__ == "__main__":
    main()
