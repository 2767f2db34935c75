"""What must hold of every fix of a text, and other layouts of the same program to ask it of."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Sequence

import examined
import libcst as cst
from examined import examine

from torchdevlint.findings import Applicability, Finding
from torchdevlint.fixes.text import apply_fixes
from torchdevlint.linter import Repair, lint_source
from torchdevlint.settings import Selection, Settings, parse_level
from torchdevlint.source.source import Source

SETTINGS = Settings(selections=(Selection(None, (), ()),), level=parse_level("info"))

_LEAVES_A_FAULT = re.compile(r"would (still be found|be found instead)$")  # a repair that is no mistake, and not enough


def broken(text: str) -> list[str]:
    """What does not hold of the fixes of a text, as sentences."""
    with examined.once():
        return _broken(text)


def _broken(text: str) -> list[str]:
    source = Source("program.py", text)
    before = examine(source, SETTINGS)
    found = [f"problem: {problem}" for problem in before.problems]
    for finding in before.findings:
        found += [
            f"{finding.code} on row {finding.span.start.row}: {told}"
            for told in _broken_of(finding, source, before.findings)
        ]
    for repair in (Repair.SAFE, Repair.UNSAFE):
        once = lint_source(source, SETTINGS, repair)
        after = once.text if once.fixed else text
        found += [f"{repair.name}: {note}" for note in once.notes if not _LEAVES_A_FAULT.search(note)]
        if once.fixed and not _parses(after):
            found.append(f"{repair.name}: no longer parses")
        elif once.fixed:
            again = lint_source(Source("program.py", after), SETTINGS, repair)
            if again.fixed:
                found.append(f"{repair.name}: a second repair changes it again")
        if len(once.findings) > len(before.findings):
            found.append(f"{repair.name}: more findings than before")
        found += [f"{repair.name}: the comment {lost!r} is lost" for lost in _comments(text) if lost not in after]
    return found


def _broken_of(finding: Finding, source: Source, others: Sequence[Finding]) -> list[str]:
    fix = finding.fix
    if fix is None:
        return []
    after = apply_fixes(source.text, [fix])
    if not _parses(after):
        return ["the fix alone does not parse"]
    found = []
    if after == source.text:
        found.append("the fix changes nothing")
    ends = [0, *(edit.end for edit in fix.edits)]
    starts = [*(edit.start for edit in fix.edits), len(source.text)]
    kept = [source.text[end:start] for end, start in zip(ends, starts, strict=True)]
    if re.fullmatch("(?s)" + ".*?".join(map(re.escape, kept)), after) is None:
        found.append("the fix changes text outside of its edits")
    if fix.applicability is Applicability.SAFE:
        left = examine(source.with_text(after), SETTINGS).findings
        if len(left) > len(others):
            found.append(f"the fix alone makes findings: {[other.code for other in left]}")
    return found


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _comments(text: str) -> list[str]:
    return re.findall(r"#~\d+", text)


# ---------------------------------------------------------------------------------------------------- layouts


def relaid(text: str, draw: random.Random) -> str:
    """The same program in another layout: calls over several lines, chains of methods, comments, statements under conditions."""
    module = cst.parse_module(text).visit(_Relayer(draw))
    assert isinstance(module, cst.Module)
    ast.parse(module.code)
    return module.code


class _Relayer(cst.CSTTransformer):
    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._count = 0
        self._strings = 0

    def _line(self, comment: bool = True) -> cst.ParenthesizedWhitespace:
        told = None
        if comment and self._draw.random() < 0.3:
            self._count += 1
            told = cst.Comment(f"#~{self._count}")
        first = cst.TrailingWhitespace(whitespace=cst.SimpleWhitespace("  " if told else ""), comment=told)
        return cst.ParenthesizedWhitespace(first, indent=True, last_line=cst.SimpleWhitespace("    "))

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:
        return False

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        if not updated_node.args or self._draw.random() < 0.75:
            return updated_node
        last = len(updated_node.args) - 1
        given = [
            argument.with_changes(
                comma=cst.Comma(whitespace_after=self._line())
                if at < last or self._draw.random() < 0.5
                else cst.MaybeSentinel.DEFAULT
            )
            for at, argument in enumerate(updated_node.args)
        ]
        if any(isinstance(argument.value, cst.GeneratorExp) and not argument.value.lpar for argument in given):
            return updated_node
        return updated_node.with_changes(args=given, whitespace_before_args=self._line())

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.BaseSmallStatement:
        value = updated_node.value
        if self._draw.random() < 0.8 or not isinstance(value, cst.Call) or value.lpar:
            return updated_node
        if not isinstance(value.func, cst.Attribute) or not isinstance(value.func.value, cst.Call):
            return updated_node
        dot = value.func.dot.with_changes(whitespace_before=self._line())
        chained = value.with_changes(
            func=value.func.with_changes(dot=dot),
            lpar=[cst.LeftParen(whitespace_after=self._line(comment=False))],
            rpar=[cst.RightParen(whitespace_before=self._line(comment=False))],
        )
        return updated_node.with_changes(value=chained)

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement:
        (small, *others) = updated_node.body
        if others or self._draw.random() < 0.9 or not isinstance(small, (cst.Assign, cst.Expr, cst.AugAssign)):
            return updated_node
        if isinstance(small, cst.Expr) and isinstance(
            small.value, (cst.Yield, cst.SimpleString, cst.ConcatenatedString)
        ):
            return updated_node
        block = cst.IndentedBlock([updated_node.with_changes(leading_lines=[])])
        kind = self._draw.choice(("if", "for", "try"))
        if kind == "if":
            return cst.If(test=cst.parse_expression("len(str(1))"), body=block)
        if kind == "for":
            return cst.For(target=cst.Name("_once"), iter=cst.parse_expression("range(1)"), body=block)
        return cst.Try(body=block, finalbody=cst.Finally(body=cst.IndentedBlock([cst.parse_statement("pass")])))
