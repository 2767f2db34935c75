import itertools
from dataclasses import dataclass, field

import numpy as np
import torch

from .embed import crop
from .matching import assign, iou


@dataclass
class Track:
    tid: int
    box: np.ndarray
    feature: torch.Tensor
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(4))
    lost: int = 0

    def predict(self):
        return self.box + self.velocity

    def hit(self, box, feature=None, momentum=0.8):
        self.velocity = 0.6 * self.velocity + 0.4 * (box - self.box)
        self.box, self.lost = box, 0
        if feature is not None:
            mixed = momentum * self.feature + (1 - momentum) * feature
            self.feature = mixed / mixed.norm()


class CellTracker:
    def __init__(self, encoder, high, low, max_lost, iou_weight=0.5):
        self.encoder = encoder
        self.device = next(encoder.parameters()).device
        self.high, self.low, self.max_lost = high, low, max_lost
        self.iou_weight = iou_weight
        self.tracks = []
        self._ids = itertools.count(1)

    @torch.no_grad()
    def _embed(self, frame, boxes):
        return self.encoder(crop(frame, boxes).to(self.device))

    def _appearance(self, tracks, features):
        gallery = torch.stack([t.feature for t in tracks])
        return 1 - gallery @ features.T

    def _overlap(self, tracks, boxes):
        return 1 - iou(np.stack([t.predict() for t in tracks]), boxes)

    def update(self, frame, boxes, scores):
        high = np.flatnonzero(scores >= self.high)
        low = np.flatnonzero((scores >= self.low) & (scores < self.high))
        assigned = {}
        features = self._embed(frame, boxes[high])
        left, fresh = list(self.tracks), list(range(len(high)))

        if self.tracks:
            overlap = torch.from_numpy(self._overlap(self.tracks, boxes[high])).float()
            cost = self._appearance(self.tracks, features).cpu()
            cost = self.iou_weight * overlap + (1 - self.iou_weight) * cost
            pairs, rest, fresh = assign(cost.numpy(), limit=0.7)
            for r, c in pairs:
                self.tracks[r].hit(boxes[high[c]], features[c])
                assigned[int(high[c])] = self.tracks[r].tid
            left = [self.tracks[r] for r in rest]

        if left and len(low):
            # faint cells: motion decides, appearance only vetoes
            cost = self._overlap(left, boxes[low])
            veto = self._appearance(left, self._embed(frame, boxes[low])) > 0.9
            cost = np.where(veto.cpu(), 2.0, cost)
            pairs, rest, _ = assign(cost, limit=0.8)
            for r, c in pairs:
                left[r].hit(boxes[low[c]])
                assigned[int(low[c])] = left[r].tid
            left = [left[r] for r in rest]

        for t in left:
            t.lost += 1
        self.tracks = [t for t in self.tracks if t.lost <= self.max_lost]
        for c in fresh:
            track = Track(next(self._ids), boxes[high[c]], features[c])
            self.tracks.append(track)
            assigned[int(high[c])] = track.tid
        return assigned
