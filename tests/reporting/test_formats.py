"""Every format, from findings made by hand."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from torchdevlint.findings import Applicability, Edit, Finding, Fix, Outcome, Position, Related, Severity, Span
from torchdevlint.reporting import FORMATS, diff, renderer, statistics
from torchdevlint.reporting.pages import PAGES, url
from torchdevlint.reporting.style import Style
from torchdevlint.rules.registry import own_rules

TEXT = "import torch\n\tx = f('日本', y)\nz = g(\n    1)\n"


def span(row: int, column: int, end_row: int, end_column: int) -> Span:
    return Span(Position(row, column), Position(end_row, end_column))


FIX = Fix(Applicability.SAFE, "call h", (Edit(18, 19, "h", span(2, 6, 2, 7)),))
FIRST = Finding(
    code="TDL101",
    name="test-rule",
    severity=Severity.WARNING,
    message="100% wrong: here, see",
    filename="a b,c.py",
    span=span(2, 14, 2, 15),
    noqa_row=2,
    related=(Related("a b,c.py", span(1, 1, 1, 7), "made here"),),
    fix=FIX,
)
SECOND = Finding("TDL501", "test-other", Severity.ERROR, "two rows", "a b,c.py", span(3, 5, 4, 7), 4)
REPEAT = Finding("TDL501", "test-other", Severity.ERROR, "two rows", "a b,c.py", span(4, 5, 4, 6), 4)
NOTE = Finding(
    "TDL803",
    "test-note",
    Severity.INFO,
    "a note",
    "a b,c.py",
    span(4, 5, 4, 6),
    4,
    fix=Fix(Applicability.UNSAFE, "drop it", FIX.edits),
)
OUTCOME = Outcome("a b,c.py", (FIRST, SECOND, REPEAT, NOTE), text=TEXT)


PLAIN = Style()


def render(name: str, *outcomes: Outcome, style: Style = PLAIN) -> list[str]:
    return list(renderer(name)(outcomes, style))


def test_full() -> None:
    assert "\n".join(render("full", OUTCOME)) == (
        """\
a b,c.py:2:14: warning: TDL101 test-rule
  100% wrong: here, see
    |
  2 |         x = f('日本', y)
    |                       ^
  note: line 1: made here
    |
  1 | import torch
    | ^^^^^^
  fix: call h
    -	x = f('日本', y)
    +	x = h('日本', y)

a b,c.py:3:5: error: TDL501 test-other
  two rows
    |
  3 | z = g(
    |     ^^
  note: the same on line 4

a b,c.py:4:5: info: TDL803 test-note
  a note
    |
  4 |     1)
    |     ^
  fix (unsafe): drop it
    -	x = f('日本', y)
    +	x = h('日本', y)

