#!/usr/bin/env python
"""Post-training int8 quantization of a small MLP-mixer language model.

The model is assumed not to fit on the accelerator as a whole, hence it stays in host memory
and one block after the other is brought in, calibrated, quantized and sent back, with the
activations of the calibration set handed on from block to block.
"""
import argparse
import logging
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format="[%(levelname)s] %(message)s")
logger = logging.getLogger("quantize")

VOCAB, CTX, DIM = 50, 12, 32


class MixerBlock(nn.Module):
    def __init__(self, ctx, dim):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.register_buffer("causal", torch.tril(torch.ones(ctx, ctx)))
        self.mix = nn.Parameter(torch.randn(ctx, ctx) * 0.1)
        self.fc1 = nn.Linear(dim, 2 * dim)
        self.fc2 = nn.Linear(2 * dim, dim)

    def forward(self, x):
        w = self.mix * self.causal
        x = x + torch.einsum("ts,bsd->btd", w, self.norm1(x))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class MixerLM(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.blocks = nn.ModuleList([MixerBlock(CTX, DIM) for _ in range(depth)])
        self.norm = nn.LayerNorm(DIM)
        self.lm_head = nn.Linear(DIM, VOCAB)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.lm_head(self.norm(x))


class Int8Linear(nn.Module):
    """Weights in int8 with a scale per row, input smoothed per channel as in SmoothQuant."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.register_buffer("qweight", torch.zeros(out_features, in_features, dtype=torch.int8))
        self.register_buffer("scale", torch.ones(out_features, 1))
        self.register_buffer("smooth", None)
        self.bias = None

    @classmethod
    def from_float(cls, linear, act_max, alpha=0.5):
        new = cls(linear.in_features, linear.out_features)
        w = linear.weight.detach().float()
        w_max = w.abs().amax(0).clamp(min=1e-5)
        smooth = act_max.clamp(min=1e-5).pow(alpha) / w_max.pow(1 - alpha)
        w = w * smooth
        scale = w.abs().amax(1, keepdim=True) / 127
        new.qweight = (w / scale).round().clamp(-128, 127).to(torch.int8)
        new.scale = scale
        new.smooth = smooth
        if linear.bias is not None:
            new.bias = nn.Parameter(linear.bias.detach().clone(), requires_grad=False)
        return new

    def forward(self, x):
        weight = self.qweight.to(x.dtype) * self.scale
        return F.linear(x / self.smooth, weight, self.bias)

    def extra_repr(self):
        return f"{self.in_features}, {self.out_features}, int8"


class ActivationRange:
    """Forward pre-hook that tracks the largest magnitude of every input channel."""

    def __init__(self):
        self.max = None

    def __call__(self, module, args):
        cur = args[0].detach().abs().flatten(0, -2).amax(0)
        self.max = cur if self.max is None else torch.maximum(self.max, cur)


def synthetic_batches(n, batch_size, seed):
    g = torch.Generator().manual_seed(seed)
    start = torch.randint(0, VOCAB, (n, 1), generator=g)
    stride = torch.randint(1, 4, (n, 1), generator=g)
    ids = (start + stride * torch.arange(CTX + 1)) % VOCAB
    return ids.split(batch_size)


def pretrain(model, batches, device, lr=3e-3):
    model.to(device).train()
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for ids in batches:
        ids = ids.to(device)
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    logger.info("float model trained, loss %.3f", loss.item())
    return model.cpu().eval()


@torch.no_grad()
def quantize_model(model, calib, device, alpha):
    hidden = [model.embed(ids[:, :-1]) for ids in calib]
    for i, block in enumerate(model.blocks):
        block.to(device)
        trackers, handles = {}, []
        for name, child in block.named_children():
            if isinstance(child, nn.Linear):
                trackers[name] = ActivationRange()
                handles.append(child.register_forward_pre_hook(trackers[name]))
        reference = [block(h.to(device)).cpu() for h in hidden]
        for h in handles:
            h.remove()

        for name, tracker in trackers.items():
            setattr(block, name, Int8Linear.from_float(getattr(block, name), tracker.max, alpha))
        quantized = [block(h.to(device)).cpu() for h in hidden]
        err = torch.stack([(a - b).pow(2).mean() for a, b in zip(reference, quantized)]).mean()
        logger.info("block %d: mse %.2e", i, err.item())
        hidden = quantized
        block.cpu()
    return model


@torch.no_grad()
def perplexity(model, batches, device):
    model.to(device).eval()
    nll, n = torch.zeros((), device=device), 0
    for ids in batches:
        ids = ids.to(device)
        nll += F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), reduction="sum")
        n += ids[:, 1:].numel()
    model.cpu()
    return (nll / n).exp().item()


@torch.no_grad()
def complete(model, prompt, steps):
    ids = list(prompt)
    for _ in range(steps):
        window = torch.tensor([ids[-CTX:]])
        ids.append(model(window)[0, -1].argmax().item())
    return ids


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--alpha", type=float, default=0.5)
    parser.add_argument("--calib", type=int, default=16)
    parser.add_argument("--device", default="cuda:0" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    torch.manual_seed(0)

    model = pretrain(MixerLM(args.depth), synthetic_batches(160, 8, seed=0), args.device)
    test = synthetic_batches(32, 8, seed=1)
    before = perplexity(model, test, args.device)
    quantize_model(model, synthetic_batches(args.calib, 8, seed=2), args.device, args.alpha)
    after = perplexity(model, test, args.device)
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "model-int8.pt")
        torch.save(model, path)
        size = os.path.getsize(path)
    logger.info("perplexity %.3f -> %.3f, %d bytes", before, after, size)
    print(complete(model, range(CTX), 5))


if __name__ == "__main__":
    main()
