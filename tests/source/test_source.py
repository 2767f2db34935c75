"""Bytes to text and back."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchdevlint.source.source import Source, SourceError


@pytest.mark.parametrize(
    ("raw", "text", "newline"),
    [
        (b"x = 1\r\ny = 2\r\n", "x = 1\r\ny = 2\r\n", "\r\n"),
        (b"x = 1\ry = 2", "x = 1\ry = 2", "\r"),
        (codecs.BOM_UTF8 + "é = 1\n".encode(), "é = 1\n", "\n"),
        ("# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"), "# -*- coding: latin-1 -*-\nx = 'é'\n", "\n"),
        (b"\x0cx = 1\n\tpass", "\x0cx = 1\n\tpass", "\n"),
        (b"", "", "\n"),
    ],
)
def test_what_is_read_is_written_back(raw: bytes, text: str, newline: str) -> None:
    source = Source.from_bytes("a.py", raw)
    assert source.text == text
    assert source.newline == newline
    assert source.to_bytes() == raw


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")))
def test_any_utf8_text_comes_back(text: str) -> None:
    raw = ("# coding: utf-8\n" + text).encode()
    assert Source.from_bytes("a.py", raw).to_bytes() == raw


@pytest.mark.parametrize(
    ("raw", "row", "words"),
    [
        (b"x = 1\ny = '\xe9'\n", 2, "is not UTF-8 (byte 0xe9) and has no coding line"),
        (b"# coding: ascii\n\ny = '\xe9'\n", 3, "is not ascii (byte 0xe9)"),
        (b"# coding: no-such\n", 1, "names `no-such`"),
        (b"# coding: rot13\n", 1, "names `rot13`"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", 1, "names `latin-1`"),
        (b"x = 1\n\n\0\n", 3, "NUL byte"),
    ],
)
def test_undecodable_bytes_are_told_with_their_line(raw: bytes, row: int, words: str) -> None:
    with pytest.raises(SourceError) as caught:
        Source.from_bytes("a.py", raw)
    assert caught.value.row == row
    assert words in caught.value.message
