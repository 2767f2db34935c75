"""What the other files of a project tell: code that needs CUDA through them, or that nobody comes to, is a note."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from torchdevlint import check_paths, check_source
from torchdevlint.findings import Severity
from torchdevlint.settings import Resolver
from torchdevlint.workspace import runner

SCRIPT = """
import torch
from net import Net
model = Net().cuda()
"""
CHOOSES = """
import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
print(torch.ones(2).to(device))
"""
PROGRAM = """
import torch
from net import Net
model = Net()
for batch in batches:
    model(batch.cuda())
"""
NET = """
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return x + torch.zeros(3).cuda()
"""
IMPORTS = """from net import Net

if __name__ == "__main__":
    print(1)
"""
MAIN = """import other

if __name__ == "__main__":
    other.run()
"""
TRIAL = """
import torch
def double(x):
    return x * 2
if __name__ == "__main__":
    print(double(torch.ones(3, device="cuda")))
"""
MEASURED = """
import torch
def run(model):
    model(torch.ones(3, device="cuda"))
    print(torch.cuda.max_memory_allocated())
run(abs)
"""
CONSTRUCTED = """
import torch
class Probe:
    def __init__(self, rows):
        assert torch.cuda.is_available()
        self.rows = rows
    def place(self):
        return torch.as_tensor(self.rows).cuda()
"""
GIVEN = """
import torch
def grid(rows, device="cuda"):
    return torch.ones(rows, device=device)
"""
DEAD = """
import torch
def old(rows):
    return torch.ones(rows, device="cuda")
def main():
    return 0
if __name__ == "__main__":
    main()
"""
STOPS = """
import torch
def start():
    assert torch.cuda.is_available(), "this needs CUDA"
"""
AMP = """
import torch
scaler = torch.cuda.amp.GradScaler()
"""
LOAD = """
import sys, torch
from net import Net
def main():
    model = Net()
    model.load_state_dict(torch.load(sys.argv[1]))
if torch.cuda.is_available():
    main()
"""
WORKER = """
import torch
from net import start
def evaluate(model, rows):
    return model(rows.cuda())
def validate(model, rows):
    return evaluate(model, rows)
def main(rank, model, rows):
    start(rank)
    return validate(model, rows)
"""
START = """
import torch
def start(rank):
    torch.cuda.set_device(rank)
"""
SAMPLES = """
import torch
class Samples(torch.utils.data.Dataset):
    def __getitem__(self, index):
        return self.rows[index].to(self.device)
"""
OPTIMIZER = """
import torch
def train(model: torch.nn.Module, device):
    optimizer = torch.optim.Adam(model.parameters())
    model.to(device)
    return optimizer
"""
SECOND = """
import torch
def run(net: torch.nn.Module, device):
    x = torch.zeros(3).to(device)
    if torch.cuda.is_available():
        x = x.cuda()
    return net(x)
"""
RETURN = """
import torch
def embed(x: torch.Tensor, padded):
    if not padded:
        return x
    return x * torch.zeros(1, 3)
def model(x):
    return embed(x, padded=PADDED)
