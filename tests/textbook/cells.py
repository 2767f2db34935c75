"""Checks every cell of the table: fault x context x use. `python -m tests.textbook.cells [-v] [--misses] [--false]` prints what is found in each context."""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from torchdevlint.findings import Finding
from torchdevlint.linter import lint
from torchdevlint.settings import Settings

from .contexts import CONTEXTS, Context, Layout
from .table import Fault, faults

_MEMORY = (
    "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
)  # a folder on a disk takes longer than what is done in it


@dataclass(frozen=True, slots=True)
class Cell:
    """What the linter says of one fault at one place: whether it tells the fault, and what it says of the repaired twin."""

    fault: Fault
    context: str
    use: str
    told: bool
    others: tuple[str, ...]
    false: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.context}/{self.use}/{self.fault.name}"


def check(fault: Fault, context: Context) -> Iterator[Cell]:
    """The cells of a fault in a context."""
    repaired = context.layouts(fault.repaired)
    for use, layout in context.layouts(fault.faulty).items():
        found = list(_findings(layout))
        told = any(
            finding.code in fault.codes and (path, finding.span.start.row) in layout.marked for path, finding in found
        )
        false = tuple(map(_said, _findings(repaired[use])))
        yield Cell(fault, context.name, use, told, tuple(map(_said, found)), false)


def _findings(layout: Layout) -> Iterator[tuple[str, Finding]]:
    with tempfile.TemporaryDirectory(prefix="textbook", dir=_MEMORY) as folder:
        layout.write(Path(folder))
        for name in layout.checked:
            path = Path(folder) / name
            outcome = lint(str(path), path.read_bytes(), Settings(project=True))
            assert not outcome.problems, outcome.problems
            for finding in outcome.findings:
                yield name, finding


def _said(placed: tuple[str, Finding]) -> str:
    path, finding = placed
    return f"{path}:{finding.span.start.row}: {finding.code} {finding.message}"


def main() -> None:
    cells = [cell for fault in faults() for context in CONTEXTS for cell in check(fault, context)]
    wanted = [cell for cell in cells if cell.fault.codes]
    for told, title in (
        (lambda cell: cell.context, "context"),
        (lambda cell: cell.use, "use"),
        (lambda cell: f"{cell.context}/{cell.use}", "both"),
    ):
        whole, found = Counter(map(told, wanted)), Counter(told(cell) for cell in wanted if cell.told)
        print(title, {key: f"{found[key]}/{count} {found[key] / count:.0%}" for key, count in whole.items()})
    print(
        f"all: {sum(cell.told for cell in wanted)} of {len(wanted)}; twins with findings: {sum(bool(c.false) for c in cells)} of {len(cells)}"
    )
    if "--misses" in sys.argv:
        for fault in dict.fromkeys(cell.fault.name for cell in wanted):
            missed = [cell for cell in wanted if cell.fault.name == fault and not cell.told]
            if missed:
                whole = sum(cell.fault.name == fault for cell in wanted)
                where = "everywhere" if len(missed) == whole else " ".join(f"{c.context}/{c.use}" for c in missed)
                print(f"missed {fault} ({len(missed)} of {whole}): {where}")
                if "-v" in sys.argv:
                    for said in dict.fromkeys(said for cell in missed for said in cell.others):
                        print("     said:", said[:150])
    if "--false" in sys.argv:
        for fault in dict.fromkeys(cell.fault.name for cell in cells):
            false = [(cell, said) for cell in cells if cell.fault.name == fault for said in cell.false]
            for said in dict.fromkeys(said.partition(": ")[2][:140] for _, said in false):
                where = [f"{cell.context}/{cell.use}" for cell, text in false if said in text]
                print(f"false {fault} ({len(where)}): {said}   {where[0]} ...")


if __name__ == "__main__":
    main()
