"""Rules' proofs: finding them, running fault and repair on each machine shape, judging what they showed."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from torchdevlint import proofs
from torchdevlint.machine import Shape
from torchdevlint.machine.launch import environment
from torchdevlint.verify.process import run_child

Device = Literal["virtual", "cuda"]
Outcome = Literal["proved", "not proved", "skipped"]
_WITHOUT_GPU = ("cpu", "no-driver", "hidden")
_NO_TORCH = "No module named 'torch'"
_START = 60.0
"""Seconds that importing torch may take."""


@dataclass(frozen=True, slots=True)
class Proof:
    """One file of `torchdevlint.proofs`, read without running it."""

    code: str
    name: str
    sentence: str
    shapes: tuple[str, ...]
    expect: str
    ledger: bool
    race: bool
    path: Path

    @property
    def module(self) -> str:
        """Its dotted name."""
        return f"{proofs.__name__}.{self.path.stem}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one proof showed on one machine."""

    code: str
    name: str
    machine: Device
    shape: str
    torch: str
    outcome: Outcome
    fault: str
    repair: str
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Host:
    """The torch of this interpreter and the real GPUs it sees."""

    torch: str
    gpus: int
    gpu_name: str


class ProofError(Exception):
    """Proofs cannot run here; the message says why."""


@cache
def all_proofs() -> tuple[Proof, ...]:
    """Every proof, sorted by code."""
    folder = Path(proofs.__file__).parent
    return tuple(sorted((_read(path) for path in folder.glob("[!_]*.py")), key=lambda proof: proof.code))


def _read(path: Path) -> Proof:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("CODE", "SHAPES", "EXPECT", "LEDGER", "RACE")
    }
    first = (ast.get_docstring(tree) or "").split("\n", 1)[0].partition(": ")[2]
    return Proof(
        code=constants["CODE"],
        name=path.stem.replace("_", "-"),
        sentence=first,
        shapes=constants["SHAPES"],
        expect=constants["EXPECT"],
        ledger=constants.get("LEDGER", False),
        race=constants.get("RACE", False),
        path=path,
    )


def shape_called(name: str) -> Shape:
    """The machine behind a name in `SHAPES`."""
    return Shape(build=name) if name in _WITHOUT_GPU else Shape(gpus=int(name))  # type: ignore[arg-type]


def look_at_host(timeout: float = _START) -> Host:
    """Ask a child for torch and its GPUs: this process never imports torch. Raises ProofError when there is none."""
    code = (
        "import json, torch; n = torch.cuda.device_count() if torch.cuda.is_available() else 0; "
        "print('\\n' + json.dumps([torch.__version__, n, torch.cuda.get_device_name(0) if n else '']))"
    )
    done = run_child([sys.executable, "-c", code], cwd=Path.cwd(), environment=os.environ, timeout=timeout)
    try:
        return Host(*json.loads(done.stdout.decode().splitlines()[-1]))
    except (ValueError, IndexError, TypeError):
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["no answer"])[-1]
        raise ProofError(f"torch cannot be imported by {sys.executable}: {last}{how_to_install(last)}") from None


def no_torch_here() -> str:
    """That this Python has no torch and how it gets one, as the end of a sentence; "" where it has one. Nothing is imported."""
    if importlib.util.find_spec("torch") is not None:
        return ""
    return f", which is not installed for {sys.executable}{how_to_install(_NO_TORCH)}"


def how_to_install(error: str) -> str:
    """The command that mends a missing torch, as the end of a sentence; "" for another error."""
    if _NO_TORCH not in error:
        return ""
    python = shlex.quote(sys.executable)
    return f"; install it: {python} -m pip install torch (the CPU build is enough: pytorch.org, compute platform CPU)"


def prove(chosen: Sequence[Proof], device: Device, host: Host, timeout: float = 60.0) -> list[Evidence]:
    """Run the proofs on every shape that they name, a child process for each shape."""
    names = sorted({name for proof in chosen for name in proof.shapes})
    found: list[Evidence] = []
    for name in names:
        concerned = [proof for proof in chosen if name in proof.shapes]
        runnable = []
        for proof in concerned:
            reason = _obstacle(proof, name, device, host)
            if reason:
                found.append(_evidence(proof, name, device, host, "skipped", reason=reason))
            else:
                runnable.append(proof)
        if runnable:
            results = _run(runnable, name, device, timeout)
            found += [_judge(proof, name, device, host, results) for proof in runnable]
    return sorted(found, key=lambda evidence: (evidence.code, names.index(evidence.shape)))


