"""Settings of the test run: examples that hypothesis makes may take their time on a busy machine; the whole suite runs in two processes."""

from __future__ import annotations

import os
import signal

import hypothesis
import pytest

# Where CI runs, the examples are the same each time: what a new one finds is for whoever works on the code.
hypothesis.settings.register_profile("unhurried", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis.settings.load_profile("unhurried")

# Children inherit what is ignored: under `nohup` a test of SIGHUP would wait for ever.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two processes for the whole suite, none for chosen tests, which are done sooner than a process starts."""
    is_whole = config.args_source is not pytest.Config.ArgsSource.ARGS and not config.option.keyword
    return min(2, os.cpu_count() or 1) if is_whole else 0
