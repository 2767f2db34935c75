from collections import Counter

import torch
from torch.utils.data import DataLoader

from .batch import collate_sessions
from .losses import get_loss
from .model import GRU4Rec


class SessionRecommender:
    """scikit-learn flavoured front end: ``fit``, ``recommend``, ``evaluate``."""

    def __init__(self, num_items, hidden=32, loss="bpr-max", lr=0.01, epochs=5, batch_size=32,
                 max_step=64, device="auto", random_state=0):
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(device)
        self.epochs, self.batch_size, self.lr, self.max_step = epochs, batch_size, lr, max_step
        self.loss_fn = get_loss(loss)
        torch.manual_seed(random_state)
        self.model = GRU4Rec(num_items, hidden).to(self.device)
        self.popularity_ = Counter()

    def _loader(self, sessions, shuffle):
        return DataLoader(list(sessions.items()), self.batch_size, shuffle=shuffle, collate_fn=collate_sessions,
                          pin_memory=self.device.type == "cuda")

    def fit(self, sessions):
        opt = torch.optim.Adagrad(self.model.parameters(), lr=self.lr)
        for s in sessions.values():
            self.popularity_.update(s)
        self.history_ = []
        for _ in range(self.epochs):
            self.model.train()
            losses = []
            for batch in self._loader(sessions, shuffle=True):
                batch = batch.to(self.device)
                out, _ = self.model(batch.inputs, batch.lengths)
                keep = batch.targets > 0
                h, tgt = out[keep], batch.targets[keep]
                pick = torch.randperm(len(tgt))[:self.max_step]
                h, tgt = h[pick], tgt[pick]
                loss = self.loss_fn(self.model.score(h, tgt))
                opt.zero_grad()
                loss.backward()
                opt.step()
                losses.append(loss.detach())
            self.history_.append(torch.stack(losses).mean().item())
        return self

    @torch.inference_mode()
    def _scores(self, sessions):
        self.model.eval()
        for batch in self._loader(sessions, shuffle=False):
            _, last = self.model(batch.inputs.to(self.device), batch.lengths)
            scores = self.model.score(last)
            scores[:, 0] = float("-inf")
            index = torch.arange(len(batch))
            final = batch.targets[index, batch.lengths - 1]
            yield batch, scores, final

    def recommend(self, sessions, k=5):
        out = {}
        for batch, scores, _ in self._scores(sessions):
            for sid, row in zip(batch.session_ids, scores.topk(k, dim=1).indices.tolist()):
                out[sid] = row
        return out

    def evaluate(self, sessions, k=10):
        recall = mrr = pop = n = 0
        popular = {i for i, _ in self.popularity_.most_common(k)}
        for batch, scores, final in self._scores(sessions):
            top = scores.topk(k, dim=1).indices.cpu()
            hit = top == final.unsqueeze(1)
            rank = hit.float().argmax(1) + 1
            recall += hit.any(1).sum().item()
            mrr += (hit.any(1) / rank).sum().item()
            pop += sum(f in popular for f in final.tolist())
            n += len(batch)
        return {f"recall@{k}": recall / n, f"mrr@{k}": mrr / n, f"pop_recall@{k}": pop / n}