"""
# name: (the file that is checked, whether it is a note there, the project's files)
PROJECTS: dict[str, tuple[str, bool, Mapping[str, str]]] = {
    "a model of the project needs an extension": (
        "train.py",
        True,
        {"train.py": SCRIPT, "net.py": "from ops.group import ball", "ops/group.py": "import pointnet2_cuda"},
    ),
    "the extension is imported by one of two ways": (
        "train.py",
        True,
        {
            "train.py": SCRIPT,
            "net.py": "try:\n    from group import ball\nexcept ImportError:\n    from .group import ball",
            "group.py": "import pointnet2_cuda",
        },
    ),
    "a module of the project compiles for CUDA when it is imported": (
        "train.py",
        True,
        {
            "train.py": SCRIPT,
            "net.py": "from torch.utils.cpp_extension import load\nfused = load('fused', sources=['a.cpp', 'a_kernel.cu'])",
        },
    ),
    "a module of the project compiles for the CPU when it is imported": (
        "train.py",
        False,
        {
            "train.py": SCRIPT,
            "net.py": "from torch.utils.cpp_extension import load\nfused = load('fused', sources=['a.cpp'])\nNet = fused.Net",
        },
    ),
    "the extension may be missing": (
        "train.py",
        False,
        {
            "train.py": SCRIPT,
            "net.py": "try:\n    from group import ball as Net\nexcept ImportError:\n    Net = None",
            "group.py": "import pointnet2_cuda",
        },
    ),
    "a model of the project runs everywhere": ("train.py", False, {"train.py": SCRIPT, "net.py": NET}),
    "a load, with a model that needs CUDA at import": (
        "load.py",
        True,
        {"load.py": LOAD, "net.py": "import torch\ntorch.cuda.current_device()"},
    ),
    "a load, with a model that asks first": (
        "load.py",
        False,
        {
            "load.py": LOAD,
            "net.py": "import torch\nif torch.cuda.is_available():\n    torch.cuda.current_device()\nNet = abs",
        },
    ),
    "the only program stops without CUDA": (
        "net.py",
        True,
        {
            "net.py": NET,
            "train.py": "import torch\nfrom net import Net\ndef main():\n    assert torch.cuda.is_available()\n    Net()",
        },
    ),
    "one of two programs stops without CUDA": (
        "net.py",
        False,
        {
            "net.py": NET,
            "train.py": "import torch\nfrom net import Net\ndef main():\n    assert torch.cuda.is_available()\n    Net()",
            "eval.py": "from net import Net",
        },
    ),
    "a function of another file stops without CUDA": (
        "train.py",
        True,
        {
            "train.py": SCRIPT.replace("model =", "start()\nmodel =").replace("import Net", "import Net, start"),
            "net.py": STOPS,
        },
    ),
    "a function of another file that nobody calls here stops without CUDA": (
        "train.py",
        False,
        {"train.py": SCRIPT, "net.py": STOPS + "class Net: pass"},
    ),
    "the package is built for CUDA alone": (
        "train.py",
        True,
        {"train.py": SCRIPT, "net.py": NET, "setup.py": "setup(ext_modules=[CUDAExtension('ext', ['ext.cu'])])"},
    ),
    "the package is built for the CPU as well": (
        "train.py",
        False,
        {
            "train.py": SCRIPT,
            "net.py": NET,
            "setup.py": "setup(ext_modules=[(CUDAExtension if cuda else CppExtension)('ext')])",
        },
    ),
    "nobody names the method": (
        "net.py",
        False,
        {"net.py": NET.replace("forward", "encode"), "train.py": "from net import Net"},
    ),
    "a base may call the method": (
        "net.py",
        False,
        {
            "net.py": NET.replace("forward", "encode").replace("torch.nn.Module", "Base"),
            "train.py": "from net import Net\nNet()",
        },
    ),
    "its name says that it is for CUDA": (
        "net.py",
        False,
        {"net.py": "def dtw_cuda(x):\n    return x.cuda()", "train.py": "from net import *\ndtw_cuda(y)"},
    ),
    "another accelerator than CUDA is named": ("net.py", True, {"net.py": "def place(x):\n    return x.to('npu')"}),
    "the package asks for kernels": (
        "kit/net.py",
        True,
        {
            "kit/net.py": SCRIPT.replace("from net import Net", "Net = abs"),
            "kit/__init__.py": "",
            "requirements/gpu.txt": "triton>=3.0.0; sys_platform == 'linux'",
        },
    ),
    "the package beside a program asks for kernels": (
        "train.py",
        False,
        {"train.py": SCRIPT, "net.py": NET, "requirements.txt": "triton>=3.0.0"},
    ),
    "the package speaks of kernels": (
        "kit/net.py",
        False,
        {
            "kit/net.py": SCRIPT.replace("from net import Net", "Net = abs"),
            "kit/__init__.py": "",
            "requirements.txt": "numpy  # triton is not needed\ntritonclient",
        },
    ),
    "others import it, and never use it": (
        "net.py",
        False,
        {"net.py": NET, "train.py": "from net import (\n    Net,\n)\n"},
    ),
    "others import it under another name": (
        "net.py",
        False,
        {"net.py": NET, "train.py": "from net import Net as Model\nModel()"},
    ),
    "nobody names the class": ("net.py", False, {"net.py": NET, "train.py": "from net import *"}),
    "a program imports it, and never uses it": ("net.py", True, {"net.py": NET, "train.py": IMPORTS}),
    "a method named as a builtin finds no class": (
        "net.py",
        True,
        {"net.py": NET, "train.py": IMPORTS + "    model.eval()\n    getattr(self, name)()\n"},
    ),
    "a computed name may find it": (
        "net.py",
        False,
        {"net.py": NET, "train.py": IMPORTS + "    eval(name)()\n"},
    ),
    "a computed name finds it in no file that does not import it": (
        "net.py",
        True,
        {"net.py": NET, "train.py": IMPORTS, "other.py": "def find(name):\n    return eval(name)()\n"},
    ),
    "another file has one of its own of that name": (
        "net.py",
        True,
        {
            "net.py": NET,
            "train.py": IMPORTS.replace("import Net", "import Other") + "    Net()\n\nclass Net:\n    pass\n",
        },
    ),
    "a notebook names it": (
        "net.py",
        False,
        {"net.py": NET, "train.py": "from net import *", "try.ipynb": "Net()"},
    ),
    "who installs the package may name it": (
        "net.py",
        False,
        {"net.py": NET, "train.py": "from net import *", "setup.py": ""},
    ),
    "nobody imports the file, of many": (
        "net.py",
        True,
        {
            "net.py": "warnings.simplefilter('ignore')" + NET,
            "train.py": MAIN,
            "other.py": "",
            "a.py": "",
            "b.py": "",
        },
    ),
    "nobody imports the file, but the documentation names it": (
        "net.py",
        False,
        {"net.py": NET, "train.py": "import other", "other.py": "", "a.py": "", "b.py": "", "README.md": "see net.py"},
    ),
    "nobody imports the file, which is a program": (
        "train.py",
        False,
        {"net.py": NET, "train.py": SCRIPT, "other.py": "", "a.py": "", "b.py": ""},
    ),
    "a trial of what others import": (
        "ops.py",
        True,
        {"ops.py": TRIAL, "train.py": "from ops import double"},
    ),
    "the main part of a program": ("ops.py", False, {"ops.py": TRIAL}),
    "nobody imports the file": ("net.py", True, {"net.py": NET, "train.py": MAIN}),
    "the requirements let in no torch that warns": (
        "exp/train.py",
        True,
        {"exp/train.py": AMP, "requirements.txt": "numpy\ntorch==1.9.0\n"},
    ),
    "the requirements beside it let in none": (
        "exp/train.py",
        True,
        {"exp/train.py": AMP, "exp/requirements.txt": "torch==1.9.0\n", "requirements.txt": "torch>=1.9\n"},
    ),
    "the requirements beside it let in any torch": (
        "exp/train.py",
        False,
        {"exp/train.py": AMP, "exp/requirements.txt": "torch>=1.10\n", "requirements.txt": "torch==1.9.0\n"},
    ),
    "the README installs a torch that does not warn": (
        "exp/train.py",
        True,
        {"exp/train.py": AMP, "README.md": "    conda install pytorch==1.7.0 torchvision -c pytorch\n"},
    ),
    "the requirements let in what the README does not install": (
        "exp/train.py",
        False,
        {"exp/train.py": AMP, "README.md": "`pip install torch==1.9.0`", "requirements.txt": "torch>=1.10\n"},
    ),
    "a benchmark of CUDA": ("tools/bench.py", True, {"tools/bench.py": MEASURED}),
    "a folder of benchmarks of CUDA": ("benchmarks/run.py", True, {"benchmarks/run.py": MEASURED}),
    "a program that measures its memory": ("tools/train.py", False, {"tools/train.py": MEASURED}),
    "a benchmark of what a model knows": (
        "tools/bench.py",
        False,
        {"tools/bench.py": MEASURED.replace("torch.cuda.max_memory_allocated()", "0")},
    ),
    "a function that profiles": ("tools/ops.py", True, {"tools/ops.py": MEASURED.replace("run", "profile_run")}),
    "a constructor that stops without CUDA": ("probe.py", True, {"probe.py": CONSTRUCTED}),
    "a constructor that asks for nothing": (
        "probe.py",
        False,
        {
            "probe.py": CONSTRUCTED.replace("assert torch.cuda.is_available()", "self.old = None"),
            "a.py": "import probe",
        },
    ),
    "a default that each call gives another for": (
        "ops.py",
        True,
        {"ops.py": GIVEN, "train.py": "from ops import grid\ngrid(3, 'cpu')\ngrid(2, device=d)", "setup.py": ""},
    ),
    "a default that one call takes": (
        "ops.py",
        False,
        {"ops.py": GIVEN, "train.py": "from ops import grid\ngrid(3, 'cpu')\ngrid(2)", "setup.py": ""},
    ),
    "a default that a package offers": (
        "kit/ops.py",
        False,
        {"kit/ops.py": GIVEN, "kit/__init__.py": "from .ops import grid", "a.py": "from kit import grid\ngrid(3, d)"},
    ),
    "nobody names a function of a package's program": (
        "examples/train.py",
        True,
        {"examples/train.py": DEAD, "kit/__init__.py": "", "setup.py": ""},
    ),
    "the documentation names a function of a package's program": (
        "examples/train.py",
        False,
        {"examples/train.py": DEAD, "kit/__init__.py": "", "setup.py": "", "README.md": "call old(3)"},
    ),
    "nobody names a function of a package's program that nobody imports": (
        "kit/train.py",
        True,
        {"kit/train.py": DEAD, "kit/__init__.py": "", "setup.py": ""},
    ),
    "nobody names a function of a package's module": (
        "kit/train.py",
        False,
        {"kit/train.py": DEAD.partition("def main")[0], "kit/__init__.py": "", "setup.py": ""},
    ),
    "it imports what its package lacks": (
        "kit/train.py",
        True,
        {"kit/train.py": "from kit.layers import Net" + SCRIPT, "kit/__init__.py": "", "net.py": "", "setup.py": ""},
    ),
    "it imports what its package holds": (
        "kit/train.py",
        False,
        {
            "kit/train.py": "from kit.layers import Net" + SCRIPT,
            "kit/__init__.py": "",
            "kit/layers.py": "class Net: pass",
            "setup.py": "",
        },
    ),
    "it imports what its package generates": (
        "kit/train.py",
        False,
        {"kit/train.py": "from kit.version import VERSION" + SCRIPT, "kit/__init__.py": "", "setup.py": ""},
    ),
    "it tries to import what its package lacks": (
        "kit/train.py",
        False,
        {
            "kit/train.py": "try:\n    from kit.layers import Net\nexcept ImportError:\n    Net = None" + SCRIPT,
            "kit/__init__.py": "",
            "setup.py": "",
        },
    ),
    "an optimizer before the move, in a project whose moves keep the Parameters": (
        "train.py",
        True,
        {"train.py": OPTIMIZER, "net.py": NET, "plot.py": "plt.xlabel('step')"},
    ),
    "an optimizer before the move, in a project that shards": (
        "train.py",
        False,
        {"train.py": OPTIMIZER, "net.py": NET, "shard.py": "from torch.distributed.fsdp import fully_shard"},
    ),
    "a data set that no loader of the project reads": (
        "samples.py",
        True,
        {"samples.py": SAMPLES, "net.py": NET, "train.py": "from samples import Samples\nSamples()[0]"},
    ),
    "a data set that a loader of the project reads": (
        "samples.py",
        False,
        {
            "samples.py": SAMPLES,
            "net.py": NET,
            "train.py": "from samples import Samples\nfrom torch.utils.data import DataLoader\nDataLoader(Samples())",
        },
    ),
    "a default that each call gives another for, beside others": (
        "ops.py",
        True,
        {"ops.py": GIVEN, "train.py": "from ops import grid\ngrid(3, device='cpu', **more)", "setup.py": ""},
    ),
    "a default that others may take": (
        "ops.py",
        False,
        {"ops.py": GIVEN, "train.py": "from ops import grid\ngrid(3, **more)", "setup.py": ""},
    ),
    "each call comes behind the start of CUDA": ("train.py", True, {"train.py": WORKER, "net.py": START}),
    "each call comes behind what may start CUDA": (
        "train.py",
        False,
        {
            "train.py": WORKER,
            "net.py": START.replace("torch.cuda", "if rank:\n        torch.cuda"),
            "README.md": "see train.py",
        },
    ),
    "one call comes before the start of CUDA": (
        "train.py",
        False,
        {
            "train.py": WORKER.replace("    start(rank)\n", "    evaluate(model, rows)\n    start(rank)\n"),
            "net.py": START,
            "README.md": "see train.py",
        },
    ),
    "each call comes behind a test for CUDA": (
        "ops.py",
        True,
        {"ops.py": DEAD.replace("return 0", "if not torch.cuda.is_available():\n        return\n    old(3)")},
    ),
    "one call comes behind no test for CUDA": (
        "ops.py",
        False,
        {"ops.py": DEAD.replace("return 0", "if torch.cuda.is_available():\n        old(3)\n    old(4)")},
    ),
    "another function takes its place": (
        "ops.py",
        True,
        {"ops.py": DEAD.replace("def main", "def old(rows):\n    return rows\ndef main").replace("return 0", "old(3)")},
    ),
    "another function may take its place": (
        "ops.py",
        False,
        {
            "ops.py": DEAD.replace("def main", "if FAST:\n    def old(rows):\n        return rows\ndef main").replace(
                "return 0", "old(3)"
            )
        },
    ),
    "it imports what its neighbour does not know": (
        "train.py",
        True,
        {"train.py": "from net import build\n" + SCRIPT, "net.py": NET},
    ),
    "it imports what its neighbour may make": (
        "train.py",
        False,
        {"train.py": "from net import build\n" + SCRIPT, "net.py": NET + "globals().update(more)"},
    ),
    "it was copied out of its package": (
        "train.py",
        True,
        {"train.py": "from .net import build\n" + SCRIPT.replace("from net import Net", "Net = abs")},
    ),
    "it stands in a package without a mark": (
        "train.py",
        False,
        {
            "train.py": "from .net import build\n" + SCRIPT.replace("from net import Net", "Net = abs"),
            "net.py": "build = 1",
        },
    ),
    "a package hands on what stops without CUDA": (
        "train.py",
        True,
        {
            "train.py": "from kit import start\ndef main(x):\n    start()\n    return x.cuda()\nmain(1)",
            "kit/__init__.py": "from .setup import *",
            "kit/setup.py": "import torch\ndef start():\n    assert torch.cuda.is_available()",
        },
    ),
    "a package hands on what stops nowhere": (
        "train.py",
        False,
        {
            "train.py": "from kit import start\ndef main(x):\n    start()\n    return x.cuda()\nmain(1)",
            "kit/__init__.py": "from .setup import *",
            "kit/setup.py": "import torch\ndef start():\n    print(torch.cuda.is_available())",
        },
    ),
    "its value goes to the current GPU, which no file sets": (
        "train.py",
        False,
        {"train.py": SECOND, "net.py": "print(1)", "README.md": "see train.py"},
    ),
    "its value goes to the current GPU, which another file sets": (
        "train.py",
        True,
        {"train.py": SECOND, "net.py": "import torch\ntorch.cuda.set_device(rank)"},
    ),
    "it imports another module of that name": (
        "kit/ops/train.py",
        False,
        {
            "kit/ops/train.py": "from torch import Tensor\n" + SCRIPT.replace("from net import Net", "Net = abs"),
            "kit/ops/torch.py": "",
            "kit/ops/__init__.py": "",
            "kit/__init__.py": "",
        },
    ),
    "a registry keeps it": (
        "net.py",
        False,
        {
            "net.py": NET.replace("class Net", "@register\nclass Net"),
            "train.py": "from net import *",
        },
    ),
}


@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_decides_between_warning_and_note(tmp_path: Path, name: str) -> None:
    checked, is_note, files = PROJECTS[name]
    (tmp_path / ".git").mkdir()
    choosing = {f"choosing_{at}.py": CHOOSES for at in range(3)}  # what hard-codes CUDA beside them is a mistake
    for path, text in {**files, **choosing}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / path).write_text(textwrap.dedent(text))
    found = check_paths([tmp_path / checked], isolated=True)
    assert [finding.severity for finding in found] == ([] if is_note else [Severity.WARNING])


def test_a_file_tells_nothing_of_what_moves_elsewhere_replace(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(OPTIMIZER)
    assert [finding.code for finding in check_paths([tmp_path], isolated=True)] == ["TDL203"]


def test_a_file_alone_is_asked_alone(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "net.py").write_text("import pointnet2_cuda\n")
    run = runner.check([str(tmp_path / "train.py")], Resolver(overrides={"project": False}, isolated=True))
    assert [finding.code for outcome in run.outcomes for finding in outcome.findings] == ["TDL801"]


def test_an_attribute_of_a_class_of_another_file_is_no_line_of_this_one(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "part.py").write_text(
        "from torch import nn\n\nclass Shift(nn.Module):\n    def __init__(self, table):\n        super().__init__()\n"
        "        self.table = table\n\n    def forward(self, x):\n        return x + self.table\n"
    )
    (tmp_path / "run.py").write_text(
        "import torch\nfrom part import Shift\n\ntable = torch.ones(3)\nnet = Shift(table)\nnet.cuda()\n"
        "print(net(torch.ones(3).cuda()))\n"
    )
    found = check_paths([tmp_path / "run.py"], isolated=True)
    assert [(one.code, one.span.start.row) for one in found if one.severity is Severity.ERROR] == [("TDL603", 4)]


FACTORY = """
import torch
def embed(x: torch.Tensor):
    return x * torch.zeros(1, 3)
