"""`torchdevlint debug` and `torchdevlint stubs` as their users call them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torchdevlint import cli
from torchdevlint.infer.analysis import Analysis, analyse
from torchdevlint.infer.recorder import Recorder
from torchdevlint.program import from_ast

VAE = """\
import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(4, 4)

    def sample(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn(4)
        return mu + eps * std

    def forward(self, x):
        h = self.enc(x)
        return self.sample(h, h)


def main():
    model = VAE().cuda()
    print(model(torch.zeros(4).cuda()))


main()
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        try:
            code = cli.main(arguments)
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def write(text: str, name: str = "model.py") -> None:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")


def rows_of(out: str) -> dict[str, str]:
    """The tables of `facts`: what stands last of an expression."""
    pairs = (line.strip().partition("  ") for line in out.splitlines() if line.startswith("  "))
    return {name: told.strip() for name, _, told in pairs}


# ---------------------------------------------------------------------------------------------------- program


def test_program_prints_the_operations(run: Run) -> None:
    write("x = 1\n")
    assert run("debug", "program", "model.py") == (0, "module\n  0\n    %0 = constant 1\n    store x = %0\n", "")


# ---------------------------------------------------------------------------------------------------- facts


def test_facts_tell_kind_device_rank_and_origin(run: Run) -> None:
    write("import torch\nx = torch.zeros(3)\ny = (x, x.cuda())\n")
    code, out, _ = run("debug", "facts", "model.py:3")
    told = rows_of(out)
    assert code == 0
    assert told["x"] == "tensor @ cpu (default), rank 1, made on line 2"
    assert told["x.cuda()"].startswith("tensor @ accelerator, rank 1")


def test_facts_show_what_each_caller_gives_through_calls_of_calls(run: Run) -> None:
    write(VAE)
    _, out, _ = run("debug", "facts", "model.py:13")
    anybody, _, called = out.partition("called from line 17 from line 22 from line 25")
    assert rows_of(anybody)["mu"] == "parameter mu"
    assert "tensor @ accelerator" in called.splitlines()[1]
    assert "tensor @ device of the module" in out
    assert "called from outside of the file" in out


def test_facts_of_a_definition_tell_which_parameters_are_proven_tensors(run: Run) -> None:
    write("import torch\ndef f(x, n):\n    return x.softmax(0).detach(), torch.exp(x)\n")
    _, out, _ = run("debug", "facts", "model.py:2")
    assert rows_of(out.partition("parameters of f")[2].partition("called")[0]) == {
        "x": "proven a tensor by its use",
        "n": "open",
    }


def test_facts_of_a_line_that_no_path_reaches(run: Run) -> None:
    write("import torch\ndef f():\n    return 1\n    x = torch.zeros(3)\nf()\n")
    code, out, _ = run("debug", "facts", "model.py:4")
    assert code == 0
    assert "not evaluated" in out or "no code" in out


def test_a_line_within_an_expression_of_several_lines(run: Run) -> None:
    write("import torch\nx = torch.zeros(\n    3,\n\n)\n")
    code, out, _ = run("debug", "facts", "model.py:4")
    assert code == 0
    assert "tensor @ cpu" in out


def test_the_recorder_changes_nothing_of_the_analysis() -> None:
    program = from_ast.read(VAE)
    assert program is not None
    ops = {op for body in program.bodies for block in body.blocks for op in block.ops}
    plain, watched = analyse(program), Analysis(program)
    watched.recorder = Recorder(program, ops, set(program.bodies))
    watched.run()

    def told(faults: object) -> set[tuple[int, int, str]]:
        return {(id(f.place.op), id(f.site.op), f.verdict) for f in faults}  # type: ignore[attr-defined]

    assert told(plain.decided()) == told(watched.decided())
    assert plain.faults.keys() == watched.faults.keys()
    assert len(plain.decided()) > 0


# ---------------------------------------------------------------------------------------------------- why


def test_why_tells_the_claim_the_caller_and_the_row_of_the_policy(run: Run) -> None:
    write(VAE)
    code, out, _ = run("debug", "why", "TDL504", "model.py:12")
    assert code == 0
    assert "answer: TDL504 is told as an error" in out
    assert "line 13, `eps * std`: one device for all" in out
    assert "broken: called from line 17 from line 22" in out
    assert "row: TDL504, broken error, open warning; here error" in out
    assert "bounds: none was hit" in out


def test_why_tells_the_rows_of_a_check_of_the_rule(run: Run) -> None:
    write("import pytest\nimport torch\nx = torch.ones(3).cuda()\n")
    _, out, _ = run("debug", "why", "TDL801", "model.py:3")
    assert "row: TDL801, what the rule finds: warning" in out
    assert "row: TDL801, at this place a note (info) and no more: In a file or a folder of tests" in out


def test_why_of_a_finding_names_nothing_that_keeps_it_from_being_told(run: Run) -> None:
    write(VAE)
    assert "not told" not in run("debug", "why", "TDL504", "model.py:12")[1]


def test_why_names_the_file_where_tensors_of_another_file_meet(run: Run) -> None:
    write("def add(x, y):\n    return x + y\n", "one/model.py")
    write(
        "import torch\nfrom one.model import add\n\n\ndef f():\n    noise = torch.zeros(3)\n"
        "    return add(torch.ones(3).cuda(), noise)\n\n\nf()\n",
    )
    write("", "one/__init__.py")
    write("", "LICENSE")
    out = run("debug", "why", "TDL504", "model.py:6")[1]
    assert "line None" not in out
    assert "line 0" not in out
    assert "model.py:2" in out.partition("policy")[2]


def test_why_takes_the_name_of_a_rule(run: Run) -> None:
    write(VAE)
    assert "TDL504" in run("debug", "why", "factory-without-device-in-forward", "model.py:12")[1]


def test_why_from_the_line_where_they_meet_names_the_line_of_the_finding(run: Run) -> None:
    write(VAE)
    assert "answer: TDL504 speaks of this on line 12" in run("debug", "why", "TDL504", "model.py:13")[1]
    assert "answer: not TDL401: TDL504 speaks of this on line 12" in run("debug", "why", "TDL401", "model.py:13")[1]


def test_what_is_in_a_file_that_is_loaded(run: Run) -> None:
    save = "import torch\ndef save(net, folder):\n    torch.save(net.cpu().state_dict(), f'{folder}/net.pt')\n"
    text = save + "def load(folder):\n    return torch.load(folder + '/net.pt')\n"
    Path("net.py").write_text(text)
    for question in (("facts", "net.py:5"), ("why", "TDL101", "net.py:5")):
        _, out, _ = run("debug", *question)
        assert "loaded here: this machine must have the devices that the file was saved from" in out
        assert "met: all that may be in it is on the CPU\n    saved on line 3: cpu" in out
    _, out, _ = run("debug", "facts", "net.py:3")
    assert "saved here\n    saved on line 3: cpu" in out


def test_why_nothing_is_claimed(run: Run) -> None:
    write("import torch\nx = torch.zeros(3)\nprint(x.shape)\n")
    _, out, _ = run("debug", "why", "TDL504", "model.py:3")
    assert "answer: nothing is claimed here" in out
    assert "claims: none on this line" in out


def test_why_a_claim_is_met(run: Run) -> None:
    write("import torch\nx = torch.zeros(3).cuda()\ny = torch.ones(3).cuda()\nz = x + y\n")
    _, out, _ = run("debug", "why", "TDL505", "model.py:4")
    assert "answer: the claims here are met" in out
    assert "    met: at the top of the file" in out


def test_why_too_little_is_known(run: Run) -> None:
    write("import torch\ndef f(t):\n    return t + torch.zeros(3)\n")
    _, out, _ = run("debug", "why", "TDL504", "model.py:3")
    assert "undecided: called from outside of the file" in out
    assert "of an operand it is not known that it is a tensor" in out


MEETS = "import torch\nx = torch.zeros(3).cuda()\ny = torch.ones(3)\nz = x + y{comment}\n"


@pytest.mark.parametrize(
    ("comment", "settings", "told"),
    [
        ("", "", "TDL505 is told as an error"),
        ("  # noqa: TDL505", "", "hidden: a suppression comment on line 3"),
        ("", 'ignore = ["TDL505"]', "hidden: TDL505 is not among the rules that the settings turn on"),
        ("", 'per-file-ignores = { "model.py" = ["TDL5"] }', "hidden: TDL505 is ignored in this file"),
        ("", 'exclude = ["model.py"]', "hidden: the file is excluded"),
    ],
)
def test_why_a_finding_is_hidden(run: Run, comment: str, settings: str, told: str) -> None:
    text = MEETS.format(comment="").replace("torch.ones(3)", "torch.ones(3)" + comment)
    write(text)
    write(f"[tool.torchdevlint]\n{settings}\n", "pyproject.toml")
    code, out, _ = run("debug", "why", "TDL505", "model.py:3")
    assert code == 0
    assert told in out.splitlines()[1]


def test_why_a_note_is_hidden_by_the_level(run: Run) -> None:
    write('import torch\nx = torch.zeros(3).to("cuda")\n')
    _, out, _ = run("debug", "why", "TDL503", "model.py:2")
    assert "answer: TDL503 is found by the rule's own check and hidden: it is a note (info)" in out
    assert "--level info" in out


def test_why_a_finding_of_a_claim_is_a_note(run: Run) -> None:
    write("import torch\n\ndef f(x):\n    return torch.relu(x) + torch.ones(3)\n", "lib.py")
    write(
        "import json\nfrom lib import f\n\nif __name__ == '__main__':\n    print(f(json.loads(input())))\n", "main.py"
    )
    Path(".git").mkdir()
    _, out, _ = run("debug", "why", "TDL504", "lib.py:4")
    assert "open warning; here info" in out
    assert "a note: what an argument may break and no call of the project's programs breaks" in out


def test_why_another_rule_speaks(run: Run) -> None:
    write(MEETS.format(comment=""))
    assert "answer: not TDL504: TDL505" in run("debug", "why", "TDL504", "model.py:3")[1]


# ---------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("facts", "none.py:3"), "none.py: No such file or directory"),
        (("facts", "model.py"), "a file and a line are wanted"),
        (("facts", "model.py:99"), "the file has 3 lines"),
        (("facts", "model.py:2"), "this line holds no code (the nearest that do: 1, 3)"),
        (("why", "TDL5055", "model.py:1"), "unknown rule code 'TDL5055' (did you mean 'TDL505'?)"),
        (("program", "broken.py"), "broken.py:1: this does not parse"),
        (("program", "book.ipynb"), "no notebooks"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence_and_2(run: Run, arguments: tuple[str, ...], told: str) -> None:
    write("x = 1\n\ny = 2\n")
    write("x = (\n", "broken.py")
    code, out, err = run("debug", *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [("debug",), ("debug", "facts"), ("debug", "why"), ("stubs",)])
def test_help_teaches(run: Run, arguments: tuple[str, ...]) -> None:
    code, out, _ = run(*arguments, "--help")
    assert code == 0
    assert len(out.splitlines()) > 10


# ---------------------------------------------------------------------------------------------------- stubs


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("torch.cat", "def torch.cat(tensors: list[Tensor @ d]"),
        ("torch.concat", "def torch.cat(tensors: list[Tensor @ d]"),
        ("torch.nn.Linear", "class torch.nn.Linear(Module): parameters"),
        ("torch.Tensor.add", "torch.Tensor.add is a method of tensors"),
        ("torch.Tensor", "names below torch.Tensor: abs abs_"),
    ],
)
def test_stubs_tell_what_is_known(run: Run, name: str, told: str) -> None:
    code, out, _ = run("stubs", name)
    assert code == 0
    assert told in out


def test_stubs_name_what_is_near(run: Run) -> None:
    code, out, err = run("stubs", "nn.Linear")
    assert (code, out) == (2, "")
    assert err == "torchdevlint: nothing is known of 'nn.Linear' (did you mean 'torch.nn.Linear'?)\n"
    assert run("stubs", "torch.cat", "qqqq")[2] == "torchdevlint: nothing is known of 'qqqq'\n"
