"""The policy is the one place that decides how severe a finding is."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from torchdevlint import check_paths, check_source
from torchdevlint.rules import policy
from torchdevlint.rules.registry import own_rules
from torchdevlint.rules.rule import Rule
from torchdevlint.severity import Severity

CODES = {rule.code: rule for rule in own_rules()}


@pytest.mark.parametrize("rule", own_rules(), ids=lambda rule: rule.code)
def test_no_rule_decides_how_severe_its_findings_are(rule: type[Rule]) -> None:
    assert not re.search(r"\bseverity=", Path(inspect.getfile(rule)).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("code", "case"), [(code, case) for code, cases in policy.CASES.items() for case in cases if case]
)
def test_every_case_is_named_by_its_rule(code: str, case: str) -> None:
    assert f'"{case}"' in Path(inspect.getfile(CODES[code])).read_text(encoding="utf-8")


@pytest.mark.parametrize("place", policy.PLACES, ids=lambda place: place.question.__name__)
def test_every_place_concerns_rules_that_are_more_severe_elsewhere(place: policy.Place) -> None:
    assert place.told.endswith(".")
    assert all(CODES[code].severity > place.most for code in place.codes)


def test_a_case_that_the_table_does_not_have_is_refused() -> None:
    with pytest.raises(KeyError):
        policy.severity_in("anything", "TDL101", CODES["TDL101"].severity)


@pytest.mark.parametrize(
    ("placed", "told"),
    [('"auto"', [Severity.WARNING]), ('{"embed": 0, "layers": "cpu"}', [Severity.ERROR]), ('"cuda:0"', [])],
)
def test_a_model_that_may_be_on_one_device_can_be_moved(placed: str, told: list[Severity]) -> None:
    text = f"""
from transformers import AutoModel

def load(name, device):
    model = AutoModel.from_pretrained(name, device_map={placed})
    return model.to(device)
"""
    assert [one.severity for one in check_source(text, "load.py") if one.code == "TDL403"] == told


@pytest.mark.parametrize(
    ("beside", "told"),
    [("self.weight = nn.Parameter(torch.ones(3))", [Severity.WARNING]), ("self.size = 3", [])],
)
def test_a_folder_of_transforms_in_which_something_learns_holds_no_data_code(
    beside: str, told: list[Severity], tmp_path: Path
) -> None:
    folder = tmp_path / "flows" / "transforms"
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    text = "import torch\nfrom torch import nn\n\nclass Layer(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    (folder / "linear.py").write_text(f"{text}        {beside}\n", encoding="utf-8")
    (tmp_path / "run.py").write_text('import flows\n\nprint(flows.model.to("cuda"))\n', encoding="utf-8")
    shift = """
import torch
from torch import nn

class Shift(nn.Module):
    def forward(self, x):
        return torch.relu(x) + torch.ones(x.shape[0])
"""
    path = folder / "shift.py"
    path.write_text(shift, encoding="utf-8")
    (tmp_path / "README.md").write_text("See shift.py.", encoding="utf-8")
    found = check_paths([path], isolated=True)
    assert [one.severity for one in found if one.code == "TDL504"] == told


def test_what_a_package_offers_is_told_by_itself_though_its_own_functions_call_it_too(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "rates"\nversion = "1"\n', encoding="utf-8")
    folder = tmp_path / "rates"
    folder.mkdir()
    (folder / "__init__.py").write_text("from rates.rate import *\n", encoding="utf-8")
    text = """
import torch

def score(times):
    return torch.zeros(1, 4) + torch.sort(times)[0]

def _bootstrap(times):
    return [score(times) for _ in range(9)]

def interval(rates):
    return _bootstrap(rates.read())
"""
    path = folder / "rate.py"
    path.write_text(text, encoding="utf-8")
    (found,) = (one for one in check_paths([path], isolated=True) if one.code == "TDL504")
    assert found.severity is Severity.WARNING
    assert "the device of `times`" in found.message
    assert [related.span.start.row for related in found.related] == [5]


OFFERED = """
import torch
from torch.distributions.transforms import Transform

class Lower(Transform):
    def _call(self, x):
        return x.tril(-1) + torch.eye(x.size(-1))

def _start(x):
    return torch.relu(x)

def _shift(x):
    return torch.relu(x) * torch.ones(3)

def shifted(source):
    return _shift(source.read())

def _unused(x):
    return torch.relu(x) * torch.ones(3)

def _rows(kernel):
    table = torch.zeros(9, 9)
    table.scatter_(1, torch.arange(9).unsqueeze(1), torch.relu(kernel).view(-1).unsqueeze(1))
    return table[torch.nonzero(torch.relu(kernel).view(-1))]

def cross():
    return _rows(torch.zeros(3, 3))
