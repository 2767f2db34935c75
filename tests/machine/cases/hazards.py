"""Hazards: host memory that is touched while an asynchronous copy is in flight."""

import torch

SHAPE = {"gpus": 1}
g = torch.ones(3, device="cuda")


def found() -> list[tuple[str, str, int]]:
    """(kind, operator, line) of the hazards since the last call."""
    hazards = [(h.kind, h.operator, h.place.line - 1) for h in MACHINE.hazards]  # noqa: F821
    MACHINE.forget()  # noqa: F821
    torch.cuda.synchronize()
    return hazards


def line_of(case, offset: int) -> int:
    return case.__code__.co_firstlineno + offset - 1


def case_reading_before_a_synchronisation() -> None:
    y = g.to("cpu", non_blocking=True)
    y.sum()
    assert found() == [("read-before-sync", "sum.default", line_of(case_reading_before_a_synchronisation, 2))]
    y = g.to("cpu", non_blocking=True)
    y.numpy()
    assert [hazard[:2] for hazard in found()] == [("read-before-sync", "numpy")]
    y = torch.empty(3, pin_memory=True)
    y.copy_(g, non_blocking=True)
    y.tolist()
    assert [hazard[:2] for hazard in found()] == [("read-before-sync", "tolist")]
    y = g.to("cpu", non_blocking=True)
    y.clone()
    assert [hazard[:2] for hazard in found()] == [("read-before-sync", "clone.default")]


def case_a_synchronisation_ends_it() -> None:
    event = torch.cuda.Event()
    for wait in (
        torch.cuda.synchronize,
        torch.cuda.current_stream().synchronize,
        event.synchronize,
        g.cpu,
        lambda: g[0].item(),
    ):
        y = g.to("cpu", non_blocking=True)
        wait()
        y.sum()
        assert found() == [], wait


def case_blocking_copies_are_safe() -> None:
    g.to("cpu").sum()
    g.cpu().numpy()
    torch.ones(3).pin_memory().to("cuda").sum()
    assert found() == []


def case_pinned_buffer_reused_too_early() -> None:
    buffer = torch.ones(3).pin_memory()
    buffer.to("cuda", non_blocking=True)
    buffer.fill_(2)
    assert [hazard[0] for hazard in found()] == ["overwrite-before-sync"]
    buffer.to("cuda", non_blocking=True)
    buffer.sum()  # two readers are no hazard
    torch.cuda.synchronize()
    buffer.fill_(3)
    assert found() == []
    pageable = torch.ones(3)
    pageable.to("cuda", non_blocking=True)  # staged by the driver: the buffer is free at once
    pageable.fill_(2)
    assert found() == []


def case_where_the_copy_began() -> None:
    y = g.to("cpu", non_blocking=True)
    y.sum()
    hazard = MACHINE.hazards[0]  # noqa: F821
    assert hazard.copied_at.line == hazard.place.line - 1
    assert "sum.default reads a CPU tensor that a non_blocking copy from the GPU may still be writing" in hazard.message
    found()
