"""Ship detection in synthetic SAR scenes, anchor free (FCOS like, one level).

A scene is cut into tiles, every tile is decoded on its own and the boxes are
merged in scene coordinates with a global NMS.

    python ships.py --epochs 3
"""
import argparse
import contextlib
import functools
import os
import tempfile
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

STRIDE = 4
TILE = 32


def get_device(args):
    if args.device:
        return torch.device(args.device)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        try:
            return fn(*args, **kwargs)
        finally:
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            print(f"  ({fn.__name__} took {time.perf_counter() - start:.2f}s)")
    return wrapper


@contextlib.contextmanager
def evaluating(model):
    was = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield model
    finally:
        model.train(was)


# ---------------------------------------------------------------- data

def sea_scene(rng, size=96, ships=5):
    """Speckle, a strip of land without ships on the left, bright boxes as ships."""
    img = rng.gamma(1.0, 0.15, (size, size))
    coast = size // 4
    img[:, :coast] = rng.gamma(2.0, 0.3, (size, coast))
    boxes = []
    for _ in range(ships):
        w, h = rng.integers(5, 10, 2)
        x, y = rng.integers(TILE, size - w), rng.integers(0, size - h)
        img[y:y + h, x:x + w] += rng.uniform(1.5, 2.5)
        boxes.append([x, y, x + w, y + h])
    return np.log1p(img).astype(np.float32), np.array(boxes, dtype=np.float32)


def tiles(scene, step=TILE):
    h, w = scene.shape[-2:]
    for y in range(0, h - TILE + 1, step):
        for x in range(0, w - TILE + 1, step):
            yield x, y, scene[..., y:y + TILE, x:x + TILE]


def training_batches(scenes, batch_size, rng):
    """Yields images (B, 1, T, T) and a list with one (N, 4) box tensor per image."""
    pool = []
    for img, boxes in scenes:
        for x, y, tile in tiles(img, step=TILE // 2):
            centre = (boxes[:, :2] + boxes[:, 2:]) / 2 - [x, y]
            inside = ((centre > 0) & (centre < TILE)).all(1)
            local = np.clip(boxes[inside] - [x, y, x, y], 0, TILE).astype(np.float32)
            if inside.any() or rng.random() < 0.3:
                pool.append((tile, local))
    order = rng.permutation(len(pool))
    for i in range(0, len(order) - batch_size + 1, batch_size):
        chosen = [pool[k] for k in order[i:i + batch_size]]
        yield (
            torch.from_numpy(np.stack([c[0] for c in chosen]))[:, None],
            [torch.from_numpy(c[1]) for c in chosen],
        )


# ---------------------------------------------------------------- model

class ShipNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width * 2, 3, stride=2, padding=1), nn.BatchNorm2d(width * 2), nn.ReLU(),
            nn.Conv2d(width * 2, width * 2, 3, padding=1), nn.ReLU(),
        )
        self.cls = nn.Conv2d(width * 2, 1, 1)
        self.reg = nn.Conv2d(width * 2, 4, 1)
        nn.init.constant_(self.cls.bias, -1.5)
        cells = (torch.arange(TILE // STRIDE) + 0.5) * STRIDE
        yy, xx = torch.meshgrid(cells, cells, indexing="ij")
        self.register_buffer("points", torch.stack([xx, yy], -1).view(-1, 2), persistent=False)

    def forward(self, x):
        f = self.body(x)
        score = self.cls(f).flatten(1)
        dist = F.softplus(self.reg(f)).flatten(2).transpose(1, 2) * STRIDE
        return score, dist

    def targets(self, boxes):
        """labels (P,) and distances (P, 4) of one image"""
        dist = self.points.new_zeros(len(self.points), 4)
        if len(boxes) == 0:
            return dist[:, 0], dist
        lt = self.points[:, None] - boxes[None, :, :2]
        rb = boxes[None, :, 2:] - self.points[:, None]
        d = torch.cat([lt, rb], -1)
        inside = d.amin(-1) > 0
        area = (boxes[:, 2:] - boxes[:, :2]).prod(1).expand(len(self.points), -1)
        which = area.masked_fill(~inside, float("inf")).argmin(1)
        return inside.any(1).float(), d[torch.arange(len(d), device=d.device), which].clamp_min(0)

    def decode(self, score, dist, threshold):
        """(N, 5) boxes with score of one tile"""
        keep = score > threshold
        if not keep.any():
            return score.new_zeros((0, 5))
        p, d = self.points[keep], dist[keep]
        return torch.cat([p - d[:, :2], p + d[:, 2:], score[keep, None]], 1)


def pairwise_iou(a, b):
    lt, rb = torch.max(a[:, None, :2], b[None, :, :2]), torch.min(a[:, None, 2:4], b[None, :, 2:4])
    inter = (rb - lt).clamp_min(0).prod(-1)
    area = lambda x: (x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1])
    return inter / (area(a)[:, None] + area(b)[None] - inter + 1e-6)


def nms(dets, iou_threshold=0.4):
    dets = dets[dets[:, 4].argsort(descending=True)]
    iou = pairwise_iou(dets, dets).triu(1).cpu().numpy() > iou_threshold
    alive = np.ones(len(dets), dtype=bool)
    for i in range(len(dets)):
        if alive[i]:
            alive &= ~iou[i]
    return dets[torch.from_numpy(np.flatnonzero(alive)).to(dets.device)]


# ---------------------------------------------------------------- training and evaluation

def detection_loss(model, images, boxes):
    score, dist = model(images)
    labels, wanted = map(torch.stack, zip(*[model.targets(b) for b in boxes]))
    pos = labels > 0
    p = score.sigmoid()
    focal = torch.where(pos, (1 - p) ** 2, p ** 2)
    cls = (focal * F.binary_cross_entropy_with_logits(score, labels, reduction="none")).sum() / pos.sum().clamp_min(1)
    reg = F.smooth_l1_loss(dist[pos], wanted[pos]) if pos.any() else dist.sum() * 0
    return cls + reg


@timed
def train_epoch(model, optimizer, scenes, args, rng, device):
    losses = []
    for images, boxes in training_batches(scenes, args.batch_size, rng):
        loss = detection_loss(model, images.to(device), [b.to(device) for b in boxes])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).mean().item()


