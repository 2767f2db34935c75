"""Functions and classes of other files of the project."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from torchdevlint import check_paths
from torchdevlint.infer.analysis import analyse
from torchdevlint.infer.imports import Imports, dependents_of
from torchdevlint.infer.kept import Kept, kept_for
from torchdevlint.infer.units import Unit
from torchdevlint.linter import lint
from torchdevlint.program import from_ast
from torchdevlint.program.project import Member, member
from torchdevlint.rules.policy import row_of
from torchdevlint.settings import Settings
from torchdevlint.severity import Severity

UTIL = """import torch

def shift(a):
    return a + torch.zeros(4)

def make():
    return torch.ones(4)
"""


def member_of(tmp_path: Path, files: dict[str, str], name: str) -> Member:
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'project'\n", encoding="utf-8")
    for path, text in files.items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    asked = member(str(tmp_path / name))
    assert asked is not None
    return asked


def told(tmp_path: Path, files: dict[str, str], name: str) -> list[tuple[int, str, str]]:
    return told_of(member_of(tmp_path, files, name), files[name])


def told_of(asked: Member, text: str) -> list[tuple[int, str, str]]:
    analysis = analyse(from_ast.lower(ast.parse(text)), asked.path, asked.project)
    faults = [
        fault for fault in analysis.decided() if not fault.is_shown
    ]  # this is no package that is offered to others
    return [(fault.told_at.op.node.lineno, row_of(fault).code, fault.verdict) for fault in faults]


def test_a_tensor_of_another_file_meets_one_here(tmp_path: Path) -> None:
    main = "import torch\nfrom util import make\nx = torch.ones(4).cuda()\nprint(x + make())\n"
    assert told(tmp_path, {"util.py": UTIL, "main.py": main}, "main.py") == [(4, "TDL505", "broken")]


def test_a_call_breaks_the_claim_of_another_file(tmp_path: Path) -> None:
    main = "import torch\nfrom package import tools\ntools.shift(torch.ones(4).cuda())\ntools.shift(torch.ones(4))\n"
    files = {"package/__init__.py": "", "package/tools.py": UTIL, "main.py": main}
    assert told(tmp_path, files, "package/tools.py") == [(4, "TDL504", "broken")]
    assert told(tmp_path, files, "main.py") == []


def test_a_caller_of_a_caller_breaks_it(tmp_path: Path) -> None:
    between = "import util\n\ndef run(a):\n    return util.shift(a)\n"
    main = "import torch\nfrom between import run\nrun(torch.ones(4).cuda())\n"
    files = {"util.py": UTIL, "between.py": between, "main.py": main}
    assert told(tmp_path, files, "util.py") == [(4, "TDL504", "broken")]
    assert told(tmp_path, files, "between.py") == told(tmp_path, files, "main.py") == []


def test_callers_on_the_host_meet_the_claim_and_tests_do_not_count(tmp_path: Path) -> None:
    util = "import torch\n\ndef shift(a):\n    return torch.matmul(a, torch.zeros(4))\n"
    caller = "import torch\nfrom util import shift\nshift(torch.ones(4))\n"
    assert told(tmp_path / "one", {"util.py": util, "tests/test_util.py": caller}, "util.py") == [(4, "TDL504", "open")]
    assert told(tmp_path / "two", {"util.py": util, "main.py": caller}, "util.py") == []


def test_both_tensors_of_the_caller_are_told_there(tmp_path: Path) -> None:
    ops = "def add(a, b):\n    return a + b\n"
    main = "import torch, ops\n\ndef main():\n    x = torch.ones(4)\n    ops.add(x.cuda(), x)\n\nmain()\n"
    files = {"ops.py": ops, "main.py": main}
    assert told(tmp_path, files, "main.py") == [(4, "TDL505", "broken")] or told(tmp_path, files, "main.py") == [
        (4, "TDL504", "broken")
    ]
    assert told(tmp_path, files, "ops.py") == []


def test_a_device_of_a_configuration_is_known(tmp_path: Path) -> None:
    config = "import torch\nDEVICE = torch.device('cuda')\n"
    main = "import torch\nimport config\nprint(torch.ones(4).to(config.DEVICE) + torch.ones(4))\n"
    assert told(tmp_path, {"config.py": config, "main.py": main}, "main.py") == [(3, "TDL505", "broken")]


def test_files_of_one_name_in_several_folders_are_not_mixed_up(tmp_path: Path) -> None:
    main = "import torch\nfrom model import make\nprint(torch.ones(4).cuda() + make())\n"
    files = {
        "a/model.py": "import torch\n\ndef make():\n    return torch.ones(4)\n",
        "a/main.py": main,
        "b/model.py": "import torch\n\ndef make():\n    return torch.ones(4).cuda()\n",
        "b/main.py": main,
    }
    asked = {name: member_of(tmp_path, files, name) for name in files}
    kept = Kept(asked["a/main.py"].project)
    found = {name: len(kept.analysis(one.path).decided()) for name, one in asked.items()}
    assert found == {"a/model.py": 0, "a/main.py": 1, "b/model.py": 0, "b/main.py": 0}


RECURSION = """import torch

