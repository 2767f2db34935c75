"""Mutation testing of the linter: delete one piece of device handling from correct code and see whether that is found.

    python benchmarks/mutations.py FOLDER... [--most 40] [--seed 1] [--project] [--callers] [--machine] [--verdicts FILE] [--misses]
                                   [--write docs/mutations.md] [--block mutations] [--result now]

Each FOLDER is a project of ordinary device code. A mutation deletes one `.to(device)` or `.cuda()`, the `device=` of one torch factory or `.to`, one
`map_location=`, one `register_buffer` (the tensor becomes a plain attribute) or one `.cpu()` before `.numpy()`. It counts as found when a finding that the
untouched file does not have stands within three lines of the deletion (or of the start of its expression), or names a line there as a related place:
an error or a warning of the default level, and for the page of all oracles a note or a finding of a rule that is off by default as well. The file is read by
itself; with `--project` also where it stands, in a copy of the project. With `--callers` the files that import it are read as well, as a run over the whole
project reads them, and any new finding counts, wherever it stands: what one file leaves on the CPU is told where another brings it to the model, and a statement
that is gone is not near anything.

Not every deletion is a fault: a tensor that is moved twice, a default that was the CPU anyway. With `--machine`, the project's driver in
benchmarks/mutation_drivers/ runs the untouched and the mutated code on a virtual GPU (see mutation_machine.py), and a deletion is *confirmed* where the run then
fails or differs. Projects without a driver have their verdicts from their own test suites (mutation_suites.py). Verdicts are kept in a file, since they depend on
the project alone and not on the linter. Runs have no sandbox.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import hashlib
import json
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst as cst
import oracles
from page import table

from torchdevlint import check_source
from torchdevlint.findings import Finding, Severity
from torchdevlint.rules.registry import all_rules
from torchdevlint.settings import Resolver, Selection, parse_level
from torchdevlint.source.positions import spans
from torchdevlint.workspace import runner

NEAR = 3
MOST_CALLERS = 30  # files that are read beside the one that is mutated
_IMPORT = re.compile(r"^\s*(?:from|import)\s+[^(\n]*(?:\([^)]*\))?", re.MULTILINE)
# Whose misses somebody looked at: they are no result any more. Of the projects of mutation_suites.json a coin chose them.
OPENED = frozenset(
    "Project-MONAI+MONAI adefossez+julius asteroid-team+asteroid-filterbanks cornellius-gp+linear_operator geoopt+geoopt "
    "harvardnlp+pytorch-struct kornia+kornia "
    "lucidrains+transfusion-pytorch patrick-kidger+torchcde pfnet+pfrl pyg-team+pytorch_geometric pyro-ppl+pyro pytorch+botorch "
    "pytorch+torcheval rfeinman+pytorch-minimize KevinMusgrave+pytorch-metric-learning norse+norse "
    "DiffEqML+torchdyn cornellius-gp+gpytorch csteinmetz1+auraloss e3nn+e3nn jeshraghian+snntorch jmschrei+pomegranate "
    "kozistr+pytorch_optimizer lucidrains+x-transformers sbi-dev+sbi torchmd+torchmd-net xitorch+xitorch "
    "victoresque+pytorch-template meetps+pytorch-semseg jiesutd+NCRFpp ShangtongZhang+DeepRL KaiyangZhou+deep-person-reid "
    "chenyuntc+simple-faster-rcnn-pytorch adambielski+siamese-triplet yang-song+score_sde_pytorch wjmaddox+swa_gaussian denisyarats+pytorch_sac "
    "yenchenlin+nerf-pytorch lufficc+SSD monologg+JointBERT".split()
)
VERDICTS = Path(__file__).resolve().parent / "mutations.jsonl"
SUITES = Path(__file__).resolve().parent / "mutation_suites.json"
_FACTORIES = frozenset(
    "zeros ones empty full rand randn randint randperm arange linspace logspace eye tensor as_tensor".split()
)
_RULES = tuple(f"TDL{group}" for group in range(1, 10))
_SKIPPED = frozenset(("test", "tests", "_tests", "docs", "benchmarks"))
_BEGIN, _END = "<!-- begin {} -->", "<!-- end {} -->"
# Of the page: projects with drivers, those whose test suites give the verdicts, and training scripts without any, in two samples.
BLOCKS = ("mutations", "suites", "scripts", "more-scripts")
FAMILIES = (".to(device)", "device=", "map_location=", "register_buffer", ".cpu() before .numpy()")


@dataclass(frozen=True)
class Mutation:
    """One deletion: the family, its line, the lines of the expression it stands in, and the text without it."""

    family: str
    row: int
    first: int
    last: int
    text: str


@dataclass(frozen=True)
class Judged:
    """One mutation of a project: whether the linter found it, and the machine's verdict (None: not asked)."""

    project: str
    path: str
    row: int
    family: str
    found: bool
    verdict: str | None = None
    why: str = ""
    noted: bool = False  # found with notes
    inside: bool | None = None  # found where the file stands in its project (None: not asked)
    noted_inside: bool | None = None
    told: bool | None = None  # a new finding anywhere in the file or in one that imports it
    noted_told: bool | None = None


