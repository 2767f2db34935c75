"""Patterns mean what they mean to git, in time that does not explode."""

from __future__ import annotations

import shutil
import subprocess
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torchdevlint.source.patterns import PatternError, Patterns, read_patterns


@pytest.mark.parametrize(
    ("lines", "path", "covered"),
    [
        (["*.py"], "a/b.py", True),
        (["/b.py"], "a/b.py", False),
        (["/b.py"], "b.py", True),
        (["a/b.py"], "a/b.py", True),
        (["a/b.py"], "c/a/b.py", False),
        (["a/"], "a/b/c.py", True),
        (["a/"], "b/a", False),
        (["a"], "b/a", True),
        (["a/**"], "a/b/c.py", True),
        (["a/**/c.py"], "a/c.py", True),
        (["a/**/c.py"], "a/x/y/c.py", True),
        (["**/c.py"], "c.py", True),
        (["a/*"], "a/b/c.py", True),
        (["a/*", "!a/b"], "a/b/c.py", False),
        (["*.py", "!b.py"], "b.py", False),
        (["!b.py", "*.py"], "b.py", True),
        (["gen/", "!gen/a.py"], "gen/a.py", True),
        (["[ab].py"], "b.py", True),
        (["[!ab].py"], "b.py", False),
        (["[^ab].py"], "c.py", True),
        (["?.py"], "ab.py", False),
        ([r"\#a"], "#a", True),
        ([r"\!a"], "!a", True),
        ([r"a\*"], "ab", False),
        ([r"a\*"], "a*", True),
        (["a "], "a", True),
        ([r"a\ "], "a ", True),
        (["# a", "", "!"], "a", False),
    ],
    ids=str,
)
def test_meaning(lines: list[str], path: str, covered: bool) -> None:
    assert Patterns(lines).covers(path) is covered


def test_a_file_as_git_reads_it() -> None:
    patterns = read_patterns(b"\xef\xbb\xbfa.py\r\n\xe9.py\nb.py")
    assert patterns.covers("a.py")
    assert patterns.covers(b"\xe9.py".decode("utf-8", "surrogateescape"))
    assert patterns.covers("x/b.py")


@pytest.mark.parametrize("pattern", ["!", "a\\", "[a", "x" * 5000])
def test_what_means_nothing(pattern: str) -> None:
    with pytest.raises(PatternError):
        Patterns([pattern], strict=True)
    assert not Patterns([pattern]).covers("a")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "*b.py", "a" * 240 + ".py"),
        ("**/a/" * 60 + "b.py", "a/" * 1500 + "c.py"),
        ("*a*/" * 60 + "b.py", "aaaa/" * 1500 + "c.py"),
        ("[a]*" * 100 + "b", "a" * 250),
        ("?*" * 100 + "b", "a" * 250),
        ("*" * 4000 + "b", "a" * 250),
    ],
    ids=lambda value: value[:8],
)
def test_hostile_patterns_take_no_time(pattern: str, path: str) -> None:
    patterns = Patterns([pattern])
    before = time.thread_time()
    assert not patterns.decide(path, is_folder=False)
    assert time.thread_time() - before < 2  # a backtracking match takes longer than the universe


_PARTS = st.sampled_from(["a", "b", "*", "**", "?", "a*", "*b", "[ab]", "[!a]", "ab", r"\a"])


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    patterns=st.lists(
        st.builds(
            lambda bang, slash, parts, end: bang + slash + "/".join(parts) + end,
            st.sampled_from(["", "", "!"]),
            st.sampled_from(["", "", "/"]),
            st.lists(_PARTS, min_size=1, max_size=3),
            st.sampled_from(["", "", "/"]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_git_says_the_same(patterns: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    names = ["a", "b", "ab"]
    paths = [*names]
    for _ in range(2):
        paths += [f"{folder}/{name}" for folder in paths for name in names]
    paths = sorted({path for path in paths if path.count("/") < 3})
    folder = tmp_path_factory.mktemp("git")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    (folder / ".gitignore").write_text("\n".join(patterns), encoding="utf-8")
    asked = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],
        cwd=folder,
        input="\n".join(paths),
        capture_output=True,
        text=True,
    )
    ours = Patterns(patterns)
    assert sorted(asked.stdout.split()) == [path for path in paths if ours.covers(path)], patterns
