"""One file's text: its bytes, encoding, byte order mark and newlines, so that what is written back differs only where an edit is."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from typing import NamedTuple

_NEWLINE = re.compile("\r\n|\r|\n")
# Encodings of domain names, and one that decodes nothing; the time that they take grows with the square of the text.
_NO_SOURCES = frozenset(("idna", "punycode", "undefined"))


class SourceError(Exception):
    """The bytes are no Python text. `row` is the line (from 1) at which that shows."""

    def __init__(self, message: str, row: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.row = row


class Source(NamedTuple):
    """The text of a file and how it is stored. `path` is the name that reports show."""

    path: str
    text: str
    encoding: str = "utf-8"
    bom: bytes = b""

    @classmethod
    def from_bytes(cls, path: str, raw: bytes) -> Source:
        """Decodes as Python does (PEP 263, byte order mark, else UTF-8); raises `SourceError` with a sentence for the user."""
        bom = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
        body = raw[len(bom) :]
        if b"\0" in body:
            raise SourceError("the file holds a NUL byte, which no Python source may", _row_of(body, body.index(b"\0")))
        encoding = _encoding(raw)
        if encoding.replace("-", "_").lower() in _NO_SOURCES:
            raise SourceError(f"the coding line names `{encoding}`, which is no encoding of programs")
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError as error:
            raise SourceError(_undecodable(encoding, body, error), _row_of(body, error.start)) from None
        except (LookupError, UnicodeError):
            raise SourceError(f"the coding line names `{encoding}`, which is no text encoding") from None
        return cls(path, text, encoding, bom)

    def to_bytes(self) -> bytes:
        """The bytes to store; raises `UnicodeError` where the encoding has no such character."""
        return self.bom + self.text.encode(self.encoding)

    def with_text(self, text: str) -> Source:
        """The same file with another text."""
        return Source(self.path, text, self.encoding, self.bom)

    @property
    def newline(self) -> str:
        """The newline of the first line ("\\n" where there is none)."""
        found = _NEWLINE.search(self.text)
        return found.group() if found else "\n"


def _encoding(raw: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    except SyntaxError:
        # Either the coding line is wrong or the first two lines are no UTF-8: decoding tells which, with the place.
        first_lines = b"\n".join(raw.removeprefix(codecs.BOM_UTF8).splitlines()[:2])
        declared = re.search(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", first_lines, re.MULTILINE)
        if declared is None:
            return "utf-8"
        name = declared[1].decode("ascii", "replace")
        raise SourceError(
            f"the coding line names `{name}`, which Python does not know or which the byte order mark denies"
        ) from None
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _undecodable(encoding: str, body: bytes, error: UnicodeDecodeError) -> str:
    byte = f"byte 0x{body[error.start]:02x}"
    if encoding == "utf-8":
        return f"the file is not UTF-8 ({byte}) and has no coding line"
    return f"the file is not {encoding} ({byte}) as its coding line says"


def _row_of(body: bytes, offset: int) -> int:
    return len(body[: offset + 1].splitlines()) or 1
