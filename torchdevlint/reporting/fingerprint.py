"""Names for findings that survive moved lines: what code hosts know a finding by from one run to the next."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from torchdevlint.findings import Finding, Outcome


def fingerprinted(outcomes: Sequence[Outcome]) -> Iterator[tuple[Outcome, Finding, str]]:
    """Each finding with its fingerprint: 32 hexadecimal digits of path, code, the line's content, and which of equal ones it is."""
    seen: Counter[str] = Counter()
    for outcome in outcomes:
        rows = re.split("\r\n|\r|\n", outcome.text) if outcome.findings else []
        for finding in outcome.findings:
            row = outcome.row(finding) - 1
            content = " ".join(rows[row].split()) if row < len(rows) else ""
            key = "\0".join((relative(finding.filename), finding.code, content))
            number = seen[key]
            seen[key] += 1
            digest = hashlib.sha256(f"{key}\0{number}".encode("utf-8", "backslashreplace"))
            yield outcome, finding, digest.hexdigest()[:32]


def relative(filename: str) -> str:
    """The path from the current folder with `/`; an absolute one where the file is elsewhere."""
    path = os.path.normpath(filename)
    if Path(path).is_absolute():
        try:
            inside = os.path.relpath(path)
        except ValueError:  # another drive
            inside = os.pardir
        path = path if inside.startswith(os.pardir) else inside
    return Path(path).as_posix()


def uri(filename: str) -> str:
    """The path as a URI reference (RFC 3986): relative inside the current folder, else `file:///...`."""
    path = relative(filename)
    quoted = quote(path.encode("utf-8", "surrogateescape" if _is_bytes(path) else "backslashreplace"))
    return f"file://{quoted}" if Path(path).is_absolute() else quoted


def _is_bytes(path: str) -> bool:
    """Whether the name is that of a file: its surrogates stand for single bytes."""
    return not any("\ud800" <= char <= "\udfff" and not "\udc80" <= char <= "\udcff" for char in path)
