"""Device stubs that a user adds: what they tell, where they come from, and what is said of those that cannot be used."""

from __future__ import annotations

import os
import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from torchdevlint import api, cli
from torchdevlint.linter import lint
from torchdevlint.server.work import Buffer, Job, do
from torchdevlint.settings import Resolver, Settings, SettingsError
from torchdevlint.stubs import loader, user
from torchdevlint.workspace import pool, remote, runner
from torchdevlint.workspace.discovery import Target
from torchdevlint.workspace.memory import forget_projects
from torchdevlint.workspace.watch import Watch

PAGE = Path(__file__).parents[2] / "docs" / "stubs.md"
SETTINGS = '[tool.torchdevlint]\nstubs = ["stubs"]\n'
MOVES = "def mylib.up(x) -> Self @ accelerator: ...\n"
STAYS = "def mylib.up(x) -> Self: ...\n"
PROGRAM = "import torch\nimport mylib\n\nx = mylib.up(torch.ones(3))\ny = torch.ones(3)\nprint(x + y)\n"

NET = "class mylib.Net(Module): parameters\n"

Run = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`torchdevlint check` in a folder of its own: the exit code, what is found, and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TORCHDEVLINT_CACHE_DIR", raising=False)

    def check(*arguments: str) -> tuple[int, list[str], str]:
        code = cli.main(["check", "--output-format", "concise", *arguments])
        said = capsys.readouterr()
        return code, [line for line in said.out.splitlines() if " TDL" in line], said.err

    return check


def write(name: str, text: str | bytes) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def codes(findings: list[str]) -> list[str]:
    return [line.split(" ")[1] for line in findings]


# ---------------------------------------------------------------------------------------------------- what they tell


@pytest.mark.parametrize("title", ["A function that moves to a device", "A module without parameters"])
def test_the_page_shows_what_is_found(title: str, run: Run) -> None:
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    blocks = dict(re.findall(r"```(\w+)\n(.*?)```", section, re.DOTALL))
    for kind in ("stub", "python"):
        name, _, text = blocks[kind].removeprefix("# ").partition("\n")
        write(name, f"# {name}\n{text}")
    assert run("--no-cache", "--ignore", "TDL801")[1] == []
    write("pyproject.toml", SETTINGS)
    assert "\n".join(run("--no-cache", "--ignore", "TDL801")[1]) == blocks["text"].strip()


