"""Every rule explains itself under the same headings, and lies where its name says."""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path

import pytest

from torchdevlint.cli.rule import page
from torchdevlint.rules.policy import rows_of
from torchdevlint.rules.registry import all_rules
from torchdevlint.rules.rule import Rule
from torchdevlint.severity import Severity

ROOT = Path(__file__).parents[2]
HEADINGS = [
    "What it does",
    "Why is this bad?",
    "Example",
    "Use instead",
    "When it stays silent",
    "Where it is a note",
    "Where it is a warning, no error",
    "Fix safety",
    "Proof",
    "References",
]
RULES = [rule for rule in all_rules() if not rule.code.startswith("TDL00")]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_page_has_every_heading_with_text_below(rule: type[Rule]) -> None:
    summary, *sections = re.split(r"^## (.+)$", rule.documentation(), flags=re.MULTILINE)
    assert re.fullmatch(r"(?:Finds|Checks) .+\.", summary.strip(), re.DOTALL)
    wanted = [
        heading
        for heading in HEADINGS
        if heading in sections
        or {
            "Fix safety": rule.fixable != "never",
            "Where it is a note": any(rows_of(rule.code, Severity.INFO)),
            "Where it is a warning, no error": any(rows_of(rule.code, Severity.WARNING)),
        }.get(heading, True)
    ]
    assert sections[::2] == wanted
    assert all(text.strip() for text in sections[1::2])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_example_and_its_repair_are_code(rule: type[Rule]) -> None:
    _, *parts = re.split(r"^## (.+)$", rule.documentation(), flags=re.MULTILINE)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    for heading in ("Example", "Use instead"):
        code = textwrap.dedent("\n".join(line for line in sections[heading].splitlines() if line.startswith("    ")))
        assert code.strip(), heading
        compile("def _():\n" + textwrap.indent(code, " "), f"{rule.code} {heading}", "exec")


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_page_fits_on_a_screen_and_has_no_figures_of_samples(rule: type[Rule]) -> None:
    text = page(rule)
    assert sum(max(1, len(textwrap.wrap(line, 100))) for line in text.splitlines()) <= 60
    assert not re.search(r"\bwere read\b|\bof public code\b|\bpublic repositories\b|\bunread\b", text), (
        "figures are in docs/accuracy.md"
    )
    silence = re.search(r"## When it stays silent\n(.+?)\n## ", text, re.DOTALL)
    assert silence is None or len(silence[1].split()) <= 85


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_names_and_files_agree(rule: type[Rule]) -> None:
    assert re.fullmatch(r"TDL\d{3}", rule.code)
    assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)+", rule.name)
    assert rule.__module__.rpartition(".")[2] == rule.name.replace("-", "_")
    assert rule.__name__.lower() == rule.name.replace("-", "")
    assert rule.fixable in ("safe", "unsafe", "sometimes", "never")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_nothing_is_left_to_fill_in(rule: type[Rule]) -> None:
    """What `torchdevlint new-rule` has left for its author."""
    module = rule.name.replace("-", "_")
    files = [
        Path(inspect.getfile(rule)),
        ROOT / "torchdevlint" / "proofs" / f"{module}.py",
        *ROOT.glob(f"fixtures/*/{rule.name}/*.py"),
    ]
    left = [
        f"{path.relative_to(ROOT)}:{row}: {line.strip()}"
        for path in files
        if path.exists()
        for row, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "FILL_IN" in line
    ]
    assert not left, "fill in:\n" + "\n".join(left)


def test_no_code_and_no_name_is_used_twice() -> None:
    assert len({rule.code for rule in all_rules()}) == len({rule.name for rule in all_rules()}) == len(all_rules())