Found 3 faults and 1 note.
[*] 1 can be repaired with `--fix` (1 more with `--unsafe-fixes`)."""
    )


DETAIL = (
    'On an accelerator that raises "Expected all tensors to be on the same device". '
    '`self.register_buffer("mean", ..., persistent=False)` moves with the module.'
)


def test_full_wraps_the_message_and_the_detail_at_words() -> None:
    finding = Finding("TDL603", "test", Severity.ERROR, "wrong; do it", "a", span(1, 1, 1, 7), 1, detail=DETAIL)
    lines = render("full", Outcome("a", (finding,), text=TEXT), style=Style(width=60))
    assert lines[1:8] == [
        "  wrong; do it",
        "    |",
        "  1 | import torch",
        "    | ^^^^^^",
        '  On an accelerator that raises "Expected all tensors to be',
        '  on the same device". `self.register_buffer("mean", ...,',
        "  persistent=False)` moves with the module.",
    ]
    assert all(len(line) <= 60 for line in lines)


def test_the_detail_is_in_the_formats_that_have_room() -> None:
    finding = Finding("TDL603", "test", Severity.ERROR, "wrong; do it", "a", span(1, 1, 1, 7), 1, detail=DETAIL)
    outcome = Outcome("a", (finding,), text=TEXT)
    assert json.loads("\n".join(render("json", outcome)))[0]["detail"] == DETAIL
    sarif = json.loads("\n".join(render("sarif", outcome)))
    assert sarif["runs"][0]["results"][0]["message"]["text"] == f"wrong; do it. {DETAIL}"
    assert DETAIL.split('"')[0] in "\n".join(render("junit", outcome))
    for name in ("concise", "grouped", "github", "gitlab"):
        assert "Expected all" not in "\n".join(render(name, outcome)), name


def test_each_rule_has_a_page_where_its_url_points() -> None:
    root = Path(__file__).parents[2]
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    assert "[project.urls]" not in text or not PAGES.startswith("docs/"), (
        "the project has an address: PAGES begins with it"
    )
    for rule in own_rules():
        assert (root / "docs" / "rules" / Path(url(rule.code) or "").name).is_file()
    assert url("ACME101") is None


def test_concise() -> None:
    assert render("concise", OUTCOME) == [
        "a b,c.py:2:14: TDL101 [*] 100% wrong: here, see",
        "a b,c.py:3:5: TDL501 two rows",
        "a b,c.py:4:5: TDL501 two rows",
        "a b,c.py:4:5: TDL803 a note",
        "Found 3 faults and 1 note.",
        "[*] 1 can be repaired with `--fix` (1 more with `--unsafe-fixes`).",
    ]


@pytest.mark.parametrize(
    ("outcomes", "style", "lines"),
    [
        ((), Style(), ["No faults found."]),
        ((Outcome("a", (SECOND,)),), Style(), ["Found 1 fault."]),
        ((Outcome("a", (), (FIRST, SECOND)),), Style(), ["Repaired 2 faults, 0 left."]),
        ((Outcome("a", (SECOND,), (FIRST, NOTE, NOTE)),), Style(), ["Repaired 1 fault and 2 notes, 1 left."]),
        ((Outcome("a", (NOTE,)),), Style(), ["Found 1 note.", "1 can be repaired with `--fix --unsafe-fixes`."]),
        ((Outcome("a", (NOTE,)),), Style(unsafe_fixes=True), ["Found 1 note.", "[*] 1 can be repaired with `--fix`."]),
    ],
)
def test_summary(outcomes: tuple[Outcome, ...], style: Style, lines: list[str]) -> None:
    assert render("concise", *outcomes, style=style)[-len(lines) :] == lines


def test_json_has_the_fields_of_the_contract() -> None:
    first, second, *_ = json.loads("\n".join(render("json", OUTCOME)))
    path = str(Path("a b,c.py").absolute())
    assert first == {
        "code": "TDL101",
        "name": "test-rule",
        "severity": "warning",
        "message": "100% wrong: here, see",
        "detail": None,
        "filename": path,
        "cell": None,
        "location": {"row": 2, "column": 14},
        "end_location": {"row": 2, "column": 15},
        "url": "docs/rules/TDL101.md",
        "noqa_row": 2,
        "fix": {
            "applicability": "safe",
            "message": "call h",
            "edits": [{"content": "h", "location": {"row": 2, "column": 6}, "end_location": {"row": 2, "column": 7}}],
        },
        "related": [{"filename": path, "location": {"row": 1, "column": 1}, "message": "made here"}],
    }
    assert second["fix"] is None
    assert json.loads("\n".join(render("json"))) == []


def test_github() -> None:
    first, second, _, note = render("github", OUTCOME)
    assert first == (
        "::warning title=torchdevlint (TDL101),file=a b%2Cc.py,line=2,col=14,endLine=2,endColumn=15"
        "::a b,c.py:2:14: TDL101 100%25 wrong: here, see"
    )
    assert second.startswith("::error title=torchdevlint (TDL501),file=a b%2Cc.py,line=3,endLine=4::")
    assert note.startswith("::notice ")


def test_statistics() -> None:
    assert list(statistics.render([OUTCOME], Style())) == [
        "2  TDL501  [ ]  test-other",
        "1  TDL101  [*]  test-rule",
        "1  TDL803  [ ]  test-note",
    ]
    assert statistics.as_objects([OUTCOME], Style())[1] == {
        "code": "TDL101",
        "name": "test-rule",
        "count": 1,
        "fixable": True,
        "fixable_count": 1,
    }


def test_diff() -> None:
    outcome = Outcome("a.py", stored=b"a\r\nB\x0c\r\nc", read=b"a\r\nb\x0c\r\nc")
    assert list(diff.render([outcome, OUTCOME], Style())) == [
        "--- a/a.py",
        "+++ b/a.py",
        "@@ -1,3 +1,3 @@",
        " a\r",
        "-b\x0c\r",
        "+B\x0c\r",
        " c",
        "\\ No newline at end of file",
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_colours_are_paint_alone(name: str) -> None:
    painted = "\n".join(render(name, OUTCOME, style=Style(colour=True)))
    plain = "\n".join(render(name, OUTCOME))
    assert ("\x1b[" in painted) == (name in ("full", "concise", "grouped"))
    for code in ("1", "2", "36", "32", "31", "33;1", "31;1", "34;1", "36;1", "0"):
        painted = painted.replace(f"\x1b[{code}m", "")
    assert painted == plain


# ---------------------------------------------------------------------------------------------------- what others wrote


@pytest.mark.parametrize("is_absolute", [False, True])
def test_another_file_is_named_as_the_file_of_the_finding_is(
    is_absolute: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    there = str(tmp_path / "lib" / "b.py")
    name = str(tmp_path / "a.py") if is_absolute else "a.py"
    finding = replace(FIRST, filename=name, related=(Related(there, span(7, 1, 7, 2), "made here"),))
    text = "\n".join(render("full", Outcome(name, (finding,), text=TEXT)))
    assert f"  note: {there if is_absolute else 'lib/b.py'}:7: made here" in text


HOSTILE = "x\n::error::boo\r\x1b[31m\x07\x9b\u202e\u2028\u200b\ud800##[add-mask]y"
ESCAPED = r"x\n::error::boo\r\x1b[31m\x07\x9b\u202e\u2028\u200b\ud800#\x23[add-mask]y"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2028\u200b\ud800]|##\\[|^\\s*::error::", re.MULTILINE)


def hostile(name: str) -> Outcome:
    text = f"'{HOSTILE.replace(chr(10), '').replace(chr(13), '')}'; y = 1\n"
    place = span(1, text.index("y ="), 1, text.index("y =") + 1)
    fix = Fix(Applicability.SAFE, HOSTILE, (Edit(0, 1, '"', span(1, 1, 1, 2)),))
    related = (Related(name, place, HOSTILE),)
    return Outcome(
        name, (Finding("TDL501", "a-rule", Severity.ERROR, HOSTILE, name, place, 1, related, fix),), text=text
    )


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("filename", ["a.py", f"{HOSTILE}.py", "::error::a.py", " ::error::a.py"])
def test_what_others_wrote_is_escaped(name: str, filename: str) -> None:
    lines = render(name, hostile(filename))
    assert not any("\n" in line for line in lines)
    found = UNSAFE.search("\n".join(lines))
    assert found is None, (found, lines)
    if name not in ("json", "json-lines"):
        text = "\n".join(lines)
        assert ESCAPED in (text.replace(r"\\", "\\") if name in ("sarif", "gitlab") else text)


def test_the_caret_stands_below_what_is_escaped() -> None:
    lines = render("full", hostile("a.py"))
    source, caret = lines[3], lines[4]
    assert source.index("; y =") + 1 == caret.index("^")


def test_json_is_read_by_every_parser() -> None:
    (found,) = json.loads("\n".join(render("json", hostile("caf\udce9.py"))))
    found["filename"].encode()
    assert found["filename"].endswith("caf\\udce9.py")
    assert found["message"] == HOSTILE.replace("\ud800", "\\ud800")


def test_github_gets_the_name_of_the_file() -> None:
    (line,) = render("github", hostile("a\n%,:.py"))
    assert ",file=a%0A%25%2C%3A.py,line=1," in line


def test_a_diff_on_a_terminal_is_escaped() -> None:
    outcome = Outcome("a.py", stored=b"a\x1b[2J\r\n", read=b"b\tc\r\n")
    assert list(diff.render([outcome], Style(terminal=True)))[3:] == ["-b\tc", r"+a\x1b[2J"]
