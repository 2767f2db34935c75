"""Short idioms of Python and PyTorch, and where a tensor ends up: a run on the virtual GPU machine says what the analysis must.

usage: python benchmarks/idioms.py score [FIELD...] [--half seen|unseen] [--shown] [--result now|before]
       python benchmarks/idioms.py check [FIELD...]

benchmarks/idioms/BATCH/FIELD.txt holds idioms whose authors knew nothing of the analysis, in the form of tests/infer/language.txt: `==== KIND NAME`, definitions
that end in `----`, and lines that bind `o`. They are given `t` and a tensor `x` on the GPU. KIND is what a run shows: `carries`, `o` is where `t` is; `moves`, it is
on the GPU wherever `t` is; `leaves`, it is on the CPU wherever `t` is. Each makes four programs: in `main` or in a function of its own, with `t` on the CPU or the GPU;
`x + o` fails where `o` is on the CPU. A finding of a rule that speaks of devices, on a program that runs, is false.

Of the batches in `_OPENED` both halves have been looked at, once the figures at first sight were taken. Of the others, half are *unseen*, by a hash of the
name: nobody who works on the analysis reads those (`--shown` names none). The seventh, eighth and ninth batch hold programs that run alone: their authors
were asked for what looks dangerous and is right, and whatever is told of them is false. `check` runs all on the machine, and names what shows something else
than is written there.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import signal
import sys
import tempfile
import textwrap
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from differential.score import APART, DOES_NOTHING, SPEAKS_OF_DEVICES
from idiom_programs import IMPORTS, IN_A_FUNCTION, IN_MAIN, ON_THE_CPU, ON_THE_GPU
from oracles import Row, result_of, write

import torchdevlint
from torchdevlint import check_source

IDIOMS = Path(__file__).resolve().parent / "idioms"
_OPENED = ("first", "second", "fourth", "seventh", "eighth", "ninth")  # batches of which both halves were looked at
_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Idiom:
    """One entry of a file."""

    batch: str
    field: str
    kind: str
    name: str
    top: str
    lines: str

    @property
    def half(self) -> str:
        """ "seen" or "unseen"."""
        is_odd = int(hashlib.sha256(self.name.encode()).hexdigest(), 16) % 2 == 1
        return "unseen" if is_odd and self.batch not in _OPENED else "seen"

    def programs(self) -> Iterator[tuple[str, bool]]:
        """The four programs, and whether a run of each fails."""
        for form in (IN_MAIN, IN_A_FUNCTION):
            for made, fails in ((ON_THE_CPU, self.kind != "moves"), (ON_THE_GPU, self.kind == "leaves")):
                yield IMPORTS + self.top + form.format(made=made, lines=textwrap.indent(self.lines, "    ")), fails


class Told(NamedTuple):
    """What the linter says of a program: `worst` is "" for nothing, "info", "warning" or "error"."""

    fails: bool
    worst: str


def stored() -> list[Idiom]:
    """All idioms, by batch and field."""
    found = []
    for path in sorted(IDIOMS.glob("*/*.txt")):
        for part in path.read_text(encoding="utf-8").split("==== ")[1:]:
            header, _, body = part.partition("\n")
            kind, _, name = header.strip().partition(" ")
            top, marked, lines = body.rpartition("----\n")
            found.append(Idiom(path.parent.name, path.stem, kind, name, top if marked else "", lines))
    return found


def told(idiom: Idiom) -> list[Told]:
    """What the linter says of each of the four programs."""
    found = []
    for text, fails in idiom.programs():
        labels = {
            finding.severity.label
            for finding in check_source(text, level="info")
            if SPEAKS_OF_DEVICES.match(finding.code) and finding.code not in (*APART, DOES_NOTHING)
        }
        found.append(Told(fails, next((one for one in ("error", "warning", "info") if one in labels), "")))
    return found


def row_of(half: str, batch: str, several: Sequence[tuple[Idiom, list[Told]]]) -> Row:
    """The figures of the idioms of a batch and a half."""
    every = [one for _, programs in several for one in programs]
    fields = sorted({idiom.field for idiom, _ in several})
    families = {
        field: _counts(one for idiom, programs in several if idiom.field == field for one in programs)
        for field in fields
    }
    right = [one.worst for one in every if not one.fails]
    return Row(
        batch,
        half,
        "programs",
        *_counts(every),
        clean=len(right),
        false=sum(worst in ("error", "warning") for worst in right),
        false_errors=right.count("error"),
        false_notes=right.count("info"),
        families=families,
    )


def _counts(programs: Iterable[Told]) -> tuple[int, int, int]:
    failing = [one.worst for one in programs if one.fails]
    return len(failing), sum(worst in ("error", "warning") for worst in failing), sum(bool(worst) for worst in failing)


def _shown(idiom: Idiom, programs: list[Told]) -> Iterator[str]:
    """What is missed and false of an idiom."""
    for one, where in zip(programs, ("main, CPU", "main, GPU", "function, CPU", "function, GPU"), strict=True):
        if one.fails and not one.worst:
            yield f"missed: {idiom.field}/{idiom.name} ({where})"
        elif not one.fails and one.worst:
            yield f"false {one.worst}: {idiom.field}/{idiom.name} ({where})"


def outcome(text: str) -> str:
    """What a run on the virtual machine shows: "passes", "fails" for the error about devices, or another error; in a forked child."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writing, _run(text).encode())
        os._exit(0)
    os.close(writing)
    end = time.monotonic() + _SECONDS
    while not os.waitpid(pid, os.WNOHANG)[0]:
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            break
        time.sleep(0.005)
    found = os.read(reading, 500).decode() or f"does not end within {_SECONDS} s"
    os.close(reading)
    return found


