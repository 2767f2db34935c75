"""`torchdevlint checkpoint` as a user gives it."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from torchdevlint import cli

MIXED = Path(__file__).parents[2] / "fixtures" / "checkpoints" / "mixed.pt"


def test_what_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["checkpoint", str(MIXED)]) == 1
    out = capsys.readouterr().out
    assert 'map_location="cpu"' in out
    assert "fewer than 2 CUDA devices" in out
    assert cli.main(["checkpoint", "--storages", str(MIXED)]) == 1
    assert "model.0.weight" in capsys.readouterr().out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["checkpoint", "--json", str(MIXED), "missing.pt"]) == 2
    taken = capsys.readouterr()
    good, bad = json.loads(taken.out)
    assert good["devices"] == ["cpu", "cuda:0", "cuda:1"]
    assert good["error"] is None
    assert good["map_location"][0]["value"] == '"cpu"'
    assert {"key", "device", "dtypes", "bytes", "tensors", "names"} == set(good["storages"][0])
    assert bad == {"filename": "missing.pt", "error": "cannot be opened: No such file or directory"}
    assert "missing.pt" in taken.err


def test_retag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "cpu.pt"
    assert cli.main(["checkpoint", "--retag", "cpu", str(MIXED), "-o", str(out)]) == 0
    assert "Loads on any machine." in capsys.readouterr().out
    assert cli.main(["checkpoint", str(out)]) == 0
    before = out.read_bytes()
    assert cli.main(["checkpoint", "--retag", "cuda:1", str(MIXED), "-o", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert out.read_bytes() == before
    assert cli.main(["checkpoint", "--retag", "cpu", str(MIXED), "-o", str(tmp_path / "no" / "folder.pt")]) == 2
    assert "could not be copied" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--retag", "cpu", str(MIXED)],
        [str(MIXED), "-o", "x.pt"],
        ["--retag", "cpu", str(MIXED), str(MIXED), "-o", "x.pt"],
        ["--retag", "tpu", str(MIXED), "-o", "x.pt"],
    ],
)
def test_usage(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["checkpoint", *arguments]) == 2
    assert not list(tmp_path.iterdir())


def test_what_a_file_says_steers_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = b"\x1b[31m"
    pickle = (
        b"\x80\x02(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
        + b"0X\5\0\0\0"
        + name
        + b"K\x01tQcos\n"
        + name
        + b"\n0."
    )
    path = tmp_path / "m.pt"
    with zipfile.ZipFile(path, "w") as new:
        new.writestr("m/data.pkl", pickle)
        new.writestr("m/data/0", bytes(4))
    assert cli.main(["checkpoint", "--storages", str(path)]) == 1
    taken = capsys.readouterr()
    assert "\x1b" not in taken.out + taken.err
    assert "never allowed" in taken.out


def test_neither_torch_nor_the_linter_is_imported() -> None:
    probe = (
        "import sys; from torchdevlint import cli; cli.main(['checkpoint', sys.argv[1]]);"
        "print([name for name in sys.modules if name in ('torch', 'numpy', 'libcst', 'torchdevlint.linter')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, str(MIXED)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"
