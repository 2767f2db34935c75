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
