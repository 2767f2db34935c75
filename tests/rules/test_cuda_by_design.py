"""Programs that are for CUDA by design are not told so; where most programs of a project choose, each of the others is told, and so is code that nobody runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchdevlint import check_paths
from torchdevlint.findings import Severity

HARD = """\
import torch
model = torch.nn.Linear(2, 2).cuda()
"""
KEPT = """\
import torch
device = "cuda:0"
model = torch.nn.Linear(2, 2).to(device)
"""
CHOOSES = """\
import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Linear(2, 2).to(device)
"""
PINS = """\
import torch
def loader(rows):
    return torch.utils.data.DataLoader(rows, pin_memory=torch.cuda.is_available())
"""
SEEDS = """\
import torch
USE_CUDA = torch.cuda.is_available()
print("CUDA:", USE_CUDA)
if USE_CUDA:
    torch.cuda.manual_seed_all(0)
    torch.backends.cudnn.benchmark = True
"""
MODULE = """\
def place(batch):
    return batch.cuda()
"""
USES = "import helpers\n" + HARD


def write(folder: Path, files: dict[str, str]) -> None:
    (folder / ".git").mkdir(exist_ok=True)
    for path, text in files.items():
        (folder / path).parent.mkdir(exist_ok=True, parents=True)
        (folder / path).write_text(text)


def told(folder: Path, files: dict[str, str]) -> list[str]:
    """The files with a finding of TDL801 at the default level."""
    write(folder, files)
    found = check_paths([folder], isolated=True)
    return sorted(Path(one.filename).name for one in found if one.code == "TDL801")


PROJECTS = {
    "all programs": ({"a.py": HARD, "b.py": KEPT, "c.py": HARD}, []),
    "one program": ({"a.py": HARD}, ["a.py"]),
    "one program whose README asks for a GPU": ({"a.py": HARD, "README.md": "# Requirements\n\n- Python 3.7\n- CUDA 10.1\n"}, []),
    "one program whose README says that it needs one": ({"a.py": HARD, "README.md": "Training requires a GPU with 8 GB.\n"}, []),
    "one program whose README installs torch for CUDA": (
        {"a.py": HARD, "README.md": "## Installation\n\n    conda install pytorch cudatoolkit=11.3 -c pytorch\n"},
        ["a.py"],
    ),
    "one program whose README says that it needs none": ({"a.py": HARD, "README.md": "Scoring requires no GPU.\n"}, ["a.py"]),
    "one program whose README says that nobody need have one": ({"a.py": HARD, "README.md": "You need not have a GPU.\n"}, ["a.py"]),
    "one program whose requirements are those of a wheel": ({"a.py": HARD, "requirements.txt": "# requirements\nnvidia-cublas-cu12\n"}, ["a.py"]),
    "a program beside others that choose, in a folder with instructions": (
        {"a.py": CHOOSES, "b.py": CHOOSES, "deep/c.py": HARD, "deep/README.md": "## Requirement\n- CUDA 10.1\n"},
        [],
    ),
    "files with and without a choice under instructions": (
        {"a.py": CHOOSES + HARD, "b.py": CHOOSES, "c.py": "import helpers\n" + CHOOSES, "helpers.py": MODULE, "README.md": "Training requires a GPU.\n"},
        ["a.py"],
    ),
    "most programs": ({"a.py": HARD, "b.py": HARD, "c.py": CHOOSES}, []),
    "as many programs as choose": ({"a.py": HARD, "c.py": CHOOSES}, ["a.py"]),
    "fewer programs than choose": ({"a.py": HARD, "b.py": HARD, "c.py": CHOOSES, "d.py": CHOOSES}, ["a.py", "b.py"]),
    "an assertion is no choice": ({"a.py": HARD, "b.py": HARD, "c.py": "import torch\nassert torch.cuda.is_available()\n"}, []),
    "tests that choose count for nothing": (
        {"a.py": HARD, "b.py": HARD, "tests/test_c.py": CHOOSES, "tests/test_d.py": CHOOSES},
        [],
    ),
    "programs with a device of their own beside a module that chooses": (
        {"a.py": "import nets\n" + KEPT, "b.py": "import nets\n" + KEPT, "nets.py": CHOOSES},
        [],
    ),
    "programs that take the device of a module": (
        {"a.py": "import nets\n" + HARD, "b.py": "import nets\n" + HARD, "nets.py": CHOOSES},
        ["a.py", "b.py"],
    ),
    "a module that asks for seeds alone": (
        {"a.py": "import seeds\n" + HARD, "b.py": "import seeds\n" + HARD, "seeds.py": SEEDS},
        [],
    ),
    "a module whose answer others may read": (
        {"a.py": "import seeds\nprint(seeds.use_cuda)\n" + HARD, "b.py": "import seeds\n" + HARD, "seeds.py": SEEDS.replace("USE_CUDA", "use_cuda")},
        ["a.py", "b.py"],
    ),
    "a module that brings results to the host": (
        {"a.py": "import host\n" + HARD, "b.py": "import host\n" + HARD, "host.py": "def read(x):\n    return x.to('cpu')\n"},
        [],
    ),
    "programs that ask for seeds themselves": ({"a.py": SEEDS + HARD, "b.py": SEEDS + HARD}, []),
    "programs whose branches move": (
        {"a.py": SEEDS + HARD + "if USE_CUDA:\n    model.to(0)\n", "b.py": SEEDS + HARD},
        ["a.py", "b.py"],
    ),
    "a module that asks for pinned memory alone": (
        {"a.py": "import loaders\n" + HARD, "b.py": "import loaders\n" + HARD, "loaders.py": PINS},
        [],
    ),
    "a module of these programs": ({"a.py": HARD, "b.py": USES, "helpers.py": MODULE, "d.py": CHOOSES}, []),
    "programs that leave all moves to a module": (
        {"a.py": "import helpers\n", "b.py": "import helpers\n", "helpers.py": MODULE, "d.py": CHOOSES},
        [],
    ),
    "a module of a program that chooses": (
        {"a.py": HARD, "b.py": HARD, "helpers.py": MODULE, "d.py": CHOOSES + "import helpers\n"},
        ["helpers.py"],
    ),
    "a program whose options are in another file": (
        {"a.py": HARD, "b.py": HARD, "c.py": "import options\n" + HARD, "options.py": "add('--device')"},
        ["c.py"],
    ),
    "a program beside a package that asks inside": (
        {"a.py": "import kit\n" + HARD, "b.py": "import kit\n" + HARD, "kit/__init__.py": CHOOSES, "setup.py": ""},
        [],
    ),
    "a program beside a package with its options": (
        {"a.py": "import kit\n" + HARD, "b.py": "import kit\n" + HARD, "kit/__init__.py": "add('--device')", "setup.py": ""},
        ["a.py", "b.py"],
    ),
    "a package that knows no other device": (
        {"a.py": HARD, "b.py": HARD, "kit/__init__.py": "", "kit/helpers.py": MODULE, "setup.py": ""},
        [],
    ),
    "a package that knows another device": (
        {"a.py": HARD, "kit/__init__.py": CHOOSES, "kit/helpers.py": MODULE, "setup.py": ""},
        ["helpers.py"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PROJECTS)
def test_programs_for_cuda_alone(case: str, tmp_path: Path) -> None:
    files, expected = PROJECTS[case]
    assert told(tmp_path, files) == expected


def test_what_is_by_design_is_a_note(tmp_path: Path) -> None:
    settings = '[tool.torchdevlint]\nlevel = "info"\n'
    write(tmp_path, {"a.py": HARD, "b.py": HARD, "pyproject.toml": settings})
    found = [(Path(one.filename).name, one.severity.name) for one in check_paths([tmp_path]) if one.code == "TDL801"]
    assert sorted(found) == [("a.py", "INFO"), ("b.py", "INFO")]


ASKS_THE_MACHINE = """\
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        noise = torch.rand(x.size())
        if torch.cuda.is_available():
            noise = noise.cuda()
        return x.mul(2) + noise