@pytest.mark.parametrize(
    ("stub", "call", "is_told"),
    [
        ("def mylib.f(x, device: Device=...) -> Self @ device: ...", 'f(cpu, device="cuda")', True),
        ("def mylib.f(x, device: Device=...) -> Self @ device: ...", "f(cpu)", False),
        ("def mylib.f(x, device: Device=...) -> Self @ device: ...", 'f((cpu, 1), "cuda")[0]', True),
        ("def mylib.f(x, device: Device=...) -> Self @ device: ...", 'f([cpu], "cuda")[0]', True),
        ("def mylib.f(x, device: Device=...) -> Self @ device: ...", 'f({"a": cpu}, "cuda")["a"]', True),
        ("def mylib.f(x, device: Device=...) -> Self @ device: ...", 'f([[cpu], [1]], "cuda")[0][0]', True),
        ("def mylib.f(x, device: Device=...) -> Self @ device: ...", 'f(torch.nn.Linear(3, 3), "cuda").weight', True),
        ("def mylib.f(x) -> Self @ cpu: ...", "f(gpu)", False),
        ("def mylib.f(x) -> Self @ accelerator: ...", "f(cpu)", True),
        ("def mylib.f(n, where: Device=...) -> Tensor[1] @ where: ...", 'f(3, where="cuda")', True),
        ("def mylib.f(n, where: Device=...) -> Tensor[1] @ where: ...", "f(3)", False),
        ("def mylib.f(n) -> Tensor[1] @ cpu: ...", "f(3)", False),
        ("def mylib.f(x: Tensor @ a, y: Tensor @ b) -> Tensor @ b: ...", "f(cpu, gpu)", True),
        ("def mylib.f(x: Tensor @ a, y: Tensor @ b) -> Tensor @ b: ...", "f(gpu, cpu)", False),
        ("def mylib.f(x: Tensor @ d) -> Tensor[0] @ d: ...", "f(cpu)", False),
        ("def mylib.f(x: Tensor @ d) -> list[Tensor @ d]: ...", "f(gpu)[0]", True),
        ("def mylib.f(x: Tensor @ d) -> Result(a=Scalar, b=Tensor @ d): ...", "f(gpu).b", True),
        ("class mylib.f(Module): parameters", 'f().to("cuda")(gpu)', True),
        (
            f"{NET}def mylib.Net.encode(self, x: Tensor @ any) -> Tensor @ self: ...",
            'Net().to("cuda").encode(cpu)',
            True,
        ),
        (f"{NET}def mylib.Net.encode(self, x: Tensor @ any) -> Tensor @ self: ...", "Net().encode(gpu)", False),
        (f"{NET}def mylib.Net.forward(self, x: Tensor @ any) -> Tensor @ self: ...", 'Net().to("cuda")(cpu)', True),
        (f"{NET}mylib.f = mylib.Net\ndef mylib.Net.forward(self) -> Tensor @ self: ...", 'f().to("cuda")()', True),
        ("def mylib.f(x: Tensor @ d) -> Tensor[any] @ d: ...", "f(gpu)", True),
    ],
)
def test_a_result_is_where_the_stub_says(stub: str, call: str, is_told: bool, run: Run) -> None:
    """One side of an addition is on the CPU, the other where the stub says."""
    write("mylib.stub", stub + "\n")
    write(
        "a.py",
        f'import torch\nimport mylib\n\ncpu = torch.ones(3)\ngpu = torch.ones(3, device="cuda")\nprint(mylib.{call} + cpu)\n',
    )
    found = run("--no-cache", "--stubs", "mylib.stub", "--select", "TDL5")[1]
    assert ("TDL505" in codes(found)) is is_told


def test_a_stub_claims_what_its_parameters_share(run: Run) -> None:
    write("mylib.stub", "def mylib.f(x: Tensor @ d, y: Tensor @ d) -> Tensor @ d: ...\n")
    write("a.py", 'import torch\nimport mylib\n\nmylib.f(torch.ones(3, device="cuda"), torch.ones(3))\n')
    assert codes(run("--no-cache", "--select", "TDL5")[1]) == []
    assert codes(run("--no-cache", "--select", "TDL5", "--stubs", "mylib.stub")[1]) == ["TDL505"]


def test_a_method_wants_its_inputs_where_the_module_is(run: Run) -> None:
    write(
        "mylib.stub",
        f"{NET}def mylib.Net.forward(self, x: Tensor @ self, step: Tensor @ ~self, name=...) -> Object: ...\n",
    )
    lines = ["import torch", "import mylib", "net = mylib.Net().to('cuda')", "x = torch.ones(3, device='cuda')"]
    lines += ["net(x, torch.tensor(5))", "net(x, torch.tensor([5]))", "net(torch.ones(3), 5, name=torch.ones(3))"]
    write("a.py", "\n".join(lines) + "\n")
    found = run("--no-cache", "--select", "TDL4", "--stubs", "mylib.stub")[1]
    assert [line.partition(" ")[0] for line in found] == ["a.py:6:8:", "a.py:7:5:"]


def test_a_module_is_taken_to_a_device_that_nobody_here_knows(run: Run) -> None:
    write("mylib.stub", "def mylib.run(model: Module) -> Object: ...\n")
    lines = ["import torch", "import mylib", "net = torch.nn.Linear(3, 3)", "mylib.run(net)"]
    write("a.py", "\n".join([*lines, "net(torch.ones(3, device='cuda'))"]) + "\n")
    assert codes(run("--no-cache", "--select", "TDL4")[1]) == ["TDL401"]
    assert codes(run("--no-cache", "--select", "TDL4", "--stubs", "mylib.stub")[1]) == []


