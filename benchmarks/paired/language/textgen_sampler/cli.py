import argparse

import torch

from textgen.engine import Engine
from textgen.model import GRULM
from textgen.pretrain import pretrain
from textgen.processors import SamplingParams
from textgen.tokenizer import ByteTokenizer

TEXT = ("it was the best of times, it was the worst of times, it was the age of wisdom, "
        "it was the age of foolishness, it was the epoch of belief, it was the epoch of incredulity, "
        "it was the season of light, it was the season of darkness. ")


def main(argv=None):
    ap = argparse.ArgumentParser(description="train a tiny language model and sample from it")
    ap.add_argument("prompt", nargs="?", default="it was ")
    ap.add_argument("-n", type=int, default=2)
    ap.add_argument("--temperature", type=float, default=0.8)
    ap.add_argument("--top-k", type=int, default=0)
    ap.add_argument("--top-p", type=float, default=0.95)
    ap.add_argument("--repetition-penalty", type=float, default=1.05)
    ap.add_argument("--max-tokens", type=int, default=40)
    ap.add_argument("--steps", type=int, default=30)
    ap.add_argument("--seed", type=int, default=7)
    ap.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    a = ap.parse_args(argv)

    torch.manual_seed(a.seed)
    device = a.device if a.device != "auto" else ("cuda" if torch.cuda.is_available() else "cpu")
    tokenizer = ByteTokenizer(TEXT)
    model = GRULM(tokenizer.vocab_size).to(device)
    loss = pretrain(model, torch.tensor(tokenizer.encode(TEXT), device=device), a.steps)
    print(f"loss {loss:.3f}")

    params = SamplingParams(a.temperature, a.top_k, a.top_p, a.repetition_penalty, a.max_tokens, a.n, a.seed)
    for text in Engine(model, tokenizer).generate(a.prompt, params):
        print(repr(text))


if __name__ == "__main__":
    main()