"""


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"train.py": "import net\n" + CHOOSES}, []),
        ({"train.py": "import net\nadd_argument('--device')\n"}, ["net.py"]),
        ({"train.py": "import net\n" + CHOOSES, "more.py": "import net\nadd_argument('--no-cuda')\n"}, ["net.py"]),
        ({"train.py": "import net\nTrainer(accelerator='cpu')\n"}, ["net.py"]),
        (
            {
                "train.py": "import kit.net\n" + CHOOSES,
                "kit/__init__.py": "",
                "kit/net.py": ASKS_THE_MACHINE,
                "setup.py": "",
            },
            ["net.py"],
        ),
    ],
    ids=["the machine decides", "an option", "another program's option", "a trainer", "a package"],
)
def test_a_module_that_asks_the_machine_as_its_programs_do(
    files: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    write(tmp_path, files if "kit/net.py" in files else {"net.py": ASKS_THE_MACHINE, **files})
    found = check_paths([tmp_path], isolated=True)
    assert [Path(one.filename).name for one in found if one.code == "TDL605"] == expected


LOADS_ON_CUDA = """\
import torch
model = torch.nn.Linear(2, 2).cuda()
model.load_state_dict(torch.load("last.pt"))
"""


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.py": LOADS_ON_CUDA}, []),
        ({"a.py": LOADS_ON_CUDA + "torch.distributed.init_process_group('nccl')\n"}, ["a.py"]),
        ({"a.py": LOADS_ON_CUDA.replace(".cuda()", ".to(choice)")}, ["a.py"]),
    ],
    ids=["one GPU", "a process for each", "the device is chosen"],
)
def test_loads_in_programs_for_cuda_alone(files: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    write(tmp_path, files)
    found = check_paths([tmp_path], isolated=True)
    assert sorted(Path(one.filename).name for one in found if one.code == "TDL101") == expected


DEAD = """\
import torch

