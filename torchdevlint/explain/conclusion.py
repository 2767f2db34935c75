"""The cause once the source has been asked: what a finding on the line, or a value that is known to be on the CPU, shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from torchdevlint.explain.causes import CAUSE_OF_RULE, OPERAND_CAUSES
from torchdevlint.explain.judging import Verdict
from torchdevlint.explain.messages import OPERANDS

if TYPE_CHECKING:
    from torchdevlint.explain.answering import Answer
    from torchdevlint.explain.evidence import Evidence, Value


def told_values(answer: Answer, evidence: Evidence) -> tuple[Value, ...]:
    """The values to show: each once, none that was still to be computed, and the device that the message names for those that must be there."""
    never_made = ("self", _statement(evidence))
    given = [
        value
        for value in evidence.values
        if value.expression not in never_made and not _is_result(value, evidence.values)
    ]
    shown: list[Value] = []
    for value in sorted(given, key=lambda one: len(one.expression)):
        same = [one for one in shown if (one.device, one.made) == (value.device, value.made)]
        if not any(_is_part(one.expression, value.expression) for one in same):
            shown.append(value)
    order = {value.expression: index for index, value in enumerate(given)}
    shown.sort(key=lambda value: order[value.expression])
    named = answer.sighting.device
    if answer.sighting.cause != OPERANDS and named and named != "cpu":
        shown = [replace(value, device=named) if value.device == "accelerator" else value for value in shown]
    accelerator = _accelerator(answer)
    if accelerator and _left_behind(evidence) is not None:
        shown = [replace(value, device=accelerator) if value.device != "cpu" else value for value in shown]
    return tuple(shown)


def _statement(evidence: Evidence) -> str:
    """The expression of the line as a whole: its value was never there."""
    if evidence.line is None:
        return ""
    text = " ".join(evidence.line.text.split("\n")[evidence.line.row - 1].split())
    return re.sub(r"^(?:return |\w+(?:, \w+)* [-+*/]?= )", "", text)


def _is_part(inner: str, outer: str) -> bool:
    return outer.startswith((inner + "[", inner + "."))


def _is_result(value: Value, values: Sequence[Value]) -> bool:
    """True for what would come of values on two devices: the failed operation, and all around it."""
    inside = {other.device == "cpu" for other in values if other is not value and other.expression in value.expression}
    return len(inside) == 2 and not value.told.startswith("module")


def _accelerator(answer: Answer) -> str:
    """The accelerator of two devices that the message names, "" where it names no such pair."""
    pair = {answer.sighting.device, answer.sighting.other}
    return next(iter(pair - {"cpu"}), "") if "cpu" in pair and len(pair) == 2 else ""


def conclude(answer: Answer, evidence: Evidence) -> Answer:
    """The answer with the best cause. What the message itself settles stays as it is."""
    verdict = answer.verdict
    value = _left_behind(evidence) if answer.sighting.cause == OPERANDS else None
    if verdict.is_sure or answer.sighting.cause != OPERANDS:
        ground = _ground(value) if value is not None and not verdict.ground else verdict.ground
        return replace(answer, verdict=replace(verdict, ground=ground))
    for finding in evidence.findings:
        cause = CAUSE_OF_RULE.get(finding.code, "")
        if cause in OPERAND_CAUSES:
            ground = _ground(value) if value is not None else ""
            return replace(answer, verdict=Verdict(cause, ground, is_sure=True))
    if value is None:
        return answer
    cause = "attribute-left-behind" if "attribute" in value.told else "tensor-left-behind"
    if value.told.startswith("module"):
        cause = "module-left-behind"
    return replace(answer, verdict=Verdict(cause, _ground(value), is_sure=True))


def _left_behind(evidence: Evidence) -> Value | None:
    """The value of the line that is known to be on the CPU; None where none is, or more than one made in different places."""
    known = [value for value in evidence.values if value.device == "cpu"]
    made = {value.made for value in known}
    return known[-1] if len(made) == 1 else None


def _ground(value: Value) -> str:
    made = f": it is made on line {value.made} without a device" if value.made and "without" in value.told else ""
    made = made or (f": it is made on line {value.made}" if value.made else "")
    return f"`{value.expression}` is on the CPU{made}"
