"""Scores the linter by judged findings: benchmarks/judged.jsonl.

usage: python benchmarks/judged.py TREES... [--write]                   what is still reported, and how much of it is true: a regression test, no result
       python benchmarks/judged.py TREES... --draw N --seed S           N unjudged findings at random, to be judged

TREES hold a folder OWNER+NAME for each repository, at the commit of the judgement; or, for single files, NAME--path__to__file.py.
A line of judged.jsonl: repository, commit, path, line, code, verdict ("true", "false" or "taste": a matter of taste), why (one sentence), and
the sample that it belongs to: "clean" (every finding on the clean files), "random", "fresh" to "fresh13" (drawn), "rule" (read while a rule was
written).
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import oracles
import page

JUDGED = Path(__file__).resolve().parent / "judged.jsonl"
VERDICTS = ("true", "false", "taste")
SAMPLES = {
    "clean": "every finding on the clean files",
    "random": "100 drawn at random; the causes of its false ones were mended, so what is left of it flatters",
    "fresh": "110 drawn at random from other repositories after those mends, in two draws",
    "fresh2": "110 drawn at random from 39 repositories, most of them new, before the mends that followed",
    "fresh3": "86 drawn at random from the same 39 repositories after those mends, all that eight of each repository left unjudged",
    "fresh4": "100 drawn at random (seed 4) from 33 repositories that nobody had read, after all of that; 20 of the 33 are in the draw",
    "fresh5": "105 drawn at random (seed 5) from 19 repositories that nobody had read, judged by two readers, before the mends that followed",
    "fresh6": "110 drawn at random (seed 6) from 49 other repositories after those mends, judged by three readers; 35 of the 49 are in the draw",
    "fresh7": "110 drawn at random (seed 7) from 39 other repositories after those mends, judged by three readers; 27 of the 39 are in the draw",
    "fresh8": "112 drawn at random (seed 8) from 49 other repositories, half of them maintained projects of the last years, with the project index, judged by two "
    "readers, before the mends that followed; 28 of the 49 are in the draw",
    "fresh9": "112 drawn at random (seed 9) from 44 other repositories after those mends, judged by three readers; 30 of the 44 are in the draw",
    "fresh10": "112 drawn at random (seed 10) from 42 other repositories after those mends and before the last, judged by three readers; 29 of the 42 are in the draw",
    "fresh11": "150 drawn at random (seed 11) from 47 other repositories, a third of them well-known libraries, after those mends, with the callers of a project asked, "
    "judged by three readers, who were told to be strict: code for CUDA alone, and what nobody would care for, is taste; 32 of the 47 are in the draw",
    "fresh12": "150 drawn at random (seed 12) from 50 other repositories after the mends that followed, judged by four readers, as strict; "
    "36 of the 50 are in the draw",
    "fresh13": "120 drawn at random (seed 13) from 47 other repositories after the mends that followed, judged by four readers with the definition of true "
    "that this project has, and no more; 34 of the 47 are in the draw",
    "fresh14": "133 drawn at random (seed 14), all that eight of each repository give, from 40 other repositories before the mends that followed, judged by four "
    "readers with the same definition; 30 of the 40 are in the draw",
    "fresh16": "130 drawn at random (seed 16), all that eight of each repository give, from 43 other repositories after those mends, judged by four readers "
    "with the same definition, before the mends that followed; 35 of the 43 are in the draw",
    "fresh15": "108 drawn at random (seed 15), all that eight of each repository give, from 40 other repositories after the mends that fresh16 led to and before "
    "the last, judged by four readers with the same definition; 24 of the 40 are in the draw",
    "fresh17": "150 drawn at random (seed 17) from 40 other repositories after all of that, judged by four readers with the same definition, before the mends that "
    "followed; 30 of the 40 are in the draw",
    "fresh18": "144 drawn at random (seed 18), all that eight of each repository give, from 40 other repositories after those mends, judged by four readers with "
    "the same definition, before the mends that followed; 31 of the 40 are in the draw",
    "fresh19": "150 drawn at random (seed 19) from 40 other repositories after those mends, judged by four readers with the same definition, before the mends that "
    "followed; 34 of the 40 are in the draw",
    "fresh20": "141 drawn at random (seed 20), all that eight of each repository give, from 40 other repositories after those mends, judged by four readers with "
    "the same definition, before the last mends; 32 of the 40 are in the draw",
    "fresh21": "all 36 (33 of them in files that are no notebooks) that 31 repositories, which nobody had read, gave but for portability, order and files that do not "
    "parse, judged strictly by one blind reader, before the mends that followed",
    "fresh22": "all 45 that 14 other repositories gave after some of those mends, read in the same way, before the mends that followed",
    "fresh23": "62 drawn at random (seed 20261125), at most six of each, from 23 other repositories after those mends (six had none), by two readers, before the "
    "mends that followed",
    "fresh24": "36 drawn at random (seed 7), at most six of each, from 14 other repositories after those mends (six had none), by one reader, before the last mends",
    "fresh25": "34 of ef5bfe4, drawn at random (seed 7), at most eight of each, from 14 other repositories (six had none), by one strict reader",
    "fresh26": "19 of ef5bfe4, drawn in the same way, at most six of each, from 9 other repositories (three had none), by another strict reader",
    "blind1": "117 drawn at random (seed 20261123), at most six of each, from 40 other repositories that nobody had read, by four readers who were told to be strict, "
    "each repository without its mark of a project's root, before the mends that followed; those in notebooks are left out here",
    "blind2": "116 drawn at random (seed 20261124), at most six of each, from 40 other repositories after those mends and before the last, with the mark of a "
    "project's root, read in the same way",
    "blind3": "156 drawn at random (two of them on one line; seed 23112026), at most six of each, from 40 other repositories (six had "
    "no finding) after those mends and before the last, read in the same way",
    "blind4": "89 of ad7a667, drawn at random (seed 20261129), at most six of each, from 46 other repositories in none of the lists here (21 had none), by two strict "
    "readers, before the mends that followed; those in notebooks are left out here",
    "blind5": "76 of 77bbc73, drawn at random (seed 20261129), at most six of each, from 44 other repositories in none of the lists here (three without Python, 19 "
    "had none), by two strict readers, before the mends that followed; four were of files that the copy had cut off; these and those in notebooks are left out here",
    "blind6": "85 of 0a6b0f7, drawn at random (seed 20261130), at most six of each, from 39 other repositories in none of the lists here (12 had none), by two strict "
    "readers, after these mends and before the last; those in notebooks are left out here",
    "blind7": "30 of f4dafbf, drawn at random, at most six of each, from 27 other repositories in none of the lists here (16 had none), by one strict reader, before "
    "the mends that followed; ten are of files of Python 2; those in notebooks are left out here",
    "blind8": "43 of cf66256, drawn at random, at most six of each, from 32 other repositories in none of the lists here (14 had none), by two strict readers, "
    "after these mends and before the last",
    "claims2": "11 findings of claims that a later revision tells and the one before did not, of 68 repositories that had been read before, by one strict reader",
    "claims": "86 findings of claims alone (a module or tensors that meet), at most four of each, errors first, of 43 repositories that had been read before, none of "
    "them judged before, by three strict readers: what the policy of doubtful claims was chosen by; those in notebooks are left out here",
    "rule": "read while its rule was written: no random sample",
}
# Findings that say "this works only on such a machine" or "in this order": true by their wording, so they are told apart.
APART = frozenset(("TDL203", "TDL801", "TDL803", "TDL805", "TDL811"))
_PER_REPOSITORY = 8
_CHUNK = 200

Key = tuple[str, str, int, str]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a reader said of one finding."""

    repository: str
    commit: str
    path: str
    line: int
    code: str
    verdict: str
    why: str
    sample: str

    @property
    def key(self) -> Key:
        return self.repository, self.path, self.line, self.code


