from typing import List, Optional

import torch

from .cache import KVCache
from .model import Transformer


def sample_top_p(probs: torch.Tensor, p: float) -> torch.Tensor:
    probs_sort, probs_idx = torch.sort(probs, dim=-1, descending=True)
    probs_sum = torch.cumsum(probs_sort, dim=-1)
    probs_sort[probs_sum - probs_sort > p] = 0.0
    probs_sort.div_(probs_sort.sum(dim=-1, keepdim=True))
    next_token = torch.multinomial(probs_sort, num_samples=1)
    return torch.gather(probs_idx, -1, next_token)


class Generator:
    def __init__(self, model: Transformer, pad_id: int = 0, eos_id: int = 1):
        self.model = model.eval()
        self.pad_id = pad_id
        self.eos_id = eos_id
        self.device = next(model.parameters()).device

    @torch.inference_mode()
    def generate(self, prompts: List[List[int]], max_gen_len: int, temperature: float = 0.6,
                 top_p: float = 0.9, cache: Optional[KVCache] = None) -> List[List[int]]:
        args = self.model.args
        bsz = len(prompts)
        assert bsz <= args.max_batch_size, (bsz, args.max_batch_size)
        min_len = min(len(t) for t in prompts)
        total_len = min(args.max_seq_len, max_gen_len + max(len(t) for t in prompts))

        if cache is None:
            cache = KVCache.allocate(args, bsz, total_len, device=self.device)

        tokens = torch.full((bsz, total_len), self.pad_id, dtype=torch.long, device=self.device)
        for k, t in enumerate(prompts):
            tokens[k, :len(t)] = torch.tensor(t, dtype=torch.long, device=self.device)
        input_text_mask = tokens != self.pad_id
        eos_reached = torch.zeros(bsz, dtype=torch.bool, device=self.device)

        prev_pos = 0
        for cur_pos in range(min_len, total_len):
            logits = self.model(tokens[:, prev_pos:cur_pos], prev_pos, cache)
            if temperature > 0:
                next_token = sample_top_p(torch.softmax(logits[:, -1] / temperature, dim=-1), top_p).reshape(-1)
            else:
                next_token = torch.argmax(logits[:, -1], dim=-1)
            next_token = torch.where(input_text_mask[:, cur_pos], tokens[:, cur_pos], next_token)
            tokens[:, cur_pos] = next_token
            eos_reached |= (~input_text_mask[:, cur_pos]) & (next_token == self.eos_id)
            prev_pos = cur_pos
            if all(eos_reached):
                break

        out = []
        for row, prompt in zip(tokens.tolist(), prompts):
            row = row[:len(prompt) + max_gen_len]
            if self.eos_id in row[len(prompt):]:
                row = row[:row.index(self.eos_id, len(prompt))]
            out.append(row)
        return out
