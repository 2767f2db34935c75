import argparse

import torch

from vi import SVI, BestKeeper, FlowPosterior, LotkaVolterraTarget


def importance_summary(posterior, target, n, chunk=128):
    """Self-normalised importance sampling in double precision on the CPU."""
    draws, weights = [], []
    with torch.no_grad():
        for size in [chunk] * (n // chunk):
            theta, _ = posterior.rsample(size)
            draws.append(theta)
            weights.append(target(theta) - posterior.log_prob(theta))
    theta, log_w = torch.cat(draws), torch.cat(weights)
    w = torch.softmax(log_w, 0)
    return (w.unsqueeze(1) * theta.exp()).sum(0).numpy(), (1 / w.pow(2).sum()).item() / len(w)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=1000)
    ap.add_argument("--eval-every", type=int, default=100)
    ap.add_argument("--layers", type=int, default=4)
    args = ap.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    target = LotkaVolterraTarget().to(device)
    posterior = FlowPosterior(4, args.layers).to(device)
    svi, keeper = SVI(posterior, target), BestKeeper()
    for step in range(1, args.steps + 1):
        elbo = svi.step(beta=min(1.0, 0.1 + step / (0.5 * args.steps)))
        if step % args.eval_every == 0:
            with torch.no_grad():
                held = svi.elbo(256).item()
            keeper.offer(held, posterior)
            print(f"step {step}: elbo {elbo:.2f} (256 particles: {held:.2f})")

    keeper.load_into(posterior)
    mean, ess = importance_summary(posterior.cpu().double(), target.cpu().double(), 256)
    for name, est, true in zip("abcd", mean, target.TRUE):
        print(f"{name}: {est:.2f} (true {true:.2f})")
    print(f"importance sampling efficiency {ess:.2f}")


if __name__ == "__main__":
    main()
