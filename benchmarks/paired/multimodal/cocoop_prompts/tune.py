import argparse

import torch
from torch import nn
import torch.nn.functional as F

from promptlib import ConditionalPromptLearner, ImageEncoder, TextEncoder, WordTokenizer

CLASSES = ["red square", "green square", "blue square", "striped blue tile"]


def make_split(n, generator):
    labels = torch.randint(0, len(CLASSES), (n,), generator=generator)
    images = torch.rand(n, 3, 16, 16, generator=generator) * 0.3
    for i, y in enumerate(labels.tolist()):
        images[i, min(y, 2)] += 0.7
        if y == 3:
            images[i, :, ::2] *= 0.2
    return images, labels


class PromptedCLIP(nn.Module):
    def __init__(self, image_encoder, text_encoder, learner):
        super().__init__()
        self.image_encoder = image_encoder
        self.text_encoder = text_encoder
        self.learner = learner
        self.register_buffer("scale", torch.tensor(10.0))

    def freeze_backbones(self):
        for module in (self.image_encoder, self.text_encoder):
            module.eval()
            for p in module.parameters():
                p.requires_grad_(False)

    def forward(self, images):
        feats = self.image_encoder(images)
        logits = []
        for feat, prompt in zip(feats, self.learner(feats)):
            text = self.text_encoder(prompt, self.learner.eot_index)
            logits.append(self.scale * feat @ text.t())
        return torch.stack(logits)


def batches(images, labels, size, generator=None):
    # permutation is drawn on the host for reproducibility across machines
    order = torch.randperm(len(images), generator=generator)
    for start in range(0, len(images), size):
        pick = order[start : start + size]
        yield images[pick], labels[pick]


def pick_device(name):
    if name != "auto":
        return torch.device(name)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--n-ctx", type=int, default=4)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--device", default="auto")
    args = parser.parse_args()

    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1)
    device = pick_device(args.device)

    tokenizer = WordTokenizer(" ".join(CLASSES).split())
    text = TextEncoder(len(tokenizer))
    learner = ConditionalPromptLearner(text, tokenizer, CLASSES, n_ctx=args.n_ctx)
    model = PromptedCLIP(ImageEncoder(), text, learner).to(device)
    model.freeze_backbones()
    print("class name lengths:", learner.describe())

    images, labels = make_split(64, gen)
    with torch.no_grad():
        model(images[:2].to(device))
    trainable = [p for p in model.parameters() if p.requires_grad]
    print("trainable tensors:", len(trainable))
    optimizer = torch.optim.AdamW(trainable, lr=args.lr)

    for epoch in range(args.epochs):
        total = 0.0
        for x, y in batches(images, labels, args.batch_size, gen):
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total:.3f}")

    test_x, test_y = make_split(32, gen)
    with torch.no_grad():
        preds = torch.cat([model(x.to(device)).argmax(1).cpu() for x in test_x.split(16)])
    print("accuracy", (preds == test_y).float().mean().item())


if __name__ == "__main__":
    main()
