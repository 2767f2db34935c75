"""Draws specs: one construct at a time among plain ones (`singles`), or everything at once (`combined`)."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from differential import (  # noqa: F401  (the modules of shapes enter them into their table)
    kept,
    kept_eighth,
    kept_fifth,
    kept_fourth,
    kept_later,
    kept_ninth,
    kept_seventh,
    kept_shapes,
    kept_shapes_eighth,
    kept_shapes_fifth,
    kept_shapes_fourth,
    kept_shapes_ninth,
    kept_shapes_seventh,
    kept_shapes_sixth,
    kept_shapes_third,
    kept_sixth,
    kept_third,
    shapes_eighth,
    shapes_fifth,
    shapes_fourth,
    shapes_ninth,
    shapes_seventh,
    shapes_sixth,
    shapes_third,
    tables,
    tables_eighth,
    tables_fifth,
    tables_fourth,
    tables_ninth,
    tables_seventh,
    tables_sixth,
    tables_third,
)
from differential.programs import Parts, Program, Shape, Spec
from differential.rows import FIXES
from differential.shapes import BUILDERS, SHAPES

TABLES = ("maker", "carrier", "meeting", "placer", "device", "shape")
BATCHES = ("first", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
"""When entries were written: those of `first` by 2026-11-23 by the authors of the analysis, the later ones by others who knew nothing of it."""
OPENED = ("third", "fourth", "fifth", "sixth", "eighth")
"""Batches whose kept entries the authors of the analysis read on 2026-11-26: since then they guard what was mended and give no unseen figure."""
_MODULES = (
    ("first", tables, False),
    ("first", kept, True),
    ("first", kept_later, True),
    ("third", tables_third, False),
    ("third", kept_third, True),
    ("fourth", tables_fourth, False),
    ("fourth", kept_fourth, True),
    ("fifth", tables_fifth, False),
    ("fifth", kept_fifth, True),
    ("sixth", tables_sixth, False),
    ("sixth", kept_sixth, True),
    ("seventh", tables_seventh, False),
    ("seventh", kept_seventh, True),
    ("eighth", tables_eighth, False),
    ("eighth", kept_eighth, True),
    ("ninth", tables_ninth, False),
    ("ninth", kept_ninth, True),
)
PLAIN = {
    "maker": ("zeros", "rand", "ones", "tensor-of-list"),
    "carrier": ("local",),
    "meeting": ("add", "mul", "matmul", "cat", "F.mse_loss", "Linear-then-add"),
    "placer": ("to-device", "device-keyword", "rebind-to"),
    "shape": ("script", "function", "forward"),
    "device": ("available", "literal"),
}
"""Entries that every analyser should follow: `singles` leaves them in all tables but one."""
_OTHER_PLAIN = ("index_select", "masked_fill", "gather", "F.linear", "bmm", "Embedding-input", "0-dim-stack", "add")
_ATTEMPTS = 3000
_EASY = 150
"""Attempts with the plain meetings, before those of `_OTHER_PLAIN` are drawn for a kind of tensor that the plain ones do not take."""
_CARRIERS = (1, 1, 1, 2, 2, 3)
"""How many carriers a combined program has: drawn from these."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A spec, and the table whose entry it stands for ("" in combined samples)."""

    table: str
    spec: Spec

    def program(self, right: bool) -> Program:
        """The right program of the pair, or the one with the tensor left where it was."""
        return build(self.spec, right)


def build(spec: Spec, right: bool) -> Program:
    """The program of a spec."""
    return BUILDERS[spec.shape.name](Parts(spec, right))


def rows(with_kept: bool, batches: Sequence[str] = BATCHES) -> dict[str, dict[str, Any]]:
    """The entries of some batches by table and name."""
    modules = [module for batch, module, is_kept in _MODULES if batch in batches and (with_kept or not is_kept)]
    found = {table: named(table, modules) for table in TABLES if table != "shape"}
    found["shape"] = {
        name: shape for name, shape in SHAPES.items() if shape.batch in batches and (with_kept or not shape.kept)
    }
    return found


