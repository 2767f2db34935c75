"""`torchdevlint prove`: each rule's fault and repair, run on the machines where the fault shows."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from torchdevlint import cli
from torchdevlint.verify.proofs import (
    Device,
    Evidence,
    Host,
    Proof,
    ProofError,
    all_proofs,
    look_at_host,
    prove,
    shape_called,
)

BEGIN, END = "<!-- begin evidence -->", "<!-- end evidence -->"


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds the command's options."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "prove",
        help=cli.COMMANDS["prove"].help,
        description=(
            "Runs each rule's proof, a small program that comes with torchdevlint, on the machine shapes on which the fault "
            "shows, and prints what the fault did there and that the repair does not. Exit code 0: all were proved or "
            "skipped with a reason; 1: some were not proved; 2: proofs cannot run here."
        ),
    )
    parser.add_argument(
        "codes", nargs="*", metavar="CODE", help="codes, prefixes or names of rules (default: all proofs)"
    )
    parser.add_argument(
        "--device",
        choices=("auto", "virtual", "cuda"),
        default="auto",
        help="the machine: real GPUs, virtual ones, or real where there are some (default: auto)",
    )
    parser.add_argument("--json", action="store_true", help="print the evidence as a JSON array")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="seconds for one side of a proof")
    parser.add_argument("--evidence", type=Path, metavar="FILE", help="also write the table into this Markdown file")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    chosen, unknown = choose(arguments.codes)
    if unknown:
        return cli.fail(f"no proof is called {', '.join(unknown)}; `torchdevlint rule CODE` says why a rule has none")
    try:
        host = look_at_host()
        real = arguments.device == "cuda" or (arguments.device == "auto" and host.gpus > 0)
        device: Device = "cuda" if real else "virtual"
        if device == "cuda" and not host.gpus:
            return cli.fail(f"torch {host.torch} sees no CUDA GPU here: use --device virtual")
        print("torchdevlint: proofs run in child processes, without a sandbox", file=sys.stderr, flush=True)
        found = prove(chosen, device, host, arguments.timeout)
    except ProofError as error:
        return cli.fail(str(error))
    if arguments.evidence is not None:
        write_table(arguments.evidence, found, host)
    print(json.dumps([evidence.to_dict() for evidence in found], indent=2) if arguments.json else as_text(found, host))
    return 1 if any(evidence.outcome == "not proved" for evidence in found) else 0


def choose(words: Sequence[str]) -> tuple[list[Proof], list[str]]:
    """The proofs that codes, prefixes or names stand for, and the words that stand for none."""
    if not words:
        return list(all_proofs()), []
    matches = {word: [p for p in all_proofs() if p.code.startswith(word.upper()) or p.name == word] for word in words}
    chosen = {proof.code: proof for proofs in matches.values() for proof in proofs}
    return [chosen[code] for code in sorted(chosen)], [word for word, proofs in matches.items() if not proofs]


def machine_text(evidence: Evidence) -> str:
    """The machine in words: a virtual one always says so."""
    if evidence.machine == "virtual":
        text = shape_called(evidence.shape).describe()
        return text if "virtual" in text else f"{text}, virtual"
    if evidence.shape.isdigit():
        return f"{evidence.shape} GPU" + ("s" if evidence.shape != "1" else "")
    return shape_called(evidence.shape).describe()


def as_text(found: Sequence[Evidence], host: Host) -> str:
    """The evidence for a person."""
    lines = []
    for evidence in found:
        lines.append(f"{evidence.code} {evidence.name} on {machine_text(evidence)}: {evidence.outcome}")
        if evidence.outcome == "proved":
            lines += [f"    fault:  {evidence.fault}", f"    repair: {evidence.repair}"]
        else:
            lines.append(f"    {evidence.reason}")
    counts = {outcome: sum(e.outcome == outcome for e in found) for outcome in ("proved", "not proved", "skipped")}
    lines.append(
        f"{counts['proved']} proved, {counts['not proved']} not proved, {counts['skipped']} skipped "
        f"({len({e.code for e in found})} rules, torch {host.torch}{', ' + host.gpu_name if host.gpu_name else ''})"
    )
    return "\n".join(lines)


def as_table(found: Sequence[Evidence]) -> str:
    """The evidence as a Markdown table."""
    rows = ["| rule | machine | result | fault | repair |", "|---|---|---|---|---|"]
    for evidence in found:
        shown = (evidence.fault, evidence.repair) if evidence.outcome == "proved" else (evidence.reason, "")
        cells = (f"{evidence.code} {evidence.name}", machine_text(evidence), evidence.outcome, *map(_cell, shown))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _cell(text: str, longest: int = 160) -> str:
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= longest else text[: longest - 3] + "..."


def write_table(path: Path, found: Sequence[Evidence], host: Host) -> None:
    """Put the table between the markers of a file; a file without them is written anew."""
    kind = found[0].machine if found else "virtual"
    machine = (
        f"the virtual machine, torch {host.torch}" if kind == "virtual" else f"{host.gpu_name}, torch {host.torch}"
    )
    block = f"{BEGIN}\n\nLast run: {date.today().isoformat()} on {machine}.\n\n{as_table(found)}\n\n{END}"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if BEGIN not in text or END not in text:
        text = (
            f"# Evidence on {'the virtual machine' if kind == 'virtual' else 'real GPUs'}\n\nWhat each rule's fault and "
            f"repair did, written by `torchdevlint prove --device {kind} --evidence {path.name}`.\n\n{BEGIN}\n{END}\n"
        )
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    path.write_text(pattern.sub(lambda _: block, text), encoding="utf-8")
