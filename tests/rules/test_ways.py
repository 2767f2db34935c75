"""Findings name the variable that is to be moved: at the call that hands it on, with the assignment that gave it its name."""

from __future__ import annotations

import textwrap

import pytest

from torchdevlint import check_source
from torchdevlint.findings import Finding

HEAD = """
import torch, torchvision
from torch import nn
from torch.utils.data import DataLoader
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(torchvision.datasets.MNIST("data", transform=torchvision.transforms.ToTensor()), batch_size=4)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(784, 10)
    def forward(self, x):
        x = x.flatten(1)
        return self.first(x)
"""


def found(program: str) -> tuple[list[str], list[Finding]]:
    """The lines of a program, and its findings."""
    text = HEAD + textwrap.dedent(program)
    return text.splitlines(), list(check_source(text, "train.py"))


def line_of(finding: Finding, lines: list[str]) -> str:
    """The line that a finding stands on."""
    return lines[finding.span.start.row - 1].strip()


def told(finding: Finding, lines: list[str]) -> dict[str, str]:
    """Its related places: the line of each, by what is said of it."""
    return {one.message: lines[one.span.start.row - 1].strip() for one in finding.related}


def test_a_sample_is_told_where_it_is_handed_to_the_model() -> None:
    lines, (finding,) = found(
        """
        net = Net().to(device)
        for images, labels in loader:
            images = images * 2
            net(images)
        """
    )
    assert line_of(finding, lines) == "net(images)"
    assert finding.message.startswith("`images` is on the CPU and meets a model on `device` on line ")
    assert told(finding, lines)["`images` is assigned here"] == "images = images * 2"


def test_a_sample_is_told_where_the_function_that_takes_it_out_hands_it_on() -> None:
    lines, (finding,) = found(
        """
        def run(model, batch):
            return model(batch)
        def train(model, data):
            for images, labels in data:
                run(model, images)
        train(Net().to(device), loader)
        """
    )
    assert line_of(finding, lines) in ("run(model, images)", "return model(batch)")


def test_a_model_is_told_with_its_assignment() -> None:
    lines, several = found(
        """
        def train(model, data, epoch):
            for images, labels in data:
                images = images.to(device)
                model(images)
        net = Net()
        train(net, loader, epoch=1)
        """
    )
    assert [line_of(one, lines) for one in several] == ["train(net, loader, epoch=1)"]
    assert several[0].message.startswith("`net` is on the CPU and its input on `device`")
    assert told(several[0], lines)["`net` is assigned here"] == "net = Net()"


@pytest.mark.parametrize("call", ["train(net)", "train(model=net)"])
def test_two_assignments_of_which_either_may_be_meant_are_not_told(call: str) -> None:
    lines, several = found(
        f"""
        def train(model):
            for images, labels in loader:
                model(images.to(device))
        if input():
            net = Net()
        else:
            net = nn.Linear(3, 3)
        {call}
        """
    )
    assert all("`net` is assigned here" not in told(one, lines) for one in several)


def test_an_operand_of_the_function_itself_is_told_with_its_assignment() -> None:
    lines, (finding,) = found(
        """
        net = Net().to(device)
        for images, labels in loader:
            scores = net(images.to(device))
            labels = labels.long()
            nn.functional.cross_entropy(scores, labels)
        """
    )
    assert told(finding, lines)["`labels` is assigned here"] == "labels = labels.long()"


def test_an_index_is_brought_to_the_cpu_for_sure_only_where_its_table_is_made() -> None:
    text = textwrap.dedent(
        """
        import torch
        def pick(table, rows: torch.Tensor):
            rows = torch.argsort(rows)
            return table[rows]
        def run(x: torch.Tensor):
            return pick(torch.zeros(3), x)
        def here(x: torch.Tensor):
            table = torch.zeros(3)
            return table[torch.argsort(x)]
        """
    )
    fixes = [one.fix.applicability.name for one in check_source(text, "lib.py") if one.code == "TDL506" and one.fix]
    assert fixes == ["UNSAFE", "SAFE"]


def test_a_model_is_told_where_the_function_that_makes_it_hands_it_on() -> None:
    lines, several = found(
        """
        def train(model, x):
            return model(x)
        def run(x):
            net = Net()
            return train(net, x)
        def main():
            run(torch.ones(2, 784).cuda())
        main()
        """
    )
    (finding,) = (one for one in several if one.code == "TDL401")
    assert line_of(finding, lines) == "return train(net, x)"
    assert finding.message.startswith("`net` is on the CPU")
    assert told(finding, lines)["`net` is assigned here"] == "net = Net()"
