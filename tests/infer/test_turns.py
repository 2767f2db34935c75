"""Loops over known items are run item by item; of unknown ones, what a loop over the keys leaves out stays as it was."""

from __future__ import annotations

import pytest
from test_data_paths import told

LOADED = """
from torch.utils.data import DataLoader, Dataset
class Pictures(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, at):
        return {{"input": torch.ones(3), "meta": {{"size": torch.ones(2)}}, "id": torch.tensor(at)}}
loader = DataLoader(Pictures(), batch_size=2)
def move(batch, device):
    for key in batch:
        if key != "meta":
            batch[key] = batch[key].to(device)
def run({parameter}):
    for batch in loader:
        {moving}
        {read}.numpy()
run({given})
"""
MOVING = {
    "keys": 'for key in batch:\n            if key != "meta":\n                batch[key] = batch[key].to("cuda")',
    "items": 'for key, value in batch.items():\n            if key not in ("meta",):\n                batch[key] = value.to("cuda")',
    "continue": 'for key in list(batch):\n            if key == "meta":\n                continue\n            batch[key] = batch[key].to("cuda")',
    "tensors": 'for key, value in batch.items():\n            if isinstance(value, torch.Tensor):\n                batch[key] = value.to("cuda")',
    "function": 'move(batch, "cuda")',
    "names": 'for key in ("input", "id"):\n            batch[key] = batch[key].to("cuda")',
}


@pytest.mark.parametrize("parameter", ["", "loader"], ids=["global", "parameter"])
@pytest.mark.parametrize("moving", MOVING.values(), ids=list(MOVING))
def test_each_item_of_a_batch_is_where_the_loop_left_it(moving: str, parameter: str) -> None:
    def verdicts(read: str) -> list[str]:
        program = LOADED.format(moving=moving, read=read, parameter=parameter, given=parameter)
        return [verdict for _, _, verdict in told(program)]

    assert verdicts('batch["meta"]["size"]') == []
    assert verdicts('batch["input"]') == verdicts('batch["id"]') == ["broken"]


def test_what_a_loop_leaves_out_of_something_unknown_is_not_moved() -> None:
    program = """
def run(batches, device):
    for batch in batches:
        for key in batch:
            if key != "meta":
                batch[key] = batch[key].to(device)
        batch["{key}"].numpy()
run(make(), "cuda")
"""
    assert [verdict for _, _, verdict in told(program.format(key="meta"))] == []
    assert [verdict for _, _, verdict in told(program.format(key="input"))] == ["broken"]


TURNS = {
    "objects of their own": (
        'nets = {}\n    for name in ("a", "b"):\n        net = torch.nn.Linear(2, 2)\n        if name == "a":\n            net.cuda()\n'
        "        nets[name] = net\n    print(nets[{0}](x))",
        '"a"',
        '"b"',
    ),
    "the last turn": (
        "for net in (torch.nn.Linear(2, 2){0}, torch.nn.Linear(2, 2){1}):\n        y = net\n    print(y(x))",
        ("", ".cuda()"),
        (".cuda()", ""),
    ),
    "a break": (
        "for name, net in [('a', torch.nn.Linear(2, 2).cuda()), ('b', torch.nn.Linear(2, 2))]:\n        if name == '{0}':\n            break\n"
        "    print(net(x))",
        "a",
        "b",
    ),
    "a loop in a turn": (
        "for net in [torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)]:\n        {0}\n        for _ in range(3):\n            x = net(x)\n    print(x)",
        "net.cuda()",
        "net.cpu()",
    ),
    "a return": (
        "def pick(wanted):\n        for name, net in [('a', torch.nn.Linear(2, 2).cuda()), ('b', torch.nn.Linear(2, 2))]:\n            if name == wanted:\n"
        "                return net\n    print(pick('{0}')(x))",
        "a",
        "b",
    ),
}


@pytest.mark.parametrize("case", TURNS.values(), ids=list(TURNS))
def test_a_turn_begins_with_what_the_one_before_has_left(
    case: tuple[str, str | tuple[str, ...], str | tuple[str, ...]],
) -> None:
    lines, right, wrong = case

    def verdicts(given: str | tuple[str, ...]) -> list[str]:
        written = lines
        for at, part in enumerate((given,) if isinstance(given, str) else given):
            written = written.replace(f"{{{at}}}", part)
        program = f"def main():\n    x = torch.ones(4, 2, device='cuda')\n    {written}\nmain()\n"
        return [verdict for _, _, verdict in told(program)]

    assert verdicts(right) == []
    assert verdicts(wrong) == ["broken"]
