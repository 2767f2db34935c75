"""The values of literals, from their source text."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence


def number(text: str) -> int | float | complex:
    """The value of a number; raises `ValueError` when `text` is none (`0777`) or too long to convert."""
    digits = text.replace("_", "").lower()
    if digits.isdigit():
        return int(digits, 10) if digits[0] != "0" or not digits.strip("0") else _old_octal(text)
    if digits[:2] in ("0x", "0o", "0b"):
        return int(digits, 0)
    return complex(digits) if digits[-1] == "j" else float(digits)


def _old_octal(text: str) -> int:
    raise ValueError(f"{text} is an octal number of Python 2")


def string(text: str) -> str | bytes:
    """The value of one string literal without placeholders; raises `ValueError` when it has none that Python accepts."""
    opening = 0
    while text[opening] not in "'\"":
        opening += 1
    prefix = text[:opening].lower()
    width = 3 if text[opening : opening + 3] in ("'''", '"""') and len(text) >= opening + 6 else 1
    content = text[opening + width : -width]
    if "\r" in content:
        content = content.replace("\r\n", "\n").replace("\r", "\n")
    if "\\" in content and "r" not in prefix:
        return _unescaped(content, "b" if "b" in prefix else "")
    return content.encode("ascii") if "b" in prefix else content


def joined(texts: Sequence[str]) -> str | bytes:
    """The value of literals that stand side by side; raises `ValueError` for str beside bytes."""
    values = [string(text) for text in texts]
    if all(isinstance(value, str) for value in values):
        return "".join(value for value in values if isinstance(value, str))
    if all(isinstance(value, bytes) for value in values):
        return b"".join(value for value in values if isinstance(value, bytes))
    raise ValueError("str and bytes literals cannot be joined")


def formatted_text(text: str, raw: bool) -> str:
    """The value of the literal text between the placeholders of an f-string; undecodable text stays as written."""
    if "\\" in text and not raw:
        try:
            text = str(_unescaped(text, ""))
        except ValueError:
            return text
    return text.replace("{{", "{").replace("}}", "}")


def _unescaped(content: str, prefix: str) -> str | bytes:
    # A quote behind an even number of backslashes would end the literal that is built here.
    quoted = re.sub(r"(\\.)|\"", lambda match: match[1] or r"\"", content, flags=re.DOTALL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(f'{prefix}"""{quoted}"""')
    except SyntaxError as error:
        raise ValueError(str(error)) from error
    assert isinstance(value, str | bytes)
    return value
