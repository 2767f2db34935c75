"""The runs of a mutant session, each in a child: mutants, the suspects plainly, then told; and the report of all."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from torchdevlint.machine.launch import environment
from torchdevlint.machine.shape import Shape
from torchdevlint.verify.mutants import record
from torchdevlint.verify.mutants.places import Told, findings_at, repairs
from torchdevlint.verify.mutants.settings import Settings

_CONSOLE = "import sys; sys.path[:1] = []; import pytest; sys.exit(pytest.console_main())"
_WITH_VALUE = ("--junitxml", "--junit-xml", "--junit-prefix", "--maxfail", "--cov", "--cov-report")
_WITNESSES = 3
_FEW = 16
_FINE = ("passed", "skipped", "xfailed")


@dataclass(slots=True)
class Place:
    """A place in the library where a mutant shows a fault, and what else is known about it."""

    seen: dict[str, Any]
    only_untold: bool = False
    only_without_default: bool = False
    told: list[Told] = field(default_factory=list)
    repair: str = ""
    """ "confirmed", "not confirmed", or nothing: the linter has no repair, or nobody asked."""

    @property
    def lines(self) -> list[tuple[str, int]]:
        """The lines that the place speaks of, the guilty one first."""
        seen = self.seen
        met = seen["met"] if seen["signal"] == "fault" else None
        return [(line[0], line[1]) for line in (seen["moved"], seen["created"], met) if line]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            **self.seen,
            "only_untold": self.only_untold,
            "only_without_default": self.only_without_default,
            "linter": [told.to_dict() for told in self.told],
            "repair": self.repair or None,
        }


@dataclass(slots=True)
class Report:
    """What a mutant session showed."""

    places: list[Place] = field(default_factory=list)
    returns: list[Place] = field(default_factory=list)
    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)
    plain: dict[str, str] = field(default_factory=dict)
    otherwise: list[str] = field(default_factory=list)
    lines: dict[str, list[int]] = field(default_factory=dict)
    not_rewritten: dict[str, str] = field(default_factory=dict)
    eased: int = 0
    by_test: int = 0
    diff: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for a report file."""
        counts: dict[str, int] = {}
        for outcome in self.outcomes.values():
            counts[outcome["outcome"]] = counts.get(outcome["outcome"], 0) + 1
        return {
            "format": 1,
            "tests": counts,
            "places": [place.to_dict() for place in self.places],
            "returns": [place.to_dict() for place in self.returns],
            "failed_otherwise": {test: self.outcomes[test] for test in self.otherwise},
            "lines_with_gpu_operands": self.lines,
            "not_rewritten": self.not_rewritten,
            "eased_in_test_code": self.eased,
            "made_by_test_code": self.by_test,
            "diff": self.diff or None,
        }


class _Runs:
    """Starts the children of one session."""

    def __init__(self, gpus: int, config: pytest.Config, inside: str) -> None:
        options = config.known_args_namespace
        invocation = config.invocation_params
        self.folder = Path(tempfile.mkdtemp(prefix="torchdevlint-"))
        self.cwd = Path(invocation.dir)
        self.root = config.rootpath
        self.inside = inside
        self._has_workers = bool(getattr(config.known_args_namespace, "numprocesses", None))  # an option of xdist
        self.stopped = False
        self.gpus = gpus
        self.words = [str(word) for word in invocation.args]
        self.paths = [str(word) for word in getattr(options, "file_or_dir", None) or ()]
        # `python -m pytest` puts the current folder on sys.path, the console script does not
        self.flags = ["-m", "pytest"] if Path(sys.argv[0]).name == "__main__.py" else ["-c", _CONSOLE]
        library = tuple(str(Path(self.cwd, path).resolve()) for path in options.device_mutants_lib)
        self.settings = Settings(str(self.root), str(self.folder / "first"), library)
        (self.folder / "reports").mkdir()
        (self.folder / "first").mkdir()

    def first(self) -> int:
        """All tests as mutants, shown as they run; the exit code."""
        return self._start(self.words, self.settings, quiet=False)

    def again(self, mode: Any, tests: Sequence[str], overlay: dict[str, str] | None = None) -> dict[str, Any]:
        """Some tests once more, in another way and without a word; what they showed."""
        if self.stopped:
            return record.read(self.folder / "reports")
        number = len(list(self.folder.iterdir()))
        folder = self.folder / f"{mode}-{number}"
        folder.mkdir()
        only = folder / "only.txt"
        only.write_text("\n".join(tests), encoding="utf-8")
        settings = self.settings.with_mode(mode, str(folder), str(only), overlay)
        # The start of a worker, which imports torch, takes longer than a few tests.
        alone = ["-n", "0"] if len(tests) <= _FEW and self._has_workers else []
        self._start([*self._options(), *alone, "-q", "--maxfail=0", *self._files(tests)], settings, quiet=True)
        return record.read(folder)

    def _options(self) -> list[str]:
        """The command line without the paths and without what writes files or ends the run early."""
        kept, skip = [], False
        for word in self.words:
            if skip:
                skip = False
            elif word.split("=")[0] in _WITH_VALUE:
                skip = "=" not in word and word in ("--junitxml", "--junit-xml", "--junit-prefix", "--maxfail")
            elif word not in self.paths and word not in ("-x", "--exitfirst"):
                kept.append(word)
        return kept

    def _files(self, tests: Sequence[str]) -> list[str]:
        files = dict.fromkeys(str(self.root / test.split("::")[0]) for test in tests)
        return [file for file in files if Path(file).exists()] or self.paths

    def _start(self, words: Sequence[str], settings: Settings, quiet: bool) -> int:
        variables = settings.to_environment({**os.environ, self.inside: str(self.gpus)})
        if settings.mode != "plain":
            shape = Shape(gpus=self.gpus)
            variables = environment(shape, ledger=False, report_dir=self.folder / "reports", base=variables)
        out = subprocess.DEVNULL if quiet else None
        sys.stdout.flush()
        child = subprocess.Popen(
            [sys.executable, *self.flags, *words], cwd=self.cwd, env=variables, stdout=out, stderr=out
        )
        # Ctrl-C reaches the child as well: it ends, and we with it; other signals are for us alone, so they are passed on

        def stop(number: int, _: Any) -> None:
            self.stopped = True  # what was seen so far is told, and nothing runs again
            if number == signal.SIGTERM:
                child.send_signal(number)

        handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            return child.wait()
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)


