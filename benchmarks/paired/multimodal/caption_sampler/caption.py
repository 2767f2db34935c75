import argparse
import json
from pathlib import Path

import torch
import torch.nn.functional as F

from captioner import Captioner
from sampling import Sampler, SamplingConfig


def toy_data(n):
    """Captions that count upwards from a start given by the brightness."""
    start = torch.randint(3, 25, (n,))
    images = (start.float() / 30).view(n, 1, 1, 1) + 0.05 * torch.rand(n, 3, 12, 12)
    body = start[:, None] + torch.arange(5)
    caption = torch.cat([torch.full((n, 1), Captioner.BOS), body, torch.full((n, 1), Captioner.EOS)], dim=1)
    return images, caption


def fit(model, device, steps):
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(steps):
        images, captions = (t.to(device) for t in toy_data(32))
        state, _ = model.start(images)
        loss = 0.0
        for t in range(captions.shape[1] - 1):
            logits, state = model.step(captions[:, t], state)
            loss = loss + F.cross_entropy(logits, captions[:, t + 1])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item() if steps else float("nan")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default=str(Path(__file__).with_name("sampling.json")))
    ap.add_argument("--steps", type=int, default=40)
    ap.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = ap.parse_args()

    torch.manual_seed(0)
    model = Captioner().to(args.device)
    print("final loss %.3f" % fit(model, args.device, args.steps))

    config = SamplingConfig.from_dict(json.loads(Path(args.config).read_text()))
    sampler = Sampler(model, config)
    images, reference = toy_data(4)
    tokens, scores = sampler.generate(images.to(args.device))
    best = scores.argmax(dim=1)
    for i, row in enumerate(tokens[torch.arange(len(best)), best]):
        print("ref", reference[i, 1:].tolist(), "got", row.tolist())


if __name__ == "__main__":
    main()