def test_a_stub_stands_above_what_is_known_otherwise(run: Run) -> None:
    program = 'import torch\n\nx = torch.ones(3, device="cuda")\nprint(torch.special.entr(x) + torch.ones(3))\n'
    write("a.py", program)
    assert codes(run("--no-cache", "--select", "TDL5")[1]) == ["TDL505"]
    write("t.stub", "def torch.special.entr(x) -> Tensor[1] @ cpu: ...\n")
    assert codes(run("--no-cache", "--select", "TDL5", "--stubs", "t.stub")[1]) == []


@pytest.mark.parametrize(
    ("imported", "prefix"),
    [
        ("import mylib.utils", "mylib.utils."),
        ("from mylib import utils", "utils."),
        ("from mylib.utils import host, up", ""),
    ],
)
def test_a_stub_stands_above_the_source_of_the_project(imported: str, prefix: str, run: Run) -> None:
    """The rest of the library is followed as before."""
    write("pyproject.toml", '[project]\nname = "a"\n' + SETTINGS)
    write("stubs/mylib.stub", "def mylib.utils.up(x) -> Self @ accelerator: ...\n")
    write("mylib/__init__.py", "")
    write("mylib/utils.py", "import torch\n\n\ndef up(x):\n    return x\n\n\ndef host(n):\n    return torch.ones(n)\n")
    write("a.py", f"import torch\n{imported}\n\nprint({prefix}up(torch.ones(3)) + {prefix}host(3))\n")
    assert codes(run("--no-cache", "--select", "TDL5", "a.py")[1]) == ["TDL505"]
    assert codes(run("--no-cache", "--select", "TDL5", "--isolated", "a.py")[1]) == []


def test_a_file_that_names_the_library_alone_is_looked_at(run: Run) -> None:
    write("mylib.stub", "def mylib.grid(n, device: Device=...) -> Tensor[2] @ device: ...\n")
    write("a.py", 'from mylib import grid\n\nprint(grid(3, device="cuda") + grid(3))\n')
    assert codes(run("--no-cache", "--stubs", "mylib.stub", "--select", "TDL5")[1]) == ["TDL505"]


# ---------------------------------------------------------------------------------------------------- what cannot be used


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("def up(x) -> Self: ...", "a dotted name in full is wanted, as in package.module.name, not 'up'"),
        ("def mylib.class(x) -> Self: ...", "a dotted name in full"),
        ("def mylib.up(x) -> Self:", "a function is `def package.name(parameters) -> result: ...`"),
        ("def mylib.up(x): ...", "the result is missing"),
        ("def mylib.up(x -> Self: ...", "not valid syntax"),
        ("def mylib.up(x): pass; lambda: ...", "a function is `def package.name(parameters) -> result: ...`"),
        ("def mylib.up(x: Tensr @ d) -> Self: ...", "`x: Tensr @ d` is not understood"),
        ("def mylib.up(x: list[Tensor]) -> Self: ...", "`x: list[Tensor]` is not understood"),
        ("def mylib.up(x: Tensor @ accelerator) -> Self: ...", "`x` cannot be asked to be on 'accelerator'"),
        ("def mylib.up(x: Tensor @ d) -> Tensor @ e: ...", "the result is on 'e', which is neither"),
        ("def mylib.up(x: Tensor @ any) -> Tensor @ any: ...", "the result is on 'any', which is neither"),
        ("def mylib.up(x, dev) -> Self @ dev: ...", "the result is on 'dev', which is neither"),
        ("def mylib.up(x: Tensor @ self) -> Object: ...", "`Tensor @ self` is on the device of a module"),
        ("def mylib.up(x: Tensor @ d) -> Tensor: ...", "the result `Tensor` is not understood"),
        ("def mylib.up(x) -> Array[any]: ...", "the rank of an Array is a number"),
        ("def mylib.up(x: Tensor @ d) -> Tensor[many] @ d: ...", "a rank is a number, or one of size, data"),
        ("def mylib.up() -> Self: ...", "`Self` is the first argument, and there is none"),
        ("def mylib.up(x, **more) -> Self: ...", "`**more` cannot be told of"),
        ("def mylib.up(x=None) -> Self: ...", "a default is written `=...`"),
        (
            "class mylib.Net(Module): heads",
            "a class is `class package.Name(Module): HOLDS`, where HOLDS is one of parameters, weights, buffers, empty, unknown",
        ),
        ("class mylib.Net: parameters", "a class is `class package.Name(Module): HOLDS`"),
        ("    def mylib.up(x) -> Self: ...", "an entry stands on one line that is not indented"),
        ("import os", "an entry begins with `def` or `class`"),
        ("mylib.a = mylib.b", "mylib.a stands for mylib.b, of which nothing is known"),
        ("mylib.a = mylib.a", "mylib.a stands for itself"),
        ("class mylib.first(Module): empty", "mylib.first stands on line 2 already"),
        (f"def mylib.up({'(' * 900}x) -> Self: ...", "not valid syntax"),
        (f"def mylib.up({'x' * 3000}) -> Self: ...", "the line is longer than 2,000 characters"),
        ('"""no end', 'a text in """ has no end'),
    ],
)
def test_a_line_that_is_not_understood_is_an_error(entry: str, told: str, run: Run) -> None:
    write("pyproject.toml", SETTINGS)
    path = write("stubs/mylib.stub", f"# of mylib\ndef mylib.first(x) -> Self: ...\n\n{entry}\n")
    write("a.py", PROGRAM)
    code, found, error = run()
    assert (code, found) == (2, [])
    row = ":4" if '"""' not in entry else ""
    assert f"{path.resolve()}{row}: {told}" in error