@dataclass(frozen=True)
class Untouched:
    """The files that were mutated: how many, and how many of them are silent."""

    files: int = 0
    silent: int = 0

    def __add__(self, other: Untouched) -> Untouched:
        return Untouched(self.files + other.files, self.silent + other.silent)


# ---------------------------------------------------------------------------------------------------------- deletions


class _Sites(cst.CSTVisitor):
    """The calls that a deletion may be made in: family, node, and what stands there afterwards."""

    def __init__(self) -> None:
        self.sites: list[tuple[str, cst.CSTNode, cst.CSTNode | str]] = []

    def visit_Call(self, node: cst.Call) -> None:
        function = node.func
        if isinstance(function, cst.Attribute):
            handler = _DELETIONS.get(function.attr.value, _factory)
            self.sites += handler(node, function)


_Deletions = Iterator[tuple[str, cst.CSTNode, cst.CSTNode | str]]


def _move(node: cst.Call, function: cst.Attribute) -> _Deletions:
    others = [argument for argument in node.args if not _names_device(argument)]
    if len(others) == len(node.args):
        return
    kept = [a for a in others if a.keyword is None or a.keyword.value not in ("non_blocking", "copy")]
    if kept and any(a.keyword is None for a in kept) and len(node.args) > 2:
        return
    yield ".to(device)", node, _with_arguments(node, others) if kept else function.value


def _cuda(node: cst.Call, function: cst.Attribute) -> _Deletions:
    if not node.args and not _is_torch(function.value):
        yield ".to(device)", node, function.value


def _load(node: cst.Call, function: cst.Attribute) -> _Deletions:
    if _is_torch(function.value) and "map_location" in _keywords(node):
        yield "map_location=", node, _without(node, "map_location")


def _factory(node: cst.Call, function: cst.Attribute) -> _Deletions:
    if function.attr.value in _FACTORIES and _is_torch(function.value) and "device" in _keywords(node):
        yield "device=", node, _without(node, "device")


def _numpy(node: cst.Call, function: cst.Attribute) -> _Deletions:
    inner = function.value
    if isinstance(inner, cst.Call) and isinstance(inner.func, cst.Attribute) and inner.func.attr.value == "cpu":
        yield ".cpu() before .numpy()", node, node.with_changes(func=function.with_changes(value=inner.func.value))


def _register(node: cst.Call, function: cst.Attribute) -> _Deletions:
    if not (isinstance(function.value, cst.Name) and function.value.value == "self" and len(node.args) >= 2):
        return
    key, tensor = node.args[0].value, node.args[1].value
    if isinstance(key, cst.SimpleString) and not isinstance(tensor, cst.SimpleString):
        value = cst.Module([]).code_for_node(tensor)
        if value != "None" and "\n" not in value:
            yield "register_buffer", node, f"self.{key.raw_value} = {value}"


_DELETIONS: Mapping[str, Callable[[cst.Call, cst.Attribute], _Deletions]] = {
    "to": _move,
    "cuda": _cuda,
    "load": _load,
    "numpy": _numpy,
    "register_buffer": _register,
}


def _names_device(argument: cst.Arg) -> bool:
    if argument.keyword is not None:
        return argument.keyword.value == "device"
    text = cst.Module([]).code_for_node(argument.value)
    return argument.star == "" and bool(re.search(r"device|cuda", text)) and "dtype" not in text


