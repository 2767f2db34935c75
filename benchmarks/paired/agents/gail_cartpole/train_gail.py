import argparse

import torch

from gail.algo import GAIL
from gail.envs import VecCartPole
from gail.expert import expert_stream
from gail.rollout import Collector


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=12)
    ap.add_argument("--num_envs", type=int, default=8)
    ap.add_argument("--steps", type=int, default=16)
    ap.add_argument("--batch_size", type=int, default=64)
    ap.add_argument("--d_updates", type=int, default=2)
    ap.add_argument("--pi_lr", type=float, default=5e-3)
    ap.add_argument("--d_lr", type=float, default=2e-3)
    ap.add_argument("--gamma", type=float, default=0.97)
    ap.add_argument("--ent", type=float, default=1e-3)
    ap.add_argument("--cpu", action="store_true")
    cfg = ap.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda:0" if torch.cuda.is_available() and not cfg.cpu else "cpu")
    env = VecCartPole(cfg.num_envs)
    algo = GAIL(env, expert_stream(cfg.batch_size, 4), cfg, device)
    collector = Collector(env, algo.actor_copy)

    for it in range(cfg.iters):
        collector.sync(algo.policy)
        rollout = collector.collect(cfg.steps).to(device)
        for _ in range(cfg.d_updates):
            d_loss, d_acc = algo.update_discriminator(rollout)
        pi_loss = algo.update_policy(rollout)
        if (it + 1) % 4 == 0:
            recent = collector.lengths[-20:]
            mean_len = sum(recent) / max(len(recent), 1)
            print(f"[{it + 1:3d}] d_loss {d_loss:.3f} d_acc {d_acc:.2f} pi_loss {pi_loss:.3f} ep_len {mean_len:.1f}")


if __name__ == "__main__":
    main()
