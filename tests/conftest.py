"""Settings of the test run: examples that hypothesis makes may take their time on a busy machine; the whole suite runs in two processes."""

from __future__ import annotations

import os

import hypothesis
import pytest

hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two processes for the whole suite, none for chosen tests, which are done sooner than a process starts."""
    is_whole = config.args_source is not pytest.Config.ArgsSource.ARGS and not config.option.keyword
    return min(2, os.cpu_count() or 1) if is_whole else 0
