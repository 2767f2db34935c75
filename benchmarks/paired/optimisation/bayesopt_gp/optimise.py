"""Tune a (synthetic) controller by Bayesian optimisation."""
import argparse

import numpy as np
import torch

from bo import GaussianProcess, History, Standardize, expected_improvement, maximise


def controller_score(x):
    """Negative tracking error of a PID loop on a second-order plant."""
    kp, ki, kd = np.array([8.0, 3.0, 2.0]) * np.asarray(x)
    pos = vel = integral = 0.0
    error, total = 1.0, 0.0
    for _ in range(120):
        new = 1.0 - pos
        integral += 0.05 * new
        force = np.clip(kp * new + ki * integral + kd * (new - error) / 0.05, -20, 20)
        error = new
        vel += 0.05 * (force - 0.8 * vel - 2.0 * pos)
        pos += 0.05 * vel
        total += abs(error)
    return -total / 120


def surrogate(history, device):
    x = history.inputs().to(device)
    y = history.values().to(device)
    outcome = Standardize.fit(y)
    model = GaussianProcess(x.shape[1], outcome).to(device)
    loss = model.fit(x, outcome(y))
    return model, loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--initial", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--device", choices=["cpu", "cuda"])
    args = parser.parse_args()
    device = torch.device(args.device or ("cuda" if torch.cuda.is_available() else "cpu"))

    engine = torch.quasirandom.SobolEngine(3, scramble=True, seed=3)
    history = History()
    for x in engine.draw(args.initial):
        history.append(x, controller_score(x.numpy()))
    for number in range(args.rounds):
        model, loss = surrogate(history, device)
        score = expected_improvement(model, history.best()[1])
        x = maximise(score, engine, device)
        history.append(x, controller_score(x.numpy()))
        print(f"round {number} nll {loss:.3f} {history.dump()}")


if __name__ == "__main__":
    main()
