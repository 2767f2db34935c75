"""Kills `torchdevlint check --fix` at any moment, and looks at what it leaves.

    python benchmarks/kills.py [--count 500] [--seed 0] [--jobs 2]

Each round repairs a folder of copies and sends SIGINT, SIGTERM, SIGHUP or SIGKILL, to the process or to its whole group, somewhere between
its start and its end. Afterwards each file must hold its old or its new text; nothing else may lie in the folder (behind SIGKILL: a file
that is no module); no process of it may run, or hold its output open; and the exit code must tell what happened. Prints what was counted;
the exit code is 1 where a round failed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
FAULTY = 'import torch\n\n\ndef load(model):\n    model.load_state_dict(torch.load("a.pt"))\n'
REPAIRED = FAULTY.replace('"a.pt")', '"a.pt", map_location="cpu")')
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Round:
    """One kill: `when` is a part of the run's usual seconds, or behind the first file that was written where `writing`."""

    number: signal.Signals
    group: bool
    when: float
    writing: bool = False


def fill(folder: Path, files: int, rows: int = 1000) -> dict[Path, bytes]:
    """Writes faulty files, enough for several processes; the texts."""
    texts = {folder / f"m{number:03}.py": (FAULTY + "# padding\n" * rows).encode() for number in range(files)}
    for path, text in texts.items():
        path.write_bytes(text)
    return texts


def repaired(text: bytes) -> bytes:
    """What a text of `fill` is repaired to."""
    return text.replace(FAULTY.encode(), REPAIRED.encode())


def start(folder: Path, jobs: int) -> subprocess.Popen[bytes]:
    """The command, in a session of its own."""
    options = ["--fix", "--isolated", "--no-project", "--select", "TDL101", "--jobs", str(jobs)]
    return subprocess.Popen(
        [sys.executable, "-m", "torchdevlint", "check", "--no-cache", *options, "."],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # What a shell runs in the background ignores SIGINT, and nohup SIGHUP; children would inherit that.
        preexec_fn=lambda: [signal.signal(number, signal.SIG_DFL) for number in SIGNALS[:3]],
    )


def play(folder: Path, texts: dict[Path, bytes], each: Round, seconds: float, jobs: int) -> tuple[str, list[str]]:
    """Restores the files, runs, kills; how the process ended, and what was wrong."""
    for path, text in texts.items():
        if path.read_bytes() != text:
            path.write_bytes(text)
    process = start(folder, jobs)
    if each.writing:
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if any(path.stat().st_size != len(text) for path, text in texts.items()):
                break
    time.sleep(each.when * seconds)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, each.number) if each.group else process.send_signal(each.number)
    troubles = []
    try:
        _, said = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        troubles.append("its output stays open")
        said = b""
    if _is_left(process.pid):
        troubles.append("a process is left")
        os.killpg(process.pid, signal.SIGKILL)
    code = process.wait(60)
    found = {path: path.read_bytes() for path in texts}
    if any(found[path] not in (text, repaired(text)) for path, text in texts.items()):
        troubles.append("a file holds neither its old nor its new text")
    others = {path for path in folder.iterdir() if path not in texts}
    if others and (each.number != signal.SIGKILL or any(path.suffix in (".py", ".pyi") for path in others)):
        troubles.append(f"left behind: {sorted(path.name for path in others)}")
    for path in others:
        path.unlink()
    is_done = all(found[path] == repaired(text) for path, text in texts.items())
    killed = (-each.number, *((INTERRUPTED,) if each.number == signal.SIGINT else ()))
    is_starting = code == 1 and found == texts and b"torchdevlint" not in said  # the interpreter, before it runs us
    if code not in killed and not (code == 0 and is_done) and not (is_starting and each.number == signal.SIGINT):
        troubles.append(f"exit code {code}: {said.decode(errors='replace')[-300:]}")
    ending = "done" if code == 0 else "before writing" if found == texts else "all written" if is_done else "between"
    return ending, troubles


def _is_left(group: int) -> bool:
    """Whether a process group lives on. The kernel takes its time to end what was killed."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        if all(_is_zombie(pid) for pid in _members(group)):
            return False
        time.sleep(0.01)
    return True


def _members(group: int) -> list[int]:
    done = subprocess.run(["ps", "-eo", "pid=,pgid="], capture_output=True, text=True, check=True)
    return [int(pid) for pid, of in map(str.split, done.stdout.splitlines()) if int(of) == group]


def _is_zombie(pid: int) -> bool:
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.strip()[:1] in ("", "Z")


def usual_seconds(folder: Path, texts: dict[Path, bytes], jobs: int) -> float:
    """How long a run takes that nobody kills."""
    began = time.monotonic()
    with start(folder, jobs) as process:
        process.communicate(timeout=300)
    assert process.returncode == 0, "the run fails without being killed"
    assert all(path.read_bytes() == repaired(text) for path, text in texts.items())
    return time.monotonic() - began


def main() -> int:
    """Plays the rounds; 1 when one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--files", type=int, default=10)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    counts: Counter[str] = Counter()
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = fill(folder, arguments.files)
        seconds = usual_seconds(folder, texts, arguments.jobs)
        for index in range(arguments.count):
            writing = chance.random() < 0.5
            when = chance.random() * (0.3 if writing else 1.1)
            each = Round(SIGNALS[index % len(SIGNALS)], chance.random() < 0.5, when, writing)
            ending, troubles = play(folder, texts, each, seconds, arguments.jobs)
            counts[f"{each.number.name} {ending}"] += 1
            for trouble in troubles:
                print(f"round {index}: {each}: {trouble}", flush=True)
            failed += bool(troubles)
    for key, count in sorted(counts.items()):
        print(f"{count:4} {key}")
    print(f"{arguments.count} kills, {failed} failed (seed {arguments.seed}, {seconds:.1f} s a run)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
