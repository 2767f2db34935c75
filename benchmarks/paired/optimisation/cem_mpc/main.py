import json
import sys
from pathlib import Path

import torch

import dynamics
import planner
import world
from streams import seed_all


def main(path):
    config = json.loads(Path(path).read_text())
    seed_all(config["seed"])
    name = config["device"]
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)

    data = world.collect(**config["data"])
    settings = dict(config["model"])
    model = dynamics.Ensemble(settings.pop("members"), settings.pop("hidden")).to(device)
    dynamics.fit(model, data, **settings)

    control = planner.make_controller(model, **config["plan"])
    state, spent = world.reset(1), 0.0
    for t in range(config["steps"]):
        action = control(state)
        state = world.step(state, action)
        spent += world.cost(state, action).item()
        if t % 4 == 3:
            print(f"step {t + 1} height {state[0, 0].item():+.2f} cost {spent:.2f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("config.json"))
