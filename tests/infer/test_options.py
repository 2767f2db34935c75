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
    "a file in YAML": "import yaml\nwith open('c.yaml') as f:\n    device = torch.device(yaml.safe_load(f)['device'])",
    "OmegaConf": "from omegaconf import OmegaConf\ndevice = OmegaConf.load('c.yaml').run.device",
    "absl": "from absl import flags\nFLAGS = flags.FLAGS\ndevice = torch.device(FLAGS.device)",
    "accelerate": "from accelerate import Accelerator\ndevice = Accelerator().device",
    "fabric": "from lightning.fabric import Fabric\ndevice = Fabric(accelerator='cuda', devices=1).device",
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


@pytest.mark.parametrize(
    "head",
    [
        "import hydra\n@hydra.main(config_path='conf')\ndef main(cfg):\n    device = torch.device(cfg.device)\n",
        "import click\n@click.command()\n@click.option('--device')\ndef main(device):\n",
    ],
)
def test_what_a_decorator_gives_is_an_option(head: str) -> None:
    program = head + "    x = torch.ones(4, 4).to(device)\n    print(x * torch.ones(4, 4{other}))\nmain()\n"
    assert [verdict for _, _, verdict in told(program.format(other=""))] == ["broken"]
    assert told(program.format(other=", device=device")) == []


@pytest.mark.parametrize(
    "made", ["EasyDict(dict(device='cuda', run=dict(n=4)))", "OmegaConf.create({'device': 'cuda'})"]
)
def test_the_items_of_a_dict_of_settings_are_its_attributes(made: str) -> None:
    program = (
        "from easydict import EasyDict\nfrom omegaconf import OmegaConf\n"
        f"cfg = {made}\nx = torch.ones(4, 4).to(cfg.device)\nprint(x * torch.ones(4, 4))\n"
    )
    assert [verdict for _, _, verdict in told(program)] == ["broken"]


LAUNCHED = """
import torch.nn.functional as F
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
data = DataLoader(TensorDataset(torch.ones(4, 3), torch.ones(4).long()), batch_size=2)
launcher = Accelerator({given})
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
{prepare}
for x, y in data:
    with launcher.accumulate(net):
        out, weight = net(x), torch.ones(2{device})
        launcher.backward(F.cross_entropy(out, y, weight=weight))
        print(launcher.gather_for_metrics((out, y)))
"""


@pytest.mark.parametrize(
    ("given", "prepare", "device", "is_told"),
    [
        ("", "net, opt, data = launcher.prepare(net, opt, data)", ", device=launcher.device", False),
        ("", "net, opt, data = launcher.prepare(net, opt, data)", "", True),
        ("", "net, opt = launcher.prepare(net, opt)", ", device=launcher.device", True),
        ("", "net = launcher.prepare_model(net)", ", device=launcher.device", True),
        ("cpu=True", "net, opt = launcher.prepare(net, opt)", "", False),
    ],
)
def test_a_launcher_brings_models_and_samples_to_its_device(
    given: str, prepare: str, device: str, is_told: bool
) -> None:
    assert bool(told(LAUNCHED.format(given=given, prepare=prepare, device=device))) is is_told
