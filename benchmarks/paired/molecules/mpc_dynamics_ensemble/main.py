import argparse
import os
import tempfile

import numpy as np
import torch

from control.cem import CEMPlanner
from learn.dynamics import EnsembleDynamics
from learn.fit import TransitionStore, fit
from learn.normalizer import RunningNormalizer
from sim.pendulum import DampedPendulum, swingup_cost


def parse():
    p = argparse.ArgumentParser(description="model-based swing-up")
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--episode", type=int, default=12)
    p.add_argument("--random-episodes", type=int, default=6)
    p.add_argument("--fit-steps", type=int, default=60)
    p.add_argument("--seed", type=int, default=5)
    p.add_argument("--gpu", type=int, default=0, help="-1 for cpu")
    return p.parse_args()


def episode(env, length, policy, store, norms):
    obs, cost = env.reset(), 0.0
    for _ in range(length):
        act = policy(obs)
        nxt = env.step(act[0])
        store.add(obs, act, nxt)
        norms[0].update(np.concatenate([obs, act]))
        norms[1].update(nxt - obs)
        cost += float(swingup_cost(nxt, act))
        obs = nxt
    return cost


def open_loop_error(model, env, device, rng, horizon=5, starts=8):
    """Mean error of the predicted angle (in the plane) after a few blind steps."""
    err = []
    for _ in range(starts):
        state = torch.from_numpy(env.reset()).to(device)
        for a in rng.uniform(-2, 2, (horizon, 1)).astype(np.float32):
            truth = env.step(a[0])
            with torch.no_grad():
                state = model.step(state, torch.from_numpy(a).to(device))
        err.append(np.linalg.norm(state.cpu().numpy()[:2] - truth[:2]) / 100)
    return float(np.mean(err))


def main():
    args = parse()
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    use_gpu = args.gpu >= 0 and torch.cuda.is_available()
    device = torch.device(f"cuda:{args.gpu}" if use_gpu else "cpu")

    env = DampedPendulum(args.seed)
    sd, ad = env.state_dim, env.action_dim
    norms = RunningNormalizer(sd + ad, device), RunningNormalizer(sd, device)
    model = EnsembleDynamics(sd, ad, norms).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    planner = CEMPlanner(model, swingup_cost, ad, env.max_torque, device)
    store = TransitionStore()

    def random_policy(_):
        return rng.uniform(-env.max_torque, env.max_torque, ad).astype(np.float32)

    for _ in range(args.random_episodes):
        episode(env, args.episode, random_policy, store, norms)

    for r in range(args.rounds):
        loss = fit(model, optimizer, store, args.fit_steps, 32, device, rng)
        err = open_loop_error(model, env, device, rng)
        planner.reset()
        cost = episode(env, args.episode, planner.plan, store, norms)
        print(f"round {r}: {len(store.rows)} transitions, loss {loss:.3f}, open-loop error {err:.3f}, cost {cost:.2f}")

    with tempfile.TemporaryDirectory() as d:
        stats = {k: (n.mean, n.std) for k, n in zip(("in", "out"), norms)}
        np.savez(os.path.join(d, "norm.npz"), **{k: np.stack(v) for k, v in stats.items()})
        torch.save(model.state_dict(), os.path.join(d, "dynamics.pt"))


if __name__ == "__main__":
    main()
