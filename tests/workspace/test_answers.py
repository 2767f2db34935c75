"""After a change a run examines those files again whose findings may be others, and says exactly what a run without a cache says."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import torchdevlint
from torchdevlint import cli
from torchdevlint.settings import Resolver
from torchdevlint.source import disk, grounds
from torchdevlint.workspace import answers, cache, memory, pool, runner
from torchdevlint.workspace.discovery import Discovery, Target

LAYERS = """import torch
from torch import nn

from .kinds import DEVICE, make


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, x):
        noise = make(x.shape)
        return self.linear(x) + noise


def shift(x, y):
    return x + y
"""
KINDS = """import torch

DEVICE = torch.device("cuda")


def make(shape):
    return torch.zeros(shape)


def move(x):
    return x.to(DEVICE)
"""
PACKAGE = "from .layers import Block, shift\nfrom .kinds import move\n"
TRAIN = """import torch

from pack import Block, move, shift


def main():
    model = Block(3).cuda()
    batch = torch.ones(2, 3)
    model(batch)
    shift(move(batch), torch.ones(3))
    torch.save(model.state_dict(), "net.pt")


if __name__ == "__main__":
    main()
"""
LOAD = """import torch

from pack.layers import Block
from pack import kinds


def load():
    model = Block(3)
    model.load_state_dict(torch.load("net.pt"))
    return kinds.move(kinds.make((3,))) + kinds.make((3,))
"""
AMP = "import torch\n\nfrom torch.cuda import amp\n\nscaler = torch.cuda.amp.GradScaler()\ntorch.zeros(3).cuda()\n"
DEFAULT = "import torch\n\nimport train\n\ntorch.set_default_device('cuda')\ntrain.main()\n"
TEST = "import torch\n\nfrom pack import shift\n\n\ndef test_shift():\n    assert shift(torch.ones(1).cuda(), torch.ones(1)) is not None\n"
CUDA_ALONE = "import torch\n\nfrom pack import Block\n\nassert torch.cuda.is_available()\n\nif __name__ == '__main__':\n    Block(3)\n"
DATA = """import torch
from torch.utils.data import DataLoader, Dataset

from pack.kinds import DEVICE, move


class Lines(Dataset):
    def __init__(self):
        self.rows = torch.zeros(9, 3)

    def __getitem__(self, index):
        return move(self.rows[index]).to(DEVICE)


loader = DataLoader(Lines(), num_workers=2)
"""
NOTEBOOK = json.dumps(
    {
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": LOAD}],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)
FILES = {
    "pack/__init__.py": PACKAGE,
    "pack/layers.py": LAYERS,
    "pack/kinds.py": KINDS,
    "train.py": TRAIN,
    "load.py": LOAD,
    "amp.py": AMP,
    "data.py": DATA,
    "plain.py": "print(1)\n",
    "tests/test_shift.py": TEST,
    "note.ipynb": NOTEBOOK,
    "README.md": "Call `shift` of pack. `pip install torch==2.3`\n",
    "requirements.txt": "torch>=2.0\n",
    "pyproject.toml": '[project]\nname = "x"\n\n[tool.torchdevlint]\nlevel = "info"\n',
}
TEXTS = [
    *FILES.values(),
    DEFAULT,
    CUDA_ALONE,
    "x = (\n",
    "",
    "import torch\n",
    "# coding: latin-1\nimport torch\nx = '\xe9'\n",
]
SMALL = (
    ("torch.zeros", "torch.ones"),
    ("torch.ones(", "torch.rand(device='cuda', size=("),
    (".cuda()", ""),
    ("Block(3)", "Block(3).to('cpu')"),
    ('DEVICE = torch.device("cuda")', "DEVICE = torch.device('cpu')"),
    ("from pack import", "from pack.layers import"),
    ("def shift(x, y)", "def shift(x, y, *, z=None)"),
    ("def make(", "def made("),
    ("2.3", "1.9"),
    ("shift", "moved"),
    ("\n\n\n", "\n\n# torch.set_default_device\n\n"),
    ("import torch\n", "import torch\nimport torch_xla\n"),
)
NAMES = [*FILES, "pack/more.py", "main.py", "sub/train.py", "pack/setup.py", "setup.py", "conftest.py", ".gitignore"]


class Tree:
    """A project in a folder, and runs over it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.capsys = root, capsys
        self.examined: list[str] = []
        lint = runner.lint_job

        def counted(job: runner.Job) -> Any:
            self.examined.append(job.target.path)
            return lint(job)

        monkeypatch.setattr(runner, "lint_job", counted)
        for name, text in FILES.items():
            self.write(name, text)
        (root / ".git").mkdir()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text, encoding="latin-1" if "latin-1" in text else "utf-8")

    def run(self, *arguments: str) -> tuple[int, str, str]:
        self.examined.clear()
        code = cli.main(["check", "-j", "1", "--output-format", "json", *arguments])
        captured = self.capsys.readouterr()
        return code, captured.out, captured.err

    def again(self, *arguments: str) -> set[str]:
        """Runs, compares with a run without a cache, and tells which files were examined."""
        found = self.run(*arguments)
        examined = set(self.examined)
        memory.forget_projects()
        assert self.run("--no-cache", *arguments) == found
        assert len(self.examined) >= len(examined)
        return examined

    def change(self, random_: random.Random) -> None:
        """One change."""
        name = random_.choice(NAMES)
        path = self.root / name
        kind = random_.randrange(8)
        if kind == 0 and path.exists():
            path.unlink()
        elif kind == 1:
            self.write(name, FILES.get(name, LOAD))
        elif kind == 2 and name.endswith(".py"):
            self.write(name, random_.choice(TEXTS))
        elif kind == 3 and path.exists():
            new = self.root / random_.choice(NAMES)
            new.parent.mkdir(exist_ok=True)
            path.rename(new)
        elif kind == 4 and not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.symlink_to(self.root / random_.choice(list(FILES)))
        elif path.is_file():
            text = path.read_bytes().decode("latin-1")
            before, after = random_.choice(SMALL)
            self.write(name, text.replace(before, after) if before in text else text.replace(after, before) or "\n")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Tree]:
    monkeypatch.setenv(disk.CACHE_VARIABLE, str(tmp_path / "cache"))
    package = tmp_path / "package"  # stands for our own files, which each run reads to know itself
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.setattr(cache, "_INSTALLED", str(package))
    monkeypatch.setattr(pool, "can_fork", lambda: False)  # this process does the work
    found = Tree(tmp_path / "project", capsys, monkeypatch)
    monkeypatch.chdir(found.root)
    yield found


