"""Beat tracking with a small recurrent activation network and peak picking / Viterbi decoding.

    python beats.py --epochs 2
"""
import argparse
import contextlib
import functools
import logging
import time
from collections import namedtuple

import numpy as np
import torch
from scipy.signal import find_peaks
from torch import nn

log = logging.getLogger("beats")
FPS = 20
Track = namedtuple("Track", "onsets beats tempo")


def render_track(rng, seconds=6):
    tempo = rng.uniform(70, 150)
    period = 60.0 / tempo * FPS
    n = seconds * FPS
    beats = np.arange(rng.uniform(0, period), n - 1, period)
    curve = 0.15 * rng.random((3, n))
    for k, b in enumerate(beats):
        i = int(round(b))
        curve[:, i] += [1.0, 0.5 + 0.5 * (k % 2), 0.3]
        if rng.random() < 0.5:
            curve[2, min(n - 1, int(round(b + period / 2)))] += 0.8
    return Track(torch.tensor(curve.T, dtype=torch.float32), beats / FPS, tempo)


def track_stream(n_tracks, seed):
    rng = np.random.default_rng(seed)
    for _ in range(n_tracks):
        yield render_track(rng)


def batched(stream, size):
    bucket = []
    for item in stream:
        bucket.append(item)
        if len(bucket) == size:
            yield bucket
            bucket = []
    if bucket:
        yield bucket


def beat_targets(tracks, n_frames, widen=0.5):
    target = torch.zeros(len(tracks), n_frames)
    for row, tr in zip(target, tracks):
        idx = torch.as_tensor(np.round(tr.beats * FPS).astype(int))
        row[idx] = 1.0
        for shift in (-1, 1):
            near = (idx + shift).clamp(0, n_frames - 1)
            row[near] = torch.maximum(row[near], torch.tensor(widen))
    return target


class BeatNet(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.front = nn.Conv1d(3, hidden, 5, padding=2)
        self.rnn = nn.LSTM(hidden, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h = torch.relu(self.front(x.transpose(1, 2))).transpose(1, 2)
        h, state = self.rnn(h, state)
        return self.head(h).squeeze(-1), state


def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        t0 = time.perf_counter()
        out = fn(*args, **kwargs)
        log.debug("%s took %.2fs", fn.__name__, time.perf_counter() - t0)
        return out
    return wrapper


@contextlib.contextmanager
def evaluating(model, where=None):
    """Eval mode (on another device when asked for), and back again."""
    home = next(model.parameters()).device
    was_training = model.training
    model.eval()
    if where is not None:
        model.to(where)
    try:
        with torch.no_grad():
            yield model
    finally:
        model.to(home).train(was_training)


def pick_peaks(activation, threshold=0.2):
    curve = activation.detach().float().cpu()
    peaks, _ = find_peaks(curve, height=threshold, distance=FPS // 5)
    return peaks / FPS


def viterbi_tempo(activation, lo=60, hi=180, step=5):
    """Scores a comb of every tempo at every phase, and takes the best."""
    act = np.log(activation.clamp(1e-4, 1).numpy())
    best = (-np.inf, None)
    for bpm in range(lo, hi, step):
        period = 60.0 / bpm * FPS
        for phase in np.arange(0, period, 1.0):
            idx = np.round(np.arange(phase, len(act) - 1, period)).astype(int)
            best = max(best, (act[idx].mean(), bpm))
    return best[1]


def f_measure(found, truth, tol=0.07):
    if len(found) == 0:
        return 0.0
    hits = (np.abs(np.subtract.outer(truth, found)).min(axis=1) <= tol).sum()
    return 2 * hits / (len(found) + len(truth))


def stream_in_blocks(model, onsets, block=40):
    """What the live demo does: blocks with the state carried over."""
    state = None
    for part in onsets.split(block, dim=0):
        logits, state = model(part.unsqueeze(0), state)
        yield torch.sigmoid(logits[0])


def make_train_step(model, lr):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    device = next(model.parameters()).device
    weight = torch.tensor(4.0, device=device)

    def step(tracks):
        x = torch.stack([t.onsets for t in tracks]).to(device)
        y = beat_targets(tracks, x.size(1)).to(device)
        logits, _ = model(x)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, y, pos_weight=weight)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 1.0)
        opt.step()
        return loss.item()

    return step


@timed
def validate(model, device, n_tracks=3):
    scores = []
    with evaluating(model):
        for track in track_stream(n_tracks, seed=77):
            activation = torch.cat(list(stream_in_blocks(model, track.onsets.to(device))))
            scores.append(f_measure(pick_peaks(activation, 0.5), track.beats))
    return float(np.mean(scores))


@timed
def tempo_report(model, n_tracks=2):
    rows = []
    with evaluating(model, where="cpu"):
        for track in track_stream(n_tracks, seed=78):
            activation = torch.sigmoid(model(track.onsets[None])[0][0])
            rows.append((track.tempo, viterbi_tempo(activation), len(pick_peaks(activation))))
    return rows


def main(argv=None):
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--tracks", type=int, default=16)
    ap.add_argument("--lr", type=float, default=1e-2)
    ap.add_argument("-v", "--verbose", action="store_true")
    args = ap.parse_args(argv)
    logging.basicConfig(level=logging.DEBUG if args.verbose else logging.INFO, format="%(message)s")

    torch.manual_seed(0)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    model = BeatNet().to(device)
    train_step = make_train_step(model, args.lr)
    for epoch in range(args.epochs):
        losses = [train_step(b) for b in batched(track_stream(args.tracks, seed=epoch), 4)]
        for truth, guess, n in tempo_report(model):
            log.info("  tempo %.1f estimated %d, %d peaks", truth, guess, n)
        log.info("epoch %d: loss %.3f, F %.3f", epoch, np.mean(losses), validate(model, device))


if __name__ == "__main__":
    main()