def test_a_name_is_told_of_in_one_file(run: Run) -> None:
    write("pyproject.toml", SETTINGS)
    write("stubs/a.stub", MOVES)
    write("stubs/below/b.stub", "\n" + STAYS)
    write("a.py", PROGRAM)
    code, _, error = run()
    assert code == 2
    assert re.search(r"b\.stub:2: mylib\.up stands in .*a\.stub:1 already", error)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ('["absent"]', "pyproject.toml: stubs: "),
        ('["empty"]', "there is no *.stub file in this folder"),
        ('["latin.stub"]', "latin.stub: not valid UTF-8"),
        ('["large.stub"]', "larger than 1,000 kB"),
        ('"stubs"', "a list of files and folders is wanted"),
        ('[""]', "a list of files and folders is wanted"),
    ],
)
def test_a_path_that_cannot_be_read_is_an_error(value: str, told: str, run: Run) -> None:
    write("pyproject.toml", f"[tool.torchdevlint]\nstubs = {value}\n")
    Path("empty").mkdir()
    write("latin.stub", b"# \xe4\n")
    write("large.stub", b"#" * 1_000_001)
    write("a.py", PROGRAM)
    code, found, error = run()
    assert (code, found) == (2, [])
    assert told in error


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_in_a_folder_of_stubs_is_an_error(run: Run) -> None:
    write("stubs/a.stub", MOVES)
    os.mkfifo("stubs/b.stub")
    write("a.py", PROGRAM)
    code, _, error = run("--stubs", "stubs")
    assert code == 2
    assert "b.stub: not read, as it is no regular file" in error


def test_a_path_of_the_command_line_is_an_error_at_once(run: Run) -> None:
    code, _, error = run("--stubs", "absent")
    assert code == 2
    assert "--stubs: " in error and "No such file or directory" in error


def test_the_strict_reader_takes_what_is_shipped() -> None:
    stubs = loader.shipped()
    names = [name for name in stubs.names() if name != "torch.Tensor.methods"]
    lines = [line for name in names for line in stubs.lines(name).text]  # type: ignore[union-attr]
    assert len(lines) > 2_000
    assert [line for line in lines if user._checked(line) not in names] == []


# ---------------------------------------------------------------------------------------------------- who obeys them


