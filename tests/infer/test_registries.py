"""Tables that other files fill when they are imported, and packages that have no `__init__.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_imports_of_project import told

NETS = """import torch
from torch import nn
{register}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(3)

    def forward(self, x):
        return x * self.scale
"""
FUNCTIONS = """_NETS = {}

def register(name):
    def put(cls):
        _NETS[name] = cls
        return cls
    return put

def build(name):
    return _NETS[name]()
"""
DICT = """class Registry(dict):
    def register(self, name):
        def put(cls):
            self[name] = cls
            return cls
        return put

NETS = Registry()
"""
OBJECT = """class Registry:
    def __init__(self):
        self._classes = {}
    def register(self, cls):
        self._classes[cls.__name__] = cls
        return cls
    def get(self, name):
        return self._classes[name]

NETS = Registry()
"""
TABLES = {
    "functions": (
        FUNCTIONS,
        "from registry import register\n@register('net')",
        "from registry import build\nnet = build('net')",
    ),
    "a dict": (
        DICT,
        "from registry import NETS\n@NETS.register('net')",
        "from registry import NETS\nnet = NETS['net']()",
    ),
    "an object": (
        OBJECT,
        "import registry\n@registry.NETS.register",
        "from registry import NETS\nnet = NETS.get('Net')()",
    ),
}


@pytest.mark.parametrize("case", TABLES.values(), ids=list(TABLES))
def test_what_a_decorator_puts_into_a_table_of_another_file_is_there(
    case: tuple[str, str, str], tmp_path: Path
) -> None:
    registry, register, made = case
    main = f"import torch\nimport nets\n{made}.cuda()\nprint(net(torch.ones(3).cuda()))\n"
    files = {"registry.py": registry, "nets.py": NETS.format(register=register), "main.py": main}
    assert told(tmp_path, files, "nets.py") == [(7 + register.count("\n"), "TDL603", "broken")]


def test_who_builds_from_a_registry_is_a_caller_though_it_has_decorators_of_torch(tmp_path: Path) -> None:
    registry = "import torch\n" + FUNCTIONS
    register, main = (
        "from registry import register\n@register('net')",
        (
            "import torch\nfrom registry import build\n\n@torch.no_grad()\ndef run():\n    net = build('net').cuda()\n    print(net(torch.ones(3).cuda()))\n\nrun()\n"
        ),
    )
    files = {"registry.py": registry, "nets.py": NETS.format(register=register), "main.py": main}
    assert told(tmp_path, files, "nets.py") == [(8, "TDL603", "broken")]


def test_a_registry_is_handed_on_by_the_table_that_holds_a_class(tmp_path: Path) -> None:
    files = {
        "nets.py": NETS.format(register=""),
        "table.py": "from nets import Net\nNETS = {'net': Net, 'other': None}\n",
        "main.py": "import torch\nfrom table import NETS\nnet = NETS['net']().cuda()\nprint(net(torch.ones(3).cuda()))\n",
    }
    assert told(tmp_path, files, "nets.py") == [(7, "TDL603", "broken")]


def test_a_folder_without_an_init_file_is_a_package_of_an_extended_path(tmp_path: Path) -> None:
    files = {
        "lib/nets/net.py": NETS.format(register=""),
        "_paths.py": "import sys\nsys.path.insert(0, 'lib')\n",
        "main.py": "import _paths\nimport torch\nfrom nets.net import Net\nnet = Net().cuda()\nprint(net(torch.ones(3).cuda()))\n",
    }
    assert told(tmp_path, files, "lib/nets/net.py") == [(7, "TDL603", "broken")]


def test_objects_of_calls_that_wait_for_a_caller_are_told_apart(tmp_path: Path) -> None:
    nets = """import torch
from torch import nn
from registry import register
@register("net")
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Linear(2, 2)
    def forward(self, x, batch):
        return self.scale(x) * batch.y
"""
    main = """import torch
from registry import build
class Batch:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def to(self, device):
        return Batch(self.x.to(device), self.y.to(device))
    def advance(self, x):
        return Batch(x, self.y)
def run(net, batch, device):
    batch = batch.to(device)
    for _ in range(3):
        batch = batch.advance(net(batch.x, batch))
    return batch
def main(name, device):
    net = build(name).to(device)
    run(net, Batch(torch.ones(2, 2), torch.ones(2)), device)
    run(net.to("cpu"), Batch(torch.ones(2, 2), torch.ones(2)), "cpu")
main("net", torch.device("cuda"))
"""
    files = {"registry.py": FUNCTIONS, "nets.py": nets, "main.py": main}
    assert told(tmp_path, files, "main.py") == told(tmp_path, files, "nets.py") == []


def test_the_name_of_a_function_that_a_setting_chooses_is_what_the_setting_is(tmp_path: Path) -> None:
    nets = (
        "from torch import nn\n\ndef large():\n    return nn.Linear(3, 3)\n\ndef small():\n    return nn.Linear(3, 3)\n"
    )
    main = """
import argparse
import torch
import nets

parser = argparse.ArgumentParser()
parser.add_argument("--net")
args = parser.parse_args()
net = getattr(nets, args.net)()
if args.net.startswith("{begin}"):
    net.cuda()
net(torch.rand(2, 3))
"""
    for begin, wanted in (("huge", []), ("large", [(12, "TDL401", "broken")])):
        files = {"nets.py": nets, "main.py": main.format(begin=begin)}
        assert told(tmp_path, files, "main.py") == wanted
