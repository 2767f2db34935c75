"""Loads of what the same run has written, of what others published, and behind CUDA: notes where the callers, or the project, say so."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from torchdevlint import check_paths, check_source

RESTORE = """
import torch
def restore(net, path="model.pt"):
    net.load_state_dict(torch.load(path))
"""
TRAIN = """
def epoch(net, batches):
    for x in batches:
        net(x).sum().backward()
"""
SAME_FILE = """
import torch, sys
def main(net, batches):
    with open(sys.argv[1], "wb") as f:
        torch.save(net.state_dict(), f)
    net.load_state_dict(torch.load(open(sys.argv[{}], "rb")))
    get_rank()
"""
SPLIT = """
import glob, os, tempfile, torch
def merge(net, folder):
    {}
        for file in glob.glob(os.path.join(place, "model-*.bin")):
            net.load_state_dict(torch.load(file))
"""
OPTION = """
import argparse, torch
def main(net):
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", default="{}")
    args = parser.parse_args()
    net.load_state_dict(torch.load(args.weights))
"""
LITERAL = """
import torch
NAME = "nets/rrdb_x4.pth"
def upscale(net):
    net.load_state_dict(torch.load(NAME))
"""
READ = """
import torch
def restore(net, path):
    state = torch.load(path)
    net.load_state_dict(state["net"])
    return state["epoch"]
"""
SAVE = """
import torch
def save(net, path, epoch):
    {}
"""
KEYED = "torch.save({{'net': {}, 'epoch': epoch}}, path)"
SWITCH = """
import torch
def save(net, path, epoch, on_host=True):
    state = {"epoch": epoch, "net": {}}
    for name, value in net.state_dict().items():
        if on_host:
            state["net"][name] = _to_cpu(value)
        else:
            state["net"][name] = value
    torch.save(state, path)
"""
OTHER_SAVE = "import torch\ndef save_all(trainer, path):\n    torch.save(trainer, path)"
MANIFEST = """
import torch
def restore(folder):
    checkpoint = torch.load(folder / "manifest.pt")
    return checkpoint
"""

EXPERIMENT = """
import torch
class Experiment:
    def fit_all(self, batches):
        for x in batches:
            self.net(x).sum().backward()
    def predict(self, path):
        self.net.load_state_dict(torch.load(path))
"""
EPOCHS = """
def main(net, batches, args):
    {}
        epoch(net, batches)
    net.load_state_dict(torch.load(args.best_model))
"""
PAIRS = """
    weights = OrderedDict([[name.split("module.")[-1], {}] for name, value in net.state_dict().items()])
    torch.save(weights, path)
