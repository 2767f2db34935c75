import argparse

import torch

from array_sim import observe
from gains import GainTable
from solver import SelfCal

parser = argparse.ArgumentParser(description="self calibration of a small array")
parser.add_argument("--antennas", type=int, default=12)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--steps", type=int, default=80)
parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")


def load_observation(n_ant, device):
    ms = observe(n_ant)
    return {key: column.to(device) for key, column in ms.items()}


def prepare(n_ant, device):
    ms = load_observation(n_ant, device)
    gains = GainTable(n_ant)
    gains.to(device)
    solver = SelfCal(gains)
    return ms, gains, solver


def main():
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device(args.device)
    ms, gains, solver = prepare(args.antennas, device)
    for round_ in range(args.rounds):
        for _ in range(args.steps):
            misfit = solver.step(ms)
        flagged = solver.flag(ms)
        print(f"round {round_}: misfit {misfit:.5f}, flagged {flagged}")
    solution = gains.referenced()
    for i, (amp, phase) in enumerate(zip(solution.abs(), solution.angle())):
        print(f"antenna {i:2d}: amplitude {amp:.3f} phase {phase:+.3f} rad")


if __name__ == "__main__":
    main()
