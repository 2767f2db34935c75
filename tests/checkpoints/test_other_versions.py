"""Files that other versions of torch wrote (benchmarks/old_checkpoints.py), against what those versions read from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from torchdevlint.checkpoints import CheckpointError, read

WRITTEN = Path(__file__).parent / "written"
CASES = [json.loads(line) for line in (WRITTEN / "written.jsonl").read_text().splitlines()]
PREVIEW = "1.4.0"  # its zip format, behind an option, is not the one that torch 1.6 made the default


READABLE = [case for case in CASES if (case["torch"], case["format"]) != (PREVIEW, "zip")]


@pytest.mark.parametrize("case", READABLE, ids=lambda case: case["file"])
def test_storages_are_those_that_the_writing_version_read(case: dict[str, Any]) -> None:
    found = read(WRITTEN / case["file"])
    assert sorted([storage.bytes, *storage.dtypes] for storage in found.storages) == case["storages"]
    assert sorted(found.locations) == case["tags"]
    assert found.format == case["format"]


@pytest.mark.parametrize("case", READABLE, ids=lambda case: case["file"])
def test_weights_only_is_what_the_installed_torch_says(case: dict[str, Any], loads_weights: Any) -> None:
    path = WRITTEN / case["file"]
    judged = read(path).weights_only
    assert judged is not None
    assert judged.loads == loads_weights(path)


def test_the_zip_format_of_one_version_is_named() -> None:
    preview = [case for case in CASES if case not in READABLE]
    assert preview
    for case in preview:
        with pytest.raises(CheckpointError, match=r"the zip format of torch 1\.4"):
            read(WRITTEN / case["file"])
