"""A device that an option of the program names may be a GPU, whatever its default: what is left on the CPU is told, as less than certain."""

from __future__ import annotations

import pytest
from test_data_paths import told

PARSER = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cpu")
"""
OPTIONS = {
    "option": PARSER + "device = parser.parse_args().device",
    "known options": PARSER + "args, rest = parser.parse_known_args()\ndevice = torch.device(args.device)",
    "helper": PARSER + "def options():\n    return parser.parse_args()\ndevice = torch.device(options().device)",
    "environment": "import os\ndevice = os.environ['DEVICE']",
    "environment with a default": "import os\ndevice = torch.device(os.environ.get('DEVICE', 'cpu'))",
    "getenv": "import os\ndevice = os.getenv('DEVICE', default='cpu')",
    "where there is a GPU": PARSER
    + "device = torch.device(parser.parse_args().device if torch.cuda.is_available() else 'cpu')",
}


@pytest.mark.parametrize("device", OPTIONS.values(), ids=list(OPTIONS))
def test_what_meets_a_tensor_on_the_chosen_device(device: str) -> None:
    program = device + "\nx = torch.ones(4, 4).to(device)\nprint(x * torch.ones(4, 4{other}))\n"
    assert [verdict for _, _, verdict in told(program.format(other=""))] == ["broken"]
    assert told(program.format(other=", device=device")) == []


def test_a_caller_that_hands_on_the_options_leaves_nothing_open() -> None:
    program = PARSER + (
        "def main(args):\n"
        "    net = nn.Linear(4, 4).to(args.device)\n"
        "    print(net(torch.ones(4, 4{other})))\n"
        "main(parser.parse_args())\n"
    )
    assert [verdict for _, _, verdict in told(program.format(other=""))] == ["broken"]
    assert told(program.format(other=", device=args.device")) == []


@pytest.mark.parametrize("test", ["device.type == 'cuda'", "x.is_cuda", "args.device != 'cpu'"])
def test_what_runs_without_a_gpu_alone_is_not_told(test: str) -> None:
    program = PARSER + (
        "args = parser.parse_args()\n"
        "device = torch.device(args.device)\n"
        "x = torch.ones(4, 4, device=device)\n"
        f"if not ({test}):\n"
        "    print(x * torch.ones(4, 4), x.numpy())\n"
    )
    assert told(program) == []


def test_a_variable_that_a_flag_places_is_where_its_program_chose() -> None:
    program = """
class Runner:
    def __init__(self, args):
        self.net = nn.Linear(4, 4)
        self.on_gpu = False
        if args.gpu:
            self.on_gpu = True
            self.net.cuda()
    def run(self):
        if self.on_gpu:
            x = torch.ones(4, 4).cuda()
        else:
            x = torch.ones(4, 4)
        return self.net(x)
"""
    assert told(program) == []


def test_a_loader_makes_tensors_of_arrays_and_numbers() -> None:
    program = """
import numpy as np
class Points(Dataset):
    def __getitem__(self, at):
        return np.ones(4), 1
for points, label in DataLoader(Points()):
    print(points.to("cuda") * label.to("cuda"), points.to("cuda") * torch.ones(4, device="cuda"))
"""
    assert told(program) == []