"""


# name: (the file that is checked, whether it is a note there, the project's files)
LOADS: dict[str, tuple[str, bool, Mapping[str, str]]] = {
    "behind a loop that calls what trains": (
        "train.py",
        True,
        {"train.py": "import torch" + TRAIN + EPOCHS.format("for _ in range(args.epochs):")},
    ),
    "behind a branch that calls what trains": (
        "train.py",
        False,
        {"train.py": "import torch" + TRAIN + EPOCHS.format("if args.train:")},
    ),
    "behind the training of another file": (
        "net.py",
        True,
        {
            "net.py": RESTORE,
            "loop.py": TRAIN,
            "main.py": "from net import restore\nfrom loop import epoch\nepoch(net, [])\nrestore(net)",
        },
    ),
    "before the training of another file": (
        "net.py",
        False,
        {
            "net.py": RESTORE,
            "loop.py": TRAIN,
            "main.py": "from net import restore\nfrom loop import epoch\nrestore(net)\nepoch(net, [])",
        },
    ),
    "behind the training, and in another program": (
        "net.py",
        False,
        {
            "net.py": RESTORE,
            "loop.py": TRAIN,
            "main.py": "from net import restore\nfrom loop import epoch\nepoch(net, [])\nrestore(net)",
            "test.py": "from net import restore\nrestore(net)",
        },
    ),
    "behind the training, by several processes": (
        "net.py",
        False,
        {
            "net.py": RESTORE,
            "loop.py": TRAIN,
            "main.py": "from net import restore\nfrom loop import epoch\ninit_process_group()\nepoch(net, [])\nrestore(net)",
        },
    ),
    "behind a trainer's work": (
        "net.py",
        True,
        {"net.py": RESTORE, "main.py": "from net import restore\ntrainer.fit(net)\nrestore(net)"},
    ),
    "behind a switch to training": (
        "net.py",
        False,
        {"net.py": RESTORE, "main.py": "from net import restore\nnet.train()\nrestore(net)"},
    ),
    "behind the training of the same object": (
        "net.py",
        True,
        {
            "net.py": EXPERIMENT,
            "main.py": "from net import Experiment as E\ne = E()\ne.fit_all([])\ne.predict('a.pth')",
        },
    ),
    "behind the training of another object": (
        "net.py",
        False,
        {
            "net.py": EXPERIMENT,
            "main.py": "from net import Experiment as E\ne, f = E(), E()\nf.fit_all([])\ne.predict('a.pth')",
        },
    ),
    "in a temporary folder": (
        "net.py",
        True,
        {"net.py": SPLIT.format("with tempfile.TemporaryDirectory() as place:\n        split(folder, place)")},
    ),
    "in a folder that is left": ("net.py", False, {"net.py": SPLIT.format("with folder.lock() as place:")}),
    "every caller has moved to CUDA": (
        "net.py",
        True,
        {"net.py": RESTORE, "main.py": "from net import restore\nnet = build().cuda()\nrestore(net)"},
    ),
    "a caller has moved the loss": (
        "net.py",
        False,
        {"net.py": RESTORE, "main.py": "from net import restore\ncriterion = Loss().cuda()\nrestore(net)"},
    ),
    "a caller has moved to CUDA where it is asked to": (
        "net.py",
        False,
        {"net.py": RESTORE, "main.py": "from net import restore\nif args.gpu:\n    net.cuda()\nrestore(net)"},
    ),
    "another file gives a published name, or none": (
        "net.py",
        True,
        {
            "net.py": RESTORE.replace('"model.pt"', "None"),
            "main.py": "from net import restore\nrestore(net, 'nets/resnet50.pth')",
            "test.py": "from net import restore\nrestore(net)",
        },
    ),
    "another file gives a published name, or the default": (
        "net.py",
        False,
        {
            "net.py": RESTORE,
            "main.py": "from net import restore\nrestore(net, 'nets/resnet50.pth')",
            "test.py": "from net import restore\nrestore(net)",
        },
    ),
    "an option with a published default": ("net.py", True, {"net.py": OPTION.format("nets/vgg_normalised.pth")}),
    "an option with a default of one's own": ("net.py", False, {"net.py": OPTION.format("nets/last.pth")}),
    "a literal where nothing trains": (
        "net.py",
        False,
        {"net.py": LITERAL, "show.py": "import net", "plot.py": "import show"},
    ),
    "a literal, in a project too small to tell": ("net.py", False, {"net.py": LITERAL}),
    "a literal where something trains": ("net.py", False, {"net.py": LITERAL, "loop.py": TRAIN}),
    "a path of the caller where nothing trains": ("net.py", False, {"net.py": RESTORE.replace('="model.pt"', "")}),
    "those who save its keys move each tensor": (
        "net.py",
        True,
        {
            "net.py": READ,
            "save.py": SAVE.format(KEYED.format("{k: v.cpu() for k, v in net.state_dict().items()}")),
            "other.py": OTHER_SAVE,
        },
    ),
    "those who save its keys move nothing": (
        "net.py",
        False,
        {"net.py": READ, "save.py": SAVE.format(KEYED.format("net.state_dict()"))},
    ),
    "those who save its keys move the module": (
        "net.py",
        True,
        {"net.py": READ, "save.py": SAVE.format("net.cpu()\n    " + KEYED.format("net.state_dict()"))},
    ),
    "those who save its keys move the module that a wrapper holds": (
        "net.py",
        True,
        {"net.py": READ, "save.py": SAVE.format("net.cpu()\n    " + KEYED.format("net.module.state_dict()"))},
    ),
    "those who save its keys move another module": (
        "net.py",
        False,
        {"net.py": READ, "save.py": SAVE.format("net.cpu()\n    " + KEYED.format("net.other.state_dict()"))},
    ),
    "those who save its keys move the module back": (
        "net.py",
        False,
        {"net.py": READ, "save.py": SAVE.format(KEYED.format("net.state_dict()") + "\n    net.cpu()")},
    ),
    "a choice of those who save, which nobody changes": ("net.py", True, {"net.py": READ, "save.py": SWITCH}),
    "a choice of those who save, which somebody changes": (
        "net.py",
        False,
        {"net.py": READ, "save.py": SWITCH, "main.py": "from save import save\nsave(net, path, 3, on_host=False)"},
    ),
    "its name is that of plain values": (
        "net.py",
        True,
        {
            "net.py": MANIFEST,
            "save.py": SAVE.format("torch.save({'names': ['net.pt'], 'epoch': epoch}, path / 'manifest.pt')"),
            "other.py": OTHER_SAVE,
        },
    ),
    "its name is that of a module's state": (
        "net.py",
        False,
        {"net.py": MANIFEST, "save.py": SAVE.format("torch.save(net.state_dict(), path / 'manifest.pt')")},
    ),
    "the program of its folder saves it from the CPU": (
        "old/net.py",
        True,
        {
            "old/net.py": MANIFEST,
            "main.py": "from old.net import restore\nrestore(folder)",
            "old/save.py": SAVE.format("torch.save(net.cpu().state_dict(), path / 'manifest.pt')"),
            "save.py": SAVE.format("torch.save(net.state_dict(), path / 'manifest.pt')"),
        },
    ),
    "the program of another folder saves it from the CPU": (
        "old/net.py",
        False,
        {
            "old/net.py": MANIFEST,
            "main.py": "from old.net import restore\nrestore(folder)",
            "new/save.py": SAVE.format("torch.save(net.cpu().state_dict(), path / 'manifest.pt')"),
            "save.py": SAVE.format("torch.save(net.state_dict(), path / 'manifest.pt')"),
        },
    ),
    "a name begins as another way to save": (
        "net.py",
        True,
        {
            "net.py": RESTORE,
            "save.py": SAVE.format("save_filename = path\n    torch.save(net.cpu().state_dict(), save_filename)"),
        },
    ),
    "a sharded checkpoint is put together": (
        "net.py",
        True,
        {
            "net.py": "import torch\nfrom names import NAME\ndef restore(net, folder):\n    net.load_state_dict(torch.load(folder / NAME))",
            "names.py": "NAME = 'whole.pth'",
            "merge.py": "from torch.distributed.checkpoint.format_utils import dcp_to_torch_save as save\nfrom names import NAME\n"
            "def merge(folder):\n    save(folder, folder / NAME)",
            "train.py": TRAIN,
        },
    ),
    "another file than the one that is put together": (
        "net.py",
        False,
        {
            "net.py": "import torch\ndef restore(net, folder):\n    net.load_state_dict(torch.load(folder / 'part.pth'))",
            "names.py": "NAME = 'whole.pth'",
            "merge.py": "import torch\nfrom torch.distributed.checkpoint.format_utils import dcp_to_torch_save as save\nfrom names import NAME\n"
            "def merge(net, folder):\n    save(folder, folder / NAME)\n    torch.save(net.state_dict(), folder / 'part.pth')",
            "train.py": TRAIN,
        },
    ),
    "another module names a published file": (
        "net.py",
        True,
        {
            "net.py": "import torch\nfrom names import PATH\ndef restore(net):\n    net.load_state_dict(torch.load(PATH))",
            "names.py": "import os\nPATH = os.path.join('nets', 'resnet152-b121ed2d.pth')",
            "train.py": TRAIN,
        },
    ),
    "another module names a file of a run": (
        "net.py",
        False,
        {
            "net.py": "import torch\nfrom names import PATH\ndef restore(net):\n    net.load_state_dict(torch.load(PATH))",
            "names.py": "import os\nPATH = os.path.join('nets', 'best.pth')",
            "train.py": TRAIN,
        },
    ),
    "no call gives a path": (
        "net.py",
        True,
        {
            "net.py": RESTORE.replace('"model.pt"', '""'),
            "train.py": "from net import restore\nrestore(build())" + TRAIN,
        },
    ),
    "one call gives a path": (
        "net.py",
        False,
        {
            "net.py": RESTORE.replace('"model.pt"', '""'),
            "train.py": "from net import restore\nrestore(build())\nrestore(build(), path)" + TRAIN,
        },
    ),
    "the trainer that ran keeps it": (
        "net.py",
        True,
        {
            "net.py": "import torch\ndef main(trainer, net):\n    trainer.train(3)\n    net.load_state_dict(torch.load(trainer.best_path))"
        },
    ),
    "a trainer that has not run keeps it": (
        "net.py",
        False,
        {
            "net.py": "import torch\ndef main(trainer, net):\n    net.load_state_dict(torch.load(trainer.best_path))\n    trainer.train(3)"
        },
    ),
    "somebody saves with safetensors as well": (
        "net.py",
        False,
        {
            "net.py": RESTORE,
            "save.py": SAVE.format("torch.save(net.cpu().state_dict(), path)\n    save_file(net.state_dict(), path)"),
        },
    ),
    "all who save move each tensor": (
        "net.py",
        True,
        {
            "net.py": RESTORE,
            "save.py": SAVE.format(
                "state = net.state_dict()\n    for k in state.keys():\n        state[k] = state[k].to('cpu')\n"
                "    torch.save(state, path)"
            ),
        },
    ),
    "all who save move each value of a list of pairs": (
        "net.py",
        True,
        {"net.py": RESTORE, "save.py": SAVE.format(PAIRS.format("value.cpu()"))},
    ),
    "all who save move no value of a list of pairs": (
        "net.py",
        False,
        {"net.py": RESTORE, "save.py": SAVE.format(PAIRS.format("value"))},
    ),
    "who saves is called as a function of safetensors": (
        "net.py",
        True,
        {
            "net.py": RESTORE,
            "save.py": SAVE.format("torch.save(net.cpu(), path)"),
            "main.py": "from net import save as save_model\nsave_model(net, path, 3)",
        },
    ),
    "all who save move each tensor somewhere": (
        "net.py",
        False,
        {
            "net.py": RESTORE,
            "save.py": SAVE.format(
                "state = net.state_dict()\n    for k in state.keys():\n        state[k] = state[k].to(epoch)\n"
                "    torch.save(state, path)"
            ),
        },
    ),
    "all who save do so where nothing is moved": (
        "net.py",
        True,
        {
            "net.py": RESTORE,
            "save.py": SAVE.format("new = torch.nn.Linear(3, 3)\n    torch.save(new.state_dict(), path)"),
        },
    ),
    "somebody saves in another way": (
        "net.py",
        False,
        {
            "net.py": RESTORE,
            "save.py": SAVE.format("torch.save(net.cpu(), path)"),
            "main.py": "from transformers import Trainer\nTrainer(net)",
        },
    ),
    "callers give it": (
        "net.py",
        True,
        {
            "net.py": RESTORE,
            "save.py": SAVE.format("torch.save(net, path)"),
            "main.py": "from save import save\nsave(net.cpu(), path, 1)",
        },
    ),
    "one of the callers gives another": (
        "net.py",
        False,
        {
            "net.py": RESTORE,
            "save.py": SAVE.format("torch.save(net, path)"),
            "main.py": "from save import save\nsave(net, path, 2)\nsave(net.cpu(), path, 1)",
        },
    ),
    "of a file that was opened": ("net.py", True, {"net.py": SAME_FILE.format(1)}),
    "of another file that was opened": ("net.py", False, {"net.py": SAME_FILE.format(2)}),
}


def codes_of(root: Path, checked: str, files: Mapping[str, str]) -> list[str]:
    (root / ".git").mkdir()
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    return [finding.code for finding in check_paths([root / checked], isolated=True, select=["TDL10"])]


@pytest.mark.parametrize("name", LOADS)
def test_the_project_decides_between_warning_and_note(tmp_path: Path, name: str) -> None:
    checked, is_note, files = LOADS[name]
    assert codes_of(tmp_path, checked, {**files, "README.md": "Trains with cuda. See net.py."}) == (
        [] if is_note else ["TDL101"]
    )


# name: (whether it is silent, or a note, and the text)
ARCHIVES = {
    "an archive in a temporary folder": (
        True,
        "def test(tmp_path):\n    export(tmp_path)\n    return torch.jit.load(tmp_path / 'net.ts')",
    ),
    "an archive that the function saves": (
        True,
        "def check(net, folder):\n    net.save_policy(join(folder, 'net.ts'))\n    return torch.jit.load(join(folder, 'net.ts'))",
    ),
    "another archive than the function saves": (
        False,
        "def check(net, folder):\n    net.save_policy(join(folder, 'net.ts'))\n    return torch.jit.load(join(folder, 'old.ts'))",
    ),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_of_this_run_is_no_warning(name: str) -> None:
    is_quiet, text = ARCHIVES[name]
    found = check_source("import torch\nfrom os.path import join\n" + text, select=["TDL10"])
    assert [finding.code for finding in found] == ([] if is_quiet else ["TDL106"])