def plot(log, device=torch.device("cuda")):
    return log(torch.zeros(2).to(device))

def show(points):
    return points.cuda()
"""
MAIN = """\
import figures
import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
if __name__ == "__main__":
    pass
"""


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, []),
        ({"notes.md": "Call `plot` and then `show`."}, ["figures.py", "figures.py"]),
        ({"other.py": "from figures import show\nshow(1)\n"}, ["figures.py"]),
        ({"other.py": "import figures\nfigures.plot(1)\n"}, ["figures.py"]),
        ({"__init__.py": "", "pyproject.toml": "[project]\nname = 'kit'\n"}, ["figures.py", "figures.py"]),
    ],
)
def test_a_function_that_nobody_names(more: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    assert told(tmp_path, {"figures.py": DEAD, "main.py": MAIN, "third.py": "x = 1\n", **more}) == expected


LOADS = """\
import torch
from torch import nn

def restore(path):
    return torch.load(path)

def resume(path):
    return restore(path)

class Net(nn.Module):
    def read(self, path):
        self.load_state_dict(torch.load(path))
"""


@pytest.mark.parametrize(
    ("more", "run"),
    [
        ({}, []),
        ({"main.py": MAIN + "    # resume('a.pt')\n"}, []),  # a comment runs nothing
        ({"main.py": "from loads import resume, Net\n" + MAIN}, []),  # nor does an import
        ({"main.py": MAIN + "    resume('a.pt')\n"}, []),  # another function of this name
        ({"main.py": "from loads import resume\n" + MAIN + "    resume('a.pt')\n"}, [5]),
        (
            {"main.py": "from tools import *\n" + MAIN + "    resume('a.pt')\n", "tools.py": "from loads import *\n"},
            [5],
        ),
        ({"main.py": "import loads as tools\n" + MAIN + "    tools.resume('a.pt')\n"}, [5]),
        ({"main.py": "from loads import resume as again\n" + MAIN + "    again('a.pt')\n"}, [5]),
        ({"main.py": "import importlib\n" + MAIN + "    importlib.import_module('loads').resume('a.pt')\n"}, [5, 12]),
        ({"main.py": MAIN + "    log.restore()\n"}, []),
        ({"main.py": MAIN + "    serve('loads:resume')\n"}, [5]),
        ({"tests/test_loads.py": "from loads import resume\n\ndef test_resume():\n    assert resume('a.pt')\n"}, [5]),
        ({"run.sh": "python -c 'from loads import restore'"}, [5]),
        ({"main.py": "from loads import Net\n" + MAIN + "    Net().read('a.pt')\n"}, [12]),
        ({"main.py": "import loads\n" + MAIN + "    eval(name)()\n"}, [12]),  # a class may be found so
        ({"pyproject.toml": "[project]\nname = 'kit'\n", "__init__.py": ""}, [5, 12]),
    ],
)
def test_code_that_nobody_runs(more: dict[str, str], run: list[int], tmp_path: Path) -> None:
    write(tmp_path, {"loads.py": LOADS, "main.py": MAIN, "third.py": "x = 1\n", "LICENSE": "", **more})
    found = [one for one in check_paths([tmp_path], isolated=True) if one.code == "TDL101"]
    told = {one.span.start.row: one.severity for one in found if Path(one.filename).name == "loads.py"}
    assert sorted(row for row, severity in told.items() if severity > Severity.INFO) == run


OPEN = """\
import torch

class Unused:
    def mix(self, x):
        return x.unsqueeze(1).to(x.device) * torch.ones(3)

class Used:
    def run(self, x):
        return x.unsqueeze(1).to(x.device) * torch.ones(3)

    def stale(self, x):
        return x.unsqueeze(1).to(x.device) * torch.ones(3)

class Derived(Used):
    def more(self, x):
        return x.unsqueeze(1).to(x.device) * torch.ones(3)
"""


def test_what_nobody_names_is_not_run(tmp_path: Path) -> None:
    """A class with bases may be found by them; a claim that a call breaks is told wherever it stands."""
    main = MAIN.replace("import figures", "from ops import Used\nprint(Used().run)")
    write(tmp_path, {"ops.py": OPEN, "main.py": main, "third.py": "x = 1\n", "LICENSE": ""})
    found = [one for one in check_paths([tmp_path], isolated=True) if one.code == "TDL504"]
    assert sorted((Path(one.filename).name, one.span.start.row) for one in found) == [("ops.py", 9), ("ops.py", 16)]


@pytest.mark.parametrize(
    ("head", "expected"),
    [("test_logits()", []), ("test_logits(n=3)", []), ("test_logits(model)", ["ops.py"]), ("logits()", ["ops.py"])],
)
def test_a_test_that_a_package_leaves_in_a_module(head: str, expected: list[str], tmp_path: Path) -> None:
    module = f"import torch\n\ndef {head}:\n    print(torch.zeros(2).cuda())\n"
    assert told(tmp_path, {"kit/ops.py": module, "kit/__init__.py": "", "main.py": MAIN, "setup.py": ""}) == expected