def _obstacle(proof: Proof, name: str, device: Device, host: Host) -> str:
    """Why a proof cannot run on this machine; empty when it can."""
    if device == "virtual":
        return ""
    if name in ("cpu", "no-driver"):
        return "needs another installation than this machine's"
    if name.isdigit() and int(name) > host.gpus:
        return f"needs {name} GPUs, this machine has {host.gpus}"
    return "only the virtual machine counts copies" if proof.ledger else ""


def _run(chosen: Iterable[Proof], name: str, device: Device, timeout: float) -> dict[tuple[str, str], dict[str, Any]]:
    jobs = [[proof.module, side] for proof in chosen for side in ("fault", "repair")]
    with tempfile.TemporaryDirectory(prefix="torchdevlint-") as text:
        folder = Path(text)
        (folder / "reports").mkdir()
        (folder / "jobs.json").write_text(json.dumps(jobs), encoding="utf-8")
        variables = {k: v for k, v in os.environ.items() if k not in ("CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING")}
        if device == "virtual":
            variables = environment(shape_called(name), ledger=True, report_dir=folder / "reports", base=variables)
        else:
            variables["CUDA_VISIBLE_DEVICES"] = "" if name == "hidden" else ",".join(map(str, range(int(name))))
        script = str(Path(__file__).with_name("proof_server.py"))
        command = [sys.executable, script, str(folder / "jobs.json"), str(folder / "results.jsonl"), str(timeout)]
        done = run_child(command, cwd=folder, environment=variables, timeout=_START + timeout * len(jobs))
        results = folder / "results.jsonl"
        lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
        if len(lines) < len(jobs):
            last = (done.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
            raise ProofError(f"the proofs stopped on {name}: {last}")
    decoded = [json.loads(line) for line in lines]
    return {(result["module"], result["function"]): result for result in decoded}


def _judge(
    proof: Proof, name: str, device: Device, host: Host, results: dict[tuple[str, str], dict[str, Any]]
) -> Evidence:
    fault, repair = (results[proof.module, side] for side in ("fault", "repair"))
    before, after = _lines(fault, proof), _lines(repair, proof)
    shown = next((line for line in before if re.search(proof.expect, line)), "")
    still = next((line for line in after if re.search(proof.expect, line)), "")
    outcome: Outcome = "proved"
    reason = ""
    if repair["error"]:
        outcome, reason = "not proved", f"the repair fails: {repair['error']}"
    elif not shown:
        race = proof.race and device == "cuda" and not fault["error"]
        outcome = "skipped" if race else "not proved"
        reason = "a race, which a real GPU need not lose" if race else f"the fault does not show: {'; '.join(before)}"
    elif still:
        outcome, reason = "not proved", f"the repair shows the same: {still}"
    return _evidence(proof, name, device, host, outcome, shown, "; ".join(after), reason)


def _evidence(
    proof: Proof,
    name: str,
    device: Device,
    host: Host,
    outcome: Outcome,
    fault: str = "",
    repair: str = "",
    reason: str = "",
) -> Evidence:
    return Evidence(proof.code, proof.name, device, name, host.torch, outcome, fault, repair, reason)


def _lines(result: dict[str, Any], proof: Proof) -> list[str]:
    """The evidence of one side, line by line, the strongest first."""
    lines = [line.strip() for line in (result["error"] or "").splitlines() if line.strip()]
    lines += [result["shown"]] if result.get("shown") else []
    lines += [f"hazard: {text}" for text in dict.fromkeys(result.get("hazards") or ())]
    lines += list(dict.fromkeys(result.get("warnings") or ()))
    if proof.ledger and result.get("ledger"):
        ledger = result["ledger"]
        lines.append(
            f"copies host to device: {ledger['h2d']}, device to host: {ledger['d2h']}, copies between GPUs: {ledger['d2d']}, synchronisations: {ledger['sync']}"
        )
    return lines or ["it works"]
