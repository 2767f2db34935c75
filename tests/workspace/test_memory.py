"""What a process remembers of projects goes when it is to be forgotten."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import torchdevlint
from torchdevlint.workspace import memory, pool

TEXT = "import torch\nimport torch.distributed as dist\n\n\ndef f(x):\n    y = torch.zeros(3)\n    dist.all_reduce(y)\n    return x.cuda() + y\n"


def _sizes(rooms: tuple[str, ...]) -> dict[str, int]:
    """How many answers the functions of some modules remember."""
    return {
        f"{name}.{member.__name__}": member.cache_info().currsize
        for name, module in list(sys.modules.items())
        if name.startswith(rooms) and name != "torchdevlint.rules.registry"
        for member in vars(module).values()
        if hasattr(member, "cache_info")
    }


@pytest.mark.parametrize(
    ("forget", "rooms"),
    [
        (memory.forget_answers, ("torchdevlint.rules.", "torchdevlint.facts.")),
        (memory.forget_projects, ("torchdevlint.rules.", "torchdevlint.facts.", "torchdevlint.program.project")),
    ],
)
def test_nothing_that_was_remembered_of_a_project_stays(forget, rooms, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(pool, "can_fork", lambda: False)  # this process does the work
    (tmp_path / "a.py").write_text(TEXT, encoding="utf-8")
    torchdevlint.check_paths([tmp_path])
    assert any(_sizes(rooms).values())
    forget()
    assert not {name: size for name, size in _sizes(rooms).items() if size}