def ping(x, y, depth):
    if depth > 3:
        return x + y + torch.zeros(3)
    return pong(x, y, depth + 1)

def pong(x, y, depth):
    return third(x, y, depth)

def third(x, y, depth):
    if depth == 1:
        return ping(x, y, depth)
    return pong(y, x, depth)
"""
CALLS = "import torch, cycle\ncycle.{name}(torch.ones(3).cuda(), torch.ones(3), 0)\n"


def test_who_asks_first_makes_no_difference(tmp_path: Path) -> None:
    names = ("ping", "pong", "third")
    files = {"cycle.py": RECURSION} | {f"{name}.py": CALLS.format(name=name) for name in names}
    asked = {name: member_of(tmp_path, files, name) for name in files}
    seen = set()
    for order in itertools.permutations(files):
        kept = Kept(asked["cycle.py"].project)
        for name in order:
            kept.analysis(asked[name].path)
        found = [
            (
                path,
                sorted(
                    (fault.verdict, str(fault.site.body), len(fault.chain)) for fault in one.hear_callers().decided()
                ),
            )
            for path in files
            for one in [kept.analysis(asked[path].path)]
        ]
        seen.add(str(found))
    assert len(seen) == 1
    assert "broken" in seen.pop()


def test_names_that_import_each_other_end(tmp_path: Path) -> None:
    files = {"a.py": "from b import thing\nthing(1)\n", "b.py": "from a import thing\n"}
    assert told(tmp_path, files, "a.py") == []


def test_a_text_that_is_edited_shares_what_does_not_depend_on_it(tmp_path: Path) -> None:
    main = "import torch, util\nutil.shift(torch.ones(4).cuda())\n"
    files = {"util.py": UTIL, "main.py": main, "other.py": "def same(a):\n    return a\n"}
    files["util.py"] = "from other import same\n" + UTIL.replace("return a +", "return same(a) +")
    asked = {name: member_of(tmp_path, files, name) for name in files}
    project = asked["util.py"].project
    before = kept_for(project.program(asked["util.py"].path), asked["util.py"].path, project)
    shared = before.analysis(asked["other.py"].path)
    assert [fault.verdict for fault in before.analysis(asked["util.py"].path).hear_callers().decided()] == ["broken"]
    mended = from_ast.read(files["util.py"].replace("torch.zeros(4)", "torch.zeros(4, device=a.device)"))
    assert mended is not None
    after = kept_for(mended, asked["util.py"].path, project)
    assert after.analysis(asked["util.py"].path).hear_callers().decided() == []
    assert after.analysis(asked["other.py"].path) is shared
    assert after.analysis(asked["main.py"].path) is not before.analysis(asked["main.py"].path)
    assert not any(after.imports.is_here(body) for body in before.summaries)


def test_a_module_of_its_own_device_attribute_says_nothing(tmp_path: Path) -> None:
    model = """import torch

class Backend(torch.nn.Module):
    def __init__(self, device=torch.device("cpu")):
        super().__init__()
        self.__dict__.update(locals())

    def forward(self, x):
        return torch.from_numpy(x.numpy()).to(self.device)
"""
    main = """import torch
