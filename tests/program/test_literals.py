"""The values of literals, as Python itself has them."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchdevlint.program import literals


@pytest.mark.parametrize(
    "text", ["0", "00", "1_000", "0xFF", "0b1_0", "0O17", "1.5e3", ".5", "1_0.0_1", "1j", "0j", "1E-2J"]
)
def test_numbers(text: str) -> None:
    value = literals.number(text)
    assert value == ast.literal_eval(text)
    assert type(value) is type(ast.literal_eval(text))


@pytest.mark.parametrize("text", ["0777", "1" * 5000])
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match=r"octal|limit"):
        literals.number(text)


@pytest.mark.parametrize(
    "text",
    [
        "'a'",
        '""',
        "''''''",
        '"""a\n"b\\""""',
        r"'\n\t\\\'\x41\u00e9\N{BULLET}\101'",
        r"r'\n'",
        r"Rb'\x00'",
        r"b'\x00\n'",
        "u'é'",
        "'a\\\nb'",
        r"'''\'\''''",
        r'"""\x41"quoted\\" """',
        "'''a\"\"\"b\\x41'''",
    ],
)
def test_strings(text: str) -> None:
    assert literals.string(text) == ast.literal_eval(text)


@pytest.mark.filterwarnings("ignore")
@given(st.text(alphabet="ab'\"\\nx41u{}\n\r "), st.sampled_from(["", "r", "b", "u"]))
def test_any_string_is_as_python_reads_it(content: str, prefix: str) -> None:
    if content.endswith("'"):
        return  # quotes at the end close the literal early and begin another one
    text = f"{prefix}'''{content}'''"
    try:
        expected = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return
    if isinstance(expected, str | bytes) and "'''" not in content and text.count("'''") == 2:
        assert literals.string(text) == expected


def test_strings_of_python_2_and_wrong_escapes_have_no_value() -> None:
    with pytest.raises(ValueError, match="codec"):
        literals.string(r"'\x4'")
    with pytest.raises(ValueError, match="joined"):
        literals.joined(["'a'", "b'b'"])
    assert literals.joined(["'a'", "r'\\'", '"c"']) == "a\\c"


def test_text_of_formatted_strings() -> None:
    assert literals.formatted_text(r"\tcuda{{", raw=False) == "\tcuda{"
    assert literals.formatted_text(r"\tcuda}}", raw=True) == r"\tcuda}"
    assert literals.formatted_text(r"\x4", raw=False) == r"\x4"
