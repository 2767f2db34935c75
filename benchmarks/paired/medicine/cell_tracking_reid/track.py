"""Track dividing cells in a synthetic microscopy film.

The appearance embedding is trained on crops of the first film, then a
two stage (high score / low score) association is run on the second one.
"""
import argparse
import json
import os
import tempfile
from collections import Counter

import torch
import torch.nn.functional as F

from tracker.byte import CellTracker
from tracker.embed import CropEncoder, triplets
from tracker.film import Film, detect


def train_encoder(encoder, film, steps, device):
    opt = torch.optim.Adam(encoder.parameters(), lr=1e-3)
    encoder.train()
    loss = torch.zeros((), device=device)
    for _, (a, p, n) in zip(range(steps), triplets(film)):
        za, zp, zn = encoder(torch.cat([a, p, n]).to(device)).chunk(3)
        loss = F.triplet_margin_loss(za, zp, zn, margin=0.3)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def id_switches(history):
    """history: list of {true id: track id} per frame."""
    last, switches = {}, 0
    for frame in history:
        for true, tid in frame.items():
            if true in last and last[true] != tid:
                switches += 1
            last[true] = tid
    return switches


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--frames", type=int, default=8)
    ap.add_argument("--cells", type=int, default=6)
    ap.add_argument("--train-steps", type=int, default=5)
    ap.add_argument("--high", type=float, default=0.6)
    ap.add_argument("--low", type=float, default=0.2)
    ap.add_argument("--max-lost", type=int, default=4)
    ap.add_argument("--cpu", action="store_true")
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()

    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() and not args.cpu else "cpu")

    encoder = CropEncoder().to(device)
    loss = train_encoder(encoder, Film(args.frames, args.cells, seed=args.seed), args.train_steps, device)
    print(f"encoder trained on {device}, triplet loss {loss:.4f}")

    encoder.eval()
    film = Film(args.frames, args.cells, seed=args.seed + 1)
    tracker = CellTracker(encoder, high=args.high, low=args.low, max_lost=args.max_lost)
    history = []
    for t, frame in enumerate(film):
        boxes, scores, true_ids = detect(film, t)
        assigned = tracker.update(frame, boxes, scores)
        history.append({int(true_ids[d]): tid for d, tid in assigned.items()})
        print(f"frame {t}: {len(boxes)} detections, {len(assigned)} tracked, {len(tracker.tracks)} alive")

    lengths = Counter(tid for frame in history for tid in frame.values())
    out = os.path.join(tempfile.mkdtemp(), "tracks.json")
    with open(out, "w") as f:
        json.dump([{str(k): v for k, v in fr.items()} for fr in history], f)
    print("tracks", len(lengths), "longest", max(lengths.values()), "switches", id_switches(history))


if __name__ == "__main__":
    main()
