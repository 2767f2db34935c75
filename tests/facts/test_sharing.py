"""What shares the memory of what: names that are bound to something of themselves end the search."""

from __future__ import annotations

import pytest

from torchdevlint import check_source

LINES = {
    "a view of itself": "rows = rows.view(-1)\n        self.rows = rows.to(device)",
    "views in turn": "while rows is not None:\n            a = rows.view(-1)\n            rows = a.view(-1)\n        self.rows = rows.to(device)",
    "a row of itself": "for rows in rows:\n            self.rows = rows.to(device)\n            rows[0] = 1",
    "rows of each other": "for a, b in zip(b, a):\n            self.rows = a.to(device)\n            b += a",
    "a function that calls itself": "self.rows = again(rows, device)\n        again(self.rows, device)",
}


@pytest.mark.parametrize("lines", LINES.values(), ids=LINES)
def test_the_search_ends(lines: str) -> None:
    source = f"""import torch

def again(x, device):
    x[0] = 1
    return again(x, device).to(device)

class A:
    def __init__(self, rows, device):
        {lines}

    def change(self, value):
        self.rows[0] = value

    def read(self):
        return self.rows.sum()
"""
    assert all(one.code != "TDL000" for one in check_source(source))