def run(gpus: int, config: pytest.Config, inside: str) -> int:
    """`pytest --virtual-gpus N --device-mutants`: all runs and the report; the exit code."""
    try:
        Shape(gpus=gpus)
    except ValueError as error:
        raise pytest.UsageError(f"--virtual-gpus: {error}") from error
    if gpus < 1:
        raise pytest.UsageError("--device-mutants needs at least one virtual GPU")
    options = config.known_args_namespace
    runs = _Runs(gpus, config, inside)
    try:
        code = runs.first()
        report = _judge(runs)
        if options.device_mutants_fix and report.places:
            _repair(runs, report)
        print("\n".join(as_lines(report, runs.root)))
        if options.device_mutants_report:
            text = json.dumps(report.to_dict(), indent=1)
            Path(runs.cwd, options.device_mutants_report).write_text(text + "\n", encoding="utf-8")
    finally:
        shutil.rmtree(runs.folder, ignore_errors=True)
    return 1 if code == 0 and report.places else code


def _judge(runs: _Runs) -> Report:
    first = record.read(Path(runs.settings.folder))
    report = Report(outcomes=first["outcomes"], lines=first["lines"], eased=first["eased"], by_test=first["by_test"])
    report.not_rewritten = {**first["skipped"], **dict.fromkeys(first["missed"], "imported before the run began")}
    failed = [test for test, outcome in first["outcomes"].items() if outcome["outcome"] == "failed"]
    outcomes = first["outcomes"]
    witnesses = {test for seen in first["seen"] for test in _witnesses(seen["tests"], outcomes)}
    other = {test for test in failed if not outcomes[test].get("faults")}
    suspects = [test for test in outcomes if test in witnesses or test in other]
    if suspects:
        plain = runs.again("plain", suspects)["outcomes"]
        report.plain = {test: outcome["outcome"] for test, outcome in plain.items()}
    fine = {test for test in outcomes if report.plain.get(test, "passed") in _FINE}
    for seen in first["seen"]:
        seen["tests"] = [test for test in seen["tests"] if test in fine or not test]
        if seen["tests"]:
            (report.places if seen["signal"] == "fault" else report.returns).append(Place(seen))
    report.otherwise = [test for test in failed if test in fine and test in other]
    _tell(runs, report)
    everything = [*report.places, *report.returns]
    for place, told in zip(everything, findings_at([place.lines for place in everything]), strict=True):
        place.told = told
    report.places.sort(key=lambda place: (-len(place.seen["tests"]), place.lines))
    return report


def _tell(runs: _Runs, report: Report) -> None:
    """Which places are gone when the library is told to use the GPU, by its parameters or by the default device."""
    waiting = report.places
    for mode, name in (("told", "only_untold"), ("default", "only_without_default")):
        if not waiting:
            return
        again = runs.again(mode, _for_places(waiting, report.outcomes))
        still = {_key(seen) for seen in again["seen"]}
        whole = {
            test
            for test, kept in again["outcomes"].items()
            if kept["outcome"] == "passed" or kept.get("faults") or _failed_so(kept, report.outcomes[test])
        }
        for place in waiting:
            witnesses = _witnesses(place.seen["tests"], report.outcomes)
            setattr(place, name, _key(place.seen) not in still and bool(witnesses) and whole.issuperset(witnesses))
        waiting = [place for place in waiting if not place.only_untold]


