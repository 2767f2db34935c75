"""Rules of other packages, installed in a folder on the path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from torchdevlint.rules import plugins
from torchdevlint.rules.registry import own_rules

ROOT = Path(__file__).parents[2]
FAULTY = "import torch\nx = torch.rand(3).half()\nmodel.load_state_dict(torch.load('model.pt'))\n"
RULE = '''
from torchdevlint import Rule
from torchdevlint.findings import Severity
from torchdevlint.rules.rule import on_method


class NoHalf(Rule):
    """Finds `.half()`.

    ## What it does
    Reports each call.
    """

    code, name, severity = "ACME101", "no-half", Severity.WARNING

    @on_method("half")
    def check(self, call, facts):
        yield self.report(call, "`.half()` is not allowed here")
'''


def install(folder: Path, module: str, entry: str = "acme = acme_rules") -> None:
    """A package as pip lays it out."""
    (folder / "acme_rules.py").write_text(textwrap.dedent(module), encoding="utf-8")
    info = folder / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[torchdevlint.rules]\n{entry}\n", encoding="utf-8")


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "torchdevlint", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path / "site"), str(ROOT)))},
    )


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(FAULTY, encoding="utf-8")
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("entry", ["acme = acme_rules", "acme = acme_rules:NoHalf"])
def test_a_rule_of_another_package_is_a_rule(tmp_path: Path, site: Path, entry: str) -> None:
    install(site, RULE, entry)
    done = run(tmp_path, "check", "--output-format", "json", "a.py")
    assert done.stderr == ""
    assert [(f["code"], f["location"]["row"]) for f in json.loads(done.stdout)] == [("ACME101", 2), ("TDL101", 3)]
    assert (
        json.loads(run(tmp_path, "check", "--select", "ACME", "--output-format", "json", "a.py").stdout)[0]["name"]
        == "no-half"
    )
    (tmp_path / "a.py").write_text(FAULTY.replace(".half()", ".half()  # noqa: ACME101"), encoding="utf-8")
    assert "ACME101" not in run(tmp_path, "check", "a.py").stdout
    assert "Finds `.half()`." in run(tmp_path, "rule", "ACME101").stdout


@pytest.mark.parametrize(
    ("module", "entry", "why"),
    [
        ("import no_such_module", "acme = acme_rules", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(3)", "acme = acme_rules", "SystemExit: 3"),
        ("x = 1", "acme = acme_rules", "acme_rules defines no rule"),
        ("class No: pass", "acme = acme_rules:No", "No is no subclass of torchdevlint.Rule"),
        (RULE, "acme = acme_rules:Nothing", "AttributeError"),
        (RULE.replace("ACME101", "TDL950"), "acme = acme_rules", "the code 'TDL950' is none"),
        (
            RULE.replace("no-half", "load-without-map-location"),
            "acme = acme_rules",
            "is used by LoadWithoutMapLocation",
        ),
        (RULE.replace("@on_method", "# @on_method"), "acme = acme_rules", "no check method"),
        (RULE.replace("Severity.WARNING", "'high'"), "acme = acme_rules", "ACME101 has no severity"),
    ],
)
def test_one_that_cannot_be_used_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, site: Path, module: str, entry: str, why: str
) -> None:
    install(site, module, entry)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "acme_rules", raising=False)
    names = {rule.code: rule.__name__ for rule in own_rules()} | {rule.name: rule.__name__ for rule in own_rules()}
    found = plugins.load(names.get)
    monkeypatch.delitem(sys.modules, "acme_rules", raising=False)
    assert found.rules == ()
    [sentence] = found.failures
    assert sentence.startswith("the rules 'acme' of the package 'acme' are not used: ")
    assert why in sentence


def test_what_cannot_be_used_hides_nothing(tmp_path: Path, site: Path) -> None:
    install(site, "import no_such_module")
    done = run(tmp_path, "check", "--output-format", "json", "a.py")
    assert [finding["code"] for finding in json.loads(done.stdout)] == ["TDL101"]  # all others run
    assert done.returncode == 2
    assert "are not used: ModuleNotFoundError: No module named 'no_such_module'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_one_that_fails_at_work_hides_nothing(tmp_path: Path, site: Path) -> None:
    install(site, RULE.replace("        yield self.report(", "        1 / 0\n        yield self.report("))
    done = run(tmp_path, "check", "--output-format", "json", "a.py")
    assert [finding["code"] for finding in json.loads(done.stdout)] == ["TDL101"]
    assert done.returncode == 2
    assert "ACME101" in done.stderr
    assert "ZeroDivisionError" in done.stderr
