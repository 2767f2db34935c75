"""Tables that are filled where they lack a key: what another call has put there may be elsewhere, where the key does not tell devices apart."""

from __future__ import annotations

import pytest
from test_over_time import told

TABLE = """
GRIDS = {{}}

def grid(size, device):
    key = {key}
    {filled}

def mean(heat):
    return (heat * grid(heat.shape[-1], heat.device)).sum()

def main(heats):
    for heat in heats:
        mean(torch.rand(3, int(heat)))
        mean(torch.rand(3, int(heat)).cuda())

main(input())
"""
BY_QUESTION = "if key not in GRIDS:\n        GRIDS[key] = torch.arange(size, device=device)\n    return GRIDS[key]"
BY_GET = "got = GRIDS.get(key)\n    if got is None:\n        got = GRIDS[key] = torch.arange(size, device=device)\n    return got"
APART = [
    "(size, device)",
    "(size, str(device))",
    "(size, device.type, device.index)",
    "f'{size}-{device}'",
    "'{}/{}'.format(size, device)",
    "hash((size, device))",
    "repr(device) + str(size)",
    "(size, (device, 0.5))",
    "(size, device.type == 'cuda')",
]


@pytest.mark.parametrize("filled", [BY_QUESTION, BY_GET], ids=["question", "get"])
@pytest.mark.parametrize("key", APART)
def test_a_key_with_the_device_tells_devices_apart(key: str, filled: str) -> None:
    assert told(TABLE.format(key=key, filled=filled)) == []


@pytest.mark.parametrize("key", ["size", "(size, 'plain')", "str(size)"])
def test_a_key_without_the_device_finds_what_another_call_has_made(key: str) -> None:
    assert "broken" in told(TABLE.format(key=key, filled=BY_QUESTION))


OF_OBJECT = """
class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.known = {{}}

    def forward(self, x):
        n = x.shape[1]
        if {asked} not in self.known:
            self.known[{asked}] = torch.arange(n, device=x.device)
        return x + self.known[{asked}]

def main():
    positions = Positions()
    positions(torch.rand(3, 8))
    positions(torch.rand(3, {size}, device="{second}"))

main()
"""


def test_so_does_a_table_of_an_object() -> None:
    assert "broken" in told(OF_OBJECT.format(asked="n", size=8, second="cuda"))
    assert told(OF_OBJECT.format(asked="n", size=8, second="cpu")) == []
    assert told(OF_OBJECT.format(asked="(n, x.device)", size=8, second="cuda")) == []


def test_what_is_read_behind_the_store_is_what_was_stored() -> None:
    text = """
    def put(table, name, value):
        old = table.get(name)
        table[name] = value
        return table[name], old

    new, _ = put({}, input(), torch.zeros(3, device="cuda"))
    print(new + torch.zeros(3{where}))
    """
    assert told(text.replace("{where}", ', device="cuda"')) == []
    assert "broken" in told(text.replace("{where}", ""))


def test_a_tensor_copies_what_is_stored_in_it_to_where_it_is() -> None:
    text = """
    class Storage:
        def __init__(self):
            self.kept = torch.zeros(10, 3)
            self.at = 0

        def put(self, x):
            self.kept[self.at] = x
            return self.kept[self.at] + torch.zeros(3)

    Storage().put(torch.zeros(3, device="cuda"))
    """
    assert told(text) == []


def test_a_table_of_classes_gives_what_it_holds_under_a_name_that_nobody_knows() -> None:
    text = """
    class Small(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x):
            return self.layer(x)

    NETS = {"small": Small}

    def build(name):
        return NETS.get(name)()

    build(input())(torch.zeros(3, device="cuda"))
    """
    assert "broken" in told(text)


def test_what_is_looked_up_under_a_condition_of_its_type_is_asked_anew() -> None:
    text = """
    def fill(table, x):
        torch.stack([table[0], table[1], table[2], table[3]])
        if isinstance(x, torch.Tensor):
            table[len(input())] = x
        return table[0]

    def main(rows):
        fill(rows, torch.zeros(3) if input() else 1.0)

    main({0: torch.zeros(3), 1: torch.zeros(3), 2: torch.zeros(3), 3: torch.zeros(3)})
    """
    assert told(text) == []
