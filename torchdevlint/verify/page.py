"""The full report of a verification as one HTML file: nothing in it is loaded from elsewhere, and nothing in it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from torchdevlint.reporting.diff import unified
from torchdevlint.reporting.plain import shown
from torchdevlint.verify.judge import BAD, GOOD, Case, Judge, Report
from torchdevlint.verify.program import Program
from torchdevlint.verify.report import counts_of, groups_of, place_of, rows_of
from torchdevlint.verify.telling import cost, shorten
from torchdevlint.verify.trial import Machine, Trial

_KINDS = {"h2d": "host to device", "d2h": "device to host", "d2d": "device to device", "sync": "synchronisation"}
_MOST_LEDGER_ROWS = 500
_STYLE = """
:root { color-scheme: light dark; --line: #d0d7de; --soft: #f6f8fa; --good: #1a7f37; --bad: #cf222e; --ink: #1f2328; --page: #fff;
  --added: #dafbe1; --gone: #ffebe9; --dim: #59636e; }
@media (prefers-color-scheme: dark) { :root { --line: #3d444d; --soft: #151b23; --good: #3fb950; --bad: #f85149; --ink: #f0f6fc;
  --page: #0d1117; --added: #12261e; --gone: #25171c; --dim: #9198a1; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 75rem; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
code, pre, .place { font: 13px/1.45 ui-monospace, monospace; }
p, td, li, dd { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: 0; } dt { color: var(--dim); } dd { margin: 0; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; color: var(--dim); padding: .3rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: .45rem .6rem; text-align: left; vertical-align: top; }
th { background: var(--soft); } td.number { text-align: right; white-space: nowrap; }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); font-weight: 600; } .dim { color: var(--dim); }
pre { margin: 0; padding: .8rem; overflow-x: auto; background: var(--soft); border: 1px solid var(--line); border-radius: 6px; }
pre span { display: block; min-height: 1.45em; } .added { background: var(--added); } .gone { background: var(--gone); }
table.findings { table-layout: fixed; } table.findings th:nth-child(1) { width: 28%; } table.findings th:nth-child(2) { width: 28%; }
table.findings th:nth-child(3) { width: 17%; } table + table { margin-top: 1.5rem; }
@media (max-width: 45rem) {
  body { padding: .8rem; } dl { grid-template-columns: 1fr; } dt { margin-top: .4rem; }
  table.wide thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  table.wide, table.wide tbody, table.wide tr, table.wide td, table.wide caption { display: block; }
  table.wide tr { border: 1px solid var(--line); border-radius: 6px; margin: .8rem 0; padding: .3rem; }
  table.wide td { border: 0; padding: .25rem .4rem; text-align: left; white-space: normal; }
  table.wide td::before { content: attr(data-label); display: block; color: var(--dim); font-size: 12px; }
}
"""


def as_html(
    program: Program,
    machine: Machine,
    version: str,
    report: Report,
    judge: Judge,
    rows: Sequence[tuple[str, str, str]] = (),
) -> str:
    """The page: summary, table of findings, what could not be judged, the repairs as a diff, the ledger before and after.

    `rows` are those of a matrix: machine, ending before, ending with all fixes.
    """
    body = "\n".join(_body(program, machine, version, report, judge, rows))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>torchdevlint verify: {_text(program.name)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _text(value: object) -> str:
    return escape(shown(str(value)))


def _body(
    program: Program, machine: Machine, version: str, report: Report, judge: Judge, rows: Sequence[tuple[str, str, str]]
) -> Iterator[str]:
    yield f"<h1>torchdevlint verify: {_text(program.name)}</h1>"
    yield from _summary(machine, version, report)
    found = rows_of(report.cases)
    if found and not report.trouble:
        yield "<h2>Findings with evidence</h2>"
        yield from _findings(found)
    groups = [] if report.trouble else groups_of(report.cases)
    if groups:
        yield "<h2>Findings without evidence</h2>"
    for head, cases in groups:
        yield f"<p>{len(cases)} {_text(head)}</p>\n<ul>"
        for case in cases:
            yield f'<li><span class="place">{_text(place_of(case))}</span> {_code(case)}: {_text(case.first.message)}</li>'
        yield "</ul>"
    if report.unexplained:
        yield "<h2>What the run shows and no finding explains</h2>\n<ul>"
        yield from (f"<li>{_text(fault)}</li>" for fault in report.unexplained)
        yield "</ul>"
    if rows:
        yield "<h2>Machines</h2>"
        cells = [[_text(cell) for cell in row] for row in rows]
        yield from _table(("machine", "before", "with all fixes"), cells)
    if not report.trouble:
        yield from _diffs(judge)
    yield from _ledgers(report, judge)


def _summary(machine: Machine, version: str, report: Report) -> Iterator[str]:
    virtual = " (virtual: places as a GPU would, computes on the CPU)" if machine.shape is not None else ""
    entries = [
        ("machine", f"{machine.describe()}{virtual}"),
        ("torch", report.torch or version or "not imported"),
        ("runs", report.runs),
        ("findings", counts_of(report.cases) if report.cases and not report.trouble else len(report.cases)),
        ("before", report.baseline),
        ("with the confirmed fixes", report.final or "not run"),
    ]
    entries += [("not judged", report.trouble)] if report.trouble else []
    entries += [("note", note) for note in report.notes]
    yield "<dl>"
    yield from (f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in entries)
    yield "</dl>"


def _code(case: Case) -> str:
    return f"{_text(case.first.code)} {_text(case.first.name)}"


def _findings(rows: Iterable[tuple[Case, str, str, str]]) -> Iterator[str]:
    cells = []
    for case, before, after, evidence in rows:
        place = f'<span class="place">{_text(place_of(case))}</span><br>{_code(case)}<br><span class="dim">{_text(case.first.message)}</span>'
        kind = "good" if case.verdict in GOOD else "bad" if case.verdict in BAD else "dim"
        verdict, _, reason = evidence.partition(": ")
        told = f'<span class="{kind}">{_text(verdict)}</span>{"<br>" + _text(reason) if reason else ""}'
        cells.append([place, _text(before), _text(after), told])
    yield from _table(("finding", "before", "after", "evidence"), cells, kind="wide findings")


def _table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str = "",
    numbers: Sequence[int] = (),
    kind: str = "wide",
) -> Iterator[str]:
    """A table of ready markup; on a narrow screen each row is a card with the heads as labels."""
    yield f'<table class="{kind}">'
    if caption:
        yield f"<caption>{_text(caption)}</caption>"
    yield "<thead><tr>" + "".join(f"<th>{_text(head)}</th>" for head in heads) + "</tr></thead>\n<tbody>"
    for row in rows:
        cells = [
            f'<td{" class=" + chr(34) + "number" + chr(34) if number in numbers else ""} data-label="{_text(head)}">{cell}</td>'
            for number, (head, cell) in enumerate(zip(heads, row, strict=True))
        ]
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"


def _diffs(judge: Judge) -> Iterator[str]:
    repaired = judge.repaired()
    if repaired:
        yield "<h2>The confirmed fixes</h2>"
    for path, after in repaired.items():
        name = shorten(str(path))
        before, now = (raw.decode("utf-8", "backslashreplace") for raw in (judge.read[path], after))
        lines = []
        for line in unified(before, now, f"a/{name}", f"b/{name}"):
            header = line.startswith(("+++", "---"))
            kind = "" if header else {"+": "added", "-": "gone", "@": "dim"}.get(line[:1], "")
            lines.append(f"<span{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{_text(line)}</span>")
        yield f"<pre>{''.join(lines)}</pre>"


def _ledgers(report: Report, judge: Judge) -> Iterator[str]:
    first = {str(path): raw.decode("utf-8", "replace").splitlines() for path, raw in judge.read.items()}
    last = {str(path): source.text.splitlines() for path, source in judge.sources.items()}
    yield "<h2>Copies and synchronisations</h2>"
    if report.first is None or not (report.first.ledger or (report.last is not None and report.last.ledger)):
        yield "<p>None was counted (a virtual machine counts them, a real GPU does not).</p>"
        return
    yield from _ledger("the unchanged program", report.first, first)
    if report.last is not None and list(report.last.ledger.items()) != list(report.first.ledger.items()):
        yield from _ledger("the program as it ran last, with the fixes of the errors in front", report.last, last)


def _ledger(title: str, trial: Trial, texts: dict[str, list[str]]) -> Iterator[str]:
    entries = sorted(trial.ledger.items(), key=lambda item: -cost(*item[1]))
    copies = sum(count for key, (count, _) in entries if key[1] != "sync")
    size = sum(bytes_ for _, (_, bytes_) in entries)
    waits = sum(count for key, (count, _) in entries if key[1] == "sync")
    cells: list[list[Any]] = []
    for ((file, row), kind, cause, implicit), (count, bytes_) in entries[:_MOST_LEDGER_ROWS]:
        lines = texts.get(file, [])
        source = lines[row - 1].strip() if 0 < row <= len(lines) else ""
        where = f'<span class="place">{_text(shorten(file))}:{row}</span><br><code>{_text(source)}</code>'
        what = f"{_KINDS.get(kind, kind)}: {cause}{' (implicit)' if implicit else ''}"
        cells.append([where, _text(what), f"{count:,}", f"{bytes_:,}" if kind != "sync" else "-"])
    caption = f"{title}: {copies:,} copies ({size:,} bytes), {waits:,} synchronisations; the dearest lines first"
    yield from _table(("line", "what", "times", "bytes"), cells, caption, numbers=(2, 3))
