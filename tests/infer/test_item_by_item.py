"""What is told apart item by item, and object by object: nothing is told where another item is on the CPU."""

from __future__ import annotations

import textwrap

import pytest

from torchdevlint import check_source

HEAD = """
import argparse, collections, dataclasses, functools
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

"""

SILENT = {
    "a view of dicts of different lengths": """
        def main(x, flag=None):
            held = {"a": x} if flag else {"a": x, "b": x}
            for _ in range(3):
                view = held.items()
                held["c"] = x
                for name, value in view:
                    x = x + value
                first, *rest = view
            print(rest)
        """,
    "a comprehension over known items": """
        def main(x):
            first, second = [part * 2 for part in (x, torch.ones(3))]
            print(x + first, second)
        """,
    "a dict comprehension over known entries": """
        def main(x):
            parts = {name: part * 2 for name, part in {"gpu": x, "cpu": torch.ones(3)}.items()}
            print(x + parts["gpu"], parts["cpu"])
        """,
    "a map over known items": """
        def main(x):
            first, second = map(lambda part: part * 2, (x, torch.ones(3)))
            print(x + first, second)
        """,
    "a deleted item": """
        def main(x):
            items = [torch.ones(3), x]
            del items[0]
            print(x + items[0])
        """,
    "a deleted entry": """
        def main(x):
            parts = {"cpu": torch.ones(3), "gpu": x}
            del parts["cpu"]
            for part in parts.values():
                print(x + part)
        """,
    "a popped entry": """
        def main(x):
            parts = {"cpu": torch.ones(3), "gpu": x}
            parts.pop("cpu")
            for part in parts.values():
                print(x + part)
        """,
    "the other base of a class with two": """
        class Root:
            def value(self):
                return torch.ones(3)

        class Left(Root):
            def value(self):
                return super().value()

        class Right(Root):
            def value(self):
                return torch.ones(3, device="cuda")

        class Both(Left, Right):
            pass

        def main(x):
            print(x + Both().value())
        """,
    "a function that is registered for another class": """
        @functools.singledispatch
        def placed(value):
            return torch.ones(3)

        @placed.register(torch.Tensor)
        def _(value):
            return torch.ones(3, device=value.device)

        def main(x):
            print(x + placed(x))
        """,
    "a loader without batches": """
        class Rows(Dataset):
            def __len__(self):
                return 1

            def __getitem__(self, at):
                return {"value": torch.ones(3)}

        def main(x):
            for row in DataLoader(Rows(), batch_size=None, collate_fn=lambda row: row):
                print(x + row["value"].to(x.device))
        """,
    "parameters that a module keeps in a tuple of a list": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.gain = nn.Parameter(torch.ones(3))
                self.named = [("gain", self.gain)]

            def forward(self, x):
                for name, gain in self.named:
                    x = x * gain
                return x

        def main(x):
            print(Net().to(x.device)(x))
        """,
    "a list of numbers that is not empty": """
        def place(value, ids):
            if ids:
                value = value.cuda(ids[0])
            return value

        def main(x):
            print(x + place(torch.ones(3), [0]))
        """,
    "a loop that empties its list": """
        def main(x):
            rows, out = [torch.ones(3, device="cuda")], x
            while rows:
                out = out + rows.pop()
            print(out + torch.ones(3, device=out.device))
        """,
}

TOLD = {
    "a loop that empties its list": """
        def main(x):
            rows = [1, 2]
            while rows:
                rows.pop()
            print(x + torch.ones(3))
        """,
    "a field that a dataclass is given once": """
        @dataclasses.dataclass
        class Table:
            size: dataclasses.InitVar[int]
            rows: object = dataclasses.field(init=False)

            def __post_init__(self, size):
                self.rows = torch.ones(size)

        def main(x):
            print(x + Table(3).rows)
        """,
    "a device whose name is put together": """
        def main(x):
            table = torch.ones(3, device="".join(["c", "pu"]))
            print(x + table)
        """,
    "a list that a caller gives": """
        def joined(rows, use_cuda):
            rows = torch.cat(rows)
            return rows.cuda() if use_cuda else rows

        def main(x):
            print(x + joined([torch.ones(2), torch.ones(1)], False))
        """,
}


def told(text: str) -> list[str]:
    """The codes of what is told of a program, but for what concerns machines without a GPU and how tensors are made."""
    whole = HEAD + textwrap.dedent(text) + '\nmain(torch.ones(3, device="cuda"))\n'
    return [one.code for one in check_source(whole, "program.py", ignore=["TDL8"])]


@pytest.mark.parametrize("case", SILENT)
def test_nothing_is_told(case: str) -> None:
    assert told(SILENT[case]) == []


@pytest.mark.parametrize("case", TOLD)
def test_the_tensor_that_is_left_is_told(case: str) -> None:
    assert told(TOLD[case])
