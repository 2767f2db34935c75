"""Mutation testing of the linter: delete one piece of device handling from correct code and see whether that is found.

    python benchmarks/mutations.py FOLDER... [--most 40] [--seed 1] [--write docs/mutations.md]

Each FOLDER is a project of ordinary device code. A mutation deletes one `.to(device)`, one `device=` of a torch factory, one `map_location=`, one
`register_buffer` (the tensor becomes a plain attribute) or one `.cpu()` before `.numpy()`. It counts as found when a finding that the untouched file does
not have stands within three lines of the deletion, or names a line there as a related place. Not every deletion is a fault: a tensor that is moved twice, a
default that was the CPU anyway. So the figures are a lower bound of recall, to be compared between two versions of the linter.
"""

from __future__ import annotations

import argparse
import collections
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from torchdevlint import check_source
from torchdevlint.findings import Finding
from torchdevlint.source.positions import spans

NEAR = 3
_FACTORIES = frozenset(
    "zeros ones empty full rand randn randint randperm arange linspace logspace eye tensor as_tensor".split()
)
_BEGIN, _END = "<!-- begin mutations -->", "<!-- end mutations -->"


@dataclass(frozen=True)
class Mutation:
    """One deletion: the family, the line it stands on, and the text without it."""

    family: str
    row: int
    text: str


class _Sites(cst.CSTVisitor):
    """The calls that a deletion may be made in."""

    def __init__(self) -> None:
        self.sites: list[tuple[str, cst.CSTNode, cst.CSTNode | str]] = []

    def visit_Call(self, node: cst.Call) -> None:
        function = node.func
        if not isinstance(function, cst.Attribute):
            return
        name = function.attr.value
        keywords = {argument.keyword.value for argument in node.args if argument.keyword is not None}
        if name == "to" and _is_device(node):
            self.sites.append((".to(device)", node, function.value))
        elif (
            name == "load"
            and "map_location" in keywords
            and isinstance(function.value, cst.Name)
            and function.value.value == "torch"
        ):
            self.sites.append(("map_location=", node, _without(node, "map_location")))
        elif (
            name in _FACTORIES
            and "device" in keywords
            and isinstance(function.value, cst.Name)
            and function.value.value == "torch"
        ):
            self.sites.append(("device=", node, _without(node, "device")))
        elif (
            name == "numpy" and isinstance(function.value, cst.Call) and isinstance(function.value.func, cst.Attribute)
        ):
            if function.value.func.attr.value == "cpu":
                inner = function.with_changes(value=function.value.func.value)
                self.sites.append((".cpu() before .numpy()", node, node.with_changes(func=inner)))
        elif (
            name == "register_buffer"
            and isinstance(function.value, cst.Name)
            and function.value.value == "self"
            and len(node.args) >= 2
        ):
            key = node.args[0].value
            if isinstance(key, cst.SimpleString) and not isinstance(node.args[1].value, cst.Name | cst.SimpleString):
                value = cst.Module([]).code_for_node(node.args[1].value)
                if value != "None":
                    self.sites.append(("register_buffer", node, f"self.{key.raw_value} = {value}"))


def _is_device(node: cst.Call) -> bool:
    if len(node.args) != 1:
        return False
    text = cst.Module([]).code_for_node(node.args[0].value)
    return bool(re.search(r"device|cuda", text)) and "dtype" not in text


def _without(node: cst.Call, keyword: str) -> cst.Call:
    kept = [argument for argument in node.args if argument.keyword is None or argument.keyword.value != keyword]
    if kept:
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return node.with_changes(args=kept)


def mutations(text: str) -> Iterator[Mutation]:
    """Every mutation of a file that still parses."""
    module = cst.parse_module(text)
    visitor = _Sites()
    module.visit(visitor)
    where = spans(module, [node for _, node, _ in visitor.sites], text)
    for family, node, replacement in visitor.sites:
        span = where[id(node)]
        new = replacement if isinstance(replacement, str) else module.code_for_node(replacement)
        yield Mutation(family, text.count("\n", 0, span.start) + 1, text[: span.start] + new + text[span.end :])


def places(finding: Finding) -> set[int]:
    """The lines that a finding speaks of."""
    return {finding.span.start.row, *(related.span.start.row for related in finding.related)}


def is_found(mutation: Mutation, before: collections.Counter[tuple[str, str]], path: str) -> bool:
    """True when the mutated file has a new finding at the deletion."""
    left = before.copy()
    for finding in check_source(mutation.text, path):
        key = (finding.code, finding.message)
        if left[key]:
            left[key] -= 1
        elif any(abs(row - mutation.row) <= NEAR for row in places(finding)):
            return True
    return False


def measure(folder: Path, most: int, seed: int) -> tuple[collections.Counter[tuple[str, bool]], int, int]:
    """Found and missed mutations by family, and how many of the untouched files there are and are silent."""
    counts: collections.Counter[tuple[str, bool]] = collections.Counter()
    candidates: list[tuple[Path, Mutation]] = []
    texts: dict[Path, str] = {}
    for path in sorted(folder.rglob("*.py")):
        try:
            text = path.read_text(encoding="utf-8")
            found = list(mutations(text)) if "torch" in text else []
        except (UnicodeDecodeError, cst.ParserSyntaxError, RecursionError):
            continue
        if found:
            texts[path] = text
            candidates += [(path, mutation) for mutation in found]
    random.Random(seed).shuffle(candidates)
    silent = 0
    seen: dict[Path, collections.Counter[tuple[str, str]]] = {}
    for path, mutation in candidates[:most]:
        if path not in seen:
            seen[path] = collections.Counter((f.code, f.message) for f in check_source(texts[path], str(path)))
            silent += not seen[path]
        counts[mutation.family, is_found(mutation, seen[path], str(path))] += 1
    return counts, len(seen), silent


def table(counts: collections.Counter[tuple[str, bool]], files: int, silent: int, folders: int) -> str:
    """The result as a Markdown table."""
    lines = [
        f"{folders} projects; {silent} of {files} untouched files are silent.",
        "",
        "| deletion | mutations | found |",
        "|---|---|---|",
    ]
    families = sorted({family for family, _ in counts})
    for family in [*families, "all"]:
        hit = sum(n for (f, found), n in counts.items() if found and family in (f, "all"))
        total = sum(n for (f, _), n in counts.items() if family in (f, "all"))
        lines.append(
            f"| `{family}` | {total} | {hit / total:.0%} |"
            if family != "all"
            else f"| all | {total} | {hit / max(total, 1):.0%} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=40, help="mutations drawn from each project (default: 40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path, help="a page with the block to renew")
    arguments = parser.parse_args()
    counts: collections.Counter[tuple[str, bool]] = collections.Counter()
    files = silent = 0
    for folder in arguments.folders:
        some, here, quiet = measure(folder, arguments.most, arguments.seed)
        counts += some
        files, silent = files + here, silent + quiet
        print(f"{folder.name}: {sum(some.values())} mutations", file=sys.stderr)
    result = table(counts, files, silent, len(arguments.folders))
    print(result)
    if arguments.write is not None:
        page = arguments.write.read_text(encoding="utf-8")
        head, tail = page.split(_BEGIN)[0], page.split(_END)[1]
        arguments.write.write_text(f"{head}{_BEGIN}\n{result}\n{_END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
