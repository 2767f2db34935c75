"""What the documentation site adds to the files of docs/: evidence on rule pages, tables that come from the rules, the menu of rules.

mkdocs calls the functions named `on_...`. The pages themselves stay readable on the code host.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from torchdevlint.rules.registry import all_rules  # noqa: E402
from torchdevlint.rules.rule import Rule  # noqa: E402

_EVIDENCE = ROOT / "docs" / "evidence-virtual.md"
_GROUPS = {
    "TDL0": "The linter itself",
    "TDL1": "Loading and saving",
    "TDL2": "Optimizers",
    "TDL3": "Losses and metrics",
    "TDL4": "Inputs",
    "TDL5": "Tensors",
    "TDL6": "Modules",
    "TDL7": "Data and several GPUs",
    "TDL8": "Portability",
    "TDL9": "Speed",
}


def on_config(config: Any) -> Any:
    """The menu: the pages in `_MENU` that exist, the rules by group, and every other page at the end."""
    docs = Path(config["docs_dir"])
    menu: list[Any] = []
    listed = set()
    for title, names in _MENU.items():
        found = [name for name in names if (docs / name).exists()]
        listed |= set(found)
        if title == "Rules":
            menu.append({title: [*found, *_rule_groups()]})
        elif found:
            menu.append({title: found} if title else found[0])
    others = sorted(path.name for path in docs.glob("*.md") if path.name not in listed)
    if others:
        menu.append({"More": others})
    config["nav"] = menu
    return config


_MENU = {
    "Getting started": ["index.md", "getting-started.md"],
    "Rules": ["rules.md", "writing-a-rule.md"],
    "Using it": [
        "settings.md",
        "fix-safety.md",
        "editors.md",
        "continuous-integration.md",
        "scale.md",
        "explain.md",
        "doctor.md",
        "checkpoints.md",
    ],
    "Running programs": [
        "verify.md",
        "device-mutants.md",
        "machine-sweeps.md",
        "evidence-virtual.md",
        "evidence-programs.md",
    ],
    "How good is it?": ["accuracy.md", "comparison.md", "benchmarks.md", "mutations.md"],
}


def _rule_groups() -> list[dict[str, list[dict[str, str]]]]:
    groups: dict[str, list[dict[str, str]]] = {}
    for rule in all_rules():
        title = f"{_GROUPS.get(rule.code[:4], 'Others')} ({rule.code[:4]})"
        groups.setdefault(title, []).append({f"{rule.code} {rule.name}": f"rules/{rule.code}.md"})
    return [{title: pages} for title, pages in groups.items()]


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A rule's page gets the evidence of its proof; a line `<!-- generated: NAME -->` becomes that table."""
    code = re.fullmatch(r"rules/(TDL\d{3})\.md", page.file.src_uri)
    if code is not None:
        markdown = f"{markdown.rstrip()}\n\n{evidence_of(code[1], 'evidence-virtual.md')}"
    return re.sub(r"<!-- generated: ([\w-]+) -->", lambda match: _TABLES[match[1]](), markdown)


def on_page_content(html: str, **_: Any) -> str:
    """A block that holds a table drawn with lines scrolls sideways (site.css): broken lines would take the table apart."""
    return re.sub(
        r'<div class="highlight">(?=(?:(?!</div>).)*\u2500{3})', '<div class="highlight drawn">', html, flags=re.DOTALL
    )


def evidence_of(code: str, page: str) -> str:
    """The rows of the evidence page that are about one rule."""
    rows = [line for line in _EVIDENCE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {code} ")]
    head = "## Evidence\n\n"
    if not rows:
        return f"{head}No proof was run for this rule; the section above says what is known."
    cells = [["" if cell == "-" else cell for cell in map(str.strip, row.strip("|").split(" | "))] for row in rows]
    lines = ["| machine | result | fault | repair |", "|---|---|---|---|"]
    lines += [f"| {' | '.join([*row[1:4], ' '.join(row[4:])])} |" for row in cells]
    told = f"\n\nFrom `torchdevlint prove {code}`; [all evidence, and when it was made](../{page})."
    return head + "\n".join(lines) + told


def _section(rule: type[Rule], heading: str) -> str:
    """The first sentence of a section of a rule's documentation."""
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", rule.documentation(), flags=re.DOTALL | re.MULTILINE)
    text = " ".join(found[1].split()) if found else ""
    return re.split(r"(?<=[.:]) (?=[A-Z`])", text, maxsplit=1)[0]


def fix_safety_table() -> str:
    """Each rule that has a fix, and the condition under which it is safe."""
    lines = ["| rule | fix | what makes it safe or unsafe |", "|---|---|---|"]
    for rule in all_rules():
        if rule.fixable != "never":
            name = f"[{rule.code} {rule.name}](rules/{rule.code}.md)"
            lines.append(f"| {name} | {rule.fixable} | {_section(rule, 'Fix safety').replace('|', chr(92) + '|')} |")
    return "\n".join(lines)


_TABLES = {"fix-safety": fix_safety_table}