def _is_torch(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "torch"


def _keywords(node: cst.Call) -> set[str]:
    return {argument.keyword.value for argument in node.args if argument.keyword is not None}


def _without(node: cst.Call, keyword: str) -> cst.Call:
    kept = [argument for argument in node.args if argument.keyword is None or argument.keyword.value != keyword]
    return _with_arguments(node, kept)


def _with_arguments(node: cst.Call, arguments: Sequence[cst.Arg]) -> cst.Call:
    kept = list(arguments)
    if kept:
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return node.with_changes(args=kept)


def mutations(text: str) -> Iterator[Mutation]:
    """Every mutation of a file that still parses."""
    module = cst.parse_module(text)
    visitor = _Sites()
    module.visit(visitor)
    where = spans(module, [node for _, node, _ in visitor.sites], text)
    for family, node, replacement in visitor.sites:
        span = where[id(node)]
        new = replacement if isinstance(replacement, str) else module.code_for_node(replacement)
        mutated = text[: span.start] + new + text[span.end :]
        first = text.count("\n", 0, span.start) + 1
        last = first + text.count("\n", span.start, span.end)
        yield Mutation(family, _row(text, span.start, span.end, new), first, last, mutated)


def _row(text: str, start: int, end: int, new: str) -> int:
    """The line of the first character that differs, counting from the expression's start."""
    old = text[start:end]
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return text.count("\n", 0, start + same) + 1


# ---------------------------------------------------------------------------------------------------------- found or not


def places(finding: Finding) -> set[int]:
    """The lines of its file that a finding speaks of."""
    related = (one.span.start.row for one in finding.related if one.filename == finding.filename)
    return {finding.span.start.row, *related}


@dataclass(frozen=True)
class Told:
    """What the linter says of a text: the findings of the default level, and those with notes."""

    default: tuple[Finding, ...]
    notes: tuple[Finding, ...]


def told(text: str, path: str) -> Told:
    """The findings of a text. Rules about comments (TDL0) are no part of the notes."""
    return _told(check_source(text, path, level="info", extend_select=_RULES))


def _told(findings: Iterable[Finding]) -> Told:
    on = {rule.code for rule in all_rules() if rule.default}
    notes = tuple(findings)
    return Told(tuple(f for f in notes if f.code in on and f.severity > Severity.INFO), notes)


class Copy:
    """A copy of a project, in which one file at a time has another text."""

    def __init__(self, folder: Path) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="torchdevlint-mutations-")
        self._root = Path(self._place.name) / folder.name
        shutil.copytree(folder, self._root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        (self._root / ".git").mkdir()  # a repository's root
        self._imported: dict[Path, set[str]] = {}  # by file, the words of its imports
        self._callers: dict[Path, list[Path]] = {}
        selection = Selection(None, _RULES, ())
        self._resolver = Resolver(selection, overrides={"level": parse_level("info")}, isolated=False)

    def told(self, text: str, path: str) -> Told:
        """The findings of a file with a text, `path` from the root of the project."""
        return self._of(text, path, [self._root / path])

    def told_by_callers(self, text: str, path: str) -> Told:
        """The findings of a file with a text, and those of the files that import it."""
        place = self._root / path
        if place not in self._callers:
            self._callers[place] = [place, *self._importing(place)]
        return self._of(text, path, self._callers[place])

    def _importing(self, place: Path) -> list[Path]:
        """The files that import one by its name, and those that import these: as many as `MOST_CALLERS`."""
        if not self._imported:
            for path in sorted(self._root.rglob("*.py")):
                lines = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
                self._imported[path] = set(re.findall(r"\w+", " ".join(_IMPORT.findall(lines))))
        found: list[Path] = []
        asked = [place]
        while asked and len(found) < MOST_CALLERS:
            name = _module_name(asked.pop(0))
            several = [path for path, names in self._imported.items() if name in names and path not in (*found, place)]
            found += several
            asked += several
        return found[:MOST_CALLERS]

    def _of(self, text: str, path: str, several: list[Path]) -> Told:
        place = self._root / path
        before = place.read_bytes()
        place.write_text(text, encoding="utf-8", newline="")
        try:
            run = runner.check([str(one) for one in several], self._resolver, processes=1)
        finally:
            place.write_bytes(before)
        for problem in run.problems:
            tell(f"  {problem}")
        return _told(finding for outcome in run.outcomes for finding in outcome.findings)

    def close(self) -> None:
        """Removes the copy."""
        self._place.cleanup()


def is_found(mutation: Mutation, before: Iterable[Finding], after: Iterable[Finding]) -> bool:
    """True when the mutated file has a new finding at the deletion."""
    return any(
        min(abs(row - mutation.row), abs(row - mutation.first)) <= NEAR
        for finding in brought(before, after)
        for row in places(finding)
    )


def brought(before: Iterable[Finding], after: Iterable[Finding]) -> Iterator[Finding]:
    """The findings that were not there before."""
    left = collections.Counter(map(_key, before))
    for finding in after:
        key = _key(finding)
        if left[key]:
            left[key] -= 1
        else:
            yield finding


def _key(finding: Finding) -> tuple[str, str]:
    return finding.code, re.sub(r"\bline \d+", "line", finding.message)


def _module_name(path: Path) -> str:
    return path.parent.name if path.name == "__init__.py" else path.stem


def in_folder(folder: Path) -> dict[Path, tuple[str, list[Mutation]]]:
    """The mutations of each file of a project, with the file's text; tests and documentation are left out."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        if _SKIPPED & set(path.relative_to(folder).parts):
            continue
        try:
            text = path.read_text(encoding="utf-8")
            some = list(mutations(text)) if "torch" in text else []
        except (UnicodeDecodeError, cst.ParserSyntaxError, RecursionError):
            continue
        if some:
            found[path] = text, some
    return found


def draw(
    files: Mapping[Path, tuple[str, list[Mutation]]],
    most: int,
    seed: int,
    first: Callable[[Path, Mutation], bool] = lambda path, mutation: True,
) -> list[tuple[Path, Mutation]]:
    """`most` mutations at random; those that `first` names come before the others."""
    candidates = [(path, mutation) for path, (_, some) in files.items() for mutation in some]
    random.Random(seed).shuffle(candidates)
    candidates.sort(key=lambda pair: not first(*pair))
    return candidates[:most]


# ---------------------------------------------------------------------------------------------------------- the machine


class Verdicts:
    """The machine's verdicts, kept in a file: one JSON object a line, by project, place and mutated text."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.known: dict[tuple[str, str, int, str], dict[str, str]] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                key = (row["project"], row["path"], row["row"], row["mutation"])
                self.known[key] = {"verdict": row["verdict"], "why": row["why"]}

    def key(self, project: str, path: str, mutation: Mutation) -> tuple[str, str, int, str]:
        """What names a mutation across runs."""
        return project, path, mutation.row, hashlib.sha1(mutation.text.encode()).hexdigest()[:12]

    def add(self, key: tuple[str, str, int, str], verdict: str, why: str) -> None:
        """Keeps a verdict, and writes all of them."""
        self.known[key] = {"verdict": verdict, "why": why}
        if self.path is not None:
            names = ("project", "path", "row", "mutation")
            rows = [json.dumps({**dict(zip(names, k, strict=True)), **v}) for k, v in sorted(self.known.items())]
            self.path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def ask_machine(
    folder: Path,
    driver: Path,
    files: Mapping[Path, tuple[str, list[Mutation]]],
    arguments: argparse.Namespace,
    verdicts: Verdicts,
) -> list[tuple[Path, Mutation]]:
    """Draws mutations, those that the driver reaches first, and adds their verdicts."""
    from mutation_machine import DriverError, judge, serving

    with serving(driver, folder, arguments.timeout) as (server, reach):
        for part, error in reach.errors.items():
            tell(f"  {part} is left out, it does not pass untouched: {error[:150]}")
        drawn = draw(files, arguments.most, arguments.seed, lambda path, m: bool(reach.parts(path, m.first, m.last)))
        for number, (path, mutation) in enumerate(drawn, 1):
            key = verdicts.key(folder.name, path.relative_to(folder).as_posix(), mutation)
            if key in verdicts.known:
                continue
            try:
                verdict = judge(server, reach, path, mutation.first, mutation.last, mutation.text)
            except DriverError as error:
                tell(f"  {folder.name}: {error}")
                break
            verdicts.add(
                key,
                verdict.kind,
                "" if verdict.kind == "passes" else verdict.why.splitlines()[0] if verdict.why else "",
            )
            tell(f"  {folder.name} {number}/{len(drawn)}: {key[1]}:{mutation.row} {mutation.family} {verdict.kind}")
    return drawn


def measure(folder: Path, arguments: argparse.Namespace, verdicts: Verdicts) -> tuple[list[Judged], Untouched]:
    """What became of the mutations of one project."""
    files = in_folder(folder)
    drawn = None
    if arguments.machine:
        from mutation_machine import drivers

        driver = drivers().get(folder.name)
        if driver is None:
            tell(f"{folder.name}: no driver in benchmarks/mutation_drivers/")
        else:
            drawn = ask_machine(folder, driver, files, arguments, verdicts)
    if drawn is None:
        names = {path: path.relative_to(folder).as_posix() for path in files}
        drawn = draw(
            files,
            arguments.most,
            arguments.seed,
            lambda path, m: verdicts.key(folder.name, names[path], m) in verdicts.known,
        )
    judged: list[Judged] = []
    alone, inside = _Asked(told), None
    copy = Copy(folder) if arguments.project or arguments.callers else None
    by_callers = _Asked(copy.told_by_callers, is_anywhere=True) if copy is not None and arguments.callers else None
    if copy is not None and arguments.project:
        inside = _Asked(copy.told)
    for path, mutation in drawn:
        name = path.relative_to(folder).as_posix()
        known = verdicts.known.get(verdicts.key(folder.name, name, mutation), {})
        found, noted = alone.about(mutation, files[path][0], name)
        row = Judged(
            folder.name, name, mutation.row, mutation.family, found, known.get("verdict"), known.get("why", ""), noted
        )
        if inside is not None:
            found, noted = inside.about(mutation, files[path][0], name)
            row = dataclasses.replace(row, inside=found, noted_inside=noted)
        if by_callers is not None:
            found, noted = by_callers.about(mutation, files[path][0], name)
            row = dataclasses.replace(row, told=found, noted_told=noted)
        judged.append(row)
    if copy is not None:
        copy.close()
    asked = alone if inside is None else inside
    return judged, Untouched(len(asked.before), sum(not its.default for its in asked.before.values()))


class _Asked:
    """What one way to run the linter says of mutations; each untouched file is asked about once."""

    def __init__(self, told: Callable[[str, str], Told], *, is_anywhere: bool = False) -> None:
        self._told = told
        self._is_anywhere = is_anywhere
        self.before: dict[str, Told] = {}

    def about(self, mutation: Mutation, text: str, name: str) -> tuple[bool, bool]:
        """Whether a mutation is found, at the default level and with notes."""
        if name not in self.before:
            self.before[name] = self._told(text, name)
        before, after = self.before[name], self._told(mutation.text, name)
        if self._is_anywhere:
            return any(brought(before.default, after.default)), any(brought(before.notes, after.notes))
        found = is_found(mutation, before.default, after.default)
        return found, found or is_found(mutation, before.notes, after.notes)


# ---------------------------------------------------------------------------------------------------------- the table


def report(judged: Sequence[Judged], untouched: Untouched) -> list[str]:
    """The result in Markdown, by family and, where the machine was asked, by project."""
    projects = sorted({row.project for row in judged})
    lines = [f"{len(projects)} projects; {untouched.silent} of {untouched.files} untouched files are silent.", ""]
    families = [family for family in FAMILIES if any(row.family == family for row in judged)]
    rows = [(f"`{family}`", *_figures([row for row in judged if row.family == family])) for family in families]
    lines += table(("deletion", *_HEAD), [*rows, ("all", *_figures(judged))])
    if any(row.verdict for row in judged):
        lines += [
            "",
            *table(("project", *_HEAD), [(p, *_figures([r for r in judged if r.project == p])) for p in projects]),
        ]
    return lines


def result(judged: Sequence[Judged], untouched: Untouched, arguments: argparse.Namespace) -> oracles.Result:
    """The rows of docs/accuracy.md. Projects with drivers were worked with; those whose suites give the verdicts, and others, are unseen until they are opened."""
    worked_with = {key[0] for key in Verdicts(VERDICTS).known} - json.loads(
        SUITES.read_text(encoding="utf-8")
    ).keys() | OPENED
    rows = []
    for side, group in (
        ("regression", [row for row in judged if row.project in worked_with]),
        ("unseen", [row for row in judged if row.project not in worked_with]),
    ):
        confirmed = [row for row in group if row.verdict == "confirmed"]
        for sample, some in (("all deletions, faults or not", group), ("confirmed by the machine", confirmed)):
            ways = [
                ("", _counts),
                *([(", in the project", _counts_inside)] if arguments.project else []),
                *([(", anywhere in the project", _counts_told)] if arguments.callers else []),
            ]
            for way, counts in ways if some else ():
                projects = sorted({row.project for row in some})
                note = f"{side}: {', '.join(name.replace('+', '/', 1) for name in projects)}" if not way else ""
                families = {
                    family: counts([row for row in some if row.family == family])
                    for family in FAMILIES
                    if any(row.family == family for row in some)
                }
                rows.append(oracles.Row(sample + way, side, "files", *counts(some), note=note, families=families))
    if rows:
        changed = dataclasses.replace(rows[-1], clean=untouched.files, false=untouched.files - untouched.silent)
        rows[-1] = changed
    import torchdevlint

    options = f"{' --project' if arguments.project else ''}{' --callers' if arguments.callers else ''}"
    command = f"`python benchmarks/mutations.py FOLDER... --most {arguments.most} --seed {arguments.seed}{options}`"
    about = (
        "Pieces of device handling deleted from real projects, each file by itself unless a row says otherwise; false: untouched files with a finding, "
        "true or not."
    )
    checkout = Path(torchdevlint.__file__).resolve().parents[1]
    return oracles.result_of("mutations", arguments.result, command, about, rows, checkout)


def _counts(rows: Sequence[Judged]) -> tuple[int, int, int]:
    """Deletions, found, found with notes."""
    return len(rows), sum(row.found for row in rows), sum(row.noted for row in rows)


def _counts_inside(rows: Sequence[Judged]) -> tuple[int, int, int]:
    """The same where each file stands in its project."""
    return len(rows), sum(bool(row.inside) for row in rows), sum(bool(row.noted_inside) for row in rows)


def _counts_told(rows: Sequence[Judged]) -> tuple[int, int, int]:
    """The same where a new finding anywhere in the file, or in one that imports it, counts."""
    return len(rows), sum(bool(row.told) for row in rows), sum(bool(row.noted_told) for row in rows)


_HEAD = (
    "deletions",
    "found",
    "in the project",
    "told anywhere",
    "reached by the machine",
    "confirmed as faults",
    "found of the confirmed",
    "in the project",
    "told anywhere",
)


def _figures(judged: Iterable[Judged]) -> tuple[object, ...]:
    rows = list(judged)
    reached = [row for row in rows if row.verdict in ("confirmed", "passes")]
    confirmed = [row for row in rows if row.verdict == "confirmed"]
    return (
        len(rows),
        _share([row.found for row in rows]),
        _share([row.inside for row in rows if row.inside is not None]),
        _share([row.told for row in rows if row.told is not None]),
        len(reached),
        len(confirmed),
        _share([row.found for row in confirmed]),
        _share([row.inside for row in confirmed if row.inside is not None]),
        _share([row.told for row in confirmed if row.told is not None]),
    )


def _share(found: Sequence[bool]) -> str:
    return f"{sum(found) / len(found):.0%}" if found else "-"


def tell(text: str) -> None:
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=40, help="mutations drawn from each project (default: 40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--project", action="store_true", help="read each file where it stands in its project as well")
    parser.add_argument(
        "--callers", action="store_true", help="read the files that import it, and count what is new anywhere"
    )
    parser.add_argument("--machine", action="store_true", help="run the projects' drivers on a virtual GPU")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one run on the machine (default: 60)")
    parser.add_argument("--verdicts", type=Path, help="where the machine's verdicts are kept")
    parser.add_argument("--misses", action="store_true", help="list the confirmed faults that were not found")
    parser.add_argument("--write", type=Path, help="a page with the block to renew")
    parser.add_argument("--block", choices=BLOCKS, default=BLOCKS[0], help="which block of the page")
    parser.add_argument("--result", choices=oracles.WHEN, help="store the totals as results/mutations.WHEN.json")
    arguments = parser.parse_args()
    verdicts = Verdicts(arguments.verdicts)
    judged: list[Judged] = []
    untouched = Untouched()
    for folder in arguments.folders:
        some, files = measure(folder.resolve(), arguments, verdicts)
        judged += some
        untouched += files
        tell(f"{folder.name}: {' '.join(map(str, _figures(some)))}")
    if not judged:
        tell(
            f"{', '.join(map(str, arguments.folders))} holds nothing that could be deleted: it must be a project with device code"
        )
        return
    lines = report(judged, untouched)
    if arguments.misses:
        for row in judged:
            if row.verdict == "confirmed" and not (row.found if row.inside is None else row.inside):
                print(f"{row.project}/{row.path}:{row.row}: {row.family}: {row.why}")
    print("\n".join(lines))
    if arguments.result:
        tell(str(oracles.write(result(judged, untouched, arguments))))
    if arguments.write is not None:
        page = arguments.write.read_text(encoding="utf-8")
        begin, end = _BEGIN.format(arguments.block), _END.format(arguments.block)
        text = "\n".join([begin, *lines, end])
        arguments.write.write_text(page.split(begin)[0] + text + page.split(end)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
