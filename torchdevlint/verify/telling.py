"""What the processes of a run reported, as lines for a person."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from torchdevlint.machine.launch import ProcessReport

_MOST_LINES = 20
_LONGEST_MESSAGE = 300


def shorten(path: str) -> str:
    """A path relative to the working folder where it lies below it."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return path


def place_text(place: Sequence[Any] | None) -> str:
    """A `[file, line]` pair of a report as `train.py:52`."""
    return f"{shorten(str(place[0]))}:{place[1]}" if place else "outside user code"


def first_line(message: str) -> str:
    """An error text on one line, of bearable length."""
    line = " ".join(message.strip().splitlines()[:1])
    return line if len(line) <= _LONGEST_MESSAGE else line[: _LONGEST_MESSAGE - 3] + "..."


def story(places: dict[str, Any]) -> str:
    """The guilty lines of a fault: `mat2 on cpu: created model.py:41, moved train.py:37; met at train.py:52`."""
    parts = []
    for tensor in places["tensors"]:
        steps = ["created " + place_text(tensor["created"])]
        if tensor["moved"]:
            steps.append("moved " + place_text(tensor["moved"]))
        parts.append(f"{tensor['name']} on {tensor['device']}: {', '.join(steps)}")
    return "; ".join([*parts, "met at " + place_text(places["met"])])


def tell(reports: Sequence[ProcessReport], ledger: bool = False) -> Iterator[str]:
    """Everything that a run showed: faults, hazards, processes outside the machine, operators nobody can judge."""
    yield from _distinct(_faults(reports), "fault")
    yield from _distinct(_hazards(reports), "hazard")
    for report in reports:
        if report.refused:
            yield f"the machine did not start in process {report.pid}: {report.refused}"
        if report.started and not report.finished:
            yield f"process {report.pid} did not end by itself: what it met is not reported"
        for command in report.without_machine:
            yield f"a child ran without the machine, so nothing is known about it: {command}"
    unjudged = {(u["operator"], place_text(u["place"])) for report in reports for u in report.unjudged}
    for operator, where in sorted(unjudged):
        yield f"{where}: {operator} met tensors on two devices, and the machine cannot judge that"
    for note in dict.fromkeys(note for report in reports for note in report.notes):
        yield f"note: {note}"
    if ledger:
        yield from _ledger(reports)


def _faults(reports: Iterable[ProcessReport]) -> Iterator[str]:
    for report in reports:
        escaped = report.uncaught["places"] if report.uncaught else None
        for fault in report.faults:
            where = place_text(fault["places"]["met"])
            how = "" if not report.finished or fault["places"] == escaped else " (caught by the program)"
            yield f"{where}: {fault['kind']}: {first_line(fault['message'])}{how}"
            yield f"    {story(fault['places'])}" if fault["places"]["tensors"] else ""


def _hazards(reports: Iterable[ProcessReport]) -> Iterator[str]:
    for report in reports:
        for hazard in report.hazards:
            yield f"{place_text(hazard['place'])}: hazard: {hazard['message']}"
            yield f"    the copy began at {place_text(hazard['copied_at'])}"


def _distinct(lines: Iterable[str], kind: str) -> Iterator[str]:
    """Pairs of lines, each pair once, and at most `_MOST_LINES` of them."""
    flat = list(lines)
    pairs = list(dict.fromkeys(zip(flat[::2], flat[1::2], strict=True)))
    for head, detail in pairs[:_MOST_LINES]:
        yield head
        if detail:
            yield detail
    if len(pairs) > _MOST_LINES:
        yield f"... and {len(pairs) - _MOST_LINES} more {kind}s"


def cost(count: int, size: int) -> float:
    """About how many microseconds traffic takes, to put what matters first: 10 an event, and 1 for each 10,000 bytes (10 GB/s).

    Pageable copies over PCIe 4 reach 6 to 12 GB/s, and a launch with its wait takes about 10 microseconds. Only the order is told.
    """
    return 10.0 * count + size / 10_000


_KINDS = {"h2d": "host to device", "d2h": "device to host", "d2d": "device to device", "sync": "synchronisation"}


def _ledger(reports: Sequence[ProcessReport]) -> Iterator[str]:
    total: dict[tuple[Any, ...], list[int]] = {}
    for report in reports:
        for entry in report.ledger or ():
            key = (place_text(entry["place"]), entry["kind"], entry["cause"], entry["implicit"])
            counts = total.setdefault(key, [0, 0])
            counts[0] += entry["count"]
            counts[1] += entry["bytes"]
    copies = sum(counts[0] for key, counts in total.items() if key[1] != "sync")
    syncs = sum(counts[0] for key, counts in total.items() if key[1] == "sync")
    size = sum(counts[1] for counts in total.values())
    yield f"ledger: {_plural(copies, 'copy', 'copies')} ({size:,} bytes) and {_plural(syncs, 'synchronisation')}"
    for (where, kind, cause, implicit), (count, bytes_) in sorted(total.items(), key=lambda item: -cost(*item[1])):
        what = _KINDS[kind] + ("" if kind == "sync" else f", {bytes_:,} bytes")
        yield f"  {where}: {count} x {cause}{' (implicit)' if implicit else ''}: {what}"


def _plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def exit_text(returncode: int) -> str:
    """How a process ended, in words. Negative numbers are signals, as in `subprocess`."""
    if returncode >= 0:
        return f"exit code {returncode}"
    import signal

    try:
        return f"killed by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"killed by signal {-returncode}"


def has_hazard(reports: Iterable[ProcessReport]) -> bool:
    """Whether any process of the run showed a silent fault."""
    return any(report.hazards for report in reports)


def source_name(program: Sequence[str], module: bool) -> str:
    """The program as the user named it."""
    return f"-m {program[0]}" if module else os.fspath(program[0])
