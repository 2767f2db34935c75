"""Merge LoRA adapters into a sharded base checkpoint.

Without --base/--adapters a toy base model is written and two adapters are trained for it
first, so that the tool can be tried out.
"""
import argparse
import glob
import json
import os
import re
import tempfile
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F

RENAMES = [
    (r"^transformer\.h\.(\d+)\.mlp\.c_fc\.", r"layers.\1.up."),
    (r"^transformer\.h\.(\d+)\.mlp\.c_proj\.", r"layers.\1.down."),
    (r"^transformer\.wte\.", "embed."),
    (r"^lm_head\.", "head."),
]


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)

    def forward(self, x):
        # average over the past instead of attention
        past = x.cumsum(1) / torch.arange(1, x.size(1) + 1, device=x.device).view(1, -1, 1)
        return x + self.down(F.gelu(self.up(past)))


class ToyLM(nn.Module):
    def __init__(self, vocab=32, dim=16, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(Layer(dim) for _ in range(depth))
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.scaling = alpha / rank
        self.A = nn.Parameter(torch.randn(rank, base.in_features, device=base.weight.device) / rank)
        self.B = nn.Parameter(torch.zeros(base.out_features, rank, device=base.weight.device))

    def forward(self, x):
        return self.base(x) + (x @ self.A.t() @ self.B.t()) * self.scaling


def inject(model, rank, alpha):
    model.requires_grad_(False)
    for layer in model.layers:
        layer.up = LoRALinear(layer.up, rank, alpha)
        layer.down = LoRALinear(layer.down, rank, alpha)
    return model


def adapter_state(model):
    state = {}
    for name, module in model.named_modules():
        if isinstance(module, LoRALinear):
            state[name + ".A"] = module.A.detach()
            state[name + ".B"] = module.B.detach()
    return state


# -- checkpoints -----------------------------------------------------------------------

def write_base(folder, n_shards=2):
    """A base model with GPT-2 like names, cut into shards."""
    inverse = [(r"^layers\.(\d+)\.up\.", r"transformer.h.\1.mlp.c_fc."),
               (r"^layers\.(\d+)\.down\.", r"transformer.h.\1.mlp.c_proj."),
               (r"^embed\.", "transformer.wte."), (r"^head\.", "lm_head.")]
    state = [(rename(k, inverse), v.half()) for k, v in ToyLM().state_dict().items()]
    step = -(-len(state) // n_shards)
    for i in range(n_shards):
        path = os.path.join(folder, f"pytorch_model-{i + 1:05d}-of-{n_shards:05d}.bin")
        torch.save(OrderedDict(state[i * step:(i + 1) * step]), path)


def rename(key, rules=RENAMES):
    for pattern, replacement in rules:
        key, n = re.subn(pattern, replacement, key)
        if n:
            return key
    raise KeyError(key)


def read_base(folder, dtype=torch.float32):
    merged = OrderedDict()
    for path in sorted(glob.glob(os.path.join(folder, "pytorch_model-*.bin"))):
        shard = torch.load(path, map_location="cpu")
        merged.update((rename(k), v.to(dtype)) for k, v in shard.items())
    return merged


def train_adapter(base_dir, out_dir, seed, device, rank=4, alpha=8, steps=6):
    torch.manual_seed(seed)
    model = ToyLM()
    model.load_state_dict(read_base(base_dir))
    model = inject(model.to(device), rank, alpha)
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(params, lr=1e-2)
    for _ in range(steps):
        ids = (torch.arange(9) * (seed + 1) + torch.randint(0, 32, (8, 1))).remainder(32).to(device)
        loss = F.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:])
        opt.zero_grad()
        loss.backward()
        opt.step()
    os.makedirs(out_dir)
    torch.save(adapter_state(model), os.path.join(out_dir, "adapter_model.bin"))
    with open(os.path.join(out_dir, "adapter_config.json"), "w") as f:
        json.dump({"r": rank, "lora_alpha": alpha, "final_loss": loss.item()}, f)
    return model.eval()


def load_adapter(folder):
    with open(os.path.join(folder, "adapter_config.json")) as f:
        cfg = json.load(f)
    state = torch.load(os.path.join(folder, "adapter_model.bin"), map_location="cpu")
    return cfg["lora_alpha"] / cfg["r"], state


# -- merging ---------------------------------------------------------------------------

def merge(base, adapters, weights):
    out = OrderedDict((k, v.clone()) for k, v in base.items())
    for folder, weight in zip(adapters, weights):
        scaling, state = load_adapter(folder)
        for name in sorted({k.rsplit(".", 1)[0] for k in state}):
            delta = state[name + ".B"].double() @ state[name + ".A"].double()
            out[name + ".weight"] += (weight * scaling * delta).to(base[name + ".weight"].dtype)
    return out


@torch.no_grad()
def check_against(merged, reference, device):
    """The merged model has to agree with the model that still has its adapter."""
    model = ToyLM()
    model.load_state_dict(merged)
    model.to(device).eval()
    ids = torch.randint(0, 32, (4, 10), device=device)
    return (model(ids) - reference(ids)).abs().max().item()


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--base")
    ap.add_argument("--adapters", nargs="*", default=[])
    ap.add_argument("--weights", nargs="*", type=float)
    ap.add_argument("--out")
    ap.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = ap.parse_args()
    torch.manual_seed(0)

    with tempfile.TemporaryDirectory() as tmp:
        reference = None
        if args.base is None:
            args.base, args.adapters = tmp, [os.path.join(tmp, n) for n in ("adapter_a", "adapter_b")]
            write_base(args.base)
            tuned = [train_adapter(args.base, a, i, args.device) for i, a in enumerate(args.adapters)]
            reference = tuned[0]
        base = read_base(args.base)
        if reference is not None:
            gap = check_against(merge(base, args.adapters[:1], [1.0]), reference, args.device)
            print(f"largest difference of the logits {gap:.2e}")
            assert gap < 1e-3
        weights = args.weights or [1 / len(args.adapters)] * len(args.adapters)
        merged = merge(base, args.adapters, weights)
        path = args.out or os.path.join(tmp, "merged.pt")
        torch.save({k: v.half() for k, v in merged.items()}, path)
        moved = sum((merged[k] - base[k]).norm().item() > 0 for k in base)
        print(f"merged {len(args.adapters)} adapters, {moved} of {len(base)} tensors changed, {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