from model import Backend

def run():
    model = Backend(device=torch.device("cuda"))
    device = torch.device("cuda")
    print(model(torch.ones(3)) + torch.ones(3).to(device))
"""
    files = {"model.py": model, "main.py": main}
    assert told(tmp_path, files, "main.py") == told(tmp_path, files, "model.py") == []


def test_one_of_several_models_is_not_called_in_every_way(tmp_path: Path) -> None:
    models = """import torch

class First(torch.nn.Module):
    def forward(self, x, mask):
        return x

class Second(torch.nn.Module):
    def forward(self, x, lengths):
        return torch.nn.utils.rnn.pack_padded_sequence(x, lengths)
"""
    main = """import torch
from models import First, Second

def run(name, kind):
    model = First() if name else Second()
    x = torch.ones(3, 3).cuda()
    if kind in ("first", "other"):
        model(x, x)
    else:
        model(x, x.cpu())
"""
    files = {"models.py": models, "main.py": main}
    assert told(tmp_path, files, "models.py") == told(tmp_path, files, "main.py") == []


def test_what_a_plain_list_leaves_behind_is_told_with_the_list_alone(tmp_path: Path) -> None:
    model = """import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.blocks = [nn.Linear(3, 3) for _ in range(2)]

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return x
"""
    main = "import torch\nfrom model import Model\nmodel = Model().cuda()\nprint(model(torch.ones(2, 3).cuda()))\n"
    assert told(tmp_path, {"model.py": model, "main.py": main}, "main.py") == []


def test_a_default_device_that_a_program_sets_is_that_of_the_files_it_imports(tmp_path: Path) -> None:
    rays = "import torch\n\ndef rays():\n    return torch.linspace(0, 1, 4) + torch.ones(4).cuda()\n"
    main = "import torch\nfrom rays import rays\n{}print(rays())\n"
    setting = 'torch.set_default_tensor_type("torch.cuda.FloatTensor")\n'
    plain = {"rays.py": rays, "main.py": main.format("")}
    assert told(tmp_path / "plain", plain, "rays.py") == [(4, "TDL505", "broken")]
    assert told(tmp_path / "set", {"rays.py": rays, "main.py": main.format(setting)}, "rays.py") == []
    of_test = {**plain, "tests/test_rays.py": "import rays\n" + setting}
    assert told(tmp_path / "test", of_test, "rays.py") == [(4, "TDL505", "broken")]
    quoted = {**plain, "texts.py": f'TEXT = """\nimport rays\n{setting}"""\n'}
    assert told(tmp_path / "text", quoted, "rays.py") == [(4, "TDL505", "broken")]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ('torch.set_default_tensor_type("torch.cuda.FloatTensor")', []),
        ('torch.set_default_device("cuda")', [(4, "TDL516", "broken")]),
    ],
)
def test_the_default_tensor_type_is_that_of_torch_tensor_and_the_default_device_is_not(
    tmp_path: Path, setting: str, expected: list[tuple[int, str, str]]
) -> None:
    rays = "import torch\n\ndef far(x):\n    return torch.cat([x, torch.Tensor([1e10])])\n"
    main = f"import torch\nfrom rays import far\n\ndef main():\n    print(far(torch.ones(2).cuda()))\n\nif __name__ == '__main__':\n    {setting}\n    main()\n"
    assert told(tmp_path, {"rays.py": rays, "main.py": main}, "rays.py") == expected


def test_what_other_files_make_and_let_meet_is_told_where_it_is_handed_on(tmp_path: Path) -> None:
    data = "import torch\n\ndef mask():\n    return torch.ones(4)\n"
    ops = "def add(a, b):\n    return a + b\n"
    main = "import torch, data, ops\nx = torch.ones(4).cuda()\nprint(ops.add(x, data.mask()))\n"
    files = {"data.py": data, "ops.py": ops, "main.py": main}
    assert told(tmp_path, files, "main.py") == [(3, "TDL504", "broken")]
    assert told(tmp_path, files, "data.py") == told(tmp_path, files, "ops.py") == []


class _Counted:
    """The files of a project, which counts the questions."""

    def __init__(self, files: Any) -> None:
        self._files, self.asked = files, 0

    def importing(self, path: str) -> Iterator[str]:
        self.asked += 1
        yield from self._files.importing(path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)


@pytest.mark.parametrize("setting", [["m0.py"], ["m30.py"], ["m30.py", "m7.py"], ["alone.py"]])
def test_who_sets_the_default_device_is_found_in_one_pass(tmp_path: Path, setting: list[str]) -> None:
    files = {f"m{n}.py": f"import m{n + 1}, m{n + 2}\n" for n in range(40)} | {"alone.py": ""}
    for name in setting:
        files[name] += "import torch\ntorch.set_default_device('cuda')\n"
    asked = member_of(tmp_path, files, "m0.py")
    counted = _Counted(asked.project)
    imports = Imports(counted)
    told = {name: imports.unit(str(tmp_path / name)).sets_default for name in files}
    expected = {
        name: not {str(tmp_path / other) for other in setting}.isdisjoint(
            dependents_of(asked.project, str(tmp_path / name))
        )
        for name in files
    }
    own = {name: Unit(asked.project.program(str(tmp_path / name)), str(tmp_path / name)).sets_default for name in files}
    assert told == {name: expected[name] or own[name] for name in files}
    assert counted.asked <= 4 * len(files)


STARRED = [
    {"main.py": "from util import *\nx = torch.ones(4).cuda()\nprint(x + make())\n"},
    {
        "all.py": "from util import *\n",
        "main.py": "from all import make\nx = torch.ones(4).cuda()\nprint(x + make())\n",
    },
    {
        "tools/__init__.py": "from .made import *\n",
        "tools/made.py": UTIL,
        "main.py": "import tools as t\nx = torch.ones(4).cuda()\nprint(x + t.make())\n",
    },
    {"main.py": "from util import *\ndef run():\n    return torch.ones(4).cuda() + make()\nrun()\n"},
]


@pytest.mark.parametrize("files", STARRED, ids=["here", "through a file", "of a package", "in a function"])
def test_a_name_that_a_star_import_brings_is_that_of_the_other_file(tmp_path: Path, files: dict[str, str]) -> None:
    main = "import torch\n" + files["main.py"]
    (found,) = told(tmp_path, {"util.py": UTIL, **files, "main.py": main}, "main.py")
    assert found[1:] == ("TDL505", "broken")


def test_star_imports_in_a_circle_tell_whoever_asks_first_the_same(tmp_path: Path) -> None:
    use = "import torch\nx = torch.ones(4).cuda()\nprint(x + make())\n"
    files = {
        "a.py": f"from b import *\n{use}",
        "b.py": "from util import *\nfrom c import *\n",
        "c.py": f"from a import *\n{use}",
    }
    member_of(tmp_path, {"util.py": UTIL, **files}, "a.py")
    for name in ("a.py", "c.py"):  # the second is asked of what was remembered for the first
        found = lint(str(tmp_path / name), files[name].encode(), Settings(project=True)).findings
        assert "TDL505" in [finding.code for finding in found]


def test_a_package_that_star_imports_the_one_above_is_followed(tmp_path: Path) -> None:
    files = {
        "pack/__init__.py": "from .part import *\n",
        "pack/part/__init__.py": "from .. import *\nfrom .module import *\n",
        "pack/part/module.py": "from .. import *\nimport torch\nx = torch.ones(4).cuda()\nprint(x + make(), other())\n",
    }
    assert told(tmp_path, {"pack/util.py": UTIL, **files}, "pack/part/module.py") == []


def test_the_last_star_import_stands_above_the_others_and_private_names_stay(tmp_path: Path) -> None:
    main = "import torch\nfrom util import *\nfrom other import *\nx = torch.ones(4).cuda()\nprint(x + make(), x + _made())\n"
    other = "import torch\n\ndef make():\n    return torch.ones(4).cuda()\n\ndef _made():\n    return torch.ones(4)\n"
    assert told(tmp_path, {"util.py": UTIL, "other.py": other, "main.py": main}, "main.py") == []


def test_a_class_derives_from_one_that_a_star_import_brings(tmp_path: Path) -> None:
    base = "from torch import nn\n\nclass Base(nn.Module):\n    pass\n"
    main = (
        "import torch\nfrom base import *\n\nclass Net(Base):\n    def forward(self, x):\n        return x.exp() * torch.ones(4)\n"
        "\nprint(Net().cuda()(torch.ones(4).cuda()))\n"
    )
    assert told(tmp_path, {"base.py": base, "main.py": main}, "main.py") == [(6, "TDL504", "broken")]


def test_names_of_torch_come_by_a_star_import_too(tmp_path: Path) -> None:
    main = "from torch import *\nx = ones(4, device='cuda')\nprint(x + zeros(4))\n"
    assert told(tmp_path, {"main.py": main}, "main.py") == [(3, "TDL505", "broken")]


def test_a_return_in_a_base_class_of_another_file_belongs_to_that_file(tmp_path: Path) -> None:
    base = "from torch import nn\n\nclass Base(nn.Module):\n    def forward(self, x):\n        return self.pair(x)\n"
    main = (
        "import torch\nfrom torch import nn\nfrom base import Base\n\nclass Pair(Base):\n    def __init__(self):\n"
        "        super().__init__()\n        self.scale = nn.Parameter(torch.zeros(3))\n\n    def pair(self, x):\n"
        "        return x * self.scale, torch.zeros(x.shape[0])\n"
    )
    member_of(tmp_path, {"base.py": base, "main.py": main}, "main.py")
    checked = lint(str(tmp_path / "main.py"), main.encode(), Settings(project=True, level=Severity.INFO))
    assert checked.problems == ()


@pytest.mark.parametrize("hands_on", ["from .tools import shift\n", "from .tools import *\n"])
def test_a_caller_that_imports_from_the_package_breaks_it(tmp_path: Path, hands_on: str) -> None:
    main = "import torch\nimport package\npackage.shift(torch.ones(4).cuda())\n"
    files = {"package/__init__.py": hands_on, "package/tools.py": UTIL, "main.py": main}
    assert told(tmp_path, files, "package/tools.py") == [(4, "TDL504", "broken")]


def test_the_options_that_another_file_has_parsed_are_options(tmp_path: Path) -> None:
    options = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--device', default='cuda')\nargs = parser.parse_args()\n"
    main = "import torch\nfrom options import args\nprint(torch.ones(4).to(args.device) + torch.ones(4))\n"
    assert told(tmp_path, {"options.py": options, "main.py": main}, "main.py") == [(3, "TDL504", "broken")]


@pytest.mark.parametrize(("said", "faults"), [("# torch.cuda.set_device(1)", 1), ("torch.cuda.set_device(1)", 0)])
def test_a_comment_makes_no_accelerator_the_current_one(tmp_path: Path, said: str, faults: int) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "other.py").write_text(f"import torch\n{said}\n", encoding="utf-8")
    path = tmp_path / "main.py"
    path.write_text(
        "import torch\na = torch.rand(3).cuda()\nprint(a * torch.rand(3, device='cuda:1'))\n", encoding="utf-8"
    )
    assert sum(one.code == "TDL505" for one in check_paths([path], isolated=True)) == faults


ZOO = """from torch import nn