def named(table: str, modules: Iterable[object]) -> dict[str, Any]:
    """The entries of one table in these modules, by name; a ValueError where two have the same name."""
    found: dict[str, Any] = {}
    for module in modules:
        for row in getattr(module, f"{table.upper()}S", ()):
            if row.name in found:
                raise ValueError(f"two entries of the table of {table}s are called {row.name!r}")
            found[row.name] = row
    return found


def side(spec: Spec) -> str:
    """One of `oracles.SIDES`: "unseen" with a kept entry of a batch that is closed, "regression" with kept ones of opened batches alone."""
    kept = [row for row in spec.rows() if row.kept]
    return "seen" if not kept else "unseen" if any(row in _closed() for row in kept) else "regression"


@functools.cache
def _closed() -> frozenset[Any]:
    closed = rows(True, [batch for batch in BATCHES if batch not in OPENED])
    return frozenset(row for table in closed.values() for row in table.values() if row.kept)


def shares() -> dict[str, tuple[int, int]]:
    """How many entries of each table are kept, and how many it has."""
    return {table: (sum(row.kept for row in entries.values()), len(entries)) for table, entries in rows(True).items()}


def singles(seed: int, each: int, with_kept: bool = False, batches: Sequence[str] = BATCHES) -> Iterator[Drawn]:
    """For each entry of some batches, `each` specs whose other entries are plain ones."""
    draw, entries = random.Random(seed), rows(False)
    for table, found in rows(with_kept, batches).items():
        for row in found.values():
            given = 0
            for attempt in range(_ATTEMPTS):
                names = {name: draw.choice(PLAIN[name]) for name in TABLES}
                if attempt > _EASY:
                    names["meeting"] = draw.choice(_OTHER_PLAIN)
                    names["placer"] = "device-keyword"
                    names["maker"] = draw.choice((*PLAIN["maker"], "arange"))
                if table == "meeting" and row.group:
                    names["shape"] = "process-group"
                chosen = {name: entries[name][names[name]] for name in TABLES} | {table: row}
                spec = _spec(draw, chosen, (chosen["carrier"],))
                if spec.fits():
                    yield Drawn(table, spec)
                    given += 1
                if given == each:
                    break


def combined(seed: int, count: int, with_kept: bool = False, batches: Sequence[str] = BATCHES) -> Iterator[Drawn]:
    """`count` specs of anything in some batches; each table leads in turn, so that every entry comes about equally often.

    With `with_kept`, each spec has at least one entry that is kept.
    """
    draw = random.Random(seed)
    entries = {table: list(found.values()) for table, found in rows(with_kept, batches).items()}
    decks: dict[str, list[Any]] = {table: [] for table in TABLES}
    given = 0
    while given < count:
        leader = TABLES[given % len(TABLES)]
        leads = _deal(draw, decks[leader], entries[leader], with_kept)
        for _ in range(_ATTEMPTS):
            chosen = {table: draw.choice(found) for table, found in entries.items()} | {leader: leads}
            carriers = [chosen["carrier"]]
            carriers += [draw.choice(entries["carrier"]) for _ in range(draw.choice(_CARRIERS) - 1)]
            spec = _spec(draw, chosen, tuple(carriers))
            if spec.fits():
                yield Drawn("", spec)
                break
        given += 1


def _deal(draw: random.Random, deck: list[Any], entries: Sequence[Any], only_kept: bool) -> Any:
    if not deck:
        deck += [entry for entry in entries if entry.kept or not only_kept]
        draw.shuffle(deck)
    return deck.pop()


def _spec(draw: random.Random, chosen: dict[str, Any], carriers: tuple[Any, ...]) -> Spec:
    shape: Shape = chosen["shape"]
    key = draw.randrange(1 << 30)
    fix = draw.choice(FIXES)
    return Spec(chosen["maker"], carriers, chosen["meeting"], chosen["placer"], chosen["device"], shape, fix, key)
