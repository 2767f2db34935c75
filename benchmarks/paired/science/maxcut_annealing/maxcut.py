"""
Max-Cut by parallel simulated annealing.

R replicas are annealed at once; in every sweep a random independent subset of
the vertices of each replica is proposed for a flip and accepted by Metropolis.
The best partition is polished on the host by a greedy 1-opt search.
"""
import argparse
import time

import numpy as np
import torch


def random_graph(n, p, seed):
    rng = np.random.default_rng(seed)
    w = np.triu(rng.random((n, n)) < p, 1) * rng.integers(1, 6, (n, n))
    return (w + w.T).astype(np.float32)


def cut_value(w, s):
    """Weight of the edges cut by the partition s in {-1, 1}^n (numpy)."""
    return 0.25 * float((w * (1.0 - np.outer(s, s))).sum())


def local_field(weights, spins):
    # gain in cut value when vertex i is flipped, for all replicas
    return spins * (spins @ weights)


def anneal(weights, spins, sweeps, t_start, t_end, p_flip=0.1):
    """Anneals ``spins`` (replicas x vertices) in place."""
    temps = torch.logspace(np.log10(t_start), np.log10(t_end), sweeps).tolist()
    for t in temps:
        gain = local_field(weights, spins)
        accept = torch.rand_like(gain) < torch.exp(torch.clamp(gain / t, max=0.0))
        chosen = torch.rand_like(gain) < p_flip
        flip = accept & chosen
        spins.mul_(1.0 - 2.0 * flip.to(spins.dtype))
    return spins


def solve(w, replicas, sweeps, device, seed=0):
    rng = np.random.default_rng(seed)
    init = rng.choice([-1.0, 1.0], size=(replicas, w.shape[0])).astype(np.float32)

    weights = torch.from_numpy(w).to(device)
    spins = torch.from_numpy(init).to(device)
    anneal(weights, spins, sweeps, t_start=10.0, t_end=0.2)

    final = spins.cpu().numpy()
    values = np.array([cut_value(w, s) for s in final])
    return final[values.argmax()], values


def one_opt(w, s, max_rounds=50):
    s = s.copy()
    for _ in range(max_rounds):
        gain = s * (w @ s)
        i = int(gain.argmax())
        if gain[i] <= 0:
            break
        s[i] = -s[i]
    return s


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--vertices", type=int, default=40)
    parser.add_argument("-p", "--density", type=float, default=0.3)
    parser.add_argument("-r", "--replicas", type=int, default=16)
    parser.add_argument("-s", "--sweeps", type=int, default=120)
    parser.add_argument("--polish", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    w = random_graph(args.vertices, args.density, args.seed)
    total = w.sum() / 2

    start = time.time()
    best, values = solve(w, args.replicas, args.sweeps, device, args.seed)
    if args.polish:
        best = one_opt(w, best)
    elapsed = time.time() - start

    sides = {side: int((best == side).sum()) for side in (-1.0, 1.0)}
    print(f"{args.replicas} replicas on {device}: {elapsed:.2f}s")
    print(f"cut: best {cut_value(w, best):.0f}, mean {values.mean():.1f}, "
          f"std {values.std():.1f} of total weight {total:.0f}")
    print(f"ratio {cut_value(w, best) / total:.3f}, sides {sides}")


if __name__ == "__main__":
    main()
