"""Each entry of the eighth and the ninth batch by itself: where its tensor is, what it carries, and whether its operands meet, as the virtual machine says."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
import warm
from differential import draw, kept_eighth, kept_ninth, tables_eighth, tables_ninth
from differential.judges import Machine, Verdict
from differential.programs import Parts, Program, Spec
from differential.rows import KINDS, Carrier, Device, Kind, Maker, Meeting, Placer, takes

torch = pytest.importorskip("torch")

PARTS: dict[str, tuple[Any, Any]] = {"eighth": (tables_eighth, kept_eighth), "ninth": (tables_ninth, kept_ninth)}
RIGHT = {batch: opened.RIGHT | kept.RIGHT for batch, (opened, kept) in PARTS.items()}
CUDA = 'torch.device("cuda")'
DTYPES = {"F": "torch.float32", "N": "torch.float32", "I": "torch.int64", "B": "torch.bool"}
PLAIN = draw.rows(False)


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", warm.Popen)
        started = Machine()
        yield started
        started.child.close()


@pytest.fixture(params=PARTS)
def batch(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def own(batch: str, table: str) -> list[Any]:
    return list(draw.rows(True, (batch,))[table].values())


def parts_of(
    right: bool,
    meeting: Meeting,
    maker: Maker = PLAIN["maker"]["rand"],
    carrier: Carrier = PLAIN["carrier"]["local"],
    placer: Placer = PLAIN["placer"]["to-device"],
    device: Device = PLAIN["device"]["literal"],
) -> Parts:
    return Parts(Spec(maker, (carrier,), meeting, placer, device, PLAIN["shape"]["script"], "inline", 0), right)


def of_kind(kind: Kind, x: str = "mat") -> Meeting:
    """A meeting that asks for tensors of a kind and does nothing with them."""
    return Meeting("none", x, kind.name, "out = $x")


def seen(name: str) -> str:
    """The line that prints what a test compares."""
    return f"print({name}.device.type, tuple({name}.shape), {name}.dtype)"


def looks(kind: Kind, device: str) -> str:
    return f"{device} {kind.dims} {DTYPES[kind.sort]}\n"


def check(machine: Machine, cases: Iterable[tuple[str, Program, str]]) -> None:
    """Compares what programs print (or `fault`) with what is expected of them."""
    known = list(cases)
    assert known
    verdicts = machine.run([program for _, program, _ in known])
    wrong = [
        f"{name}: {told(verdict)!r}, expected {expected!r}"
        for (name, _, expected), verdict in zip(known, verdicts, strict=True)
        if told(verdict) != expected
    ]
    assert not wrong, "\n".join(wrong)


def told(verdict: Verdict) -> str:
    return verdict.printed if verdict.kind == "ok" else verdict.text if verdict.kind == "other" else verdict.kind


def test_right_rows_are_rows(batch: str) -> None:
    opened, kept = PARTS[batch]
    for part in (opened, kept):
        names = [row.name for row in (*part.MAKERS, *part.CARRIERS, *part.MEETINGS)]
        assert set(names) >= part.RIGHT
        assert all(names.count(name) == 1 for name in part.RIGHT)
        assert len(part.RIGHT) / len(names) >= 0.25
    assert not opened.RIGHT & kept.RIGHT


def test_makers_give_what_they_say_where_they_say(machine: Machine, batch: str) -> None:
    def cases() -> Iterator[tuple[str, Program, str]]:
        for maker in own(batch, "maker"):
            for kind in (kind for kind in KINDS.values() if takes(maker.kinds, kind)):
                for right in (False, True):
                    p = parts_of(right, of_kind(kind), maker=maker)
                    program = p.single([*p.make(CUDA, "made"), seen("made")])
                    yield maker.name, program, looks(kind, "cuda" if right or maker.name in RIGHT[batch] else "cpu")

    check(machine, cases())


def test_carriers_keep_the_device_or_place_it(machine: Machine, batch: str) -> None:
    def cases() -> Iterator[tuple[str, Program, str]]:
        for carrier in (carrier for carrier in own(batch, "carrier") if carrier.wrap is None):
            for kind in (kind for kind in KINDS.values() if takes(carrier.kinds, kind)):
                for right in (False, True):
                    p = parts_of(right, of_kind(kind), carrier=carrier)
                    made = p.make(CUDA)
                    carried, name = p.carry(scope="global")
                    program = p.single([*made, *carried, seen(name)])
                    yield carrier.name, program, looks(kind, "cuda" if right or carrier.name in RIGHT[batch] else "cpu")

    check(machine, cases())


def test_operands_meet_in_carriers_of_both(machine: Machine, batch: str) -> None:
    def cases() -> Iterator[tuple[str, Program, str]]:
        for carrier in (carrier for carrier in own(batch, "carrier") if carrier.wrap is not None):
            for right in (False, True):
                p = parts_of(right, PLAIN["meeting"]["add"], carrier=carrier)
                lines = [*p.place(CUDA), *p.make(CUDA), *p.meet(p.t), "print(out is not None)"]
                yield carrier.name, p.single(lines), "True\n" if right or carrier.name in RIGHT[batch] else "fault"

    check(machine, cases())


def test_meetings_fail_or_hold(machine: Machine, batch: str) -> None:
    def cases() -> Iterator[tuple[str, Program, str]]:
        for meeting in own(batch, "meeting"):
            for right in (False, True):
                p = parts_of(right, meeting)
                lines = [*p.place(CUDA), *p.make(CUDA), *p.module(CUDA), *p.meet(p.t, "layer")]
                program = p.single([*lines, f"print(({p.shown()}) is not None)"])
                yield meeting.name, program, "True\n" if right or meeting.name in RIGHT[batch] else "fault"

    check(machine, cases())


def test_placers_place(machine: Machine, batch: str) -> None:
    def cases() -> Iterator[tuple[str, Program, str]]:
        for placer in own(batch, "placer"):
            for kind in (kind for kind in KINDS.values() if takes(placer.kinds, kind)):
                p = parts_of(False, of_kind(KINDS["vec"], kind.name), placer=placer)
                yield placer.name, p.single([*p.place(CUDA), seen(p.x)]), looks(kind, "cuda")

    check(machine, cases())


def test_devices_are_the_gpu(machine: Machine, batch: str) -> None:
    def cases() -> Iterator[tuple[str, Program, str]]:
        for device in own(batch, "device"):
            p = parts_of(False, of_kind(KINDS["vec"]), device=device)
            yield device.name, p.single([f"print(torch.ones(1, device={p.device}).device.type)"]), "cuda\n"

    check(machine, cases())


def test_shapes_show_the_fault_and_run_without_it(machine: Machine, batch: str) -> None:
    drawn = [one for one in draw.singles(8, 2, True, (batch,)) if one.table == "shape"]
    faulty, right = (machine.run([one.program(placed) for one in drawn]) for placed in (False, True))
    assert len(drawn) == 2 * len(own(batch, "shape"))
    for one, left, placed in zip(drawn, faulty, right, strict=True):
        assert (left.kind, placed.kind) == ("fault", "ok"), one.program(False).text()
