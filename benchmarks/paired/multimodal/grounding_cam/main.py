import argparse

import torch
import torch.nn.functional as F

from grounding import ground, iou
from matching import PhraseMatcher

SIZE = 16
COLOURS = torch.tensor([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [1.0, 1.0, 0]])


def scene(n, generator):
    """One coloured patch per picture; half of the phrases name the right colour."""
    images = torch.rand(n, 3, SIZE, SIZE, generator=generator) * 0.2
    colour = torch.randint(len(COLOURS), (n,), generator=generator)
    corner = torch.randint(0, SIZE - 6, (n, 2), generator=generator).tolist()
    boxes = []
    for i, (x, y) in enumerate(corner):
        images[i, :, y : y + 6, x : x + 6] = COLOURS[colour[i], :, None, None]
        boxes.append((x, y, x + 6, y + 6))
    match = torch.rand(n, generator=generator) < 0.5
    shift = torch.randint(1, len(COLOURS), (n,), generator=generator)
    said = torch.where(match, colour, (colour + shift) % len(COLOURS))
    tokens = torch.stack([said, torch.randint(4, 8, (n,), generator=generator)], dim=1)
    return images, tokens, match.float(), boxes


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--device", default=None)
    a = p.parse_args()
    device = torch.device(a.device or ("cuda" if torch.cuda.is_available() else "cpu"))

    torch.manual_seed(0)
    rng = torch.Generator().manual_seed(2)
    model = PhraseMatcher().to(device)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(a.steps):
        images, tokens, match, _ = scene(32, rng)
        logits = model(images.to(device), tokens.to(device))
        loss = F.binary_cross_entropy_with_logits(logits, match.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("final loss %.3f" % loss.item())

    images, tokens, match, boxes = scene(12, rng)
    overlaps = []
    found = ground(model.eval(), images.to(device), tokens.to(device), (SIZE, SIZE))
    for result, truth, is_match in zip(found, boxes, match.tolist()):
        if is_match:
            overlaps.append(iou(result.box, truth))
            inside = result.heatmap[truth[1] : truth[3], truth[0] : truth[2]].mean().item()
            print(f"score {result.score:+.2f} box {result.box} truth {truth} heat inside {inside:.2f}")
    print("mean overlap %.3f" % (sum(overlaps) / max(len(overlaps), 1)))


if __name__ == "__main__":
    main()
