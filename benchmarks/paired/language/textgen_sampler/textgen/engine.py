from typing import List

import torch

from .processors import SamplingParams, build
from .tokenizer import ByteTokenizer


class Engine:
    def __init__(self, model, tokenizer: ByteTokenizer):
        self.model = model.eval()
        self.tokenizer = tokenizer

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    @torch.no_grad()
    def generate(self, prompt: str, params: SamplingParams) -> List[str]:
        rng = torch.Generator(device=self.device)
        rng.manual_seed(params.seed)
        chain = build(params)

        ids = torch.tensor([self.tokenizer.encode(prompt)] * params.n, device=self.device)
        logits, state = self.model(ids)
        for _ in range(params.max_tokens):
            scores = logits[:, -1]
            for processor in chain:
                scores = processor(ids, scores)
            nxt = torch.multinomial(scores.softmax(-1), 1, generator=rng)
            ids = torch.cat([ids, nxt], dim=1)
            logits, state = self.model(nxt, state)
        return [self.tokenizer.decode(row) for row in ids.tolist()]
