"""A loop that gives each item of a list or dict another value leaves none of the old ones."""

from __future__ import annotations

import pytest
from test_data_paths import told

MOVING = {
    "enumerate": "for at, one in enumerate(items):\n        items[at] = one.to('cuda')",
    "range": "for at in range(len(items)):\n        items[at] = items[at].to('cuda')",
    "whole slice": "items[:] = [one.to('cuda') for one in items]",
    "attribute": "for at, one in enumerate(holder.items):\n        holder.items[at] = one.to('cuda')",
}


def _program(moving: str, other: str) -> str:
    return f"""
from types import SimpleNamespace
def main():
    items = [torch.ones(4, 4), torch.ones(4)]
    holder = SimpleNamespace(items=items)
    {moving}
    print(items[0] @ torch.ones(4, 4{other}))
main()
"""


@pytest.mark.parametrize("moving", MOVING.values(), ids=list(MOVING))
def test_each_item_is_where_the_loop_moved_it(moving: str) -> None:
    assert told(_program(moving, ", device='cuda'")) == []
    assert [verdict for _, _, verdict in told(_program(moving, ""))] == ["broken"]


ATTRIBUTES = {
    "items of __dict__": "for name, value in self.__dict__.items():\n            if torch.is_tensor(value):\n                setattr(self, name, value.to(device))",
    "item of __dict__": "for name, value in self.__dict__.items():\n            self.__dict__[name] = value.to(device)",
    "names in __dict__": "for name in self.__dict__:\n            setattr(self, name, getattr(self, name).to(device))",
    "vars": "for name, value in list(vars(self).items()):\n            if hasattr(value, 'to'):\n                setattr(self, name, value.to(device))",
    "dir": "for name in dir(self):\n            if torch.is_tensor(getattr(self, name)):\n                setattr(self, name, getattr(self, name).to(device))",
}
MADE = {
    "fields": "def __init__(self, left, right):\n        self.left, self.right = left, right",
    "keywords": "def __init__(self, **entries):\n        self.__dict__.update(entries)",
}


@pytest.mark.parametrize("made", MADE.values(), ids=list(MADE))
@pytest.mark.parametrize("moving", ATTRIBUTES.values(), ids=list(ATTRIBUTES))
def test_each_attribute_is_where_the_loop_moved_it(moving: str, made: str) -> None:
    program = f"""
class Batch:
    {made}
    def to(self, device):
        {moving}
        return self
def main():
    batch = Batch(left=torch.ones(4, 4), right=torch.ones(4)).to("cuda")
    print(batch.left @ torch.ones(4, 4{{other}}))
main()
"""
    assert told(program.format(other=", device='cuda'")) == []
    assert {verdict for _, _, verdict in told(program.format(other=""))} == {"broken"}


def test_what_a_helper_may_move_is_not_indexed_on_the_cpu() -> None:
    program = """
def send(value, device):
    if isinstance(value, dict):
        return {name: send(item, device) for name, item in value.items()}
    return value.to(device) if hasattr(value, "to") else value
rows = send({"data": torch.ones(4, 4), "name": "a"}, "cuda")["data"]
print(rows[torch.tensor([0, 1], device="cuda")])
"""
    assert told(program) == []


HELPERS = {
    "enumerate": "for at, one in enumerate(items):\n        items[at] = one.to(device)",
    "range": "for at in range(len(items)):\n        items[at] = items[at].to(device)",
    "tensors": "for at, one in enumerate(items):\n        if torch.is_tensor(one):\n            items[at] = one.to(device)",
}


@pytest.mark.parametrize("read", ["first, second = items", "first, second = items[0], items[1]"])
@pytest.mark.parametrize("moving", HELPERS.values(), ids=list(HELPERS))
def test_a_helper_reads_what_its_loop_has_moved(moving: str, read: str) -> None:
    program = f"""
def used(items, device):
    {moving}
    {read}
    return first @ second
used([torch.ones(4, 4, device="cuda"), torch.ones(4)], "GIVEN")
"""
    assert told(program.replace("GIVEN", "cuda")) == []
    kept = program.replace("items[at] = ", "one = ").replace("GIVEN", "cuda")
    assert [verdict for _, _, verdict in told(kept)] == ["broken"]


def test_a_helper_reads_the_values_of_a_dict_that_its_loop_has_moved() -> None:
    program = """
def used(batch, device):
    for name in batch:
        batch[name] = batch[name].to(device)
    first, second = batch.values()
    return first @ second + batch["second"]
used({"first": torch.ones(4, 4, device="cuda"), "second": torch.ones(4)}, "cuda")
"""
    assert told(program) == []


def test_what_was_read_of_the_items_stands_though_they_are_cleared() -> None:
    program = """
class Epoch:
    def __init__(self):
        self.rows = []
    def step(self, value):
        self.rows.append({"value": value})
    def end(self):
        joined = torch.cat([row["value"] for row in self.rows])
        self.rows.clear()
        return joined
epoch = Epoch()
epoch.step(torch.ones(4, 4))
print(epoch.end() @ torch.ones(4, 4, device="cuda"))
"""
    assert [verdict for _, _, verdict in told(program)] == ["broken"]
    assert told(program.replace('torch.ones(4, 4, device="cuda")', "torch.ones(4, 4)")) == []


def test_a_later_loop_over_what_was_moved_takes_what_was_put_there() -> None:
    program = """
def used(paths, edge):
    for at in range(len(paths)):
        paths[at] = paths[at].cuda()
    for path in paths:
        chosen = torch.index_select(edge, dim=-1, index=path)
        print(chosen.view(chosen.size(0), path.size(0)))
used([torch.zeros(3, dtype=torch.long)], torch.ones(4, 4, device="cuda"))
"""
    assert told(program) == []


TO_A_SUBCLASS = """
from torch.utils.data import DataLoader, TensorDataset
class Trainer:
    def train(self, rank, loader, model):
        turns = iter(loader)
        while True:
            batch = list(next(turns))
            if rank is not None:
                for at in range(len(batch)):
                    {moving}
            self.step(batch, model)

class Classifier(Trainer):
    def step(self, batch, model):
        images, labels = batch
        return model(images) + labels

def main(rank):
    model = nn.Linear(3, 3)
    if rank is not None:
        model.cuda(rank)
    loader = DataLoader(TensorDataset(torch.zeros(4, 3), torch.zeros(4, 3)))
    Classifier().train(rank, loader, model)

main(None)
main(0)
"""


def test_a_method_that_only_a_caller_knows_is_handed_the_items_as_the_loop_left_them() -> None:
    assert told(TO_A_SUBCLASS.format(moving="batch[at] = batch[at].cuda(rank)")) == []
    assert "broken" in [verdict for _, _, verdict in told(TO_A_SUBCLASS.format(moving="pass"))]