@pytest.mark.parametrize("seed", range(4))
def test_random_changes_say_the_same_as_no_cache(tree: Tree, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random_ = random.Random(seed)
    tree.run()
    examined = 0
    for _ in range(25):
        for _ in range(random_.choice((1, 1, 1, 1, 2))):
            tree.change(random_)
        monkeypatch.setattr(disk, "_YOUNG", random_.choice((3_000_000_000, -(10**18))))
        examined += len(tree.again())
    assert examined


def test_what_a_change_cannot_reach_is_not_examined(tree: Tree) -> None:
    tree.run()
    assert tree.again() == set()
    tree.write("amp.py", AMP + "\nx = 1\n")
    assert tree.again() == {"amp.py"}
    tree.write("pack/kinds.py", KINDS.replace("zeros", "ones"))
    assert {"pack/kinds.py", "pack/layers.py", "load.py"} <= tree.again() < {*FILES}
    tree.write("README.md", "Nothing.\n")
    assert tree.again() == set()
    tree.write("new.py", "print(2)\n")
    assert tree.again() == set()
    tree.write("requirements.txt", "torch<1.9\n")  # before the deprecation that amp.py is told of
    assert tree.again() == {"amp.py"}


def test_processes_tell_what_they_have_asked(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv(disk.CACHE_VARIABLE, str(tree.root.parent / "cache"))
    monkeypatch.setattr(runner, "PARALLEL_BYTES", 0)
    monkeypatch.chdir(tree.root)
    kept: list[answers.Answers] = []
    result = answers.Answers.result

    def noted(self: answers.Answers, own: str) -> answers.Past:
        kept.append(self)
        return result(self, own)

    monkeypatch.setattr(answers.Answers, "result", noted)
    random_ = random.Random(5)
    assert tree.run("-j", "2")[0] == 1
    assert kept[-1].examined == 8
    for name in ("amp.py", "pack/kinds.py", "data.py", "pack/layers.py"):
        tree.write(name, FILES[name].replace("zeros", "ones") + f"\n\nx = {random_.random()}\n")
        found = tree.run("-j", "2")
        assert 0 < kept[-1].examined < 8
        assert tree.run("-j", "2", "--no-cache") == found


def test_what_is_remembered_rests_on_what_was_asked_for_it(tree: Tree) -> None:
    """A file that is examined behind others rests on every question that it asks when it is examined alone.

    (Where one witness is enough, as for a default device that some importer sets, others may have found another one.)
    """
    tree.write("alone.py", CUDA_ALONE)
    targets = [target for target, _ in runner.candidates(list(Discovery(Resolver()).targets(["."])), runner.Run())]
    assert len(targets) == 9

    def rests_on(target: Target) -> set[grounds.Question]:
        with grounds.apart() as ground:
            runner.lint_job(runner.Job(target, "NONE"))
        return {question for question, number in notes.numbers.items() if grounds.whole(ground) >> number & 1}

    for order in (targets, targets[::-1]):
        memory.forget_projects()
        with disk.observed(), grounds.noted() as notes:
            together = {target.path: rests_on(target) for target in order}
            behind = {question: grounds.whole(ground) for question, ground in notes.inner.items()}
        known = notes
        for target in targets:
            memory.forget_projects()
            with disk.observed(), grounds.noted() as notes:
                assert rests_on(target) <= together[target.path]
            for question, ground in notes.inner.items():
                if question in behind:
                    asked = {one for one, number in notes.numbers.items() if grounds.whole(ground) >> number & 1}
                    assert asked <= {one for one, number in known.numbers.items() if behind[question] >> number & 1}


def test_what_asks_a_project_is_not_remembered_without_its_ground() -> None:
    """`lru_cache` forgets what an answer rests on: `grounds.remembered`, `project.worked_out` and `grounds.kept_in` do not."""
    package = Path(torchdevlint.__file__).parent
    for path in (path for room in ("rules", "infer", "facts") for path in (package / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                ast.unparse(one).partition("(")[0].endswith("cache") for one in node.decorator_list
            ):
                asked = {ast.unparse(one.annotation) for one in node.args.args if one.annotation is not None}
                assert asked.isdisjoint({"Member", "Project", "Facts", "FileFacts", "Analysis", "Site"}), (
                    f"{path}:{node.lineno}"
                )


FORGED: dict[str, tuple[tuple[Any, ...], object]] = {
    "no questions": (("questions",), None),
    "a question without a text": (("questions", 0), [10**9]),
    "a question of another kind": (("questions", 0), [["evil", 0]]),
    "a pattern that is none": (("questions", 0), [["pattern", 0, 0]]),
    "an answer too few": (("answers",), []),
    "an entry": (("entries", "train.py"), 5),
    "a ground": (("entries", "train.py", 1), "-5"),
    "a ground of questions that are not there": (("entries", "train.py", 1), "f" * 10_000),
    "a question behind one that is not there": (("inner", "999999"), "1"),
    "texts": (("texts",), [5]),
    "walks": (("walks",), 5),
}


@pytest.mark.parametrize("forged", FORGED)
def test_what_a_repository_forges_is_a_miss(tree: Tree, forged: str) -> None:
    tree.run()
    [kept] = (tree.root.parent / "cache").glob("*/*.answers")
    document = json.loads(kept.read_bytes().partition(b"\n")[2])
    (*way, last), value = FORGED[forged]
    item = document
    for key in way:
        item = item[key]
    item[last] = value
    kept.write_bytes(cache._sealed(json.dumps(document).encode("ascii")))
    tree.write("amp.py", AMP + "\nx = 1\n")
    assert len(tree.again()) == 8
    tree.write("amp.py", AMP + "\nx = 2\n")
    assert tree.again() == {"amp.py"}


def test_damage_is_a_miss(tree: Tree) -> None:
    tree.run()
    [kept] = (tree.root.parent / "cache").glob("*/*.answers")
    for number, raw in enumerate((b"", kept.read_bytes()[:-5], b"\xff", kept.read_bytes().replace(b"amp", b"mpa"))):
        kept.write_bytes(raw)
        tree.write("amp.py", f"{AMP}\nx = {number}\n")
        assert len(tree.again()) == 8
    kept.unlink()
    kept.mkdir()
    tree.write("amp.py", AMP)
    assert len(tree.again()) == 8


def test_questions_that_nothing_rests_on_are_forgotten(tree: Tree) -> None:
    for number in range(9):
        tree.write(f"gone_{number}.py", TRAIN.replace("Block", f"Block{number}"))
    tree.run()
    [kept] = (tree.root.parent / "cache").glob("*/*.answers")
    before = len(json.loads(kept.read_bytes().partition(b"\n")[2])["questions"])
    for name in [f"gone_{number}.py" for number in range(9)] + ["pack/layers.py", "pack/kinds.py", "data.py"]:
        (tree.root / name).unlink()
    tree.again()
    after = len(json.loads(kept.read_bytes().partition(b"\n")[2])["questions"])
    assert after < before / 2
    tree.write("pack/kinds.py", KINDS)
    tree.again()


def test_paths_as_somebody_spells_them(tree: Tree) -> None:
    for number, path in enumerate((".", "./", "./pack", "pack/../pack", str(tree.root), "amp.py")):
        tree.run(path)
        tree.write("pack/__init__.py", f"{PACKAGE}\n\nx = {number}\n")
        assert len(tree.again(path)) < 8
        assert tree.again(path) == set()


def test_repairs_look_at_every_file(tree: Tree) -> None:
    tree.run("--diff")
    tree.write("amp.py", AMP + "\nx = 1\n")
    assert len(tree.again("--diff")) == 8


def test_other_settings_are_other_questions(tree: Tree) -> None:
    tree.run()
    tree.write("pyproject.toml", FILES["pyproject.toml"].replace("info", "warning"))
    assert "train.py" in tree.again()
    tree.write("pack/pyproject.toml", "[tool.torchdevlint]\nlevel = 'error'\n")
    assert {"pack/layers.py", "pack/kinds.py"} <= tree.again()
