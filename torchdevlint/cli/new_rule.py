"""`torchdevlint new-rule`: the files of a new rule, for those who work on torchdevlint in a checkout."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from torchdevlint import cli
from torchdevlint.rules.registry import own_rules
from torchdevlint.rules.rule import Rule

_EPILOG = """\
It writes the rule with its page, two fixtures and a proof, in which FILL_IN stands wherever something is to be written. The tests of
the rules fail until nothing of it is left.
docs/writing-rules.md goes through an example.
"""

_RULE = '''\
"""{code}."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.program import ir
from torchdevlint.rules.rule import WARNING, Report, Rule, on_call


class {class_name}(Rule):
    """Finds FILL_IN: what the rule finds, in one sentence.

    ## What it does
    FILL_IN: which expressions it reports.

    ## Why is this bad?
    FILL_IN: what happens, on which machine, and what PyTorch says.

    ## Example
        FILL_IN = "the fault"

    ## Use instead
        FILL_IN = "its repair"

    ## When it stays silent
    FILL_IN: where the same words are no fault.

    ## Proof
    FILL_IN: what fault and repair show when they run, and on which machine.

    ## References
    FILL_IN: files of PyTorch, issues.
    """

    code, name, severity = "{code}", "{name}", WARNING

    @on_call("torch.FILL_IN")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        yield self.report(call, "FILL_IN: what is wrong; what to do", detail="FILL_IN: what PyTorch raises then, and why.")
'''
_FAULTY = '''\
"""FILL_IN: a program with the fault, as people write it."""

import torch

torch.FILL_IN()  # expect: {code}
'''
_SILENT = '''\
"""FILL_IN: programs that look like the fault and are right."""

import torch

torch.zeros(3)
'''
_PROOF = '''\
"""{code}: FILL_IN, what the fault does."""

import torch

CODE = "{code}"
SHAPES = ("1",)
EXPECT = r"has no attribute 'FILL_IN'"


def fault() -> None:
    torch.FILL_IN()


def repair() -> str:
    return f"FILL_IN: made on {{torch.zeros(2).device}}"
'''


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds the command's options."""
    parser = cli.command_parser(
        subparsers, "new-rule", "Makes the files of a new rule in a checkout of torchdevlint.", _EPILOG
    )
    parser.add_argument(
        "code", metavar="CODE", help="a code that no rule has, such as TDL524; its first digit chooses the package"
    )
    parser.add_argument(
        "name",
        metavar="NAME",
        help='words and hyphens that complete the sentence "allow ...", such as model-left-behind',
    )
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    code, name = arguments.code.upper(), arguments.name.lower()
    root = Path(__file__).resolve().parents[2]
    if not (root / "fixtures").is_dir() or not (root / "docs" / "render.py").is_file():
        return cli.fail("new-rule works in a checkout of torchdevlint alone (pip install -e '.[dev,test]')")
    refused = _refused(code, name, own_rules())
    if refused is not None:
        return cli.fail(refused)
    files = {root / path: text for path, text in _files(code, name, _package(code, own_rules())).items()}
    there = next((path for path in files if path.exists()), None)
    if there is not None:
        return cli.fail(f"{there}: is there already")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(root))
    return _rendered(root, code, name)


def _refused(code: str, name: str, rules: tuple[type[Rule], ...]) -> str | None:
    """Why there can be no such rule, as a sentence."""
    if not re.fullmatch(r"TDL[1-9]\d\d", code):
        return f"{code}: a code is TDL and three digits, the first of them the subject, as in TDL524"
    if not re.fullmatch(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+", name):
        return f"{name}: a name is words with hyphens between them, such as model-left-behind"
    clash = next((rule for rule in rules if rule.code == code or rule.name == name), None)
    if clash is not None:
        return f"{clash.code} is {clash.name}: a code and a name are used once"
    if not any(rule.code[:4] == code[:4] for rule in rules):
        return f"{code}: no package has rules {code[:4]}.., so that a first one is made by hand"
    return None


def _package(code: str, rules: tuple[type[Rule], ...]) -> str:
    """The package that most rules with the same first digit are in."""
    packages = Counter(rule.__module__.split(".")[-2] for rule in rules if rule.code[:4] == code[:4])
    return packages.most_common(1)[0][0]


def _files(code: str, name: str, package: str) -> dict[str, str]:
    module = name.replace("-", "_")
    words = {"code": code, "name": name, "class_name": "".join(word.capitalize() for word in name.split("-"))}
    return {
        f"torchdevlint/rules/{package}/{module}.py": _RULE.format(**words),
        f"fixtures/{package}/{name}/faulty.py": _FAULTY.format(**words),
        f"fixtures/{package}/{name}/silent.py": _SILENT,
        f"torchdevlint/proofs/{module}.py": _PROOF.format(**words),
    }


def _rendered(root: Path, code: str, name: str) -> int:
    """Makes the page, and says what comes next."""
    done = subprocess.run([sys.executable, str(root / "docs" / "render.py")], capture_output=True, text=True, cwd=root)
    if done.returncode != 0:
        return cli.fail(f"the files are there, and docs/render.py failed: {done.stderr.strip()[-500:]}")
    print(f"docs/rules/{code}.md")
    print(
        "Replace every FILL_IN, then: python docs/render.py; python -m pytest tests/rules tests/proofs -k "
        + f"'{code} or {name}'"
    )
    return 0