def _witnesses(tests: Sequence[str], outcomes: dict[str, dict[str, Any]]) -> list[str]:
    """The tests that speak for all that reached a place: the shortest ones."""
    known = [test for test in tests if test in outcomes]
    return sorted(known, key=lambda test: outcomes[test]["seconds"])[:_WITNESSES]


def _for_places(places: Sequence[Place], outcomes: dict[str, dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(test for place in places for test in _witnesses(place.seen["tests"], outcomes)))


def _key(seen: dict[str, Any]) -> str:
    place = seen["operator"] if seen["signal"] == "return" else seen["met"]
    return json.dumps([seen["signal"], seen["created"], seen["moved"], place])


def _repair(runs: _Runs, report: Report) -> None:
    """Run the tests of each place again with the linter's repairs there."""
    repaired = repairs([told for place in report.places for told in place.told])
    report.diff = repaired.diff
    if not repaired.texts:
        return
    overlay = {}
    for number, (path, text) in enumerate(repaired.texts.items()):
        copy = runs.folder / f"repaired-{number}.py"
        copy.write_text(text, encoding="utf-8")
        overlay[path] = str(copy)
    hopeful = [place for place in report.places if any(told.edits for told in place.told)]
    tests = _for_places(hopeful, report.outcomes)
    again = runs.again("untold", tests, overlay)
    if runs.stopped:
        return  # a repair that was not tried is not refuted
    still = {
        _key({**seen, **{n: repaired.before(seen[n]) for n in ("created", "moved", "met")}}) for seen in again["seen"]
    }
    broken = {
        test
        for test, outcome in again["outcomes"].items()
        if outcome["outcome"] == "failed"
        and not outcome.get("faults")
        and not _failed_so(outcome, report.outcomes[test])
    }
    ran = set(again["outcomes"])
    for place in hopeful:
        gone = _key(place.seen) not in still and bool(ran & set(place.seen["tests"]))
        place.repair = "confirmed" if gone and not broken & set(place.seen["tests"]) else "not confirmed"


def _failed_so(outcome: dict[str, Any], before: dict[str, Any]) -> bool:
    """Whether a mutant failed by the same error before the repair, such as its own look at `x.device`."""
    return before["outcome"] == "failed" and outcome.get("error") == before.get("error")


# ---------------------------------------------------------------------------------------------------- the terminal


def as_lines(report: Report, root: Path) -> list[str]:
    """The report for a person."""
    tests = {test for place in report.places for test in place.seen["tests"]}
    lines = ["", f"{' device mutants ':=^100}"]
    for place in report.places:
        lines += _place(place, root)
    if report.returns:
        lines.append("given GPU tensors, the library returned CPU tensors:")
        for place in report.returns:
            seen = place.seen
            lines.append(
                f"  {seen['operator']}: made at {_at(seen['moved'] or seen['created'], root)} ({_reached(seen)})"
            )
    if report.diff:
        lines += ["", report.diff.rstrip()]
    for file, why in report.not_rewritten.items():
        lines.append(f"not rewritten: {_at((file, 0), root).removesuffix(':0')}: {why}")
    if report.otherwise:
        lines.append(
            f"{len(report.otherwise)} tests fail as mutants for another reason than a device fault of the library"
        )
        lines += [
            f"  {test}: {report.outcomes[test].get('error', '').splitlines()[0][:100]}"
            for test in report.otherwise[:5]
            if report.outcomes[test].get("error")
        ]
    count = len(report.places)
    lines.append(
        f"{count or 'no'} place{'s'[: count != 1]} with a device fault, reached by {len(tests)} of {len(report.outcomes)} tests; "
        f"{sum(place.only_untold for place in report.places)} only where the library is not told its device"
    )
    return lines


def _place(place: Place, root: Path) -> list[str]:
    seen = place.seen
    guilty = seen["moved"] or seen["created"]
    verb = "brought to the CPU at" if seen["moved"] else "created on the CPU at"
    lines = [f"{_at(seen['met'], root)}: {seen['message'].splitlines()[0]}"]
    if guilty:
        lines.append(f"    {verb} {_at(guilty, root)}")
    lines.append(f"    in {seen['operator']}, {_reached(seen)}")
    if place.only_untold:
        lines.append("    gone when the library is told its device by a parameter")
    elif place.only_without_default:
        lines.append("    gone when CUDA is the default device")
    for told in place.told:
        lines.append(f"    {told.code} {told.severity} at {_at((told.file, told.row), root)}: {told.message}")
    if place.repair:
        lines.append(f"    the linter's repair: {place.repair}")
    return lines


def _reached(seen: dict[str, Any]) -> str:
    count = len(seen["tests"])
    first = seen["tests"][0] or "the collection"
    return f"reached by {first}" + (f" and {count - 1} more" if count > 1 else "")


def _at(line: Any, root: Path) -> str:
    if line is None:
        return "an unknown line"
    path = Path(line[0])
    return f"{path.relative_to(root) if path.is_relative_to(root) else path}:{line[1]}"
