"""Every rule against its fixtures: what it finds on which line, what its fixes make of the file, and where it stays silent.

`fixtures/<group>/<rule-name>/` holds, for each rule,

* faulty*.py: each expected finding is named at the end of the line where its expression starts, `# expect: TDL101, TDL501`;
* fixed*.py: the same file after all safe fixes (absent: safe fixes change nothing);
* fixed_unsafe*.py: after safe and unsafe fixes (absent: as with safe fixes alone);
* silent.py: no rule finds anything.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import examined
import pytest

from torchdevlint import check_source, fix_source
from torchdevlint.findings import Applicability, Finding, Severity
from torchdevlint.rules.registry import all_rules

FIXTURES = Path(__file__).parents[2] / "fixtures"
CODES = {rule.name: rule.code for rule in all_rules()}
EXPECTATION = re.compile(r"# expect: (TDL\d{3}(?:, TDL\d{3})*)")

FAULTY = sorted(path for path in FIXTURES.glob("*/*/faulty*.py") if path.parent.name in CODES)
SILENT = sorted(path for path in FIXTURES.glob("*/*/silent*.py") if path.parent.name in CODES)


def named(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def expectations(text: str) -> Counter[tuple[int, str]]:
    """Row and code of every expected finding."""
    return Counter(
        (row, code)
        for row, line in enumerate(text.splitlines(), 1)
        for match in EXPECTATION.finditer(line)
        for code in match[1].split(", ")
    )


def after(path: Path, kind: str) -> str | None:
    """The text of `fixed.py` or `fixed_unsafe.py` beside a faulty file."""
    beside = path.with_name(path.name.replace("faulty", kind, 1))
    return beside.read_text(encoding="utf-8") if beside.exists() else None


# Several tests ask the same of the same text: it is linted once.
@cache
def found(text: str, path: Path, level: str = "warning") -> tuple[Finding, ...]:
    with examined.once():
        return check_source(text, str(path), level=level, extend_select=[CODES[path.parent.name]])


@cache
def repaired(text: str, path: Path, *, unsafe: bool = False) -> str:
    with examined.once():
        return fix_source(text, str(path), unsafe=unsafe, extend_select=[CODES[path.parent.name]])[0]


def shown(findings: Iterable[Finding]) -> str:
    return "\n".join(f"{f.span.start.row}:{f.span.start.column} {f.code} {f.message}" for f in findings)


@pytest.mark.parametrize("path", FAULTY, ids=named)
def test_each_fault_is_found_on_its_line(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    findings = found(text, path)
    assert Counter((f.span.start.row, f.code) for f in findings) == expectations(text), shown(findings)


@pytest.mark.parametrize("path", FAULTY, ids=named)
def test_safe_fixes_give_the_repaired_file(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected = after(path, "fixed")
    assert repaired(text, path) == (text if expected is None else expected)


@pytest.mark.parametrize("path", FAULTY, ids=named)
def test_unsafe_fixes_give_the_repaired_file(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected = after(path, "fixed_unsafe")
    if expected is None:
        expected = after(path, "fixed")
    assert repaired(text, path, unsafe=True) == (text if expected is None else expected)


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("path", FAULTY, ids=named)
def test_what_fixes_leave_parses_and_stays_as_it_is(path: Path, unsafe: bool) -> None:
    text = path.read_text(encoding="utf-8")
    once = repaired(text, path, unsafe=unsafe)
    if CODES[path.parent.name] != "TDL000":
        ast.parse(once)
    assert repaired(once, path, unsafe=unsafe) == once
    left = found(once, path)
    assert Counter(f.code for f in left) <= Counter(f.code for f in found(text, path)), "a fix made new findings"
    applied = {Applicability.SAFE, Applicability.UNSAFE} if unsafe else {Applicability.SAFE}
    assert [f for f in left if f.fix is not None and f.fix.applicability in applied] == [], "a fix was left over"


@pytest.mark.parametrize("path", SILENT, ids=named)
def test_every_rule_is_silent_where_nothing_is_wrong(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert expectations(text) == Counter()
    own = CODES[path.parent.name]
    # Notes of other rules (speed, style) may stand on a file that is right.
    findings = [f for f in found(text, path, "info") if f.code == own or f.severity is not Severity.INFO]
    assert findings == [], shown(findings)


@pytest.mark.parametrize("name", sorted(CODES))
def test_every_rule_has_fixtures(name: str) -> None:
    (folder,) = FIXTURES.glob(f"*/{name}")
    assert (folder / "silent.py").exists()
    assert expectations((folder / "faulty.py").read_text(encoding="utf-8"))
