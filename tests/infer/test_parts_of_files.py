"""What files hold: parts of a checkpoint that was brought to the CPU, and what another function of the program has saved."""

from __future__ import annotations

import pytest
from test_over_time import told

READ = """
import torch.nn.functional as F
x = torch.zeros(3, 4, device="cuda")
rows = torch.tensor([0, 1])

def use(path):
    blob = torch.load(path, map_location="cpu")
    {work}

use("p")
"""


@pytest.mark.parametrize(
    ("work", "is_told"),
    [
        ('blob["w"].unsqueeze(0) * x', True),
        ('blob["w"][rows] * x', True),
        ('blob["w"].float()[rows] * x', True),
        ('blob["w"].float()[None] * x', True),
        ('torch.exp(blob["w"]) * x', True),
        ('F.softmax(blob["w"].float() / 2, dim=1) * x', True),
        ('(blob["w"] - blob["w"].mean(0)) * x', True),
        ('blob["stats"]["mean"].float()[None] - x', True),
        ('blob["w"] * x', False),  # it may be a number
        ('blob["model"].float()(x)', False),  # ... or a module that somebody moves
        ('blob["names"].copy()', False),
        ('blob["w"].unsqueeze(0).to(x.device) * x', False),
    ],
)
def test_a_part_of_what_was_loaded_to_the_cpu(work: str, is_told: bool) -> None:
    assert ("broken" in told(READ.format(work=work))) == is_told


SAVED = """
import os, tempfile

def save(folder, number, shift):
    name = os.path.join(folder, f"member_{{number}}.pt")
    torch.save({{"shift": shift}}, name)
    return name

def load(name):
    blob = torch.load(name{where})
    return blob["shift"]

def main():
    folder = tempfile.mkdtemp()
    names = [save(folder, number, torch.zeros(4{there})) for number in range(3)]
    for name in names:
        load(name) + torch.zeros(4, device="cuda")

main()
"""


@pytest.mark.parametrize(
    ("where", "there", "is_told"),
    [
        ("", "", True),
        (', map_location="cpu"', ', device="cuda"', True),
        ("", ', device="cuda"', False),
        (', map_location="cuda"', "", False),
    ],
)
def test_what_one_function_saved_another_loads(where: str, there: str, is_told: bool) -> None:
    assert ("broken" in told(SAVED.format(where=where, there=there))) == is_told


LAYERS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {layers}

model = Net()
masks = {{name: torch.ones_like(p) for name, p in model.named_parameters()}}
{before}model.cuda()
for name, p in model.named_parameters():
    p.data.mul_(masks[name])
"""
MANY = "; ".join(f"self.layer{number} = nn.Linear(3, 3)" for number in range(9))


@pytest.mark.parametrize("layers", ["self.layer = nn.Linear(3, 3)", MANY.replace("; ", "\n        ")])
def test_the_parameters_of_a_model_are_known_however_many_layers_it_has(layers: str) -> None:
    assert "broken" in told(LAYERS.format(layers=layers, before=""))


def test_what_was_computed_of_a_parameter_stays_behind_the_module() -> None:
    from torchdevlint import check_source

    source = "import torch\nfrom torch import nn\n" + LAYERS.format(layers="self.layer = nn.Linear(3, 3)", before="")
    (found,) = [one for one in check_source(source) if one.code in ("TDL504", "TDL505", "TDL515", "TDL401")]
    assert found.code != "TDL401" and "module" not in found.message


COUNTED = """
import os

class Tasks:
    def __init__(self, folder):
        self.folder, self.kept = folder, []

    def path(self, task):
        return os.path.join(self.folder, "task%02d.pt" % task)

    def save(self, task, mean):
        torch.save({{"mean": mean}}, self.path(task))

    def reload(self):
        task = 0
        while os.path.exists(self.path(task)):
            self.kept.append(torch.load(self.path(task){where}))
            task += 1

def main():
    tasks = Tasks("x")
    for task, mean in enumerate([torch.zeros(3, device="cuda"), torch.ones(3, device="cuda")]):
        tasks.save(task, mean)
    tasks.reload()
    for state in tasks.kept:
        state["mean"] + torch.zeros(3, device="cuda")

main()
"""


@pytest.mark.parametrize(("where", "is_told"), [("", False), (', map_location="cpu"', True)])
def test_files_that_a_count_tells_apart(where: str, is_told: bool) -> None:
    assert ("broken" in told(COUNTED.format(where=where))) == is_told
