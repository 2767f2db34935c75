import argparse
import os
import tempfile

import numpy as np
import torch

from config import Config
from model import BurgersPINN
from solver import collocation, draw_measurements, solve_burgers


class History(list):
    def log(self, step, model, parts):
        self.append({"step": step, "nu": model.nu.item(), **parts})
        print("[{step:4d}] data {data:.4e}  phys {phys:.4e}  nu {nu:.4f}".format(**self[-1]))


def fit(model, tensors, cfg, history):
    decay, no_decay = [], []
    for name, p in model.named_parameters():
        (no_decay if p.ndim < 2 else decay).append(p)
    adam = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 1e-6}, {"params": no_decay, "weight_decay": 0.0}], lr=cfg.lr
    )
    for step in range(cfg.adam_steps):
        adam.zero_grad()
        loss, parts = model.loss(*tensors)
        loss.backward()
        adam.step()
        if step % 20 == 0:
            history.log(step, model, parts)

    lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=8, line_search_fn="strong_wolfe")
    for step in range(cfg.lbfgs_steps):
        last = {}

        def closure():
            lbfgs.zero_grad()
            loss, parts = model.loss(*tensors)
            loss.backward()
            last.update(parts)
            return loss

        lbfgs.step(closure)
        history.log(cfg.adam_steps + step, model, last)


@torch.no_grad()
def relative_error(model, x, t, u, device, stride=20):
    tt, xx = np.meshgrid(t[::stride], x, indexing="ij")
    grid = torch.tensor(np.stack([tt.ravel(), xx.ravel()], 1), dtype=torch.float32)
    pred = torch.cat([model.net(part.to(device)).cpu() for part in grid.split(256)])
    pred = pred.numpy().reshape(tt.shape)
    return np.linalg.norm(pred - u[::stride]) / np.linalg.norm(u[::stride])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--adam-steps", type=int)
    parser.add_argument("--device")
    args = parser.parse_args()
    cfg = Config(**{k: v for k, v in vars(args).items() if v is not None})

    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    device = torch.device(cfg.device)

    x, t, u = solve_burgers(cfg.problem)
    tx, obs = draw_measurements(x, t, u, cfg.n_data, 0.01, rng)
    col = collocation(cfg.n_colloc, cfg.problem.t_max, cfg.seed)
    tensors = [torch.from_numpy(a).to(device) for a in (tx, obs, col)]

    model = BurgersPINN(cfg, device)
    history = History()
    fit(model, tensors, cfg, history)

    print("relative L2 error", relative_error(model, x, t, u, device))
    print("viscosity: true %.4f, start %.4f, found %.4f" % (cfg.problem.nu, cfg.nu_init, history[-1]["nu"]))
    with tempfile.TemporaryDirectory() as d:
        torch.save(model.state_dict(), os.path.join(d, "pinn.pt"))
        np.savez(os.path.join(d, "history.npz"), nu=[h["nu"] for h in history])


if __name__ == "__main__":
    main()