class Base(nn.Module):
    def summary(self):
        return str(self)

class Small(Base):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

class Large(Base):
    def __init__(self):
        super().__init__()
        self.layer = nn.Bilinear(3, 3, 3)

    def forward(self, x):
        return self.layer(x, x)
"""


@pytest.mark.parametrize("chosen", ["getattr(zoo, config['model'])", "zoo.__dict__[name]", "vars(zoo)[name]"])
def test_what_a_program_chooses_by_its_name_is_one_of_those_that_there_are(tmp_path: Path, chosen: str) -> None:
    main = f"""import json, sys
import torch
import zoo

def make(config, name):
    return {chosen}()

def main():
    net = make(json.load(open("config.json")), sys.argv[1]).cuda()
    net(torch.ones(3))

main()
"""
    package = {"zoo/__init__.py": "from .nets import *\n", "zoo/nets.py": ZOO, "main.py": main}
    for files in ({"zoo.py": ZOO, "main.py": main}, package):
        assert {code for _, code, verdict in told(tmp_path, files, "main.py") if verdict == "broken"} == {"TDL504"}


SAMPLES = """import pictures
import torch
from torch.utils.data import Dataset

class Samples(Dataset):
    def __init__(self, transform):
        self.transform = transform
        self.paths = pictures.paths()

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, at):
        return self.transform(pictures.read(self.paths[at])), self.paths[at]