"""
FORWARD = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
    def forward(self, x):
        return self.layer(torch.ones(2, 3))
"""
BRANCH = """
import torch
def embed(x: torch.Tensor, padded=False):
    if padded:
        return x * torch.zeros(1, 3)
    return x
def model(x):
    return embed(x)
"""
# name: (the file that is checked, whether it is a note there, the project's files)
SURROUNDINGS: dict[str, tuple[str, bool, Mapping[str, str]]] = {
    "nothing around it": ("ops.py", False, {"ops.py": FACTORY, "train.py": "from ops import embed\nembed(x.cuda())"}),
    "the program sets the default tensor type": (
        "ops.py",
        True,
        {
            "ops.py": FACTORY,
            "train.py": "from ops import embed\ntorch.set_default_tensor_type('torch.cuda.FloatTensor')",
        },
    ),
    "another program sets it": (
        "ops.py",
        False,
        {
            "ops.py": FACTORY,
            "train.py": "from ops import embed\nembed(x.cuda())",
            "old.py": "torch.set_default_device('cuda')",
        },
    ),
    "no file of the project speaks of a device": (
        "ops.py",
        False,
        {"ops.py": FORWARD, "train.py": "from ops import Net\nNet()(x)", "plot.py": "import train"},
    ),
    "a file of the project speaks of a device": (
        "ops.py",
        False,
        {"ops.py": FORWARD, "train.py": "from ops import Net\nNet()(x)", "gpu.py": "from ops import Net\nNet().cuda()"},
    ),
    "no file of a package speaks of a device": (
        "ops.py",
        False,
        {"ops.py": FORWARD, "train.py": "from ops import Net\nNet()(x)", "setup.py": ""},
    ),
    "behind a return that every call takes, of a name that others use": (
        "ops.py",
        True,
        {
            "ops.py": RETURN.replace("PADDED", "False"),
            "train.py": "from ops import model\ndef pad(padded):\n    return padded\nmodel(x.cuda())",
        },
    ),
    "behind a return that a call does not take": (
        "ops.py",
        False,
        {"ops.py": RETURN.replace("PADDED", "True"), "train.py": "from ops import model\nmodel(x.cuda())"},
    ),
    "behind a return of a function that others call": (
        "ops.py",
        False,
        {
            "ops.py": RETURN.replace("PADDED", "False"),
            "train.py": "from ops import embed\nembed(x.cuda(), padded=True)",
        },
    ),
    "a private function's branch, of a name that others use": (
        "ops.py",
        True,
        {
            "ops.py": BRANCH.replace("embed", "_embed"),
            "train.py": "from ops import model\ndef pad(padded):\n    return padded\nmodel(x.cuda())",
        },
    ),
    "a program that hides the GPUs": (
        "ops.py",
        True,
        {"ops.py": "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '-1'" + FACTORY},
    ),
    "a program that chooses a GPU": (
        "ops.py",
        False,
        {"ops.py": "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'" + FACTORY},
    ),
    "its trainer runs on the CPU": (
        "ops.py",
        True,
        {"ops.py": FACTORY + "Trainer(solver, accelerator='cpu').train(embed)"},
    ),
    "one of its trainers runs anywhere": (
        "ops.py",
        False,
        {"ops.py": FACTORY + "Trainer(solver, accelerator='cpu').train(embed)\nTrainer(solver).train()"},
    ),
    "a branch that nobody takes": (
        "ops.py",
        True,
        {"ops.py": BRANCH, "train.py": "from ops import model"},
    ),
    "a branch that another file takes": (
        "ops.py",
        False,
        {"ops.py": BRANCH, "train.py": "from ops import embed\nembed(x.cuda(), padded=True)"},
    ),
    "the program runs it under another device": (
        "ops.py",
        True,
        {"ops.py": FACTORY, "train.py": "from ops import embed\nwith torch.device('cuda'):\n    embed(x)"},
    ),
    "a folder of data sets": ("data/ops.py", True, {"data/ops.py": FACTORY}),
    "a folder of tests": ("tests/ops.py", True, {"tests/ops.py": FACTORY}),
    "a program that is called a test": ("tests/ops.py", False, {"tests/ops.py": "import argparse" + FACTORY}),
    "a program with a function that tests a model": (
        "ops.py",
        False,
        {"ops.py": FACTORY + "\ndef test_epoch(model): pass"},
    ),
    "a file of functions that assert": ("ops.py", True, {"ops.py": FACTORY + "\ndef test_ops(): assert True"}),
    "a file of tests": ("ops.py", True, {"ops.py": "import pytest" + FACTORY}),
}


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_surroundings_turn_a_warning_into_a_note(tmp_path: Path, name: str) -> None:
    checked, is_note, files = SURROUNDINGS[name]
    (tmp_path / ".git").mkdir()
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / path).write_text(text)
    found = check_paths([tmp_path / checked], isolated=True, select=["TDL5"])
    assert [finding.code for finding in found] == ([] if is_note else ["TDL504"])


