"""What one run of a program adds to the analysis: the devices that it saw, and the findings that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from torchdevlint.findings import Finding, Sighting
from torchdevlint.linter import examine
from torchdevlint.settings import Resolver
from torchdevlint.source.reading import read_bytes
from torchdevlint.source.source import Source, SourceError
from torchdevlint.verify.judge import trouble_of
from torchdevlint.verify.trial import Runner, Trial


@dataclass(slots=True)
class Observation:
    """The findings that a run adds. `trouble` says why the program could not be run; `places` counts the names whose values were seen."""

    findings: list[Finding] = field(default_factory=list)
    places: int = 0
    ending: str = ""
    torch: str = ""
    trouble: str = ""

    @property
    def exit_code(self) -> int:
        """0, or 2 when the program could not be run. A program that ends with an error was run."""
        return 2 if self.trouble else 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data, in the names of the linter's JSON."""
        return {
            "ended": self.ending,
            "trouble": self.trouble or None,
            "places": self.places,
            "findings": [_plain(finding) for finding in self.findings],
            "exit_code": self.exit_code,
        }


def _plain(finding: Finding) -> dict[str, Any]:
    span = finding.span
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.label,
        "message": finding.message,
        "filename": finding.filename,
        "location": {"row": span.start.row, "column": span.start.column},
        "end_location": {"row": span.end.row, "column": span.end.column},
        "observed": True,
    }


def observe(runner: Runner, resolver: Resolver, files: Iterable[Path], say: Callable[[str], None]) -> Observation:
    """Run the unchanged program once, and look at its files with and without what it saw."""
    sources: dict[Path, Source] = {}
    for path in files:
        try:
            sources[path] = Source.from_bytes(str(path), read_bytes(str(path)))
        except (OSError, SourceError) as error:
            say(f"{path}: {error.strerror if isinstance(error, OSError) else error}")
    sources = {path: source for path, source in sources.items() if examine(source, resolver.for_file(str(path))).parses}
    trial = runner.run({}, {}, observe=list(sources))
    made = Observation(ending=trial.ending, torch=trial.torch, trouble=trouble_of(trial))
    if made.trouble:
        return made
    seen = _sightings(trial)
    for path, source in sources.items():
        sightings = seen.get(str(path), {})
        if sightings:
            settings = resolver.for_file(str(path))
            known = {(finding.code, finding.span) for finding in examine(source, settings).findings}
            found = examine(source, settings, sightings=sightings).findings
            made.findings += [finding for finding in found if (finding.code, finding.span) not in known]
            made.places += len(sightings)
    return made


def _sightings(trial: Trial) -> dict[str, dict[tuple[int, str], Sighting]]:
    """By file: the names that held the same kind of thing each time; the device where that was the same too."""
    found: dict[str, dict[tuple[int, str], Sighting]] = {}
    for (file, row, name), held in trial.observed.items():
        kinds = {kind for kind, _ in held}
        if len(kinds) != 1 or "other" in kinds:
            continue
        devices = {device for _, device in held}
        kind = cast(Literal["tensor", "module"], kinds.pop())
        found.setdefault(file, {})[row, name] = Sighting(kind, devices.pop() if len(devices) == 1 else "")
    return found
