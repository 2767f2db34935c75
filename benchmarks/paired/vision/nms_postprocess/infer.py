#!/usr/bin/env python
"""Run a dense single-stage detector and write the detections in COCO result format."""
import argparse
import json
import os
import tempfile
from typing import Dict, List, Tuple

import torch
import torch.nn as nn
from torch import Tensor

# contiguous class index -> category id of the annotation file
CATEGORY_IDS = [1, 2, 3, 4, 6, 8, 10, 13, 16, 17]


class DenseHead(nn.Module):
    """FCOS-like: per-cell class scores and distances to the four sides."""

    def __init__(self, num_classes: int, width: int = 16, stride: int = 8):
        super().__init__()
        self.stride = stride
        self.backbone = nn.Sequential(
            nn.Conv2d(3, width, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride=2, padding=1), nn.ReLU(),
        )
        self.cls = nn.Conv2d(width, num_classes, 1)
        self.reg = nn.Conv2d(width, 4, 1)

    def forward(self, images: Tensor) -> Tuple[Tensor, Tensor]:
        feat = self.backbone(images)
        scores = self.cls(feat).sigmoid()
        dist = self.reg(feat).exp() * self.stride
        b, c, h, w = scores.shape
        ys = (torch.arange(h, device=feat.device) + 0.5) * self.stride
        xs = (torch.arange(w, device=feat.device) + 0.5) * self.stride
        cy, cx = torch.meshgrid(ys, xs, indexing="ij")
        centers = torch.stack([cx, cy], dim=-1).reshape(1, -1, 2)
        dist = dist.flatten(2).transpose(1, 2)
        boxes = torch.cat([centers - dist[..., :2], centers + dist[..., 2:]], dim=-1)
        return boxes, scores.flatten(2).transpose(1, 2)


def box_iou(a: Tensor, b: Tensor) -> Tensor:
    area_a = (a[:, 2:] - a[:, :2]).prod(dim=1)
    area_b = (b[:, 2:] - b[:, :2]).prod(dim=1)
    lt = torch.max(a[:, None, :2], b[:, :2])
    rb = torch.min(a[:, None, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(dim=2)
    return inter / (area_a[:, None] + area_b - inter)


def nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        best = order[0]
        keep.append(best)
        if order.numel() == 1:
            break
        iou = box_iou(boxes[best].unsqueeze(0), boxes[order[1:]]).squeeze(0)
        order = order[1:][iou <= threshold]
    if not keep:
        return boxes.new_zeros(0, dtype=torch.long)
    return torch.stack(keep)


class PostProcessor:
    def __init__(self, score_thr: float, iou_thr: float, max_dets: int, device: torch.device):
        self.score_thr = score_thr
        self.iou_thr = iou_thr
        self.max_dets = max_dets
        self.category_ids = torch.tensor(CATEGORY_IDS, device=device)

    def __call__(self, boxes: Tensor, scores: Tensor, size: Tuple[int, int]) -> List[Dict[str, Tensor]]:
        results = []
        height, width = size
        for box, score in zip(boxes, scores):
            conf, label = score.max(dim=-1)
            mask = conf > self.score_thr
            box, conf, label = box[mask], conf[mask], label[mask]
            box[:, 0::2].clamp_(0, width)
            box[:, 1::2].clamp_(0, height)
            # shift boxes of different classes apart, one nms for all
            offset = label.to(box.dtype).unsqueeze(1) * (max(height, width) + 1)
            keep = nms(box + offset, conf, self.iou_thr)[: self.max_dets]
            results.append({
                "boxes": box[keep],
                "scores": conf[keep],
                "category_ids": self.category_ids[label[keep]],
            })
        return results


def to_coco(image_id: int, det: Dict[str, Tensor]) -> List[dict]:
    xywh = det["boxes"].clone()
    xywh[:, 2:] -= xywh[:, :2]
    rows = zip(xywh.tolist(), det["scores"].tolist(), det["category_ids"].tolist())
    return [
        {"image_id": image_id, "bbox": [round(v, 2) for v in b], "score": round(s, 4), "category_id": c}
        for b, s, c in rows
    ]


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--images", type=int, default=6)
    ap.add_argument("--batch", type=int, default=3)
    ap.add_argument("--score-thr", type=float, default=0.5)
    ap.add_argument("--iou-thr", type=float, default=0.5)
    ap.add_argument("--out", default=None, help="where to write results.json")
    args = ap.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    model = DenseHead(len(CATEGORY_IDS)).to(device).eval()
    post = PostProcessor(args.score_thr, args.iou_thr, 20, device)

    detections: List[dict] = []
    images = torch.rand(args.images, 3, 64, 64)
    with torch.no_grad():
        for start in range(0, args.images, args.batch):
            batch = images[start:start + args.batch].to(device)
            boxes, scores = model(batch)
            for i, det in enumerate(post(boxes, scores, batch.shape[-2:])):
                detections += to_coco(start + i, det)

    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(args.out or tmp, "results.json")
        with open(path, "w") as f:
            json.dump(detections, f)
        print(f"{len(detections)} detections, {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
