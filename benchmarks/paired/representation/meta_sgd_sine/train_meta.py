import argparse

import torch

from meta_learner import MetaSGD
from regressor import build_regressor
from tasks import SinusoidTasks


def evaluate(learner, tasks, n_tasks, steps):
    losses = [learner(s, q, steps=steps).item() for s, q in tasks.sample(n_tasks)]
    return sum(losses) / len(losses)


def main():
    parser = argparse.ArgumentParser(description="Meta-SGD on sinusoids")
    parser.add_argument("--meta-batch", type=int, default=4)
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--inner-steps", type=int, default=1)
    parser.add_argument("--meta-lr", type=float, default=3e-3)
    parser.add_argument("--first-order", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    args = parser.parse_args()

    device = torch.device("cuda" if torch.cuda.is_available() and not args.cpu else "cpu")
    torch.manual_seed(0)
    tasks = SinusoidTasks(device=device)
    learner = MetaSGD(build_regressor(), first_order=args.first_order).to(device)
    meta_opt = torch.optim.Adam(learner.meta_parameters(), lr=args.meta_lr)

    for it in range(1, args.iterations + 1):
        meta_opt.zero_grad()
        outer = sum(learner(s, q, args.inner_steps) for s, q in tasks.sample(args.meta_batch)) / args.meta_batch
        outer.backward()
        torch.nn.utils.clip_grad_norm_(list(learner.meta_parameters()), 10.0)
        meta_opt.step()
        if it % 10 == 0:
            print(f"iter {it:3d}  outer loss {outer.item():.3f}")
    for steps in (0, 1, 3):
        print(f"adapted with {steps} steps: {evaluate(learner, tasks, 10, steps):.3f}")


if __name__ == "__main__":
    main()
