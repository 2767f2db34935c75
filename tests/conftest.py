"""Settings of the test run: examples that hypothesis makes may take their time on a busy machine; the whole suite runs in two processes."""

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import Path

import hypothesis
import pytest

# Where CI runs, the examples are the same each time: what a new one finds is for whoever works on the code.
hypothesis.settings.register_profile("unhurried", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis.settings.load_profile("unhurried")

# The suite starts hundreds of Pythons. Each of them would compile the package anew, which is most of what a short run of it costs.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A hook, a rebase or a bisection of git names its repository to what it starts: the tests' own git would write into that one.
for _name in [name for name in os.environ if name.startswith("GIT_")]:
    del os.environ[_name]

# A run of a test keeps nothing: what another one has found would hide what this one does. Tests of the cache name a folder.
os.environ["TORCHDEVLINT_CACHE_DIR"] = os.devnull

# The scripts of benchmarks/ are no package: they are imported by their own names.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

# Syntax trees are many small objects that live on: looking for garbage after each 700 takes a tenth of the time of a test that lints.
gc.set_threshold(100_000)

# Children inherit what is ignored: under `nohup` a test of SIGHUP would wait for ever, behind `&` in a script one of Ctrl-C.
for _name, _default in (
    ("SIGHUP", signal.SIG_DFL),
    ("SIGINT", signal.default_int_handler),
    ("SIGQUIT", signal.SIG_DFL),
):
    if hasattr(signal, _name) and signal.getsignal(getattr(signal, _name)) is signal.SIG_IGN:
        signal.signal(getattr(signal, _name), _default)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two processes for the whole suite, none for chosen tests, which are done sooner than a process starts."""
    is_whole = config.args_source is not pytest.Config.ArgsSource.ARGS and not config.option.keyword
    return min(2, os.cpu_count() or 1) if is_whole else 0


# The files that take longest, so that none of them begins when the other process has nothing left to do.
_LONGEST = (
    "textbook/test_textbook.py",
    "verify/test_mutants.py",
    "workspace/test_remote.py",
    "test_with_and_without_sieve.py",
    "cli/test_check.py",
    "verify/test_verify.py",
    "workspace/test_cache.py",
    "benchmarks/test_differential.py",
    "machine/test_processes.py",
    "program/test_from_ast.py",
    "proofs/test_proofs.py",
    "server/test_versions.py",
    "fixes/test_properties.py",
    "rules/test_fixtures.py",
    "program/test_from_libcst.py",
    "plugins/test_pytest_plugin.py",
    "cli/test_new_rule.py",
    "workspace/test_hostile.py",
    "rules/test_formatted.py",
    "verify/test_observe.py",
    "test_growth.py",
    "test_docs.py",
    "test_warm.py",
    "benchmarks/test_kills.py",
    "machine/test_machine.py",
    "program/test_reparse.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """The files are given to the processes in the order below, not by their number of tests."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files that take longest come first; the others, and the tests of a file, stay in their order."""
    rank = {Path(__file__).parent / name: number for number, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


@pytest.fixture
def without_torch(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a Python that finds no torch: a `sitecustomize` takes it from the import system."""
    folder = tmp_path_factory.mktemp("without_torch")
    (folder / "sitecustomize.py").write_text(
        "from importlib.machinery import PathFinder\n"
        "find = PathFinder.find_spec\n"
        "PathFinder.find_spec = classmethod(lambda cls, name, *more: None if name == 'torch' else find(name, *more))\n"
    )
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
