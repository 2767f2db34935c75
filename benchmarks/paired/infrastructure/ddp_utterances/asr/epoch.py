import torch
from torch import nn

from asr import dist


class EpochRunner:
    def __init__(self, model, device, optimizer=None, clip=1.0):
        self.model = model
        self.device = device
        self.optimizer = optimizer
        self.clip = clip
        self.ctc = nn.CTCLoss(blank=0, zero_infinity=True)

    @property
    def training(self):
        return self.optimizer is not None

    def greedy(self, log_probs, lengths):
        best = log_probs.argmax(-1)
        out = []
        for row, n in zip(best.tolist(), lengths.tolist()):
            seq, prev = [], 0
            for s in row[:n]:
                if s != prev and s != 0:
                    seq.append(s)
                prev = s
            out.append(seq)
        return out

    def __call__(self, loader):
        self.model.train(self.training)
        stats = torch.zeros(3, device=self.device)  # loss, exact matches, utterances
        with torch.set_grad_enabled(self.training):
            for batch in loader:
                frames, frame_len, labels, label_len = (t.to(self.device) for t in batch)
                lp = self.model(frames, frame_len)
                loss = self.ctc(lp.transpose(0, 1), labels, frame_len, label_len)
                if self.training:
                    self.optimizer.zero_grad(set_to_none=True)
                    loss.backward()
                    nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
                    self.optimizer.step()
                truth = [t.tolist() for t in labels.split(label_len.tolist())]
                hits = sum(h == t for h, t in zip(self.greedy(lp, frame_len), truth))
                stats += torch.tensor([loss.item() * len(frames), hits, len(frames)], device=self.device)
        total, hits, n = dist.all_reduce_sum(stats).tolist()
        return total / n, hits / n
