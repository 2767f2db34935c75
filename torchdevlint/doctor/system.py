"""What there is to read of a machine, below one root folder, so that tests can show any machine."""

# Paths are strings here: many are of another system than the one that runs.
# ruff: noqa: PTH110, PTH112, PTH118, PTH208

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from platform import machine as machine_name

_MOST_BYTES = 2_000_000
_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class System:
    """A machine. `root` is the folder that stands for "/"; `commands` are outputs of programs by command line, None to run them really."""

    root: str = "/"
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    platform: str = sys.platform
    machine: str = field(default_factory=machine_name)
    commands: Mapping[str, str] | None = None
    folder: str = field(default_factory=os.getcwd)

    def path(self, path: str) -> str:
        """Where a path of the machine is here."""
        return path if self.root == "/" else os.path.join(self.root, path.lstrip("/"))

    def read(self, path: str) -> str:
        """The text of a regular file, "" where there is none to read."""
        from torchdevlint.source.reading import read_bytes

        try:
            return read_bytes(self.path(path), _MOST_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""

    def exists(self, path: str) -> bool:
        """True for a file, a folder or a device."""
        return os.path.exists(self.path(path))

    def is_folder(self, path: str) -> bool:
        """True for a folder."""
        return os.path.isdir(self.path(path))

    def names(self, path: str) -> tuple[str, ...]:
        """What a folder holds, sorted; nothing where there is none."""
        try:
            return tuple(sorted(os.listdir(self.path(path))))
        except OSError:
            return ()

    def output(self, *command: str) -> str | None:
        """What a program prints on both streams, None where there is no such program."""
        if self.commands is not None:
            return self.commands.get(" ".join(command))
        program = shutil.which(command[0])
        if program is None:
            return None
        try:
            done = subprocess.run(
                [program, *command[1:]],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return (done.stdout + done.stderr)[:_MOST_BYTES]