@dataclass(slots=True)
class Score:
    """Judged findings that the linter reports now, by verdict."""

    verdicts: Counter[str] = field(default_factory=Counter)

    @property
    def precision(self) -> float:
        """The share of true ones; matters of taste count against the linter. NaN for no findings."""
        return self.verdicts["true"] / total if (total := self.verdicts.total()) else float("nan")

    def row(self) -> tuple[object, ...]:
        told = f"{self.precision:.0%}" if self.verdicts.total() else "-"
        return (*(self.verdicts[verdict] for verdict in VERDICTS), told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="store the totals as results/judged.now.json")
    parser.add_argument("--draw", type=int, help="print this many unjudged findings of the trees, as JSON lines")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    judgements = read(JUDGED)
    if options.draw:
        for finding in draw(options.trees, judgements, options.draw, options.seed):
            print(json.dumps(finding))
        return 0
    places = {judgement.key: locate(options.trees, judgement) for judgement in judgements}
    missing = [judgement for judgement in judgements if places[judgement.key] is None]
    absent = sorted({judgement.repository for judgement in missing})
    if len(missing) == len(judgements):
        print(
            f"none of the repositories of judged.jsonl is in {', '.join(map(str, options.trees))}: nothing was replayed"
        )
        return 0
    reported = severities(places, findings(sorted({path for path in places.values() if path is not None})))
    lines = report(judgements, reported, missing)
    print(*lines, sep="\n")
    if missing:
        some = f"{', '.join(absent[:10])}{', ...' if len(absent) > 10 else ''}"
        print(f"not at hand: {len(missing)} judged findings of {len(absent)} repositories ({some})", file=sys.stderr)
    if options.write:
        oracles.write(totals(judgements, reported, missing))
    return 1 if missing else 0


