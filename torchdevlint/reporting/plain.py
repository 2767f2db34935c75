"""Text that others wrote (names of files, lines of source, values in messages), so that a terminal or a CI log takes it for text."""

from __future__ import annotations

import re

# Control characters, invisible and direction-changing format characters, line separators, and halves of surrogate pairs. The joiners
# U+200C and U+200D stay: scripts and emoji are written with them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
_CI_COMMAND = re.compile(
    r"##(?=\w*\[)"
)  # GitHub Actions, Azure Pipelines and TeamCity read `##[...]` anywhere in a line


def shown(text: str) -> str:
    """One line of printable text: what would steer the reader's terminal, or hide from it, is written as a Python escape."""
    text = _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)
    return _CI_COMMAND.sub(r"#\\x23", text)


def shown_name(name: str) -> str:
    """The name of a file at the beginning of a line; GitHub Actions reads `::` there as a command."""
    text = shown(name)
    return f"./{text}" if text.lstrip().startswith("::") else text
