"""LoRA by hand on a small Llama, without peft."""
import argparse
import math
import os
import tempfile

import torch
import torch.nn as nn
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlamaForCausalLM, set_seed


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float, dropout: float):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        update = self.dropout(x) @ self.lora_A.t() @ self.lora_B.t()
        return self.base(x) + update * self.scaling

    @torch.no_grad()
    def merge(self):
        self.base.weight += self.scaling * (self.lora_B @ self.lora_A)
        return self.base


def add_lora(model, targets, r, alpha, dropout):
    for p in model.parameters():
        p.requires_grad = False
    replaced = 0
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear) and name in targets:
                setattr(parent, name, LoRALinear(child, r, alpha, dropout))
                replaced += 1
    return replaced


def merge_lora(model):
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, LoRALinear):
                setattr(parent, name, child.merge())
    return model


def lora_state_dict(model):
    return {k: v.cpu() for k, v in model.state_dict().items() if "lora_" in k}


def instructions(n, vocab, length, seed):
    g = torch.Generator().manual_seed(seed)
    samples = []
    for _ in range(n):
        prompt = torch.randint(3, vocab, (length // 2,), generator=g)
        ids = torch.cat([prompt, prompt.flip(0)])
        labels = ids.clone()
        labels[: length // 2] = -100
        samples.append({"input_ids": ids, "labels": labels, "attention_mask": torch.ones_like(ids)})
    return samples


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rank", type=int, default=4)
    ap.add_argument("--alpha", type=float, default=8)
    ap.add_argument("--dropout", type=float, default=0.05)
    ap.add_argument("--target_modules", nargs="+", default=["q_proj", "v_proj"])
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--lr", type=float, default=1e-2)
    ap.add_argument("--output_dir", default=None)
    args = ap.parse_args()
    set_seed(11)
    device = "cuda" if torch.cuda.is_available() else "cpu"

    config = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                         num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64)
    model = LlamaForCausalLM(config)
    model.config.use_cache = False
    n = add_lora(model, args.target_modules, args.rank, args.alpha, args.dropout)
    model.to(device)

    trainable = [p for p in model.parameters() if p.requires_grad]
    total = sum(p.numel() for p in model.parameters())
    print(f"{n} adapters | trainable {sum(p.numel() for p in trainable)} of {total}")

    loader = DataLoader(instructions(32, config.vocab_size, 12, seed=1), batch_size=8, shuffle=True)
    optimizer = torch.optim.AdamW(trainable, lr=args.lr)
    model.train()
    for epoch in range(args.epochs):
        for batch in loader:
            batch = {k: v.to(device) for k, v in batch.items()}
            loss = model(**batch).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        print(f"epoch {epoch} loss {loss.item():.4f}")

    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(args.output_dir or tmp, "adapter.pt")
        torch.save(lora_state_dict(model), path)
        print("adapter size", os.path.getsize(path) // 1024, "KiB")

    model = merge_lora(model).eval()
    sample = instructions(1, config.vocab_size, 12, seed=5)[0]["input_ids"][None, :6].to(device)
    with torch.no_grad():
        for _ in range(6):
            nxt = model(sample).logits[:, -1].argmax(-1, keepdim=True)
            sample = torch.cat([sample, nxt], dim=1)
    print(sample[0].tolist())


if __name__ == "__main__":
    main()