def together(rows):
    views, paths = zip(*rows)
    return torch.stack(list(views)), paths

class Views:
    def __call__(self, picture):
        return [pictures.crop(picture) for _ in range(2)]
"""
LOADERS = {
    "samples that nobody knows": "DataLoader(Samples(pictures.transform()), 2)",
    "a collate function": "DataLoader(Samples(pictures.transform()), 2, collate_fn=together)",
    "two views of a picture": "two(DataLoader(torchvision.datasets.CIFAR10('data', transform=Views()), 2))",
}


@pytest.mark.parametrize("name", LOADERS)
def test_what_a_loader_gives_is_on_the_cpu_whatever_made_its_samples(tmp_path: Path, name: str) -> None:
    train = "def train(net, loader, place):\n    for x, _ in loader:\n        net(place(x))\n"
    main = f"""import pictures, torch, torchvision
from torch.utils.data import DataLoader
from samples import *
from train import train

def two(loader):
    for views, path in loader:
        yield torch.cat(views), path

train(torch.nn.Linear(3, 3).cuda(), {LOADERS[name]}, lambda x: x{{}})
"""
    for there, expected in (("", {"broken"}), (".cuda()", set())):
        files = {"samples.py": SAMPLES, "train.py": train, "main.py": main.format(there)}
        found = {verdict for each in ("main.py", "train.py") for _, _, verdict in told(tmp_path, files, each)}
        assert found == expected


def test_what_a_conversion_makes_of_a_model_that_nobody_knows_is_no_model(tmp_path: Path) -> None:
    convert = """from torch import nn

