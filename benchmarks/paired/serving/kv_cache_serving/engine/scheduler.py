import heapq
import itertools
import logging
from dataclasses import dataclass, field
from typing import List, Optional

import torch

from .cache import PagedOut, SequenceCache

log = logging.getLogger("scheduler")
_counter = itertools.count()


@dataclass(order=True)
class Request:
    priority: int
    order: int = field(default_factory=lambda: next(_counter))
    prompt: List[int] = field(default_factory=list, compare=False)
    max_new: int = field(default=8, compare=False)
    output: List[int] = field(default_factory=list, compare=False)
    cache: Optional[SequenceCache] = field(default=None, compare=False, repr=False)
    swapped: Optional[PagedOut] = field(default=None, compare=False, repr=False)

    @property
    def done(self):
        return len(self.output) >= self.max_new


class Scheduler:
    """Runs at most ``max_running`` sequences; the others wait with their caches in host memory."""

    def __init__(self, model, max_running=2, quantum=3):
        self.model = model
        self.max_running = max_running
        self.quantum = quantum
        self.waiting, self.running, self.finished = [], [], []
        self.stats = {"swap_out": 0, "swap_in": 0, "bytes": 0}

    @property
    def device(self):
        return next(self.model.parameters()).device

    def submit(self, request):
        heapq.heappush(self.waiting, request)

    def _admit(self):
        while self.waiting and len(self.running) < self.max_running:
            req = heapq.heappop(self.waiting)
            if req.swapped is not None:
                req.cache, req.swapped = SequenceCache.swap_in(req.swapped, self.device), None
                self.stats["swap_in"] += 1
            self.running.append(req)

    def _preempt(self, req):
        req.swapped, req.cache = req.cache.swap_out(), None
        self.stats["swap_out"] += 1
        self.stats["bytes"] += req.swapped.nbytes()
        req.priority += 1
        heapq.heappush(self.waiting, req)

    def _step(self, req):
        if req.cache is None:
            req.cache = SequenceCache(self.model.cfg.n_layers)
            ids = req.prompt
        else:
            ids = req.output[-1:]
        logits = self.model(torch.tensor(ids, device=self.device), req.cache)
        req.output.append(int(logits.argmax()))

    @torch.no_grad()
    def run(self):
        while self.waiting or self.running:
            self._admit()
            for _ in range(self.quantum):
                for req in self.running:
                    if not req.done:
                        self._step(req)
            batch, self.running = self.running, []
            for req in batch:
                if req.done:
                    req.cache = None
                    self.finished.append(req)
                elif self.waiting:
                    self._preempt(req)
                else:
                    self.running.append(req)
            log.info("running %d waiting %d finished %d", len(self.running), len(self.waiting), len(self.finished))
        return sorted(self.finished, key=lambda r: r.order)
