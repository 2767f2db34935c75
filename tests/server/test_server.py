"""The server as an editor sees it: a client of its own, over stdio."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from lsp_client import CAPABILITIES, Client, Message

from torchdevlint import check_source

ROOT = Path(__file__).parents[2]
CLEAN = "import torch\n\nx = torch.zeros(3)\n"
FAULTY = "import torch\n\nmodel.load_state_dict(torch.load('model.pt'))\n"
MIXED = """\
import torch

def total():
    weights = torch.ones(3, device="cuda")
    bias = torch.zeros(3)
    return weights + bias
"""


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    client = Client(cwd=tmp_path)
    yield client
    client.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Path]]:
    """One server for tests that leave it as it was, and the folder of its workspace."""
    folder = tmp_path_factory.mktemp("workspace")
    client = Client(cwd=folder)
    client.start(folder)
    yield client, folder
    client.close()


def codes(diagnostics: Sequence[Message]) -> list[str]:
    return [item["code"] for item in diagnostics]


def capabilities(**changes: Any) -> Message:
    found = copy.deepcopy(CAPABILITIES)
    for key, value in changes.items():
        found.setdefault(key, {}).update(value)
    return found


def whole(text: str) -> Message:
    return {"text": text}


def applied(text: str, edit: Message, uri: str) -> str:
    """A text behind an edit whose columns count ASCII."""
    [changes] = [change for change in edit["documentChanges"] if change["textDocument"]["uri"] == uri]
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def offset(point: Message) -> int:
        return starts[point["line"]] + point["character"]

    for item in sorted(changes["edits"], key=lambda item: offset(item["range"]["start"]), reverse=True):
        text = text[: offset(item["range"]["start"])] + item["newText"] + text[offset(item["range"]["end"]) :]
    return text


# ---------------------------------------------------------------------------------------------------- typing


def test_findings_come_as_one_types(shared: tuple[Client, Path]) -> None:
    client, folder = shared
    path = folder / "typed.py"
    path.write_text(FAULTY, encoding="utf-8")  # what counts is the buffer
    uri = path.as_uri()
    client.open(uri, CLEAN)
    assert client.diagnostics(uri, 1) == []
    end = {"line": 3, "character": 0}
    client.change(uri, 2, {"range": {"start": end, "end": end}, "text": "net.load_state_dict(torch.load('a.pt'))\n"})
    [found] = client.diagnostics(uri, 2)
    assert (found["code"], found["source"], found["severity"]) == ("TDL101", "torchdevlint", 2)
    assert found["range"] == {"start": {"line": 3, "character": 20}, "end": {"line": 3, "character": 38}}
    since = len(client.notifications)
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert client.diagnostics(uri, since=since) == []


def test_only_the_last_of_many_keys_is_answered(shared: tuple[Client, Path]) -> None:
    client, folder = shared
    uri = (folder / "burst.py").as_uri()
    client.open(uri, CLEAN)
    client.diagnostics(uri, 1)
    word = "y = torch.load('w')"
    for number, letter in enumerate(word, start=2):
        at = {"line": 3, "character": number - 2}
        client.change(uri, number, {"range": {"start": at, "end": at}, "text": letter})
    client.diagnostics(uri, len(word) + 1)
    versions = [
        message["params"]["version"]
        for message in client.notifications
        if message["method"] == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri
    ]
    assert versions == sorted(versions)
    assert len(versions) < len(word)


def test_a_text_that_does_not_parse_says_where(shared: tuple[Client, Path]) -> None:
    client, folder = shared
    uri = (folder / "broken.py").as_uri()
    client.open(uri, FAULTY + "def f(:\n")
    [found] = client.diagnostics(uri, 1)
    assert (found["code"], found["severity"], found["range"]["start"]["line"]) == ("TDL000", 1, 3)
    assert client.actions(uri, 3) == []
    client.change(uri, 2, whole(FAULTY))
    assert codes(client.diagnostics(uri, 2)) == ["TDL101"]


def test_a_new_version_supersedes_a_long_examination(shared: tuple[Client, Path]) -> None:
    from test_work import SLOW

    client, folder = shared
    other, uri = (folder / "other.py").as_uri(), (folder / "slow.py").as_uri()
    client.open(other, FAULTY)
    client.diagnostics(other, 1)
    client.open(uri, SLOW)
    position = {"textDocument": {"uri": other}, "position": {"line": 2, "character": 25}}
    assert (
        "TDL101" in client.request("textDocument/hover", position)["contents"]["value"]
    )  # the server answers meanwhile
    client.change(uri, 2, whole(CLEAN))
    client.diagnostics(uri, 2)
    answered = [
        message["params"].get("version")
        for message in client.notifications
        if message["method"] == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri
    ]
    assert answered == [2]


def test_what_is_no_python_or_no_text_of_the_user_is_left_alone(shared: tuple[Client, Path]) -> None:
    client, folder = shared
    client.open((folder / "a.toml").as_uri(), FAULTY, language="toml")
    client.open("git:/side-of-a-diff.py", FAULTY)
    last = (folder / "last.py").as_uri()
    client.open(last, CLEAN)
    client.diagnostics(last, 1)
    told = {m["params"]["uri"] for m in client.notifications if m["method"] == "textDocument/publishDiagnostics"}
    assert not told & {(folder / "a.toml").as_uri(), "git:/side-of-a-diff.py"}


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "file:///nowhere/at/all/train.py"])
def test_buffers_without_a_file_or_outside_the_workspace(shared: tuple[Client, Path], uri: str) -> None:
    client, _ = shared
    client.open(uri, FAULTY)
    assert codes(client.diagnostics(uri, 1)) == ["TDL101"]


# ---------------------------------------------------------------------------------------------------- repairs


def test_quick_fixes_and_suppression(shared: tuple[Client, Path]) -> None:
    client, folder = shared
    uri = (folder / "fixed.py").as_uri()
    client.open(uri, FAULTY)
    client.diagnostics(uri, 1)
    fix, silence, everything = client.actions(uri, 2)
    assert (fix["title"], fix["kind"], fix["isPreferred"]) == (
        'TDL101: Load with `map_location="cpu"`',
        "quickfix",
        True,
    )
    assert codes(fix["diagnostics"]) == ["TDL101"]
    assert fix["edit"]["documentChanges"][0]["textDocument"] == {"uri": uri, "version": 1}
    assert applied(FAULTY, fix["edit"], uri) == FAULTY.replace("'model.pt'", "'model.pt', map_location=\"cpu\"")
    assert silence["title"] == "Suppress TDL101 on this line"
    silenced = applied(FAULTY, silence["edit"], uri)
    assert silenced == FAULTY.replace("))\n", "))  # noqa: TDL101\n")
    assert "edit" not in everything  # until it is asked for
    resolved = client.request("codeAction/resolve", everything)
    assert applied(FAULTY, resolved["edit"], uri) == applied(FAULTY, fix["edit"], uri)
    client.change(uri, 2, whole(silenced))
    assert client.diagnostics(uri, 2) == []
    assert client.actions(uri, 2) == []


def test_an_unsafe_fix_says_so_and_is_not_preferred(shared: tuple[Client, Path]) -> None:
    client, folder = shared
    uri = (folder / "unsafe.py").as_uri()
    text = "import torch\n\ndef load(path):\n    checkpoint = torch.load(path)\n    return checkpoint['model']\n"
    client.open(uri, text)
    assert codes(client.diagnostics(uri, 1)) == ["TDL101"]
    fix, silence = client.actions(uri, 3)
    assert fix["title"].endswith("(unsafe: may change what the program does)")
    assert "isPreferred" not in fix
    assert "noqa" in json.dumps(silence["edit"])
    assert client.actions(uri, 3, ["source.fixAll"]) == []


def test_fix_all_is_check_fix(shared: tuple[Client, Path]) -> None:
    client, folder = shared
    text = (ROOT / "fixtures" / "demo" / "train.py").read_text(encoding="utf-8")
    path = folder / "train.py"
    path.write_text(text, encoding="utf-8")
    uri = path.as_uri()
    client.open(uri, text)
    client.diagnostics(uri, 1)
    [action] = client.actions(uri, 0, ["source.fixAll.torchdevlint"])
    subprocess.run(
        [sys.executable, "-m", "torchdevlint", "check", "--fix", "--exit-zero", str(path)], capture_output=True
    )
    assert applied(text, action["edit"], uri) == path.read_text(encoding="utf-8") != text
    assert client.actions(uri, 0, ["source.organizeImports"]) == []


def test_suppression_suits_ruff(shared: tuple[Client, Path]) -> None:
    client, folder = shared
    (folder / "ruffed").mkdir()
    (folder / "ruffed" / "ruff.toml").write_text("line-length = 100\n", encoding="utf-8")
    uri = (folder / "ruffed" / "a.py").as_uri()
    client.open(uri, FAULTY)
    client.diagnostics(uri, 1)
    assert "# torchdevlint: ignore[TDL101]" in json.dumps(client.actions(uri, 2)[1]["edit"])


# ---------------------------------------------------------------------------------------------------- explanations


def test_hover_shows_the_page(shared: tuple[Client, Path]) -> None:
    client, folder = shared
    uri = (folder / "hover.py").as_uri()
    client.open(uri, FAULTY + "x = 1  # noqa: TDL501\n")

    def hover(line: int, character: int) -> Any:
        position = {"line": line, "character": character}
        return client.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": position})

    found = hover(2, 25)
    assert found["contents"]["kind"] == "markdown"
    assert "# load-without-map-location (TDL101)" in found["contents"]["value"]
    assert check_source(FAULTY)[0].detail in found["contents"]["value"]
    assert found["range"]["start"] == {"line": 2, "character": 22}
    assert "(TDL501)" in hover(3, 17)["contents"]["value"]
    assert hover(0, 2) is None
    assert hover(3, 2) is None


def test_related_places_lead_to_the_other_end(shared: tuple[Client, Path]) -> None:
    client, folder = shared
    uri = (folder / "related.py").as_uri()
    client.open(uri, MIXED)
    [found] = [found for found in client.diagnostics(uri, 1) if found["code"].startswith("TDL5")]
    places = [item["location"] for item in found["relatedInformation"]]
    assert {place["uri"] for place in places} == {uri}
    # the finding stands where the tensor was made, the related place where it meets the other
    assert (found["range"]["start"]["line"], [place["range"]["start"]["line"] for place in places]) == (4, [5])


@pytest.mark.parametrize(("encoding", "quoted"), [("utf-8", 8), ("utf-16", 4), ("utf-32", 2)])
def test_the_encoding_is_negotiated(client: Client, tmp_path: Path, encoding: str, quoted: int) -> None:
    general = {"positionEncodings": ["utf-7", encoding, "utf-16"]}
    assert client.start(tmp_path, capabilities=capabilities(general=general))["positionEncoding"] == encoding
    uri = (tmp_path / "a.py").as_uri()
    client.open(uri, "import torch\n\n'\U0001f600\U0001f600'; net.load_state_dict(torch.load('w'))\n")
    [found] = client.diagnostics(uri, 1)
    assert found["range"]["start"] == {"line": 2, "character": quoted + len("''; net.load_state_dict(")}
    # what the editor says counts in the same unit: the path becomes a checkpoint of safetensors, which loads onto the CPU
    at = {"line": 2, "character": quoted + len("''; net.load_state_dict(torch.load('w")}
    client.change(uri, 2, {"range": {"start": at, "end": at}, "text": ".safetensors"})
    assert client.diagnostics(uri, 2) == []


# ---------------------------------------------------------------------------------------------------- notebooks


def cell(uri: str, kind: int = 2) -> Message:
    return {"kind": kind, "document": uri}


def item(uri: str, text: str, language: str = "python") -> Message:
    return {"uri": uri, "languageId": language, "version": 1, "text": text}


def test_the_cells_of_a_notebook_are_one_program(shared: tuple[Client, Path]) -> None:
    client, folder = shared
    uri = (folder / "a.ipynb").as_uri()
    one, two, three, four = (f"vscode-notebook-cell:/a.ipynb#{n}" for n in range(4))
    client.notify(
        "notebookDocument/didOpen",
        {
            "notebookDocument": {
                "uri": uri,
                "notebookType": "jupyter-notebook",
                "version": 1,
                "cells": [cell(one), cell(two, 1), cell(three)],
            },
            "cellTextDocuments": [
                item(one, "import torch\n%matplotlib inline\nw = torch.load('w.pt')"),
                item(two, "torch.load('prose')", "markdown"),
                item(three, "net.load_state_dict(w)"),
            ],
        },
    )
    [found] = client.diagnostics(one, 1)
    assert (found["code"], found["range"]["start"]) == ("TDL101", {"line": 2, "character": 4})
    assert client.diagnostics(three, 1) == []
    fix = client.actions(one, 2)[0]
    assert fix["edit"]["documentChanges"][0]["textDocument"]["uri"] == one
    assert 'map_location="cpu"' in json.dumps(client.actions(one, 0, ["source.fixAll"])[0]["edit"]).replace('\\"', '"')

    def change(version: int, cells: Message) -> None:
        notebook = {"uri": uri, "version": version}
        client.notify("notebookDocument/didChange", {"notebookDocument": notebook, "change": {"cells": cells}})

    since = len(client.notifications)
    start, end = {"line": 0, "character": 0}, {"line": 0, "character": 22}
    text = {
        "document": {"uri": three, "version": 2},
        "changes": [{"range": {"start": start, "end": end}, "text": "net.to(w)"}],
    }
    change(2, {"textContent": [text]})
    assert client.diagnostics(three, 2, since) == []
    array = {"start": 1, "deleteCount": 1, "cells": [cell(four)]}
    since = len(client.notifications)
    change(3, {"structure": {"array": array, "didOpen": [item(four, "net.load_state_dict(torch.load('b.pt'))")]}})
    assert codes(client.diagnostics(four, 1, since)) == ["TDL101"]
    since = len(client.notifications)
    client.notify(
        "notebookDocument/didClose",
        {"notebookDocument": {"uri": uri}, "cellTextDocuments": [{"uri": one}, {"uri": four}, {"uri": three}]},
    )
    assert client.diagnostics(four, since=since) == []


# ---------------------------------------------------------------------------------------------------- settings


def messages(client: Client, method: str) -> list[str]:
    return [found["params"]["message"] for found in client.notifications if found["method"] == method]


def test_settings_files_are_read_again_when_they_change(client: Client, tmp_path: Path) -> None:
    watching = {"didChangeWatchedFiles": {"dynamicRegistration": True}}
    client.start(tmp_path, capabilities=capabilities(workspace=watching))
    uri, settings = (tmp_path / "a.py").as_uri(), tmp_path / "pyproject.toml"
    client.open(uri, FAULTY)
    assert codes(client.diagnostics(uri, 1)) == ["TDL101"]
    client.until(lambda: [found for found in client.requests if found["method"] == "client/registerCapability"])

    def write(text: str) -> list[Message]:
        settings.write_text(text, encoding="utf-8")
        since = len(client.notifications)
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": settings.as_uri(), "type": 2}]})
        return client.diagnostics(uri, 1, since)

    assert write('[tool.torchdevlint]\nignore = ["TDL101"]\n') == []
    assert write('[tool.torchdevlint]\nignor = ["TDL101"]\n') == []
    client.until(lambda: messages(client, "window/showMessage"))
    assert "did you mean 'ignore'" in messages(client, "window/showMessage")[0]
    assert codes(write("[tool.torchdevlint]\n")) == ["TDL101"]


def test_the_editor_s_settings(client: Client, tmp_path: Path) -> None:
    client.start(tmp_path, options={"settings": {"extendSelect": [], "ignore": ["TDL101"]}})
    uri = (tmp_path / "a.py").as_uri()
    client.open(uri, FAULTY)
    assert client.diagnostics(uri, 1) == []
    since = len(client.notifications)
    client.notify("workspace/didChangeConfiguration", {"settings": {"torchdevlint": {"level": "info"}}})
    found = codes(client.diagnostics(uri, 1, since))
    assert found == ["TDL101"], (client.notifications[since:], client.errors)  # what could not be done is in the log
    client.notify("workspace/didChangeConfiguration", {"settings": {"torchdevlint": {"run": "onSave"}}})
    client.change(uri, 2, whole(CLEAN))
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert client.diagnostics(uri, 2) == []


def test_folders_of_a_workspace_have_their_own_settings(client: Client, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
    (one / "pyproject.toml").write_text('[tool.torchdevlint]\nselect = ["TDL5"]\n', encoding="utf-8")
    client.answers["workspace/configuration"] = [{}, {}, {"ignore": ["TDL101"]}]
    client.start(one, two, capabilities=capabilities(workspace={"configuration": True}))
    client.until(lambda: client.requests)
    for folder in (one, two):
        client.open((folder / "a.py").as_uri(), FAULTY)
        assert client.diagnostics((folder / "a.py").as_uri(), 1) == []
    client.answers["workspace/configuration"] = [{}, {"select": ["TDL1"]}, {}]
    since = len(client.notifications)
    client.notify("workspace/didChangeConfiguration", {"settings": None})
    for folder in (one, two):
        uri = (folder / "a.py").as_uri()
        client.until(lambda uri=uri: codes(client.diagnostics(uri, 1, since)) == ["TDL101"])


# ---------------------------------------------------------------------------------------------------- the process


def test_the_editor_ends_it(client: Client, tmp_path: Path) -> None:
    client.start(tmp_path)
    assert client.stop() == 0
    assert client.errors == b""


def test_an_editor_that_is_gone_ends_it(client: Client, tmp_path: Path) -> None:
    client.start(tmp_path)
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(timeout=60) == 1


def test_without_pygls_it_says_what_to_install() -> None:
    program = "import sys; sys.modules['pygls'] = None; from torchdevlint.cli import main; sys.exit(main(['server']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert 'pip install "torchdevlint[lsp]"' in done.stderr
