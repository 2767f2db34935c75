"""SARIF 2.1.0, with rules, fixes and related places: what GitHub code scanning, Azure DevOps and many viewers read.

Source: OASIS SARIF 2.1.0 (errata 01), and GitHub's limits: 25,000 results and rules in a run, 1,024 characters for a rule's descriptions, 10 tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from torchdevlint import __version__
from torchdevlint.findings import Edit, Finding, Outcome, Severity, Span
from torchdevlint.reporting.fingerprint import fingerprinted, uri
from torchdevlint.reporting.json import dumps
from torchdevlint.reporting.plain import shown
from torchdevlint.reporting.style import Style

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RESULTS = 25_000
MOST_DESCRIPTION = 1_024
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_RANKS = {"error": 0, "warning": 1, "info": 2}


def render(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """One run; of more findings than a code host takes, the most severe."""
    found = list(fingerprinted(outcomes))
    if len(found) > MOST_RESULTS:
        found = sorted(found, key=lambda item: _RANKS[item[1].severity.label])[:MOST_RESULTS]
    codes = sorted({finding.code for _, finding, _ in found})
    index = {code: number for number, code in enumerate(codes)}
    run = {
        "tool": {
            "driver": {
                "name": "torchdevlint",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(code) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The folder in which torchdevlint was run."}}},
        "invocations": [_invocation(style.problems)],
        "results": [_result(finding, index[finding.code], fingerprint) for _, finding, fingerprint in found],
    }
    yield from dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1).split("\n")


def _invocation(problems: Sequence[str]) -> dict[str, Any]:
    """How the run went: without this, a viewer takes what could not be checked for clean."""
    told = [{"level": "error", "message": {"text": shown(problem)}} for problem in problems]
    return {"executionSuccessful": not told, **({"toolExecutionNotifications": told} if told else {})}


def _rule(code: str) -> dict[str, Any]:
    from torchdevlint.rules.registry import rule_by_code

    rule = rule_by_code(code)
    assert rule is not None  # findings have codes of rules
    summary = rule.summary()
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": _cut(rule.name.replace("-", " "))},
        "fullDescription": {"text": _cut(summary)},
        "help": {"text": rule.documentation(), "markdown": rule.documentation()},
        "defaultConfiguration": {"level": _LEVELS[rule.severity.label], "enabled": rule.default},
        "properties": {
            "tags": ["correctness", "pytorch", "device"],
            "precision": "high" if rule.severity is Severity.ERROR else "medium",
            "problem.severity": "recommendation" if rule.severity is Severity.INFO else rule.severity.label,
        },
    }


def _cut(text: str) -> str:
    return text if len(text) <= MOST_DESCRIPTION else text[: MOST_DESCRIPTION - 1] + "…"


def _result(finding: Finding, index: int, fingerprint: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity.label],
        "message": {"text": shown(f"{finding.message}. {finding.detail}" if finding.detail else finding.message)},
        "locations": [_location(finding.filename, finding.span, finding.cell)],
        "partialFingerprints": {"torchdevlint/v1": fingerprint},
    }
    if finding.related:
        result["relatedLocations"] = [
            {
                "id": number,
                **_location(other.filename, other.span, other.cell),
                "message": {"text": shown(other.message)},
            }
            for number, other in enumerate(finding.related, start=1)
        ]
    if finding.fix is not None and finding.cell is None:
        changes = {
            "artifactLocation": _artifact(finding.filename),
            "replacements": [_replacement(edit) for edit in finding.fix.edits],
        }
        result["fixes"] = [{"description": {"text": shown(finding.fix.message)}, "artifactChanges": [changes]}]
        result["properties"] = {"applicability": finding.fix.applicability.value}
    return result


def _artifact(filename: str) -> dict[str, str]:
    reference = uri(filename)
    return {"uri": reference} if reference.startswith("file:") else {"uri": reference, "uriBaseId": "SRCROOT"}


def _location(filename: str, span: Span, cell: int | None) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(filename)}
    if cell is None:
        return {"physicalLocation": {**physical, "region": _region(span)}}
    name = f"cell {cell}, line {span.start.row}"  # the rows of a cell are none of the file
    return {"physicalLocation": physical, "logicalLocations": [{"fullyQualifiedName": name}]}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.start.row,
        "startColumn": span.start.column,
        "endLine": span.end.row,
        "endColumn": span.end.column,
    }


def _replacement(edit: Edit) -> dict[str, Any]:
    return {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.content}}
