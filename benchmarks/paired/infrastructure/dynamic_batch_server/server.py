"""In-process inference service with dynamic batching.

Clients call ``submit(tokens)`` and get a Future. A worker thread gathers requests
until the batch is full or the oldest one has waited ``max_wait`` seconds, pads them,
runs the encoder once and hands each client its own row.
"""
import queue
import random
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field

import torch
from torch import nn

PAD = 0


@dataclass
class Request:
    tokens: list
    future: Future = field(default_factory=Future)
    arrived: float = field(default_factory=time.monotonic)


@dataclass
class ServerConfig:
    max_batch: int = 6
    max_wait: float = 0.01
    vocab: int = 50
    dim: int = 32
    classes: int = 3


class TextEncoder(nn.Module):
    def __init__(self, cfg: ServerConfig):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.dim, padding_idx=PAD)
        layer = nn.TransformerEncoderLayer(cfg.dim, 4, 2 * cfg.dim, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.score = nn.Linear(cfg.dim, cfg.classes)

    def forward(self, tokens, valid):
        h = self.encoder(self.embed(tokens), src_key_padding_mask=~valid)
        w = valid.unsqueeze(-1).to(h.dtype)
        pooled = (h * w).sum(1) / w.sum(1)
        return self.score(pooled).softmax(-1)


class InferenceServer:
    def __init__(self, model, cfg, device=None):
        self.cfg = cfg
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.model = model.eval().to(self.device)
        self.requests = queue.Queue()
        self.batch_sizes = []
        self._stop = threading.Event()
        self._worker = threading.Thread(target=self._loop, name="batcher", daemon=True)

    def __enter__(self):
        self._worker.start()
        return self

    def __exit__(self, *exc):
        self._stop.set()
        self._worker.join()

    def submit(self, tokens):
        req = Request(list(tokens))
        self.requests.put(req)
        return req.future

    def _gather(self):
        try:
            first = self.requests.get(timeout=0.05)
        except queue.Empty:
            return []
        batch = [first]
        deadline = first.arrived + self.cfg.max_wait
        while len(batch) < self.cfg.max_batch:
            left = deadline - time.monotonic()
            try:
                batch.append(self.requests.get(timeout=left) if left > 0 else self.requests.get_nowait())
            except queue.Empty:
                break
        return batch

    def _collate(self, batch):
        lengths = torch.tensor([len(r.tokens) for r in batch])
        tokens = torch.full((len(batch), int(lengths.max())), PAD)
        for row, r in zip(tokens, batch):
            row[:len(r.tokens)] = torch.tensor(r.tokens)
        return tokens.to(self.device), lengths.to(self.device)

    @torch.inference_mode()
    def _infer(self, batch):
        tokens, lengths = self._collate(batch)
        steps = torch.arange(tokens.size(1), device=tokens.device)
        valid = steps[None, :] < lengths[:, None]
        return self.model(tokens, valid).cpu()

    def _loop(self):
        while not self._stop.is_set() or not self.requests.empty():
            batch = self._gather()
            if not batch:
                continue
            try:
                probs = self._infer(batch)
            except Exception as e:
                for r in batch:
                    r.future.set_exception(e)
                continue
            self.batch_sizes.append(len(batch))
            for r, p in zip(batch, probs):
                r.future.set_result(p.tolist())


def client(server, n, seed, out):
    rng = random.Random(seed)
    for _ in range(n):
        toks = [rng.randrange(1, 50) for _ in range(rng.randint(2, 12))]
        out.append(server.submit(toks))
        time.sleep(rng.random() * 0.004)


def main():
    torch.manual_seed(0)
    cfg = ServerConfig()
    futures = []
    with InferenceServer(TextEncoder(cfg), cfg) as server:
        clients = [threading.Thread(target=client, args=(server, 8, s, futures)) for s in range(3)]
        for t in clients:
            t.start()
        for t in clients:
            t.join()
        results = [f.result(timeout=30) for f in futures]
    votes = [max(range(cfg.classes), key=r.__getitem__) for r in results]
    print(f"served {len(results)} requests in {len(server.batch_sizes)} batches on {server.device}")
    print("votes per class:", [votes.count(c) for c in range(cfg.classes)])


if __name__ == "__main__":
    main()
