"""How long after the last key an editor has its diagnostics: a real client over stdio, files of about 1,000 lines.

usage: python benchmarks/lsp_latency.py [FILE...] [--keys N] [--write]

Each key is one change of the buffer behind which the client waits for the diagnostics of that very version: a letter of a name that is bound in
the function nearest to the middle of the file. Without FILE: scripts of 1,000 lines made of the fixtures. The machine may be busy: the table has
the median, the CPU time of the examining process for a key, and the load.
`--write` stores the rows for docs/editors.md.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lsp_client import Client

from torchdevlint.program.bounds import ParseFailure, parse

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "lsp_latency.json"
LINES = 1000
TARGET = 0.150  # seconds


def scripts(folder: Path) -> list[Path]:
    """Programs of about 1,000 lines: the fixtures of a group, one behind the other, until there are enough."""
    made = []
    for group in ("tensors", "modules", "loading", "optimizers"):
        parts: list[str] = []
        lines = 0
        for path in sorted((ROOT / "fixtures" / group).rglob("fixed.py")):
            text = path.read_text(encoding="utf-8")
            try:
                parse("\n".join([*parts, text]))
            except ParseFailure:  # a `from __future__` that does not stand first
                continue
            parts.append(text)
            lines += text.count("\n")
            if lines >= LINES:
                break
        target = folder / f"{group}.py"
        target.write_text("\n".join(parts), encoding="utf-8")
        made.append(target)
    return made


def cpu_seconds(pid: int) -> float:
    """The CPU time that a process and its children have taken; 0 where the system does not tell."""
    total = 0.0
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        total = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        total += sum(cpu_seconds(int(child)) for child in children)
    except (OSError, ValueError):
        pass
    return total


def place_of(text: str) -> tuple[int, int]:
    """The line (from 0) and the column of the last statement of the function nearest to the middle; the first line where there is none."""
    middle = text.count("\n") / 2
    functions = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    if not functions:
        return 0, 0
    last = min(functions, key=lambda node: abs(node.lineno - middle)).body[-1]
    return last.lineno - 1, last.col_offset


def measure(path: Path, keys: int) -> dict[str, Any]:
    """Types `keys` letters of a name in a function of a file, with a pause behind each, and waits for each answer."""
    text = path.read_text(encoding="utf-8")
    lines = text.count("\n")
    row, column = place_of(text)
    client = Client(cwd=path.parent)
    try:
        client.start(path.parent)
        uri = path.as_uri()
        client.open(uri, text)
        client.diagnostics(uri, 1)
        at = {"line": row, "character": 0}
        client.change(uri, 2, {"range": {"start": at, "end": at}, "text": " " * column + "value_ = 1\n"})
        found = client.diagnostics(uri, 2)
        waits, before = [], cpu_seconds(client.process.pid)
        for number in range(keys):
            here = {"line": row, "character": column + len("value_") + number}
            begun = time.perf_counter()
            client.change(uri, 3 + number, {"range": {"start": here, "end": here}, "text": "x"})
            client.diagnostics(uri, 3 + number)
            waits.append(time.perf_counter() - begun)
        used = cpu_seconds(client.process.pid) - before
        client.stop()
    finally:
        client.close()
    return {
        "file": path.name,
        "lines": lines,
        "findings": len(found),
        "median_ms": round(1000 * statistics.median(waits)),
        "fastest_ms": round(1000 * min(waits)),
        "slowest_ms": round(1000 * max(waits)),
        "cpu_ms": round(1000 * used / keys),
    }


def table(result: dict[str, Any]) -> str:
    """The rows as Markdown."""
    lines = [
        "| file | lines | findings | median | fastest | slowest | CPU time for a key |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        lines.append(
            f"| {row['file']} | {row['lines']:,} | {row['findings']} | {row['median_ms']} ms | {row['fastest_ms']} ms"
            f" | {row['slowest_ms']} ms | {row['cpu_ms']} ms |"
        )
    load = f"{result['load']:.1f} other processes wanted to run on {result['processors']} processors"
    return "\n".join([*lines, "", f"Python {result['python']}, {result['keys']} keys a file; meanwhile {load}."])


def main() -> int:
    """Measures and prints; 1 where a median is above the target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--keys", type=int, default=20)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = [path.resolve() for path in arguments.files] or scripts(Path(folder))
        load = os.getloadavg()[0]
        rows = [measure(path, arguments.keys) for path in paths]
    result = {
        "rows": rows,
        "keys": arguments.keys,
        "load": round(load, 1),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
    }
    print(table(result))
    if arguments.write:
        RESULTS.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return int(any(row["median_ms"] > 1000 * TARGET for row in rows))


if __name__ == "__main__":
    sys.exit(main())