class Norm(nn.BatchNorm1d):
    pass

def convert(net):
    if isinstance(net, nn.BatchNorm1d):
        net = Norm(3)
    return net
"""
    main = """import torch, zoo_of_another_library
from convert import convert

net = convert(zoo_of_another_library.create().to("cuda"))
print(net(torch.ones(2, 3, device="cuda")))
"""
    assert told(tmp_path, {"convert.py": convert, "main.py": main}, "main.py") == []


BASE = """import torch

class Detector:
    def fit(self, x):
        self.build()
        self.prepare()
        return self.step(x)

    def build(self):
        pass

    def prepare(self):
        self.model = self.model.to("cuda")

    def step(self, x):
        pass
"""
DERIVED = """import torch
from torch import nn
from base import Detector

class Gan(Detector):
    def build(self):
        self.generator = nn.Linear(3, 3)

    def prepare(self):
        self.generator.{move}

    def step(self, x):
        return self.generator(torch.zeros(3, device="cuda"))

Gan().fit(torch.zeros(3))
"""


@pytest.mark.parametrize(("move", "is_told"), [('to("cuda")', False), ("eval()", True)])
def test_a_base_of_another_file_calls_what_a_class_overrides(tmp_path: Path, move: str, is_told: bool) -> None:
    files = {"base.py": BASE, "main.py": DERIVED.format(move=move)}
    assert any(verdict == "broken" for _, _, verdict in told(tmp_path, files, "main.py")) == is_told


def test_a_decorator_is_one_of_the_file_that_defines_the_function(tmp_path: Path) -> None:
    """An import binds what the definition has made: none of the functions that happen to stand where the decorator stands in the other file."""
    models = """import torch
from unseen import Registry

MODELS = Registry("models")

@MODELS.register()
def build(**options):
    return torch.nn.Linear(3, 3, **options)
"""
    helpers = "".join(f"def helper_{n}(x):\n    return [x]\n\n" for n in range(20))
    main = f"import torch\n{helpers}from models import build\nnet = build()\nprint(net(torch.ones(3, 3).cuda()))\n"
    assert told(tmp_path, {"models.py": models, "main.py": main}, "main.py") == [(64, "TDL401", "broken")]