@pytest.mark.parametrize(("other", "told"), [("device = 'mps'", True), ("device = 'cuda'", False)])
def test_a_hazard_of_mps_is_told_in_a_project_that_speaks_of_mps(tmp_path: Path, other: str, told: bool) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "settings.py").write_text(other)
    (tmp_path / "copy.py").write_text(
        "import torch\ndef build(values, device):\n    return torch.tensor(values).to(device, non_blocking=True)\n"
    )
    found = check_paths([tmp_path / "copy.py"], isolated=True, select=["TDL9"])
    assert [finding.code for finding in found] == (["TDL901"] if told else [])


LISTED = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [torch.nn.Linear(3, 3) for _ in range(3)]
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""


@pytest.mark.parametrize("alone", [True, False])
def test_modules_in_a_plain_list_are_no_error_in_a_project(tmp_path: Path, alone: bool) -> None:
    for number in () if alone else range(2):
        (tmp_path / f"train{number}.py").write_text("from net import Net")
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(LISTED)
    found = check_paths([tmp_path / "net.py"], isolated=True, select=["TDL6"])
    severity = Severity.ERROR if alone else Severity.WARNING
    assert [(finding.code, finding.severity) for finding in found] == [("TDL602", severity)]


def test_modules_in_a_plain_dict_are_told_once() -> None:
    text = """
    import torch
    class Heads(torch.nn.Module):
        def __init__(self, tasks):
            super().__init__()
            self.body = torch.nn.Linear(4, 4)
            self.heads = {task: torch.nn.Linear(4, 1) for task in tasks}
        def forward(self, x, task):
            return self.heads[task](self.body(x))
    """
    assert [finding.code for finding in check_source(textwrap.dedent(text))] == ["TDL602"]


