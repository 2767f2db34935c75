"""Generated programs, judged by the virtual machine: what the linter finds, what it says of programs that run, what its repairs do.

    python benchmarks/differential                         one construct at a time (4 pairs each) and 600 combined pairs, a new seed
    python benchmarks/differential --seed 7 --revision 40bab7e     the same programs, asked of another revision
    python benchmarks/differential --linter ../other-checkout      ... or of another checkout
    python benchmarks/differential --compare 40bab7e      before and now in one run, stored for docs/accuracy.md
    python benchmarks/differential --kept                  with the entries that are kept from the authors of the analysis: at the end, to tell the figure
    python benchmarks/differential --show 5 --shrink       five disagreements of each kind, made small
    python benchmarks/differential --only meeting=cat      pairs of one entry alone, to look at a cause
    python benchmarks/differential --batch sixth           the entries of one batch alone (`first` draws what a seed drew before the third was written)
    python benchmarks/differential --confirm --kept        entries whose pairs the machine does not confirm; no linter is asked

Each program is run on a virtual machine with two GPUs, which says whether and where a device fault happens. The linter must say so too: an error or a warning of
the default level within three lines of where a tensor was made, moved or met, and none on a program that runs. What fails for another reason is the generator's
fault and is left out ("dropped"). Repairs are run as well, on the machine and on PyTorch for CPUs.

    python benchmarks/differential --seed 7 --revision 40bab7e --agree 20

`--agree` looks for programs on which the other linter stood apart from the machine and the linter of this checkout does not, makes them small, and adds them to
agreed.jsonl: a test replays that file, so that no disagreement that was mended comes back. Without another linter it adds programs on which both agree today.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import datetime
import difflib
import random
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import oracles
from page import table

from differential import agreed
from differential.draw import BATCHES, Drawn, combined, shares, singles
from differential.judges import ROOT, Linter, Machine, judges
from differential.score import CRASH, DROPPED, FOUND, SILENT, Case, Tally, by_construct, measure, tally
from differential.shrink import Shrinker

SAMPLES = {"singles": "one construct at a time", "combined": "everything combined"}
UNSEEN = "unseen"


def main() -> int:
    """Command line."""
    options = _options()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1_000_000)
    drawn = dict(_samples(options, seed))
    with judges() as (machine, plain, _):
        if options.confirm:
            confirm([one for sample in drawn.values() for one in sample], machine)
        elif options.compare:
            with checked_out(options.compare) as checkout:
                _ask(checkout, drawn, seed, "before", machine, plain, options)
            _ask(ROOT, drawn, seed, "now", machine, plain, options)
        else:
            with _checkout(options) as checkout:
                _ask(checkout, drawn, seed, options.result, machine, plain, options)
    return 0


def _ask(
    checkout: Path,
    samples: Mapping[str, Sequence[Drawn]],
    seed: int,
    when: str | None,
    machine: Machine,
    plain: Machine,
    options: argparse.Namespace,
) -> None:
    """Asks the linter of a checkout, prints its tables and stores them as results of `when`."""
    rows: list[oracles.Row] = []
    revision = oracles.revision_of(checkout)
    linter = Linter(checkout)
    try:
        for sample, drawn in samples.items():
            began = time.monotonic()
            cases = measure(drawn, machine, plain, linter, not options.no_repairs)
            took = time.monotonic() - began
            print(
                f"\n## {SAMPLES[sample]}: {len(cases)} programs, seed {seed}, linter {revision}, {took:.0f} s\n",
                flush=True,
            )
            rows += tell(cases, sample, options)
            show(cases, options.show, Shrinker(machine, linter) if options.shrink else None)
            if options.agree:
                is_other = checkout != ROOT
                agree(cases, Shrinker(machine, linter) if is_other else None, options.agree)
    finally:
        linter.child.close()
    if when:
        shares_told = ", ".join(f"{kept} of {all_} {name}s" for name, (kept, all_) in shares().items())
        about = f"Programs from tables, judged by the virtual machine. Kept entries (unseen): {shares_told}."
        sizes = f"--seed {seed} --singles {options.singles} --combined {options.combined}{' --kept' if options.kept else ''}"
        sizes += f" --batch {options.batch}" if options.batch else ""
        told = oracles.Result(
            "generated",
            when,
            revision,
            datetime.date.today().isoformat(),
            f"`python benchmarks/differential {sizes}`",
            about,
            tuple(rows),
        )
        print(oracles.write(told).relative_to(ROOT))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python benchmarks/differential", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, help="default: a new one for each run")
    parser.add_argument("--singles", type=int, default=4, metavar="N", help="pairs for each entry alone (default: 4)")
    parser.add_argument("--combined", type=int, default=600, metavar="N", help="combined pairs (default: 600)")
    parser.add_argument("--kept", action="store_true", help="with the kept entries")
    parser.add_argument("--batch", choices=BATCHES, help="entries of this batch alone, beside plain ones in singles")
    parser.add_argument("--confirm", action="store_true", help="print the entries whose pairs are not confirmed")
    parser.add_argument("--only", metavar="TABLE=ENTRY", help="singles of this entry alone")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--revision", metavar="REV", help="ask the linter of this revision")
    where.add_argument(
        "--compare", metavar="REV", help="ask the linter of this revision, then this one, and store both results"
    )
    where.add_argument("--linter", type=Path, metavar="PATH", help="ask the linter of this checkout")
    parser.add_argument("--no-repairs", action="store_true", help="run no repairs")
    parser.add_argument("--constructs", type=int, default=30, metavar="N", help="entries of each table to print")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N disagreements of each kind")
    parser.add_argument("--shrink", action="store_true", help="make the shown ones small")
    parser.add_argument("--agree", type=int, default=0, metavar="N", help="add N programs to agreed.jsonl")
    parser.add_argument(
        "--result", choices=oracles.WHEN, help="store the figures as benchmarks/results/generated.WHEN.json"
    )
    return parser.parse_args()


@contextlib.contextmanager
def _checkout(options: argparse.Namespace) -> Iterator[Path]:
    if options.linter:
        yield options.linter.resolve()
    elif options.revision:
        with checked_out(options.revision) as folder:
            yield folder
    else:
        yield ROOT


@contextlib.contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """A worktree of a revision, for as long as the block runs."""
    with tempfile.TemporaryDirectory(prefix="torchdevlint-revision-") as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", "--quiet", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def _samples(options: argparse.Namespace, seed: int) -> Iterator[tuple[str, list[Drawn]]]:
    batches = (options.batch,) if options.batch else BATCHES
    if options.only:
        name, _, entry = options.only.partition("=")
        drawn = singles(seed, options.singles, options.kept, batches)
        yield "singles", [one for one in drawn if one.table == name and entry in one.spec.labels()[name]]
        return
    if options.singles:
        yield "singles", list(singles(seed, options.singles, options.kept, batches))
    if options.combined:
        drawn = list(combined(seed, options.combined, batches=batches))
        if options.kept:
            drawn += combined(seed, options.combined, with_kept=True, batches=batches)
        yield "combined", drawn


def tell(cases: Sequence[Case], sample: str, options: argparse.Namespace) -> list[oracles.Row]:
    """Prints the tables of a sample, those of constructs from the cases that may be read; its rows for the results."""
    rows = []
    for side in oracles.SIDES:
        if group := [case for case in cases if case.side == side]:
            row = row_of(SAMPLES[sample], side, tally(group))
            rows.append(dataclasses.replace(row, repairs=None, wrong_repairs=None) if options.no_repairs else row)
    print(*table(_HEAD, [_cells(row) for row in rows]), sep="\n")
    counts = tally(cases)
    print(
        f"\ndropped {counts.dropped}, crashes {counts.crashes}; repairs that left their fault {counts.left}, that print something else {counts.differs}"
    )
    reasons = collections.Counter(
        case.verdict.text[:100] or case.verdict.kind for case in cases if case.outcome == DROPPED
    )
    for reason, number in reasons.most_common(5):
        print(f"  dropped {number}: {reason}")
    for repaired in [r for case in cases for r in case.repairs if r.outcome in ("wrong", "left")][:8]:
        print(f"  {repaired.fix} repair of {', '.join(repaired.codes)} {repaired.outcome}: {repaired.why[:150]}")
    constructs: dict[str, list[list[object]]] = collections.defaultdict(list)
    for name, entry, counted in by_construct([case for case in cases if case.side != UNSEEN], sample == "singles"):
        wrong = counted.wrong + counted.left
        line = [entry, counted.faults, _percent(counted.found, counted.faults), counted.notes, counted.false, wrong]
        constructs[name].append(line)
    for name, lines in constructs.items():
        print(f"\n{name}, worst first\n")
        print(
            *table([name, "faults", "found", "notes", "false", "wrong repairs"], lines[: options.constructs]), sep="\n"
        )
    return rows


_HEAD = ("side", "faults", "found", "with notes", "programs that run", "false", "of them errors", "repairs", "wrong")


def row_of(sample: str, side: str, counts: Tally) -> oracles.Row:
    """A tally as a row of the results. A repair that leaves the fault of its finding counts as wrong."""
    return oracles.Row(
        sample,
        side,
        "programs",
        counts.faults,
        counts.found,
        counts.found + counts.notes,
        counts.clean,
        counts.false,
        counts.false_errors,
        counts.false_notes,
        counts.repairs,
        counts.wrong + counts.left,
    )


def _cells(row: oracles.Row) -> list[object]:
    found = f"{row.found} ({_percent(row.found, row.faults)})"
    notes = _percent(row.with_notes, row.faults)
    cells = [row.side, row.faults, found, notes, row.clean, row.false, row.false_errors, row.repairs, row.wrong_repairs]
    return ["-" if cell is None else cell for cell in cells]


def _percent(part: int | None, whole: int | None) -> str:
    return f"{part / whole:.0%}" if whole and part is not None else "-"


def confirm(drawn: Sequence[Drawn], machine: Machine) -> None:
    """Prints what the machine says of pairs: how many show a fault and run when the tensor is placed, and those that do neither."""
    kinds: collections.Counter[str] = collections.Counter()
    wrong: dict[str, list[str]] = collections.defaultdict(list)
    faulty, right = (machine.run([one.program(placed) for one in drawn]) for placed in (False, True))
    for one, left, placed in zip(drawn, faulty, right, strict=True):
        kinds[f"{left.kind}, {placed.kind} when placed"] += 1
        if placed.kind != "ok" or left.kind not in ("ok", "fault"):
            names = one.spec.labels().get(one.table) or [str(one.spec.labels())]
            wrong[f"{one.table}={names[0]}"].append((placed if placed.kind != "ok" else left).text)
    for kind, number in kinds.most_common():
        print(f"{number}: {kind}")
    for entry, texts in sorted(wrong.items()):
        print(f"  {entry} ({len(texts)}): {texts[0][:200]}")


def agree(cases: Sequence[Case], shrinker: Shrinker | None, number: int) -> None:
    """Adds to agreed.jsonl what the asked linter got wrong and this checkout's gets right (without a shrinker: what is right today).

    Unseen cases never come there: they would be read.
    """
    judged = [case for case in cases if case.side != UNSEEN and case.outcome not in (DROPPED, CRASH)]
    apart = [case for case in judged if (case.outcome in (FOUND, SILENT)) is (shrinker is None)]
    here = Linter()
    try:
        added = 0
        for case, answer in zip(apart, here.ask([case.program for case in apart]), strict=True):
            if added < number and agreed.agrees(case.verdict, answer, case.program):
                added += agreed.add(case, shrinker, here)
    finally:
        here.child.close()
    print(f"{added} added to {agreed.PATH.relative_to(ROOT)}")


def show(cases: Sequence[Case], number: int, shrinker: Shrinker | None) -> None:
    """Prints disagreements and wrong repairs of each kind; unseen cases are never shown, they would be read."""
    kinds: dict[str, list[Case]] = collections.defaultdict(list)
    open_cases = [case for case in cases if case.side != UNSEEN]
    for case in open_cases:
        if case.outcome not in (FOUND, SILENT, DROPPED):
            kinds[case.outcome].append(case)
    for kind, found in kinds.items():
        for case in found[:number]:
            program = shrinker.shrink(case.program) if shrinker and case.outcome != CRASH else case.program
            names = ", ".join(f"{table} {' + '.join(entries)}" for table, entries in case.drawn.spec.labels().items())
            print(
                f"\n### {kind}: {case.verdict.text} {case.answer.crash}\n{names}\n{case.verdict.told}\n\n{program.text()}"
            )
            for said in case.answer.findings:
                print(f"#   {said}")
    wrong = [(case, repair) for case in open_cases for repair in case.repairs if repair.outcome in ("wrong", "left")]
    for case, repair in wrong[:number]:
        print(f"\n### {repair.fix} repair {repair.outcome}: {repair.why}\n\n{case.program.text()}")
        for said in case.answer.findings:
            print(f"#   {said}{f' [{said.fix} repair]' if said.fix else ''}")
        before, after = (program.text().splitlines() if program else [] for program in (case.program, repair.program))
        print(*difflib.unified_diff(before, after, "before", "repaired", lineterm=""), sep="\n")
