"""Comments and logical lines, judged by the standard library's tokenizer on the standard library."""

from __future__ import annotations

import io
import sysconfig
import tokenize
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchdevlint.source.lines import Lines

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
SAMPLE = sorted(STANDARD_LIBRARY.glob("*.py")) + sorted((STANDARD_LIBRARY / "asyncio").glob("*.py"))


def tokenized(text: str) -> tuple[list[tuple[int, str]], list[int]]:
    """(row, text) of each comment and the last row of each logical line that holds code."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    comments = [(token.start[0], token.string.rstrip("\r")) for token in tokens if token.type == tokenize.COMMENT]
    ends = [token.start[0] for token in tokens if token.type == tokenize.NEWLINE]
    return comments, ends


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.name)
def test_agrees_with_the_tokenizer(path: Path) -> None:
    with tokenize.open(path) as file:
        text = file.read()
    comments, ends = tokenized(text)
    lines = Lines(text)
    assert [(comment.row, comment.text) for comment in lines.comments] == comments
    assert all(lines.logical(row)[1] == row for row in ends)


@pytest.mark.parametrize(
    ("text", "comments"),
    [
        ("x = '# noqa'  # yes", ["# yes"]),
        ('x = """\n# no\n"""  # yes', ["# yes"]),
        ("f'{x!r:#x}'  # yes", ["# yes"]),
        ("f'{x:{'#'}}'  # yes", ["# yes"]),
        ("f'{{#}}'  # yes", ["# yes"]),
        ('f"{d["# no"]}"  # yes', ["# yes"]),
        ("f'{f\"{f'# no'}\"}'  # yes", ["# yes"]),
        ("f'''{\nx  # inner\n}'''  # yes", ["# inner", "# yes"]),
        (r"x = r'\'# no'  # yes", ["# yes"]),
        (r"x = rf'\{x}# no'  # yes", ["# yes"]),
        (r"x = f'\N{NUMBER SIGN}#'  # yes", ["# yes"]),
        ("x = f'a''#'  # yes", ["# yes"]),
        ('x = f"""#"""  # yes', ["# yes"]),
        ("x = t'{y:#}#'  # yes", ["# yes"]),
        ("x = 1 if'#'else 2  # yes", ["# yes"]),
        ("x = 'unterminated # no\ny = 1  # yes", ["# yes"]),
        ("x = f'unterminated # no\ny = 1  # yes", ["# yes"]),
    ],
)
def test_comments_are_never_found_in_strings(text: str, comments: list[str]) -> None:
    assert [comment.text for comment in Lines(text).comments] == comments


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_logical_lines(newline: str) -> None:
    text = newline.join(["a = f(", "    b,", ")", "", "c = \\", "    1", 'd = """', '"""', "e"])
    lines = Lines(text)
    assert [lines.logical(row) for row in range(1, 10)] == [(1, 3)] * 3 + [(4, 4)] + [(5, 6)] * 2 + [(7, 8)] * 2 + [
        (9, 9)
    ]
    assert lines.row(lines.start_of(5)) == 5


def test_a_row_behind_the_text_is_its_own_line() -> None:
    assert Lines("x").logical(7) == (7, 7)


@given(st.text(alphabet="ft'\"{}:\\#\n rN([", max_size=40))
def test_never_fails(text: str) -> None:
    lines = Lines(text)
    for row in range(1, text.count("\n") + 2):
        first, last = lines.logical(row)
        assert first <= row <= last