def _run(text: str) -> str:
    from torchdevlint.machine import Shape, start

    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
                start(Shape(gpus=1))
                exec(compile(text, "idiom.py", "exec"), {"__name__": "__main__"})
        except Exception as error:  # whatever the idiom raises
            said = str(error)
            of_devices = any(one in said for one in ("same device", "cuda", "on CPU", "on CUDA"))
            return "fails" if of_devices else f"{type(error).__name__}: {said[:200]}"
    return "passes"


def checked(idioms: Sequence[Idiom]) -> Iterator[str]:
    """What is not as it is written."""
    import torch

    torch.set_num_threads(1)  # a forked child cannot use its parent's pool of threads
    for idiom in idioms:
        shown = [(outcome(text), fails) for text, fails in idiom.programs()]
        wrong = [seen for seen, fails in shown if seen != ("fails" if fails else "passes")]
        if wrong:
            yield f"{idiom.batch}/{idiom.field}/{idiom.name} says {idiom.kind}: {', '.join(dict.fromkeys(wrong))}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = parser.add_subparsers(dest="way", required=True)
    scoring, checking = ways.add_parser("score"), ways.add_parser("check")
    scoring.add_argument("--half", choices=("seen", "unseen"))
    scoring.add_argument("--shown", action="store_true", help="name what is missed and false on the seen half")
    scoring.add_argument("--result", choices=("now", "before"), help="store the figures for docs/accuracy.md")
    for one in (scoring, checking):
        one.add_argument("fields", nargs="*", metavar="FIELD", help="default: all")
    options = parser.parse_args()
    idioms = [one for one in stored() if not options.fields or one.field in options.fields]
    if not idioms:
        print("no field has such a name; the fields are the files of benchmarks/idioms", file=sys.stderr)
        return 2
    if options.way == "check":
        warnings.simplefilter("ignore")
        wrong = list(checked(idioms))
        print(*wrong, f"{len(idioms) - len(wrong)} of {len(idioms)} idioms do as they say", sep="\n")
        return 1 if wrong else 0
    idioms = [one for one in idioms if options.half in (None, one.half)]
    with ProcessPoolExecutor(os.cpu_count() or 1) as pool:
        scores = list(zip(idioms, pool.map(told, idioms, chunksize=8), strict=True))
    rows = []
    for half in ("seen", "unseen"):
        for batch in sorted({one.batch for one in idioms}):
            several = [one for one in scores if (one[0].half, one[0].batch) == (half, batch)]
            if several:
                rows.append(row_of(half, batch, several))
    for idiom, programs in scores if options.shown else ():
        if idiom.half == "seen":
            for line in _shown(idiom, programs):
                print(line)
    print(*rows, sep="\n")
    if options.result:
        about = "Short idioms by authors who knew nothing of the analysis, each in four programs, and judged by the machine."
        checkout = Path(torchdevlint.__file__).resolve().parents[1]  # of the linter that is on the path
        print(write(result_of("idioms", options.result, "`python benchmarks/idioms.py score`", about, rows, checkout)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
