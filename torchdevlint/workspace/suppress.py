"""`--add-noqa`: a suppression comment on each line that has a finding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from torchdevlint.findings import Finding, Outcome
from torchdevlint.linter import read
from torchdevlint.settings import DOES_NOT_PARSE, SettingsError, load_toml
from torchdevlint.source.disk import is_regular
from torchdevlint.source.lines import Lines
from torchdevlint.source.reading import read_bytes
from torchdevlint.source.source import SourceError
from torchdevlint.source.suppression import Directive, Kind, Suppressions
from torchdevlint.workspace.writer import ChangedMeanwhile, write_atomically


def add_suppressions(outcome: Outcome, within: Set[Path] | None = None) -> int:
    """Writes them into the file of an outcome and returns how many findings they cover. Raises `OSError`; see `write_atomically`."""
    findings = [finding for finding in outcome.findings if finding.code != DOES_NOT_PARSE]
    if not findings:
        return 0
    path = Path(outcome.filename)
    raw = read_bytes(outcome.filename)
    try:
        source = read(outcome.filename, raw)
    except SourceError:
        raise ChangedMeanwhile from None
    if source.text != outcome.text:
        raise ChangedMeanwhile
    kind = kind_for(path.absolute().parent)
    shifted = [
        replace(finding, noqa_row=finding.noqa_row + outcome.cells.get(finding.cell or 0, 0)) for finding in findings
    ]
    text = suppressed(source.text, shifted, kind)
    write_atomically(outcome.filename, source.with_text(text).to_bytes(), expected=raw, within=within)
    return len(findings)


def kind_for(folder: Path) -> Kind:
    """The comment that suits the files of a folder."""
    return "ignore" if ruff_would_object(folder) else "noqa"


def suppression(text: str, finding: Finding, kind: Kind) -> tuple[int, str]:
    """What to insert into a text for one finding, and at which offset."""
    lines = Lines(text)
    return _addition(
        text, lines, finding.noqa_row, _existing(text, lines, kind).get(finding.noqa_row), finding.code, kind
    )


def _existing(text: str, lines: Lines, kind: Kind) -> dict[int, Directive]:
    """The comments with codes, by row."""
    return {
        item.comment.row: item for item in Suppressions.read(text, lines, frozenset((kind,))).directives if item.codes
    }


def suppressed(text: str, findings: Sequence[Finding], kind: Kind) -> str:
    """The text with comments for the findings; codes are added to a comment of the same kind that is there already."""
    lines = Lines(text)
    existing = _existing(text, lines, kind)
    codes: defaultdict[int, list[str]] = defaultdict(list)
    for finding in findings:
        if finding.code not in codes[finding.noqa_row]:
            codes[finding.noqa_row].append(finding.code)
    for row in sorted(codes, reverse=True):
        at, addition = _addition(text, lines, row, existing.get(row), ", ".join(codes[row]), kind)
        text = text[:at] + addition + text[at:]
    return text


def _addition(text: str, lines: Lines, row: int, existing: Directive | None, codes: str, kind: Kind) -> tuple[int, str]:
    """What to insert for a row, and at which offset."""
    if existing is not None:
        return (existing.end, f", {codes}") if kind == "noqa" else (existing.end - 1, f", {codes}")
    start = lines.start_of(row)
    stop = next((index for index in range(start, len(text)) if text[index] in "\r\n"), len(text))
    at = start + len(text[start:stop].rstrip())
    return at, f"  # noqa: {codes}" if kind == "noqa" else f"  # torchdevlint: ignore[{codes}]"


def ruff_would_object(folder: Path) -> bool:
    """Whether ruff is set up for a folder and does not know our codes (`external`): it would call our `noqa` unused."""
    for parent in (folder, *folder.parents):
        for name in (".ruff.toml", "ruff.toml", "pyproject.toml"):
            path = parent / name
            if not is_regular(str(path)):
                continue
            try:
                table: Any = load_toml(str(path))
            except SettingsError:
                continue  # ruff has its own word for it
            if name == "pyproject.toml":
                table = _table(_table(table, "tool"), "ruff") if "ruff" in _table(table, "tool") else None
            if table is not None:
                external = [*_list(table, "external"), *_list(_table(table, "lint"), "external")]
                return not any(isinstance(code, str) and "TDL".startswith(code) for code in external)
    return False


def _table(table: Any, key: str) -> dict[str, Any]:
    """A table in a table; an empty one where something else stands."""
    found = table.get(key) if isinstance(table, dict) else None
    return found if isinstance(found, dict) else {}


def _list(table: Any, key: str) -> list[Any]:
    found = table.get(key) if isinstance(table, dict) else None
    return found if isinstance(found, list) else []