def test_the_command_line_names_others_instead(run: Run) -> None:
    write("pyproject.toml", SETTINGS)
    write("stubs/mylib.stub", MOVES)
    write("other.stub", STAYS)
    write("a.py", PROGRAM)
    assert codes(run("--no-cache")[1]) == ["TDL505"]
    assert codes(run("--no-cache", "--stubs", "other.stub")[1]) == []
    assert codes(run("--no-cache", "--isolated")[1]) == []


def test_each_folder_has_its_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one project, in one process or in several, whichever is looked at first."""
    write("pyproject.toml", '[project]\nname = "a"\n')
    for folder, stub in (("a", MOVES), ("b", STAYS), ("c", MOVES), ("d", "")):
        write(f"{folder}/pyproject.toml", SETTINGS if stub else "[tool.torchdevlint]\n")
        if stub:
            write(f"{folder}/stubs/mylib.stub", stub)
        write(f"{folder}/prog.py", f"# {folder}\n{PROGRAM}")
    for _ in range(2):
        found = run("--no-cache", "--select", "TDL5")[1]
        assert [(line[0], line.split(" ")[1]) for line in found] == [("a", "TDL505"), ("c", "TDL505")]
        monkeypatch.setattr(pool, "can_fork", lambda: False)


def test_a_process_that_looks_again_takes_the_stubs_of_now(run: Run) -> None:
    """The other files of the project, and what is inferred of them, are remembered meanwhile."""
    write("pyproject.toml", '[project]\nname = "a"\n' + SETTINGS)
    write("helper.py", "import mylib\nimport torch\n\n\ndef made():\n    return mylib.up(torch.ones(3))\n")
    write("a.py", "import torch\nfrom helper import made\n\nprint(made() + torch.ones(3))\n")
    for stub, wanted in ((MOVES, ["TDL505"]), (STAYS, []), (MOVES, ["TDL505"])):
        write("stubs/mylib.stub", stub)
        settings = Resolver().for_file("a.py")
        outcome = lint("a.py", Path("a.py").read_bytes(), settings)
        assert [one.code for one in outcome.findings if one.code.startswith("TDL5")] == wanted
    assert [one.code for one in api.check_paths(["a.py"], select=["TDL505"])] == ["TDL505"]
    forget_projects()


def test_the_cache_notices_an_edited_stub(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    worked = []
    check = runner.check
    monkeypatch.setattr(runner, "check", lambda *given, **options: (worked.append(1), check(*given, **options))[1])
    for arguments in ((), ("--stubs", "stubs")):
        write("pyproject.toml", SETTINGS)
        write("stubs/mylib.stub", MOVES)
        write("a.py", PROGRAM)
        assert codes(run(*arguments)[1]) == ["TDL505"]
        assert codes(run(*arguments)[1]) == ["TDL505"]
        assert len(worked) == 1  # the second came from the cache
        write("stubs/mylib.stub", STAYS)
        assert codes(run(*arguments)[1]) == []
        write("stubs/other.stub", MOVES)
        assert run(*arguments)[0] == 2
        Path("stubs/other.stub").unlink()
        assert codes(run(*arguments)[1]) == []
        worked.clear()


def test_other_stubs_of_the_command_line_are_another_run(run: Run) -> None:
    write("moves.stub", MOVES)
    write("stays.stub", STAYS)
    write("a.py", PROGRAM)
    for name, wanted in (("moves", ["TDL505"]), ("stays", []), ("moves", ["TDL505"])):
        assert codes(run("--stubs", f"{name}.stub")[1]) == wanted


def test_standard_input_has_the_stubs_of_its_name(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    write("pyproject.toml", SETTINGS)
    write("stubs/mylib.stub", MOVES)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PROGRAM.encode())))
    assert codes(run("--stdin-filename", "a.py", "-")[1]) == ["TDL505"]


def test_an_editor_shows_what_the_stubs_of_now_tell(run: Run) -> None:
    write("pyproject.toml", SETTINGS)
    path = write("a.py", PROGRAM).resolve()

    def examined(**options: object) -> list[str]:
        answer = do(Job("examine", Buffer(str(path), PROGRAM), options))
        assert not answer.problems
        return [finding.code for finding in answer.findings]

    for stub, wanted in ((MOVES, ["TDL505"]), (STAYS, []), (MOVES, ["TDL505"])):
        write("stubs/mylib.stub", stub)
        assert examined() == wanted
    write("other.stub", STAYS)
    assert examined(stubs=["other.stub"]) == []
    write("stubs/mylib.stub", "nonsense\n")
    answer = do(Job("examine", Buffer(str(path), PROGRAM), {}))
    assert answer.refused
    assert "mylib.stub:1: an entry begins with" in answer.problems[0]


def test_watch_looks_again_where_a_stub_has_changed(run: Run) -> None:
    write("pyproject.toml", SETTINGS)
    write("stubs/mylib.stub", MOVES)
    write("a.py", PROGRAM)
    watch = Watch(["."], Resolver)
    assert watch.look().changed == ("a.py",)
    assert watch.look().changed == ()
    write("stubs/mylib.stub", STAYS)
    assert watch.look().changed == ("a.py",)
    write("stubs/mylib.stub", "nonsense\n")
    assert "mylib.stub:1" in watch.look().problems[0]


def test_flake8_obeys_them(run: Run) -> None:
    import ast

    from torchdevlint.plugins import flake8

    write("pyproject.toml", SETTINGS)
    write("stubs/mylib.stub", MOVES + "def mylib.grid(n, device: Device=...) -> Tensor[2] @ device: ...\n")
    flake8._resolver = Resolver()
    text = 'from mylib import grid\n\nprint(grid(3, device="cuda") + grid(3))\n'
    for program in (PROGRAM, text):
        plugin = flake8.Plugin(ast.parse(program), str(write("a.py", program)), program.splitlines(keepends=True))
        assert "TDL505" in [told.split(" ")[0] for _, _, told, _ in plugin.run()]


def test_another_machine_needs_no_stub_file(run: Run) -> None:
    write("mylib.stub", MOVES)
    path = write("a.py", PROGRAM).resolve()
    settings = Resolver(overrides={"stubs": ("mylib.stub",)}).for_folder(str(Path.cwd()))
    batch = pickle.dumps(remote.Batch((Target(str(path), settings),), "NONE", "run"))
    Path("mylib.stub").unlink()
    user.of.cache_clear()
    answer = remote.examine(pickle.loads(batch))
    assert [one.code for outcome in answer.outcomes for one in outcome.findings] == ["TDL505"]


def test_settings_without_stubs_read_no_file() -> None:
    assert Settings().device_stubs() is loader.shipped()
    assert Settings().libraries() == ()
    with pytest.raises(SettingsError, match="--stubs: "):
        Resolver(overrides={"stubs": ("/absent",)}).given_stubs()


# ---------------------------------------------------------------------------------------------------- torchdevlint stubs


def test_the_command_tells_where_an_entry_comes_from(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    write("pyproject.toml", SETTINGS)
    write("stubs/mylib.stub", f"# of mylib\n{MOVES}mylib.lift = mylib.up\n")
    assert cli.main(["stubs", "mylib.lift"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "mylib.lift = mylib.up  # stubs/mylib.stub:3".replace("/", os.sep),
        "def mylib.up(x) -> Self @ accelerator: ...  # stubs/mylib.stub:2".replace("/", os.sep),
    ]
    assert cli.main(["stubs", "torch.concat"]) == 0
    told = capsys.readouterr().out
    rows = re.findall(r"# torchdevlint/stubs/written/torch\.stub:(\d+)$", told, re.MULTILINE)
    source = (Path(loader.__file__).parent / "written" / "torch.stub").read_text(encoding="utf-8").splitlines()
    assert [source[int(row) - 1][:16] for row in rows] == ["torch.concat = t", "def torch.cat(te"]
    write("other.stub", STAYS)
    assert cli.main(["stubs", "--stubs", "other.stub", "mylib.up"]) == 0
    assert capsys.readouterr().out == f"{STAYS.strip()}  # other.stub:1\n"
    write("stubs/mylib.stub", "nonsense\n")
    assert cli.main(["stubs", "torch.cat"]) == 2