@pytest.mark.parametrize(("system", "told"), [("rocm", False), ("cpu", True)])
def test_a_test_for_the_build_is_no_place_to_ask_for_portability(tmp_path: Path, system: str, told: bool) -> None:
    (tmp_path / "net.py").write_text(
        f"import torch\nfrom build import SYSTEM\nif SYSTEM == '{system}':\n    x = torch.ones(3).cuda()\n"
    )
    found = check_paths([tmp_path / "net.py"], isolated=True, select=["TDL8"])
    assert [finding.code for finding in found] == (["TDL801"] if told else [])


@pytest.mark.parametrize(("before", "told"), [("torch.cuda.memory_allocated()", False), ("len(sizes)", True)])
def test_behind_allocated_memory_cuda_is_at_work(tmp_path: Path, before: str, told: bool) -> None:
    (tmp_path / "memory.py").write_text(
        f"import torch\ndef reset(sizes, device):\n    before = {before}\n    if before > 0:\n        torch.cuda.reset_peak_memory_stats(device)\n"
    )
    found = check_paths([tmp_path / "memory.py"], isolated=True, select=["TDL8"])
    assert [finding.code for finding in found] == (["TDL807"] if told else [])


BATCHES = """
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import MNIST
{more}
net = torch.nn.Linear(3, 3).cuda()
criterion = torch.nn.CrossEntropyLoss()
for images, labels in DataLoader(MNIST("data")):
    loss = criterion(net(images{moved}), labels)
"""


