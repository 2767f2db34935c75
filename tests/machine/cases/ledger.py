"""The ledger: every copy and synchronisation with its line."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPE = {"gpus": 2}
LEDGER = True
LEDGER_OF_MACHINE = MACHINE.ledger  # noqa: F821
x = torch.ones(4, 8)
g = x.cuda()


def entries(call) -> list[tuple[str, str, bool, int, int]]:
    """(kind, cause, implicit, count, bytes) of what a call did; all on its own line."""
    LEDGER_OF_MACHINE.clear()
    call()
    found = LEDGER_OF_MACHINE.entries
    assert all(entry.place.line == call.__code__.co_firstlineno for entry in found), found
    return [(e.kind, e.cause, e.implicit, e.count, e.bytes) for e in found]


def case_moves() -> None:
    assert entries(lambda: x.cuda()) == [("h2d", "cuda", False, 1, 128), ("sync", "cuda", False, 1, 0)]
    assert entries(lambda: g.cpu()) == [("d2h", "cpu", False, 1, 128), ("sync", "cpu", False, 1, 0)]
    assert entries(lambda: g.to("cuda:1")) == [("d2d", "to", False, 1, 128)]
    assert entries(lambda: g.to("cuda:0")) == [] and entries(lambda: x.cpu()) == []
    pinned = x.pin_memory()
    assert entries(lambda: pinned.to("cuda", non_blocking=True)) == [("h2d", "to", False, 1, 128)]
    assert entries(lambda: g.copy_(x)) == [("h2d", "copy_", False, 1, 128), ("sync", "copy_", False, 1, 0)]
    assert entries(lambda: torch.tensor([1.0, 2.0], device="cuda")) == [
        ("h2d", "tensor", False, 1, 8),
        ("sync", "tensor", False, 1, 0),
    ]
    assert entries(lambda: torch.zeros(3, device="cuda")) == []


def case_synchronisations() -> None:
    assert entries(lambda: g[0, 0].item()) == [("sync", "item", False, 1, 0)]
    assert entries(lambda: float(g.sum())) == [("sync", "item", False, 1, 0)]
    assert entries(lambda: bool(g.sum() > 0)) == [("sync", "item", False, 1, 0)]
    assert entries(lambda: g.nonzero()) == [("sync", "nonzero", False, 1, 0)]
    assert entries(lambda: torch.equal(g, g)) == [("sync", "equal", False, 1, 0)]
    assert entries(lambda: g[g > 0]) == [("sync", "mask index", False, 1, 0)]
    assert entries(lambda: torch.cuda.synchronize()) == [("sync", "synchronize", False, 1, 0)]
    assert entries(lambda: g.tolist()) == [("d2h", "tolist", False, 1, 128), ("sync", "tolist", False, 1, 0)]
    assert entries(lambda: x[0, 0].item()) == [] and entries(lambda: x.nonzero()) == []


def case_implicit_copies() -> None:
    index = torch.tensor([0, 1])
    assert entries(lambda: g[index]) == [("h2d", "index on the CPU", True, 1, 16)]
    assert entries(lambda: repr(g)) == [("d2h", "print", True, 1, 128), ("sync", "print", False, 1, 0)]


def case_a_training_step() -> None:
    model = nn.Linear(8, 2).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    target = torch.zeros(4, dtype=torch.long)
    for _ in range(2):  # the second step is like any other
        LEDGER_OF_MACHINE.clear()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x.cuda()), target.cuda())
        loss.backward()
        optimizer.step()
        loss.item()
    assert LEDGER_OF_MACHINE.copies == 2 and LEDGER_OF_MACHINE.syncs == 3, LEDGER_OF_MACHINE.entries
    assert LEDGER_OF_MACHINE.describe() == "2 copies (160 bytes) and 3 synchronisations"
