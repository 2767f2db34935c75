import copy
import os
import sys
import tempfile

import torch
from torch.utils.data import DataLoader

import gns  # noqa: F401
from gns.engine import rollout_error, train_epoch
from gns.registry import build
from gns.simdata import Trajectories, collate

CONFIG = {
    "seed": 0,
    "device": "auto",
    "data": {"n_traj": 4, "steps": 20, "history": 4},
    "network": {"name": "interaction", "hidden": 24, "layers": 2, "radius": 0.25},
    "noise": {"name": "random_walk", "std": 3e-4},
    "train": {"epochs": 3, "batch_size": 8, "lr": 2e-3, "rollout": 8},
}


def override(cfg, items):
    cfg = copy.deepcopy(cfg)
    for item in items:
        path, value = item.split("=", 1)
        *head, last = path.split(".")
        node = cfg
        for h in head:
            node = node[h]
        node[last] = type(node[last])(value)
    return cfg


def main(cfg):
    torch.manual_seed(cfg["seed"])
    if cfg["device"] == "auto":
        cfg["device"] = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(cfg["device"])

    train = Trajectories(**cfg["data"], seed=cfg["seed"])
    valid = Trajectories(**{**cfg["data"], "n_traj": 2}, seed=cfg["seed"] + 1)
    net = build("network", cfg["network"], history=cfg["data"]["history"], acc_std=train.acceleration_std()).to(device)
    noise = build("noise", cfg["noise"])
    opt = torch.optim.Adam(net.parameters(), lr=cfg["train"]["lr"])
    loader = DataLoader(train, cfg["train"]["batch_size"], shuffle=True, collate_fn=collate)

    best = (float("inf"), None)
    for epoch in range(cfg["train"]["epochs"]):
        loss = train_epoch(net, loader, opt, noise, device)
        err = rollout_error(net, valid, collate, cfg["train"]["rollout"], device)
        print(f"epoch {epoch}: one-step {loss:.4f} rollout {err:.2e}")
        if err < best[0]:
            best = (err, {k: v.detach().cpu().clone() for k, v in net.state_dict().items()})
    net.load_state_dict(best[1])
    with tempfile.TemporaryDirectory() as d:
        torch.save({"config": cfg, "state": net.state_dict()}, os.path.join(d, "gns.pt"))
    cpu_err = rollout_error(net.to("cpu"), valid, collate, cfg["train"]["rollout"], "cpu")
    print(f"best rollout {best[0]:.2e}, reproduced on the CPU {cpu_err:.2e}")


if __name__ == "__main__":
    main(override(CONFIG, sys.argv[1:]))