DATA = """
from torch.utils.data import Dataset
class Images(Dataset):
    def __getitem__(self, index):
        return self.images[index]{placed}
"""


@pytest.mark.parametrize("code", ["TDL401", "TDL518"])
@pytest.mark.parametrize("placed", ["", ".to(self.device)"])
def test_a_batch_is_an_error_whatever_other_data_sets_place(tmp_path: Path, code: str, placed: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "plot.py").write_text("")
    (tmp_path / "data.py").write_text(DATA.format(placed=placed))
    moved = ".cuda()" if code == "TDL518" else ""
    (tmp_path / "train.py").write_text(BATCHES.format(more="from data import Images", moved=moved))
    told = {finding.code: finding.severity for finding in check_paths([tmp_path / "train.py"], isolated=True)}
    # What inference follows is broken whatever other data sets do.
    assert told[code] is Severity.ERROR


STATE = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
        self.mean = torch.zeros(3)
    def forward(self, x):
        return self.layer(x) - self.mean
net = Net()
"""


@pytest.mark.parametrize(("more", "told"), [("print(net(rows))", False), ("print(net.to(device)(rows))", True)])
def test_a_module_that_its_program_never_moves_is_a_note(tmp_path: Path, more: str, told: bool) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "run.py").write_text(STATE + more)
    found = check_paths([tmp_path / "run.py"], isolated=True)
    assert [finding.code for finding in found] == (["TDL603"] if told else [])


LOOP = """
import torch
def validate(model: torch.nn.Module, loader):
    for images in loader:
        if torch.cuda.is_available():
            images = images.cuda()
        model(images)