def read(path: Path) -> list[Judgement]:
    """The judgements of a file; raises `ValueError` for a verdict that is none and for a place judged twice."""
    judgements = [Judgement(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line]
    for judgement in judgements:
        if judgement.verdict not in VERDICTS:
            raise ValueError(f"{judgement.key}: {judgement.verdict!r} is no verdict")
        if judgement.sample not in SAMPLES:
            raise ValueError(f"{judgement.key}: {judgement.sample!r} is no sample")
    twice = [key for key, count in Counter(judgement.key for judgement in judgements).items() if count > 1]
    if twice:
        raise ValueError(f"judged twice: {twice[0]}")
    return judgements


def locate(trees: Sequence[Path], judgement: Judgement) -> Path | None:
    """Where the judged file is in the trees."""
    name = judgement.repository.partition("/")[2]
    names = (
        f"{judgement.repository.replace('/', '+', 1)}/{judgement.path}",
        f"{name}--{judgement.path.replace('/', '__')}",
    )
    return next((tree / name for tree in trees for name in names if (tree / name).is_file()), None)


def findings(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """What the linter says of files or folders, with its default rules and level."""
    found: list[dict[str, Any]] = []
    for start in range(0, len(paths), _CHUNK):
        command = [
            sys.executable,
            "-m",
            "torchdevlint",
            "check",
            "--isolated",
            "--no-cache",
            "--exit-zero",
            "--output-format",
            "json",
        ]
        chunk = [str(path) for path in paths[start : start + _CHUNK]]
        done = subprocess.run([*command, "-j", "1", *chunk], capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode("utf-8", "replace"))
        found += json.loads(done.stdout)
    return found


def severities(places: Mapping[Key, Path | None], found: Iterable[Mapping[str, Any]]) -> dict[Key, str]:
    """The severity of each judged finding that is reported."""
    now = {(finding["filename"], finding["location"]["row"], finding["code"]): finding["severity"] for finding in found}
    reported = {}
    for key, path in places.items():
        severity = now.get((str(path.resolve()), key[2], key[3])) if path is not None else None
        if severity is not None:
            reported[key] = severity
    return reported


def report(
    judgements: Sequence[Judgement], reported: Mapping[Key, str], missing: Sequence[Judgement] = ()
) -> list[str]:
    """What is printed: by sample, kind and rule."""
    here = [judgement for judgement in judgements if judgement not in missing]
    kept = [judgement for judgement in here if judgement.key in reported]
    groups: dict[tuple[str, str], Score] = defaultdict(Score)
    rules: dict[str, Score] = defaultdict(Score)
    for judgement in kept:
        apart = judgement.code in APART
        kinds = ("portability and order",) if apart else (f"{reported[judgement.key]}s", "errors and warnings")
        for kind in kinds:
            groups[judgement.sample, kind].verdicts[judgement.verdict] += 1
        rules[judgement.code].verdicts[judgement.verdict] += 1
    gone = Counter(judgement.verdict for judgement in here if judgement.key not in reported)
    kinds = ("errors", "warnings", "errors and warnings", "portability and order")
    rows = [(sample, kind) for sample in SAMPLES for kind in kinds if (sample, kind) in groups]
    repositories = len({judgement.repository for judgement in here})
    return [
        f"Last run: {page.today()}, {len(here)} judged findings of {repositories} repositories; {len(kept)} are still reported. "
        f"No longer reported: {gone['true']} true, {gone['false']} false, {gone['taste']} matters of taste."
        + (f" {len(missing)} more stand in repositories that were not at hand." if missing else ""),
        "",
        *page.table(
            ("reported now", *VERDICTS, "precision"),
            [(f"{sample}, {kind}", *groups[sample, kind].row()) for sample, kind in rows],
        ),
        "",
        "As they were drawn, before the mends that each sample led to:",
        "",
        *page.table(
            ("sample", *VERDICTS, "precision"),
            [(sample, *score.row()) for sample, score in as_drawn(judgements).items()],
        ),
        "",
        *(f"* *{sample}*: {meaning}" for sample, meaning in SAMPLES.items()),
        f"* *portability and order*: {', '.join(sorted(APART))}",
        "",
        *page.table(("rule", *VERDICTS, "precision"), [(code, *score.row()) for code, score in sorted(rules.items())]),
    ]


def totals(
    judgements: Sequence[Judgement], reported: Mapping[Key, str], missing: Sequence[Judgement] = ()
) -> oracles.Result:
    """The row of docs/accuracy.md: true findings that are still reported, and others that still are."""
    lost = {judgement.key for judgement in missing}
    here = [judgement for judgement in judgements if judgement.key not in lost]
    true = [judgement for judgement in here if judgement.verdict == "true"]
    others = [judgement for judgement in here if judgement.verdict != "true"]
    still = [judgement for judgement in others if judgement.key in reported]
    row = oracles.Row(
        "findings that readers judged",
        "regression",
        "findings",
        faults=len(true),
        found=sum(judgement.key in reported for judgement in true),
        clean=len(others),
        false=len(still),
        false_errors=sum(reported[judgement.key] == "error" for judgement in still),
        note="false: judged false or a matter of taste, and still reported",
    )
    about = f"{len(here)} findings of {len({item.repository for item in here})} repositories, judged by readers, replayed from judged.jsonl."
    return oracles.result_of("judged", "now", "python benchmarks/judged.py TREES... --write", about, [row])


def as_drawn(judgements: Iterable[Judgement]) -> dict[str, Score]:
    """All verdicts of the samples that were drawn at random, whatever became of the findings."""
    scores: dict[str, Score] = defaultdict(Score)
    for judgement in judgements:
        if judgement.sample.startswith(("random", "fresh")):
            scores[judgement.sample].verdicts[judgement.verdict] += 1
    return scores


def draw(trees: Sequence[Path], judgements: Sequence[Judgement], number: int, seed: int) -> list[dict[str, Any]]:
    """Findings at random, at most eight of each repository, none of them judged before."""
    known = {(judgement.repository, judgement.path, judgement.line, judgement.code) for judgement in judgements}
    pool = []
    for tree in trees:
        for finding in findings([tree]):
            path = Path(finding["filename"]).relative_to(tree.resolve()).as_posix()
            repository = tree.name.replace("+", "/", 1)
            key = (repository, path, finding["location"]["row"], finding["code"])
            if key not in known:
                known.add(key)
                pool.append({"repository": repository, "path": path, **finding})
    random.Random(seed).shuffle(pool)
    taken: Counter[str] = Counter()
    chosen = []
    for finding in pool:
        taken[finding["repository"]] += 1
        if taken[finding["repository"]] <= _PER_REPOSITORY:
            chosen.append(finding)
    return chosen[:number]


if __name__ == "__main__":
    sys.exit(main())
