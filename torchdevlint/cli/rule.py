"""`torchdevlint rule`: a rule's page, or the list of all rules."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from torchdevlint import cli
from torchdevlint.reporting.pages import url
from torchdevlint.rules.registry import all_rules, failures, rule_by_code
from torchdevlint.rules.rule import Rule
from torchdevlint.settings import unknown_code

_EPILOG = """\
examples:
  torchdevlint rule                                 all rules, one line each
  torchdevlint rule TDL1                            the rules of a group (here: loading and saving)
  torchdevlint rule TDL101                          the page of a rule (its name works too)
  torchdevlint rule --all --output-format json      everything, for programs
"""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds the command's options."""
    parser = cli.command_parser(
        subparsers, "rule", "Explains a rule: what it finds, why that is bad, and when its fix is safe.", _EPILOG
    )
    parser.add_argument(
        "code",
        nargs="?",
        metavar="CODE",
        help="a code (TDL101), its beginning (TDL1) or a name (load-without-map-location); none: the list",
    )
    parser.add_argument("--all", action="store_true", help="the pages of all rules")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    for failure in failures():
        cli.tell(failure)
    rule = None
    if arguments.code is None:
        rules = all_rules()
    elif arguments.all:
        return cli.fail("give a code or --all, not both")
    else:
        rule = rule_by_code(arguments.code)
        rules = (rule,) if rule is not None else _group(arguments.code)
        if not rules:
            return cli.fail(unknown_code(arguments.code))
    if arguments.output_format == "json":
        objects = [as_object(rule) for rule in rules]
        print(json.dumps(objects[0] if rule is not None else objects, indent=2))
    elif rule is not None or arguments.all:
        _show("\n\n".join(page(rule) for rule in rules))
    else:
        for rule in rules:
            print(
                f"{rule.code}  {rule.name:<42} {rule.severity.label:<8} {'' if rule.default else '(off by default)'}".rstrip()
            )
    return 0


def _group(prefix: str) -> tuple[type[Rule], ...]:
    """The rules whose codes begin with a prefix: TDL1."""
    wanted = prefix.upper()
    return tuple(rule for rule in all_rules() if rule.code.startswith(wanted)) if wanted else ()


def page(rule: type[Rule]) -> str:
    """The rule's page as Markdown."""
    facts = f"Severity: {rule.severity.label}. {'On' if rule.default else 'Off'} by default. Fix: {rule.fixable}."
    return f"# {rule.name} ({rule.code})\n\n{facts}\n\n{rule.documentation()}"


def as_object(rule: type[Rule]) -> dict[str, Any]:
    """The rule for programs."""
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.label,
        "default": rule.default,
        "fixable": rule.fixable,
        "summary": rule.summary(),
        "explanation": rule.documentation(),
        "url": url(rule.code),
    }


def _show(markdown: str) -> None:
    """Markdown as it is, or typeset on a terminal."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        print(markdown)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(markdown))