"""


@pytest.mark.parametrize("moved", ["", ".cuda()"])
def test_a_model_that_another_file_moves_is_not_left_behind(tmp_path: Path, moved: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "loops.py").write_text(LOOP)
    main = f"from loops import validate\ndef main(arch, loader):\n    net = arch(){moved}\n    validate(net, loader)\nmain()"
    (tmp_path / "train.py").write_text(main)
    found = check_paths([tmp_path / "loops.py"], isolated=True)
    assert [finding.code for finding in found] == ([] if moved else ["TDL801"])


def test_another_framework_is_none_of_torch() -> None:
    source = "import {}\ndef place(x, device='cuda'):\n    return x.cuda(), x.to(device)\n"
    assert [finding.code for finding in check_source(source.format("torch"))] == ["TDL801", "TDL801"]
    assert not check_source(source.format("paddle"))


DEVICE_READ = """
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return self.head(x.to(self.device))
"""


@pytest.mark.parametrize("stored", ["device", "place"])
def test_an_attribute_may_come_from_a_class_of_another_file(tmp_path: Path, stored: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(DEVICE_READ)
    heir = f"from net import Net\nclass Large(Net):\n    def __init__(self, at):\n        self.{stored} = at\nLarge(1)"
    (tmp_path / "large.py").write_text(heir)
    found = check_paths([tmp_path / "net.py"], isolated=True, select=["TDL607"])
    assert [finding.code for finding in found] == ([] if stored == "device" else ["TDL607"])


@pytest.mark.parametrize(("holder", "is_model"), [("self.model", True), ("self.args", False)])
def test_an_attribute_may_be_set_of_a_model_whose_class_nobody_names(
    tmp_path: Path, holder: str, is_model: bool
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(DEVICE_READ)
    (tmp_path / "engine.py").write_text(f"class Engine:\n    def start(self, at):\n        {holder}.device = at\n")
    found = check_paths([tmp_path / "net.py"], isolated=True, select=["TDL607"])
    assert [finding.code for finding in found] == ([] if is_model else ["TDL607"])


@pytest.mark.parametrize(
    "stored", ["net.device = at", "net.parts[0].device = at", "self.device = at", "net.device == at"]
)
def test_an_attribute_may_be_set_from_another_file(tmp_path: Path, stored: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(DEVICE_READ)
    (tmp_path / "run.py").write_text(f"from net import Net\ndef run(self, at):\n    net = Net()\n    {stored}\n")
    found = check_paths([tmp_path / "net.py"], isolated=True, select=["TDL607"])
    is_set = "device =" in stored and "==" not in stored and not stored.startswith("self.")
    assert [finding.code for finding in found] == ([] if is_set else ["TDL607"])


@pytest.mark.parametrize("read", [True, False])
def test_a_device_that_nothing_reads_ties_nothing(read: bool) -> None:
    source = f"""
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        device = torch.device("cuda")
        return self.head(x.to({"device" if read else "x.device"}))