"""


@pytest.mark.parametrize(
    "beside", ["__init__.py", "other.py"]
)  # a folder without one is a namespace package of its package
def test_what_leads_to_a_private_name_from_outside_offers_it(beside: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "rates"\nversion = "1"\n', encoding="utf-8")
    folder = tmp_path / "rates" / "inner"
    folder.mkdir(parents=True)
    (folder / beside).touch()
    (folder.parent / "__init__.py").write_text("from rates.solve import solve\n", encoding="utf-8")
    solve = "from rates.inner.start import _start\n\ndef solve(x):\n    return _start(x)\n"
    (folder.parent / "solve.py").write_text(solve, encoding="utf-8")
    (tmp_path / "run.py").write_text(
        "import rates\n\nif __name__ == '__main__':\n    print(rates.solve)\n", encoding="utf-8"
    )
    path = folder / "start.py"
    path.write_text(OFFERED, encoding="utf-8")
    found = check_paths([path], isolated=True)
    assert [(one.code, one.span.start.row, one.severity) for one in found] == [
        ("TDL504", 7, Severity.WARNING),  # the method of the base calls it
        ("TDL504", 13, Severity.WARNING),  # a public function calls it, with what nobody knows
    ]


@pytest.mark.parametrize(("name", "is_told"), [("Scaled", True), ("_Scaled", False)])
def test_who_inherits_from_a_private_class_is_called_by_others(name: str, is_told: bool, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "rates"\nversion = "1"\n', encoding="utf-8")
    folder = tmp_path / "rates"
    folder.mkdir()
    below = f"from rates.base import _Middle\n\nclass {name}(_Middle):\n    pass\n"
    files = {
        "__init__.py": "",
        "scaled.py": f"{below}\nprint({name}().scale([1]))\n",
        "run.py": "from rates import scaled\n\nif __name__ == '__main__':\n    print(scaled)\n",
        "base.py": """
import torch

class _Base:
    def scale(self, x):
        return torch.relu(x) * torch.ones(3)

class _Middle(_Base):
    pass
""",
    }
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")
    found = check_paths([folder / "base.py"], isolated=True)
    assert [one.code for one in found] == ["TDL504"] * is_told


TABLE = """
import torch
from torch import nn

class Mapper(nn.Module):
    def __init__(self, levels: list[int]):
        super().__init__()
        self.table = torch.tensor([1] + levels)

    def score(self, logits):
        return torch.relu(logits) * self.table
"""
SELF_TEST = """
if __name__ == "__main__":
    print(Mapper([3]).score(torch.ones(2)))
"""


@pytest.mark.parametrize("module", ["mapper", "kit"])  # `kit/kit.py`: an import of `kit.kit` is one of the package
def test_what_a_self_test_does_on_the_cpu_is_a_note_to_those_whom_a_package_is_offered_to(
    tmp_path: Path, module: str
) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "kit"\nversion = "1"\n', encoding="utf-8")
    folder = tmp_path / "kit"
    folder.mkdir()
    (folder / "__init__.py").write_text(f"from kit.{module} import Mapper\n", encoding="utf-8")
    path = folder / f"{module}.py"
    path.write_text(TABLE + SELF_TEST, encoding="utf-8")
    settings = "[tool.torchdevlint]\nlevel = 'info'\n"
    assert check_paths([path], isolated=True) == ()
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "kit"\nversion = "1"\n{settings}', encoding="utf-8")
    assert [one.code for one in check_paths([path])] == ["TDL603"]


def test_a_program_shows_what_its_class_is_given(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    path = tmp_path / "main.py"
    path.write_text(TABLE + SELF_TEST, encoding="utf-8")
    assert check_paths([path], isolated=True) == ()


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ("kit/metric.py", True),  # in a comment, beside an import
        ("kit/choice.py", False),
        ("tests/test_rate.py", True),
        ("examples/train.py", True),  # one caller of a package among many
        ("kit/workers.py", True),  # in a private class, for itself
    ],
)
def test_who_speaks_of_a_default_device_in_a_comment_a_test_or_an_example_sets_none_for_others(
    tmp_path: Path, other: str, told: bool
) -> None:
    sets = "torch.set_default_device('cuda')\n"
    said = sets if "metric" not in other else "# before 2.8, `set_default_device` was tracked alone\n"
    if "workers" in other:
        said = f"class _Worker:\n    def run(self):\n        {sets}"
    files = {
        "pyproject.toml": '[project]\nname = "kit"\nversion = "1"\n',
        "kit/__init__.py": "from kit.rate import score\n",
        "kit/rate.py": "import torch\n\n\ndef score(a: torch.Tensor):\n    return a * torch.zeros(3)\n",
        other: f"import torch\nfrom kit.rate import score\n{said}",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = check_paths([tmp_path / "kit" / "rate.py"], isolated=True)
    assert [one.code for one in found] == ["TDL504"] * told
