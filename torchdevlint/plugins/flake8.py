"""The flake8 plugin: the same rules in the editor, under flake8's own selection and noqa.

flake8 gives the lines and shows what is yielded; it decides on codes and `# noqa`. Ours are `# torchdevlint: ignore`, the project's
`target-torch`, and the severity: a note (`info`) or a rule that is off by default is yielded only when the user names its full code.
"""

from __future__ import annotations

import argparse
import ast
import functools
import logging
import sys
from collections.abc import Iterator, Sequence
from typing import ClassVar

from torchdevlint import __version__
from torchdevlint.findings import Finding, Severity
from torchdevlint.reporting.plain import shown
from torchdevlint.settings import DOES_NOT_PARSE, UNUSED_SUPPRESSION, Resolver, Selection, Settings, SettingsError
from torchdevlint.source.deadline import OutOfTime
from torchdevlint.source.sieve import may_have_findings

_log = logging.getLogger("flake8.torchdevlint")
_NEVER = (DOES_NOT_PARSE, UNUSED_SUPPRESSION)  # flake8 has E999 and does noqa itself

Violation = tuple[int, int, str, type]


class Plugin:
    """What flake8 makes for each file."""

    name = "torchdevlint"
    version = __version__
    _named: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._filename = filename
        self._lines = lines

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Notes which codes the user named."""
        # flake8 does not hand `--enable-extensions` to plugins; it is about plugins that are off, and this one is on.
        given = (getattr(options, name, None) or () for name in ("select", "extend_select"))
        cls._named = frozenset(code.strip().upper() for codes in given for code in codes)

    def run(self) -> Iterator[Violation]:
        """Rows count from 1, columns from 0. Never raises: what fails is logged (`flake8 -v`)."""
        try:
            yield from [self._violation(finding) for finding in self._findings()]
        except OutOfTime as error:
            _log.error("%s: %s", self._filename, error.message)
        except Exception:
            _log.exception("torchdevlint failed on %s", self._filename)

    def _findings(self) -> Iterator[Finding]:
        text, settings = "".join(self._lines), self._settings()
        raw = text.encode("utf-8", "replace")
        if not may_have_findings(raw) and not any(library in raw for library in settings.libraries()):
            return
        from torchdevlint.linter import examine
        from torchdevlint.source.source import Source

        source = Source(self._filename, text)
        examination = examine(source, settings, frozenset(("ignore", "ignore-file")))
        for problem in examination.problems:
            _log.error("%s", problem)
        for finding in examination.findings:
            if finding.code not in _NEVER and (finding.severity > Severity.INFO or finding.code in self._named):
                yield finding

    def _settings(self) -> Settings:
        """The project's settings with flake8's selection instead of its own."""
        try:
            found = _resolver.for_file("stdin.py" if self._filename in ("-", "stdin") else self._filename)
        except Exception as error:  # whatever a pyproject.toml holds, it costs no finding
            _tell(str(error) if isinstance(error, SettingsError) else f"{type(error).__name__}: {error}")
            found = Settings()
        named = tuple(sorted(code for code in self._named if len(code) == len(DOES_NOT_PARSE)))
        return Settings(
            root=found.root,
            selections=(Selection(extend_select=named, ignore=_NEVER),),
            level=Severity.INFO,
            target_torch=found.target_torch,
            stubs=found.stubs,
            project=found.project,
        )

    @staticmethod
    def _violation(finding: Finding) -> Violation:
        start = finding.span.start
        return start.row, start.column - 1, f"{finding.code} {shown(finding.message)}", Plugin


@functools.cache
def _tell(reason: str) -> None:
    """Says once that the settings cannot be used: in flake8's log, which is hidden by default, and on standard error."""
    sentence = shown(f"torchdevlint: the settings are not used: {reason}")
    _log.error("%s", sentence)
    print(sentence, file=sys.stderr)


_resolver = Resolver()
