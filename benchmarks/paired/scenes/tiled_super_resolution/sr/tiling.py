from typing import Iterator, Tuple

import torch

from .canvas import BlendCanvas


def starts(length, tile, overlap):
    if length <= tile:
        return [0]
    step = tile - overlap
    out = list(range(0, length - tile, step))
    return out + [length - tile]


def tiles(img, tile, overlap) -> Iterator[Tuple[int, int, torch.Tensor]]:
    h, w = img.shape[-2:]
    for top in starts(h, tile, overlap):
        for left in starts(w, tile, overlap):
            yield top, left, img[..., top : top + tile, left : left + tile]


class TiledUpscaler:
    def __init__(self, net, tile=16, overlap=4, batch=4):
        self.net = net
        self.tile, self.overlap, self.batch = tile, overlap, batch
        self.device = next(net.parameters()).device
        self._windows = {}

    def window(self, h, w):
        if (h, w) not in self._windows:
            wy = torch.hann_window(h + 2, periodic=False, device=self.device)[1:-1]
            wx = torch.hann_window(w + 2, periodic=False, device=self.device)[1:-1]
            self._windows[h, w] = (wy[:, None] * wx[None] + 1e-3)[None]
        return self._windows[h, w]

    def _flush(self, pending, canvas):
        if not pending:
            return
        x = torch.stack([t for _, _, t in pending]).to(self.device)
        s = self.net.scale
        for (top, left, _), out in zip(pending, self.net(x)):
            canvas.add(out, self.window(*out.shape[-2:]), top * s, left * s)
        pending.clear()

    @torch.no_grad()
    def __call__(self, img):
        """img: (1, H, W) on the host -> (1, sH, sW) on the host."""
        s = self.net.scale
        canvas = BlendCanvas(1, img.shape[-2] * s, img.shape[-1] * s)
        pending = []
        for item in tiles(img, self.tile, self.overlap):
            pending.append(item)
            if len(pending) == self.batch:
                self._flush(pending, canvas)
        self._flush(pending, canvas)
        return canvas.merge().clamp(0, 1)
