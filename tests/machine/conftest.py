"""The marker of the full sweeps, which stay out of a plain run."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "sweep: compares every operator, module and optimizer with the CPU; takes minutes"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "sweep" in (config.option.markexpr or ""):
        return
    skip = pytest.mark.skip(reason="a full sweep: run it with -m sweep")
    for item in items:
        if "sweep" in item.keywords:
            item.add_marker(skip)
