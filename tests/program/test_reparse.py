"""The tree of a version is what LibCST makes of its whole text, whichever statements are those of the version before."""

from __future__ import annotations

import ast
import random
import sys
from pathlib import Path

import libcst as cst
import pytest

from torchdevlint.program import from_ast
from torchdevlint.program.reparse import Version, reparse

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))
from edits import versions

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    *sorted((ROOT / "fixtures" / "demo").glob("*.py")),
    ROOT / "torchdevlint" / "sieve.py",
    ROOT / "torchdevlint" / "program" / "from_ast.py",
]
TEXT = """\
# head
import os; import sys

@decorated
# between
def first(x):
    return x
    # at the end of first

# before second
def second(y):
  return y  # two blanks


class Third:
    x = 1; y = 2
    # before method
    @decorated
    def method(self):
        pass

    # behind method
    def other(self):
        return 3
      # behind other

    z = 4
    w = 5


if first: second; third
x = '''
'''
"""


def taken(texts: list[str]) -> int:
    """Compares each version's tree with that of the whole text; how many have statements of the version before."""
    before: Version | None = None
    count = 0
    for text in texts:
        program = from_ast.read(text)
        if program is None:
            continue
        made = reparse(before, text, program.rows)
        whole = cst.parse_module(text)
        assert made.module.code == whole.code
        assert made.module.deep_equals(whole)
        assert (made.module.default_indent, made.module.default_newline) == (
            whole.default_indent,
            whole.default_newline,
        )
        count += before is not None and any(one is other for one in made.module.body for other in before.module.body)
        before = made
    return count


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_random_edits(path):
    assert taken(versions(path.read_text(encoding="utf-8"), 5, 12)) > 0


@pytest.mark.parametrize("seed", range(12))
def test_random_edits_of_what_is_rare(seed):
    taken(versions(TEXT, seed, 15))


@pytest.mark.parametrize("seed", range(8))
def test_comments_blank_lines_and_indentation(seed):
    choice, texts = random.Random(seed), [TEXT]
    while len(texts) < 25:
        lines = texts[-1].split("\n")
        at = choice.randrange(len(lines))
        lines[at : at + choice.randrange(2)] = [
            choice.choice(["", "# a", "    # b", "  # c", "        # d", "y = 1", "'''"])
        ]
        text = "\n".join(lines)
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        texts.append(text)
    taken(texts)


def test_a_key_in_a_function_takes_the_others():
    assert taken([TEXT.replace("return y", f"return y{number}") for number in range(4)]) == 3
    assert taken([TEXT.replace("return 3", f"return {number}") for number in range(4)]) == 3


def test_a_key_in_the_last_method_takes_the_others():
    assert taken([TEXT.replace("w = 5", f"w = {number}") for number in range(4)]) == 3


def test_a_key_in_a_method_takes_the_others():
    texts = [TEXT.replace("return 3", f"return {number}") for number in range(2)]
    first = reparse(None, texts[0], from_ast.read(texts[0]).rows)
    second = reparse(first, texts[1], from_ast.read(texts[1]).rows)
    assert second.module.deep_equals(cst.parse_module(texts[1]))
    before, after = first.module.body[3].body.body, second.module.body[3].body.body
    assert [one is other for one, other in zip(before, after, strict=True)] == [True, True, False, False, True]


def test_edits_in_a_class_and_behind_it_are_both_seen():
    texts = [TEXT, TEXT.replace("return 3", "return 4").replace("third\n", "other\n")]
    assert taken(texts) == 0  # but one statement stands behind both, and that one may take comments


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\f\n"])
def test_other_newlines_are_parsed_as_a_whole(newline):
    texts = [TEXT.replace("\n", newline).replace("return y", f"return y{number}") for number in range(2)]
    assert taken(texts) == 0