def detect_scene(model, scene, args, device):
    found = []
    for x, y, tile in tiles(torch.from_numpy(scene)):
        score, dist = model(tile[None, None].to(device))
        dets = model.decode(score[0].sigmoid(), dist[0], args.threshold)
        offset = torch.tensor([x, y, x, y, 0], dtype=dets.dtype, device=dets.device)
        found.append(dets + offset)
    return nms(torch.cat(found)).cpu()


@timed
def evaluate(model, scenes, args, device):
    hits = n_true = n_found = 0
    with evaluating(model):
        for img, boxes in scenes:
            dets = detect_scene(model, img, args, device)
            iou = pairwise_iou(torch.from_numpy(boxes), dets)
            hits += int((iou > 0.3).any(1).sum())
            n_true += len(boxes)
            n_found += len(dets)
    return hits / n_true, n_found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--scenes", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--threshold", type=float, default=0.3)
    parser.add_argument("--device", default="")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    device = get_device(args)
    train_scenes = [sea_scene(rng) for _ in range(args.scenes)]
    test_scenes = [sea_scene(rng) for _ in range(2)]

    model = ShipNet().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    path = os.path.join(tempfile.mkdtemp(), "ships.pt")
    best = -1.0
    for epoch in range(args.epochs):
        loss = train_epoch(model, optimizer, train_scenes, args, rng, device)
        recall, found = evaluate(model, test_scenes, args, device)
        print(f"epoch {epoch}: loss {loss:.4f} recall {recall:.3f} detections {found}")
        if recall > best:
            best = recall
            torch.save(model.state_dict(), path)
    model.load_state_dict(torch.load(path, map_location=device))
    print("best recall %.3f, again %.3f" % (best, evaluate(model, test_scenes, args, device)[0]))


if __name__ == "__main__":
    main()