"""
    assert [finding.code for finding in check_source(source)] == (["TDL605"] if read else [])


SAMPLES = """
import torch
class SampleLoader(torch.utils.data.Dataset):
    def __getitem__(self, index):
        return self.images[index].cuda()
"""


@pytest.mark.parametrize(
    "read", ["for item in SampleLoader(): print(item)", "DataLoader(SampleLoader(), num_workers=2)"]
)
def test_a_data_set_may_call_itself_a_loader(tmp_path: Path, read: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "data.py").write_text(SAMPLES)
    (tmp_path / "copy.py").write_text(SAMPLES.replace("import torch", '"""A data loader."""\nimport torch'))
    (tmp_path / "train.py").write_text(f"from data import SampleLoader\n{read}\n")
    found = check_paths([tmp_path / "data.py"], isolated=True, select=["TDL7"])
    assert [finding.code for finding in found] == (["TDL701"] if "DataLoader" in read else [])


PLAIN_MODEL = """
import torch
class Shift(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
    def forward(self, x):
        return self.layer(x) + torch.zeros(3)
"""
PLAIN_RUN = "import torch\nfrom shift import Shift\n\ndef main():\n    print(Shift()(torch.ones(1, 3)))\n"
STARTED = '\nif __name__ == "__main__":\n    main()\n'


@pytest.mark.parametrize(
    ("run", "other", "is_told"),
    [
        (PLAIN_RUN + STARTED, "RATE = 1\n", False),
        (PLAIN_RUN, "RATE = 1\n", True),  # nobody is seen to start it
        (PLAIN_RUN + STARTED, 'WHERE = "cuda"\n', True),
    ],
)
def test_a_program_that_names_no_device_is_run_on_the_cpu(tmp_path: Path, run: str, other: str, is_told: bool) -> None:
    files = {"shift.py": PLAIN_MODEL, "run.py": run, "other.py": other, "requirements.txt": "torch\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = [one for one in check_paths([str(tmp_path)]) if one.code == "TDL504" and one.severity > Severity.INFO]
    assert bool(found) is is_told


PARTS = """
from common import *
def step(loader, device):
    for batch in loader:
        x = batch["x"].to(device)
        y = batch["y"]
        print({})
"""


@pytest.mark.parametrize(
    ("met", "named"), [("torch.lerp(x, y, 0.5)", "`y`"), ("torch.cat([x, y * 2])", "a part of the batch")]
)
def test_a_name_that_another_file_binds_is_no_part_of_a_batch(tmp_path: Path, met: str, named: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "common.py").write_text("import torch\n")
    (tmp_path / "train.py").write_text(PARTS.format(met))
    (found,) = check_paths([tmp_path / "train.py"], isolated=True)
    assert (found.code, found.message.partition(" stays")[0]) == ("TDL518", named)
    assert found.fix is None or "torch.to" not in str(found.fix.edits)


@pytest.mark.parametrize(
    ("head", "other", "is_told"),
    [
        ("", 'WHERE = "cuda"\n', False),
        ("import plots\n", 'WHERE = "cuda"\n', False),
        ("import other\n", 'WHERE = "cuda"\n', True),  # which may place it
        ("", "from shift import Shift\nShift().cuda()\n", True),
        ("", "import plots\nplots.draw(device=0)\n", False),
    ],
)
def test_a_program_of_its_own_that_names_no_device_is_run_on_the_cpu(
    tmp_path: Path, head: str, other: str, is_told: bool
) -> None:
    program = head + PLAIN_MODEL + "\ndef main():\n    print(Shift()(torch.ones(1, 3)))\n" + STARTED
    files = {"shift.py": program, "other.py": other, "plots.py": "RATE = 1\n", "requirements.txt": "torch\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = [one for one in check_paths([str(tmp_path)]) if one.code == "TDL504" and one.severity > Severity.INFO]
    assert bool(found) is is_told
