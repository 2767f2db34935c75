from __future__ import annotations

from dataclasses import dataclass, field
from queue import Empty, Queue

import torch

from .cache import StateCache
from .model import Decoder


@dataclass
class Request:
    id: int
    prompt: tuple
    max_new: int = 4
    temperature: float = 0.0
    output: list = field(default_factory=list)


class Engine:
    def __init__(self, model: Decoder, device: torch.device, max_batch: int = 4, cache: int = 32):
        self.model = model.to(device).eval()
        self.device = device
        self.max_batch = max_batch
        self.queue: Queue[Request] = Queue()
        self.cache = StateCache(cache, device)

    def submit(self, request: Request):
        self.queue.put(request)

    def _take(self):
        batch = []
        while len(batch) < self.max_batch:
            try:
                batch.append(self.queue.get_nowait())
            except Empty:
                break
        return batch

    def _prefill(self, prompt: tuple):
        """State after the prompt, from the longest prefix that is known."""
        done, state = self.cache.longest_prefix(prompt)
        if state is None:
            state = self.model.initial()
        for n in range(done, len(prompt)):
            token = torch.tensor([prompt[n]], device=self.device)
            state = self.model.step(state, token)
        if done < len(prompt):
            self.cache.store(prompt, state)
        return state

    def _choose(self, logits, batch):
        heat = torch.tensor([r.temperature for r in batch]).to(logits.device)
        greedy = logits.argmax(dim=-1)
        probs = (logits / heat.clamp(min=1e-3)[:, None]).softmax(dim=-1)
        drawn = torch.multinomial(probs, 1).squeeze(1)
        return torch.where(heat > 0, drawn, greedy)

    @torch.inference_mode()
    def step(self):
        batch = self._take()
        if not batch:
            return []
        states = torch.cat([self._prefill(r.prompt) for r in batch])
        for i in range(max(r.max_new for r in batch)):
            token = self._choose(self.model.logits(states), batch)
            for r, t in zip(batch, token.tolist()):
                if i < r.max_new:
                    r.output.append(t)
            states = self.model.step(states, token)
        return batch

    def drain(self):
        while done := self.step():
            yield from done
