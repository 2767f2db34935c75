import argparse
import copy

import torch
from torch.utils.data import DataLoader, Dataset

from rl.modeling import BOS, RewardModel, TinyCausalLM
from rl.trainer import GRPOTrainer


class Prompts(Dataset):
    def __init__(self, n, length=4, vocab=16):
        self.ids = torch.randint(2, vocab, (n, length))
        self.ids[:, 0] = BOS

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return self.ids[i]


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=8)
    p.add_argument("--group_size", type=int, default=4)
    p.add_argument("--prompts_per_step", type=int, default=4)
    p.add_argument("--new_tokens", type=int, default=8)
    p.add_argument("--inner_epochs", type=int, default=2)
    p.add_argument("--clip", type=float, default=0.2)
    p.add_argument("--beta", type=float, default=0.02)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--no_offload", dest="offload", action="store_false")
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return p.parse_args()


def main():
    cfg = parse()
    torch.manual_seed(0)
    policy = TinyCausalLM().to(cfg.device)
    reference = copy.deepcopy(policy).requires_grad_(False).eval()
    reward_model = RewardModel().to(cfg.device).requires_grad_(False)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=cfg.lr)
    trainer = GRPOTrainer(policy, reference, reward_model, optimizer, cfg)

    loader = DataLoader(Prompts(cfg.steps * cfg.prompts_per_step), batch_size=cfg.prompts_per_step)
    for i, prompts in enumerate(loader, 1):
        stats = trainer.step(prompts)
        if i % 2 == 0:
            print(f"step {i:3d}  reward {stats['reward']:+.3f}  kl {stats['kl']:.4f}  loss {stats['loss']:+.4f}")

    policy.cpu().eval()
    sample = policy.generate(torch.tensor([[BOS, 5]]), cfg.new_tokens, temperature=0.7)
    print("sample:", sample[0].tolist())


if __name__ == "__main__":
    main()
