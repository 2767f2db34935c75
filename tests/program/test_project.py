"""The project index: which files belong to a project, what an import runs, and where a name stands."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from torchdevlint import check_paths
from torchdevlint.program import project
from torchdevlint.program.project import Project, member


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def resolved(root: Path, dotted: str, importer: str) -> list[str]:
    found = Project(str(root)).resolve(dotted, str(root / importer))
    return [Path(path).relative_to(root).as_posix() for path in found]


def test_a_repository_is_a_project_as_a_whole(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".git/HEAD": "",
            "ops/setup.py": "",
            "ops/op.py": "x = 1",
            "train.py": "",
            "venv/a.py": "",
            ".hidden/b.py": "",
        },
    )
    found = member(str(tmp_path / "ops" / "op.py"))
    assert found is not None
    assert found.project.root == str(tmp_path)
    assert [Path(path).name for path in found.project.files] == ["op.py", "setup.py", "train.py"]


def test_without_a_repository_the_packaged_folder_is_the_project(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "", "net/model.py": ""})
    found = member(str(tmp_path / "net" / "model.py"))
    assert found is not None
    assert found.project.root == str(tmp_path)
    assert found.project.is_package


def test_a_nearer_module_that_cannot_hold_the_rest_of_a_name_hides_nothing(tmp_path: Path) -> None:
    files = (
        "alg/alg.py",
        "alg/algs/base.py",
        "alg/algs/fixed.py",
        "train.py",
        "other/alg/algs/base.py",
        "net/utils/__init__.py",
    )
    write(tmp_path, dict.fromkeys((*files, "net/utils/log.py", "utils/ops/nms.py", "net/train.py"), ""))
    assert resolved(tmp_path, "alg.algs.base.Algorithm", "alg/algs/fixed.py") == ["alg/algs/base.py"]
    assert resolved(tmp_path, "alg.Algorithm", "alg/algs/fixed.py") == ["alg/alg.py"]
    assert resolved(tmp_path, "utils.ops.nms.apply", "net/train.py") == ["utils/ops/nms.py"]
    assert resolved(tmp_path, "utils.log.Log", "net/train.py") == ["net/utils/__init__.py", "net/utils/log.py"]
    assert resolved(tmp_path, "alg.missing.base.Algorithm", "alg/algs/fixed.py") == ["alg/alg.py"]


@pytest.mark.parametrize(
    ("files", "root"),
    [
        ({"train.py": "from net.layers import Block\n", "net/layers.py": ""}, "."),
        ({"run.py": "import other\n", "net/layers.py": ""}, "net"),
        ({"net/__init__.py": "", "net/layers.py": ""}, "."),
        ({"lib/__init__.py": "", "lib/core.py": "", "net/layers.py": "from lib.core import train\n"}, "."),
        ({"lib/core.py": "", "net/layers.py": "import lib\n"}, "net"),
        (
            {
                "train.py": "import net.blocks.layers\n",
                "net/run.py": "from .blocks import layers\n",
                "net/layers.py": "",
            },
            ".",
        ),
    ],
)
def test_a_program_that_nothing_marks_is_the_project_of_its_files(
    tmp_path: Path, files: dict[str, str], root: str
) -> None:
    write(tmp_path, files)
    found = member(str(tmp_path / "net" / "layers.py"))
    assert found is not None
    assert Path(found.project.root) == (tmp_path / root).resolve()


def test_a_file_among_those_of_everybody_is_in_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"train.py": "import torch\n", "other.py": ""})
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert member(str(tmp_path / "train.py")) is None


SETTINGS = (
    '# ours\n[tool.torchdevlint]\nlevel = "info"\n[tool.torchdevlint.per-file-ignores]\n"train.py" = ["TDL801"]\n'
)


@pytest.mark.parametrize(
    ("text", "is_evidence"),
    [
        (SETTINGS, False),
        (SETTINGS + "[project]\nname = 'net'\n", True),
        ("name = 1\n" + SETTINGS, True),
        ("[tool.ruff]\n", True),
    ],
)
def test_our_settings_are_no_evidence_of_a_project(tmp_path: Path, text: str, is_evidence: bool) -> None:
    write(tmp_path, {"pyproject.toml": text, "net/model.py": ""})
    found = member(str(tmp_path / "net" / "model.py"))
    assert found is not None
    assert (found.project.root == str(tmp_path)) is is_evidence
    assert Project(str(tmp_path)).is_package is is_evidence


def test_a_pyproject_with_our_table_alone_changes_no_finding(tmp_path: Path) -> None:
    files = {
        "train.py": "import torch\nimport net\nnet.mask(torch.ones(3).cuda())\n",
        "net.py": "import torch\ndef mask(x):\n    return x * torch.ones(3)\ndef other(x):\n    return x + torch.zeros(2)\n",
        "data.py": "import torch\ndef load():\n    return torch.load('weights.pt')\n",
    }
    without, beside = tmp_path / "without", tmp_path / "with"
    write(without, files)
    write(beside, {**files, "pyproject.toml": "[tool.torchdevlint]\n"})

    def told(root: Path) -> list[tuple[str, int, str, str]]:
        findings = check_paths([str(root)], processes=1)
        return [(Path(f.filename).name, f.span.start.row, f.code, f.severity.label) for f in findings]

    assert told(beside) == told(without) != []


def test_environments_are_no_part_of_it(tmp_path: Path) -> None:
    write(tmp_path, {"mine/pyvenv.cfg": "", "mine/lib/torch.py": "", "a.py": ""})
    assert [Path(path).name for path in Project(str(tmp_path)).files] == ["a.py"]


def test_a_large_project_is_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.py": "", "b.py": ""})
    monkeypatch.setattr(project, "MOST_FILES", 1)
    assert Project(str(tmp_path)).files == ()


TREE = {
    "train.py": "",
    "models/__init__.py": "",
    "models/net.py": "",
    "models/layers/__init__.py": "",
    "models/layers/attention.py": "",
    "tools/eval.py": "",
    "ext/pointnet/group.py": "",
    "one/same.py": "",
    "two/same.py": "",
    "kit/__init__.py": "",
    "kit/kit.py": "",
    "kit/mapper.py": "",
    "pair/same/__init__.py": "",
    "pair/same.py": "",
    "company/torch/__init__.py": "",
    "company/torch/distributions.py": "",
}


@pytest.mark.parametrize(
    ("dotted", "importer", "files"),
    [
        ("models.net.Net", "train.py", ["models/__init__.py", "models/net.py"]),
        ("models.net", "tools/eval.py", ["models/__init__.py", "models/net.py"]),
        (".layers.attention.Attention", "models/net.py", ["models/layers/__init__.py", "models/layers/attention.py"]),
        ("..net.Net", "models/layers/attention.py", ["models/net.py"]),
        (".", "models/net.py", ["models/__init__.py"]),
        ("group.ball_query", "train.py", ["ext/pointnet/group.py"]),
        ("same.x", "train.py", []),
        ("same.x", "one/other.py", ["one/same.py"]),
        ("kit.mapper.Mapper", "kit/__init__.py", ["kit/__init__.py", "kit/mapper.py"]),
        ("kit.kit.Kit", "kit/mapper.py", ["kit/__init__.py", "kit/kit.py"]),
        ("mapper.Mapper", "kit/kit.py", ["kit/mapper.py"]),  # run as a program
        ("same.x", "pair/main.py", ["pair/same/__init__.py"]),
        ("torch.nn", "train.py", []),
        ("torch.distributions.Normal", "company/torch/layers.py", []),
        ("company.torch.distributions", "train.py", ["company/torch/__init__.py", "company/torch/distributions.py"]),
        ("types.SimpleNamespace", "train.py", []),
    ],
)
def test_an_import_runs_these_files(tmp_path: Path, dotted: str, importer: str, files: list[str]) -> None:
    write(tmp_path, TREE)
    assert resolved(tmp_path, dotted, importer) == files


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import heads\nif __name__ == '__main__':\n    pass\n", "port/heads.py"),
        ("import heads\n", "heads.py"),  # it is imported, as `port.train`
        ("import heads\nfrom port.other import x\nif __name__ == '__main__':\n    pass\n", "heads.py"),
        ("import heads\nfrom .other import x\nif __name__ == '__main__':\n    pass\n", "heads.py"),
    ],
    ids=["by its path", "as a module", "as a module that imports its package", "as a module with a relative import"],
)
def test_a_program_in_a_package_is_run_by_its_path(tmp_path: Path, text: str, found: str) -> None:
    files = {
        "heads.py": "",
        "port/__init__.py": "",
        "port/heads.py": "",
        "port/other.py": "x = 1",
        "port/train.py": text,
    }
    write(tmp_path, files)
    assert resolved(tmp_path, "heads.Head", "port/train.py") == [found]


def test_a_name_is_found_as_a_whole_word_in_code_and_in_texts(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"a.py": "def load_net(): ...", "b.py": "load_network()", "run.ipynb": '"load_net()"', "image.bin": "load_net"},
    )
    here = Project(str(tmp_path))
    assert here.mentioning("load_net") == (str(tmp_path / "run.ipynb"),)  # its definition alone is no mention
    assert here.mentioning("load_network") == (str(tmp_path / "b.py"),)


@pytest.mark.parametrize("raw", [b"def f(:\n", b"x = '\xff'\n", b"\0"])
def test_files_that_cannot_be_read_say_nothing(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "a.py").write_bytes(raw)
    (tmp_path / "b.py").write_text("x = 1\n")
    here = Project(str(tmp_path))
    here.program(str(tmp_path / "a.py"))
    assert here.resolve("a.f", str(tmp_path / "b.py")) == (str(tmp_path / "a.py"),)
    assert not list(here.importing(str(tmp_path / "a.py")))
    assert here.program(str(tmp_path / "missing.py")) is not None  # as an empty file


def test_a_file_may_have_syntax_that_is_newer_than_the_running_python(tmp_path: Path) -> None:
    newer = 'def put(x, names):\n    print(f"{names["first"]}")\n    return x.cuda()\n'
    write(tmp_path, {".git/HEAD": "", "ops.py": "import torch\n" + newer})
    write(tmp_path, {"run.py": "import torch\nfrom ops import put\nprint(put(torch.ones(2), {}) + torch.zeros(2))\n"})
    assert [finding.code for finding in check_paths([tmp_path / "run.py"], select=["TDL504", "TDL505"])] == ["TDL505"]


def test_who_imports_a_module_is_told_by_the_statements(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "net/__init__.py": "",
            "net/model.py": "",
            "a.py": "from net.model import Net",
            "b.py": "from net import (\n    layers,\n    model,\n)",
            "c.py": "def f():\n    import net.model as m",
            "d.py": "model = 1",
        },
    )
    found = Project(str(tmp_path)).importing(str(tmp_path / "net" / "model.py"))
    assert [Path(path).name for path in found] == ["a.py", "b.py", "c.py"]


def test_the_import_statements_of_a_file_are_read_once_whatever_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"m{number}.py" for number in range(20)]
    write(tmp_path, dict.fromkeys(names, "".join(f"import m{number}\n" for number in range(20))))
    read: list[bytes] = []
    imported = project._imported
    monkeypatch.setattr(project, "_imported", lambda raw: read.append(raw) or imported(raw))
    here = Project(str(tmp_path))
    for name in names:
        assert len(list(here.importing(str(tmp_path / name)))) == 19
    assert len(read) == 20


def test_an_edited_file_imports_what_its_text_says(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "import b", "b.py": "", "c.py": "import b"})
    here = Project(str(tmp_path))
    for _ in range(2):  # before and after the files on the disk were asked
        there = here.showing(str(tmp_path / "a.py"), "import c")
        assert [Path(path).name for path in there.importing(str(tmp_path / "b.py"))] == ["c.py"]
        assert [Path(path).name for path in there.importing(str(tmp_path / "c.py"))] == ["a.py"]
        assert [Path(path).name for path in here.importing(str(tmp_path / "b.py"))] == ["a.py", "c.py"]


def test_a_module_of_any_letters_is_found(tmp_path: Path) -> None:
    write(tmp_path, {"réseau.py": "", "a.py": "import réseau", "b.py": "import seau"})
    found = Project(str(tmp_path)).importing(str(tmp_path / "réseau.py"))
    assert [Path(path).name for path in found] == ["a.py"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_no_file_of_it(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": ""})
    os.mkfifo(tmp_path / "b.py")
    assert [Path(path).name for path in Project(str(tmp_path)).files] == ["a.py"]


def test_an_import_is_looked_for_up_to_the_root_of_the_disk(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": ""})
    here = Project(tmp_path.anchor)
    here.__dict__["_walked"] = ((str(tmp_path / "a.py"),), ())
    assert here.resolve("missing.name", str(tmp_path / "a.py")) == ()


def test_a_deep_tree_is_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.py": "", "one/two/b.py": ""})
    monkeypatch.setattr(project, "MOST_FOLDERS", 1)
    assert Project(str(tmp_path)).files == ()


@pytest.mark.parametrize("name", ["LICENSE", "requirements.txt"])
def test_a_folder_with_a_licence_or_requirements_is_a_project_where_there_is_no_other_sign(
    tmp_path: Path, name: str
) -> None:
    write(tmp_path, {name: "", "models/net.py": ""})
    found = member(str(tmp_path / "models" / "net.py"))
    assert found is not None
    assert found.project.root == str(tmp_path)


@pytest.mark.parametrize(
    ("path", "text", "is_test"),
    [
        ("test.py", "def test_epoch(model): pass", False),
        ("tools/test_net.py", "def main(): pass", False),
        ("model.py", "class Net:\n    def test_step(self, batch): pass", False),
        ("testing.py", "import torch\nimport unittestable", False),
        ("tests/train.py", "if __name__ == '__main__': train()", False),
        ("tests/bench.py", "import argparse", False),
        ("tests/helpers.py", "def make(): pass", True),
        ("conftest.py", "", True),
        ("pkg/test_ops.py", "def test_add(): pass", True),
        ("pkg/ops_test.py", "class Ops:\n    def test(self): pass", True),
        ("check_ops.py", "import unittest", True),
        ("pkg/ops_checks.py", "    from pytest import mark", True),
    ],
)
def test_a_test_is_known_by_what_it_says(path: str, text: str, is_test: bool, tmp_path: Path) -> None:
    write(tmp_path, {path: text})
    assert Project(str(tmp_path)).is_test(str(tmp_path / path)) is is_test


def test_what_files_import_is_read_once_also_of_an_edited_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key asks who imports each of the files: hundreds of questions, of which the answers rest on one scan of each text."""
    write(tmp_path, {"pyproject.toml": "[project]", **{f"m{n}.py": f"import m{n + 1}\n" for n in range(20)}})
    base = Project(str(tmp_path))
    edited = str(tmp_path / "m3.py")
    scans = []
    imported = project._imported
    monkeypatch.setattr(project, "_imported", lambda raw: scans.append(raw) or imported(raw))
    for key in range(5):
        shown = base.showing(edited, f"import m4  # {key}\n", apart=True)
        assert [list(shown.importing(str(tmp_path / f"m{n}.py"))) for n in (3, 4, 5)] == [
            [str(tmp_path / f"m{n}.py")] for n in (2, 3, 4)
        ]
    assert len(scans) == 20 + 5


def test_the_files_that_an_edited_file_imports_are_those_of_its_text(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "[project]", "a.py": "def f():\n    import b\n", "b.py": "", "c.py": ""})
    a, b, c = (str(tmp_path / name) for name in ("a.py", "b.py", "c.py"))
    base = Project(str(tmp_path))
    assert base.imported_by(a) == {b}
    shown = base.showing(a, "import c, os\n")
    assert shown.imported_by(a) == {c}
    assert base.imported_by(a) == {b}
    pattern = re.compile(rb"import (b|c)")
    assert list(base.holding((b"import",), pattern)) == [a]
    assert list(shown.holding((b"import",), re.compile(rb"import b"))) == []
    assert list(base.showing(b, "import c").holding((b"import",), pattern)) == [a, b]
    assert list(base.holding((b"import",), pattern)) == [a]
