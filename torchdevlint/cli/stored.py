"""What `torchdevlint debug` tells of files: what is saved on a line, and what is in a file that is loaded there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchdevlint.cli.debug import Place
    from torchdevlint.infer.analysis import Analysis
    from torchdevlint.infer.stored import Read, Write

_MOST_WRITES = 5


def of_files(place: Place, analysis: Analysis) -> Iterator[str]:
    """The loads and saves of a line, with the claim that a load makes."""
    from torchdevlint.infer.holding import Loads, writes_of

    if not {"load", "save"} & place.program.words:
        return
    ops, loads = set(place.ops), Loads(analysis)
    for op in place.ops:
        reads = loads.of(op) or loads.alone(op)
        if reads:
            yield from _of_load(reads, analysis, place)
    saved = [one for one in writes_of(analysis) if one.site.op in ops]
    if saved:
        yield "saved here"
        yield from _of_writes(saved, place)


def _of_load(reads: Sequence[Read], analysis: Analysis, place: Place) -> Iterator[str]:
    from torchdevlint.infer.holding import holding, is_on_host, may_be
    from torchdevlint.infer.origins import is_of_this_run, is_published
    from torchdevlint.infer.printing import show

    yield "loaded here: this machine must have the devices that the file was saved from"
    for path in dict.fromkeys(show(one) for read in reads for one in may_be(read)):
        yield f"  file: {path}"
    if is_published(list(reads)):
        yield "  open: it is published, and holds what its publisher saved"
    if is_of_this_run(list(reads)):
        yield "  met: this run has written it, on this machine"
    writes = holding(analysis, list(reads), frozenset())
    if writes is None:
        yield "  open: nobody knows who has written it"
        return
    is_met = all(map(is_on_host, writes))
    yield "  met: all that may be in it is on the CPU" if is_met else "  open: what may be in it"
    yield from _of_writes([one for one in writes if is_met or not is_on_host(one)], place)


def _of_writes(writes: Sequence[Write], place: Place) -> Iterator[str]:
    from torchdevlint.cli.debug import where
    from torchdevlint.infer.printing import show_place

    told: dict[str, None] = {}
    for one in writes:
        devices = " | ".join(dict.fromkeys(show_place(at) for _, at in one.held)) or "no tensor"
        told[f"    saved on {where((one.site, *one.chain), place.path)}: {devices}"] = None
    yield from list(told)[:_MOST_WRITES]
    if len(told) > _MOST_WRITES:
        yield f"    and {len(told) - _MOST_WRITES} more"


__all__ = ["of_files"]
