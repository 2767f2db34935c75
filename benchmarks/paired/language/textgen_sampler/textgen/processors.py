"""Filters applied to next-token logits; each takes (generated ids, logits) and returns logits."""
from dataclasses import dataclass
from typing import Callable, List

import torch

Processor = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass
class SamplingParams:
    temperature: float = 0.9
    top_k: int = 0
    top_p: float = 1.0
    repetition_penalty: float = 1.0
    max_tokens: int = 30
    n: int = 2
    seed: int = 0


def repetition_penalty(penalty: float) -> Processor:
    def apply(ids, logits):
        score = torch.gather(logits, 1, ids)
        score = torch.where(score < 0, score * penalty, score / penalty)
        return logits.scatter(1, ids, score)
    return apply


def top_k_filter(k: int) -> Processor:
    def apply(ids, logits):
        kth = logits.topk(min(k, logits.size(-1)), dim=-1).values[:, -1:]
        return logits.masked_fill(logits < kth, float("-inf"))
    return apply


def top_p_filter(p: float) -> Processor:
    def apply(ids, logits):
        sorted_logits, order = logits.sort(dim=-1, descending=True)
        probs = sorted_logits.softmax(-1)
        drop = probs.cumsum(-1) - probs > p
        drop = torch.zeros_like(drop).scatter(1, order, drop)
        return logits.masked_fill(drop, float("-inf"))
    return apply


def build(params: SamplingParams) -> List[Processor]:
    chain: List[Processor] = []
    if params.repetition_penalty != 1.0:
        chain.append(repetition_penalty(params.repetition_penalty))
    if params.temperature != 1.0:
        chain.append(lambda ids, logits: logits / max(params.temperature, 1e-5))
    if params.top_k:
        chain.append(top_k_filter(params.top_k))
    if params.top_p < 1.0:
        chain.append(top_p_filter(params.top_p))
    return chain
