"""`torchdevlint explain` as a user gives it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from torchdevlint import cli

ROOT = Path(__file__).parents[2]
TRACEBACK = (ROOT / "fixtures" / "tracebacks" / "train.txt").read_text(encoding="utf-8")
NUMPY = "TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."


def given(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


def test_a_traceback_with_its_source(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    given(monkeypatch, TRACEBACK.encode())
    assert cli.main(["explain", "-"]) == 0
    out = capsys.readouterr().out
    assert "fixtures/demo/model.py:22 in forward" in out
    assert "`self.table[: x.size(1)]` is on the CPU: it is made on line 16 without a device." in out
    assert "  x           cuda:0  tensor\n" in out
    assert "TDL603 tensor-attribute-not-buffer (--unsafe-fixes), fixtures/demo/model.py:19:9" in out
    assert '  +        self.register_buffer("table", table, persistent=False)\n' in out
    assert "torchdevlint verify --gpus 1 --unsafe-fixes fixtures/demo/train.py\n" in out


def test_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    assert cli.main(["explain", "--format", "json", "fixtures/tracebacks/train.txt"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["cause"] == "attribute-left-behind"
    assert answer["source"] == "read"
    assert answer["error"]["type"] == "RuntimeError"
    assert answer["operands"] == {"argument": None, "device": "cpu", "other_device": "cuda:0", "operator": None}
    assert answer["frames"][0] == {
        "filename": "fixtures/demo/model.py",
        "row": 22,
        "function": "forward",
        "text": "return x + self.table[: x.size(1)]",
    }
    assert [value["expression"] for value in answer["values"]] == ["x", "self.table"]
    assert answer["values"][1] | {"detail": ""} == {
        "expression": "self.table",
        "device": "cpu",
        "detail": "",
        "made_row": 16,
    }
    assert answer["findings"][0]["code"] == "TDL603"
    assert answer["diff"].startswith("-        self.table = table\n+ ")


def test_without_source(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    given(monkeypatch, TRACEBACK.encode())
    assert cli.main(["explain", "-"]) == 0
    out = capsys.readouterr().out
    assert "A tensor attribute of a module was left on the CPU." in out
    assert "the file is not at hand" in out
    assert "look for" in out
    assert "verify" not in out


def test_root(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    elsewhere = TRACEBACK.replace("fixtures/demo", "/home/somebody/project/demo")
    (tmp_path / "log.txt").write_text(elsewhere, encoding="utf-8")
    assert cli.main(["explain", "--root", str(ROOT / "fixtures" / "demo"), "log.txt"]) == 0
    assert "TDL603" in capsys.readouterr().out
    assert cli.main(["explain", "--root", "nowhere", "log.txt"]) == 2


def test_a_line_that_moved_and_one_that_is_gone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "fixtures" / "demo"
    folder.mkdir(parents=True)
    (tmp_path / "log.txt").write_text(TRACEBACK, encoding="utf-8")
    source = (ROOT / "fixtures" / "demo" / "model.py").read_text(encoding="utf-8")
    (folder / "model.py").write_text("# new\n# new\n" + source, encoding="utf-8")
    assert cli.main(["explain", "log.txt"]) == 0
    out = capsys.readouterr().out
    assert "model.py:24 in forward" in out
    assert "(line 22 in the traceback: the file has changed since)" in out
    assert "TDL603" in out
    (folder / "model.py").write_text(source.replace("x + self.table", "x - self.table"), encoding="utf-8")
    assert cli.main(["explain", "log.txt"]) == 0
    out = capsys.readouterr().out
    assert "the file has another text on this line today" in out
    assert "TDL603 tensor" not in out


def test_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "--message", NUMPY]) == 0
    out = capsys.readouterr().out
    assert out.startswith("NumPy cannot read a tensor on a GPU.\n")
    assert "`x.detach().cpu().numpy()`" in out
    assert "TDL509" in out


def test_a_matter_of_the_machine_leads_to_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "--message", "AssertionError: Torch not compiled with CUDA enabled"]) == 0
    assert "torchdevlint doctor" in capsys.readouterr().out


def test_nothing_recognised(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "--message", "ZeroDivisionError: division by zero"]) == 1
    assert capsys.readouterr().out.startswith("No device error of PyTorch was recognised")
    assert cli.main(["explain", "--format", "json", "--message", "fine"]) == 1
    assert json.loads(capsys.readouterr().out) == {"cause": None}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "the text is empty"),
        (b" \n\n", "the text is empty"),
        (b"\x89PNG\x00\x00", "this is no text"),
        (b"caf\xe9", "not UTF-8 at byte 3"),
        (b"x" * 10_000_001, "more than 10 MB"),
    ],
    ids=["empty", "blank", "binary", "latin", "huge"],
)
def test_bad_input(
    raw: bytes, reason: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    given(monkeypatch, raw)
    assert cli.main(["explain", "-"]) == 2
    taken = capsys.readouterr()
    assert (taken.out, reason in taken.err) == ("", True)
    path = tmp_path / "log"
    path.write_bytes(raw)
    assert cli.main(["explain", str(path)]) == 2


def test_bad_arguments(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["explain"]) == 2
    assert cli.main(["explain", "-", "--message", "x"]) == 2
    assert cli.main(["explain", str(tmp_path / "missing")]) == 2
    assert cli.main(["explain", str(tmp_path)]) == 2
    assert capsys.readouterr().out == ""


def test_what_powershell_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(NUMPY.encode("utf-16"))
    assert cli.main(["explain", str(path)]) == 0
    assert "NumPy" in capsys.readouterr().out


def test_a_terminal_is_not_steered(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = (
        'Traceback (most recent call last):\n  File "a\x9b31m\u202e.py", line 3, in f\x07\n    ##[error]x + \u200by\n'
        f"{NUMPY} \x08\x08\x9b2J\u2028##vso[task]\n"
    )
    assert cli.main(["explain", "--message", hostile]) == 0
    out = capsys.readouterr().out
    assert not {char for char in out if char != "\n" and (ord(char) < 32 or char in "\x9b\u202e\u200b\u2028")}
    assert "##[" not in out
    assert "##vso[" not in out


def test_nothing_is_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text(
        "import torch, pathlib\npathlib.Path('ran').touch()\nx = torch.ones(2, device='cuda').numpy()\n",
        encoding="utf-8",
    )
    text = f"Traceback (most recent call last):\n  File \"bad.py\", line 3, in <module>\n    x = torch.ones(2, device='cuda').numpy()\n{NUMPY}\n"
    assert cli.main(["explain", "--message", text]) == 0
    assert ".cpu().numpy()" in capsys.readouterr().out
    assert not (tmp_path / "ran").exists()


def test_special_files_are_not_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f'Traceback (most recent call last):\n  File "/dev/zero.py", line 3, in f\n  File "/dev/stdin", line 3, in f\n    x.numpy()\n{NUMPY}\n'
    assert cli.main(["explain", "--message", text]) == 0
    assert "NumPy" in capsys.readouterr().out
