import sys

import torch

from runner import Runner
from settings import load_settings

if __name__ == "__main__":
    settings = load_settings(sys.argv[1:])
    torch.manual_seed(settings["seed"])
    runner = Runner(settings)
    runner.run()
