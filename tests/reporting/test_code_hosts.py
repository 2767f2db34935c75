"""The formats that code hosts and CI servers read: valid, complete, and with fingerprints that survive moved lines."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from typing import Any

import pytest

from torchdevlint.findings import Applicability, Edit, Finding, Fix, Outcome, Position, Related, Severity, Span
from torchdevlint.reporting import renderer, sarif
from torchdevlint.reporting.style import Style

TEXT = "import torch\nx = torch.load(p)\ny = torch.load(p)\n"


def span(row: int, column: int, end_row: int, end_column: int) -> Span:
    return Span(Position(row, column), Position(end_row, end_column))


LOAD = Finding(
    code="TDL101",
    name="load-without-map-location",
    severity=Severity.WARNING,
    message='loads "everything" <here>\n::error::x',
    filename="a b/c#d.py",
    span=span(2, 5, 2, 18),
    noqa_row=2,
    related=(Related("a b/c#d.py", span(1, 1, 1, 13), "imported here"),),
    fix=Fix(Applicability.SAFE, "map it", (Edit(29, 29, ', map_location="cpu"', span(2, 17, 2, 17)),)),
)
AGAIN = replace(LOAD, span=span(3, 5, 3, 18), related=(), fix=None, severity=Severity.ERROR)
OUTCOME = Outcome("a b/c#d.py", (LOAD, AGAIN), text=TEXT)
CELL = Outcome(
    "n.ipynb", (replace(AGAIN, filename="n.ipynb", cell=2, span=span(1, 5, 1, 18)),), text=TEXT, cells={2: 1}
)


def report(name: str, *outcomes: Outcome) -> str:
    return "\n".join(renderer(name)(outcomes, Style()))


def run_of(*outcomes: Outcome) -> dict[str, Any]:
    document = json.loads(report("sarif", *outcomes))
    assert document["version"] == "2.1.0" and len(document["runs"]) == 1
    run: dict[str, Any] = document["runs"][0]
    return run


def test_sarif_places_rules_fixes_and_related_places() -> None:
    run = run_of(OUTCOME)
    (rule,) = run["tool"]["driver"]["rules"]
    assert (
        rule["id"] == "TDL101"
        and len(rule["fullDescription"]["text"]) <= 1024
        and len(rule["properties"]["tags"]) <= 10
    )
    first, second = run["results"]
    physical = first["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "a%20b/c%23d.py", "uriBaseId": "SRCROOT"}
    assert physical["region"] == {"startLine": 2, "startColumn": 5, "endLine": 2, "endColumn": 18}
    assert [other["id"] for other in first["relatedLocations"]] == [1]
    (change,) = first["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"] == {"text": ', map_location="cpu"'}
    assert change["replacements"][0]["deletedRegion"]["startColumn"] == 17
    assert (first["level"], second["level"], second["ruleIndex"]) == ("warning", "error", 0)
    assert "fixes" not in second and "relatedLocations" not in second


def test_sarif_of_a_notebook_names_the_cell_and_no_row_of_the_file() -> None:
    (result,) = run_of(CELL)["results"]
    (location,) = result["locations"]
    assert "region" not in location["physicalLocation"]
    assert location["logicalLocations"] == [{"fullyQualifiedName": "cell 2, line 1"}]


def test_sarif_keeps_to_the_limit_of_results_and_drops_the_mildest(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sarif.MOST_RESULTS == 25_000  # of GitHub
    monkeypatch.setattr(sarif, "MOST_RESULTS", 500)
    many = [replace(LOAD, span=span(row, 1, row, 2), fix=None) for row in range(1, sarif.MOST_RESULTS + 1)]
    results = run_of(Outcome("a.py", (*many, AGAIN)))["results"]
    assert len(results) == sarif.MOST_RESULTS and results[0]["level"] == "error"


def fingerprints(outcome: Outcome) -> list[str]:
    return [result["partialFingerprints"]["torchdevlint/v1"] for result in run_of(outcome)["results"]]


def test_fingerprints_differ_and_survive_moved_lines() -> None:
    moved = tuple(replace(f, span=span(f.span.start.row + 1, 5, f.span.end.row + 1, 18)) for f in OUTCOME.findings)
    before = fingerprints(OUTCOME)
    assert len(set(before)) == 2
    assert fingerprints(replace(OUTCOME, findings=moved, text="# new\n" + TEXT)) == before
    assert fingerprints(replace(OUTCOME, text=TEXT.replace("(p)", "(q)"))) != before


def test_gitlab() -> None:
    first, second, third = json.loads(report("gitlab", OUTCOME, CELL))
    assert first["location"] == {"path": "a b/c#d.py", "lines": {"begin": 2, "end": 2}}
    assert (first["severity"], second["severity"]) == ("major", "critical")
    assert {"description", "check_name", "fingerprint", "severity", "location"} <= first.keys()
    assert len({first["fingerprint"], second["fingerprint"], third["fingerprint"]}) == 3
    assert third["location"]["lines"]["begin"] == 1 and "cell 2, line 1" in third["description"]


def test_junit_is_xml_whatever_the_message_holds() -> None:
    root = ElementTree.fromstring(report("junit", OUTCOME, CELL).partition("\n")[2])
    assert (root.tag, root.get("tests"), root.get("failures")) == ("testsuites", "3", "3")
    failures = root.findall("testsuite/testcase/failure")
    assert [failure.get("type") for failure in failures] == ["warning", "error", "error"]
    assert '"everything" <here>' in (failures[0].get("message") or "")
    assert "\n" not in (failures[0].text or "")


def test_junit_without_findings_is_a_passed_case() -> None:
    root = ElementTree.fromstring(report("junit").partition("\n")[2])
    assert (root.get("tests"), root.get("failures")) == ("1", "0")


def test_json_lines_are_the_objects_of_json() -> None:
    lines = report("json-lines", OUTCOME, CELL).split("\n")
    assert [json.loads(line) for line in lines] == json.loads(report("json", OUTCOME, CELL))


def test_grouped() -> None:
    text = report("grouped", OUTCOME, CELL)
    assert text.startswith("a b/c#d.py:\n  2:5  TDL101 [*] loads")
    assert "\nn.ipynb:\n  cell 2:1:5  TDL101 loads" in text and text.count("::error::x") == 3
    assert "\n::error" not in text
