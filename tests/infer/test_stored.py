"""What the files hold that a program loads: by who saves them, with what callers give, and under which path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from torchdevlint.infer.analysis import Analysis, analyse
from torchdevlint.infer.holding import Loads, holding, is_on_host
from torchdevlint.infer.kept import kept_for
from torchdevlint.infer.origins import is_of_this_run, is_published
from torchdevlint.infer.stored import Read
from torchdevlint.program.project import Member, member

LOAD = "import torch\ndef load(folder):\n    return torch.load(folder + '/net.pt')\n"
SAVE = "import torch\ndef save(state, path):\n    torch.save(state, path)\n"
KEEPER = """
import os
import torch
class Keeper:
    def __init__(self, folder):
        self.path = os.path.join(folder, "net.pt")
    def keep(self, net, small):
        {}
        torch.save(net.state_dict(), self.path)
"""
LOOP = """
import torch
def step(net, x):
    net(x).sum().backward()
def main(net, batches, folder):
    {}
        step(net, x)
    net.load_state_dict(torch.load(folder + "/net.pt"))
"""
OBJECT = """
import torch
class Runner:
    def __init__(self, path):
        self.path = path
    def begin(self, net):
        {}
        net.load_state_dict(torch.load(self.path))
    def end(self, net):
        torch.save(net.state_dict(), self.path)
        self.is_done = True
"""

# name: (whether all that may be in the file is on the CPU, the files of the project; "load.py" loads)
HELD: dict[str, tuple[bool | None, Mapping[str, str]]] = {
    "nobody saves": (None, {}),
    "through a helper": (
        True,
        {"save.py": SAVE, "main.py": "from save import save\nsave({'w': net.cpu().state_dict()}, f'{run}/net.pt')"},
    ),
    "through a helper, as it is": (
        False,
        {"save.py": SAVE, "main.py": "from save import save\nsave({'w': net.state_dict()}, f'{run}/net.pt')"},
    ),
    "by a method": (True, {"keep.py": KEEPER.format("net.cpu()")}),
    "by a method that may move it": (False, {"keep.py": KEEPER.format("if small: net.cpu()")}),
    "by a method that moves it elsewhere": (False, {"keep.py": KEEPER.format("net.cuda()")}),
    "under another name": (
        None,
        {"keep.py": KEEPER.format("net.cpu()").replace("net.pt", "best.pt"), "other.py": "xm.save(1, 2)"},
    ),
    "each item is renewed": (
        True,
        {
            "save.py": "import torch\ndef save(net, folder):\n    state = net.state_dict()\n    for key, value in state.items():\n"
            "        state[key] = value.cpu()\n    torch.save(state, folder + '/net.pt')"
        },
    ),
    "some items are renewed": (
        False,
        {
            "save.py": "import torch\ndef save(net, folder, small):\n    state = net.state_dict()\n    for key, value in state.items():\n"
            "        if small:\n            state[key] = value.cpu()\n    torch.save(state, folder + '/net.pt')"
        },
    ),
    "beside an optimizer's state": (
        False,
        {
            "save.py": "import torch\ndef save(net, folder):\n    opt = torch.optim.SGD(net.parameters(), 0.1)\n"
            "    torch.save({'net': net.cpu().state_dict(), 'opt': opt.state_dict()}, folder + '/net.pt')"
        },
    ),
    "beside counters": (
        True,
        {
            "save.py": "import torch\ndef save(net, epoch, scheduler, args, folder):\n"
            "    torch.save({'net': net.cpu().state_dict(), 'epoch': epoch + 1, 'args': vars(args), 'plan': scheduler.state_dict()}, folder + '/net.pt')"
        },
    ),
    "something else writes that file too": (
        False,
        {
            "save.py": "import torch\ndef save(net, folder):\n    torch.save(net.cpu().state_dict(), folder + '/net.pt')",
            "train.py": "import torch\ndef train(fabric, net, folder):\n    fabric.save(folder + '/net.pt', net)",
        },
    ),
}


def asked(root: Path, files: Mapping[str, str], name: str = "load.py") -> tuple[Analysis, list[Read]]:
    (root / ".git").mkdir()
    for path, text in files.items():
        (root / path).write_text(text)
    place = member(str(root / name))
    assert isinstance(place, Member)
    program = place.project.program(place.path)
    assert program is not None
    analysis = analyse(program, place.path, place.project, kept_for(program, place.path, place.project))
    loads = Loads(analysis)
    return analysis, [
        one for body in program.bodies for block in body.blocks for op in block.ops for one in loads.of(op)
    ]


@pytest.mark.parametrize("name", HELD)
def test_where_the_tensors_in_a_file_are(name: str, tmp_path: Path) -> None:
    expected, files = HELD[name]
    analysis, reads = asked(tmp_path, {"load.py": LOAD, **files})
    writes = holding(analysis, reads, frozenset())
    assert (None if writes is None else all(map(is_on_host, writes))) is expected


@pytest.mark.parametrize(
    ("loop", "expected"),
    [("for x in batches:", True), ("while x := next(batches):", True), ("if batches:\n        x = 1", False)],
)
def test_a_training_lies_behind(loop: str, expected: bool, tmp_path: Path) -> None:
    _, reads = asked(tmp_path, {"load.py": LOOP.format(loop)})
    assert is_of_this_run(reads) is expected


@pytest.mark.parametrize(("first", "expected"), [("self.end(net)", True), ("print(net)", False)])
def test_what_another_method_saves_may_be_of_another_run(first: str, expected: bool, tmp_path: Path) -> None:
    _, reads = asked(tmp_path, {"load.py": OBJECT.format(first)})
    assert is_of_this_run(reads) is expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("keeper.save(net, path)", True),
        ("keeper.maybe_save_net(path)", True),
        ("keeper.saveNet(path)", True),
        ("keeper.is_saved(path)", False),
        ("keeper.make_description(path)", False),
        ("save_note(path)", False),
        ("save_net(net, path)", True),
    ],
)
def test_what_is_called_a_save_is_one_where_nobody_can_look_into_it(call: str, expected: bool, tmp_path: Path) -> None:
    text = f"import torch\nfrom notes import save_net, save_note\ndef load(keeper, net, path):\n    {call}\n    return torch.load(path)\n"
    notes = "import torch\ndef save_note(path):\n    print(path)\ndef save_net(net, path):\n    torch.save(net, path)\n"
    _, reads = asked(tmp_path, {"load.py": text, "notes.py": notes})
    assert [one.is_written for one in reads] == [expected]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("fetch('net.pt')", True),
        ("'nets/pretrained/net.pt'", True),
        ("os.path.join(os.path.dirname(__file__), 'net.pt')", True),
        ("folder + '/net.pt'", False),
    ],
)
def test_a_file_that_others_publish(path: str, expected: bool, tmp_path: Path) -> None:
    text = f"import os\nimport torch\nfrom hub import fetch\ndef load(folder):\n    return torch.load({path})\n"
    files = {"load.py": text, "hub.py": "def fetch(name):\n    return hf_hub_download('nets/nets', name)\n"}
    _, reads = asked(tmp_path, files)
    assert is_published(reads) is expected
