"""CPU seconds of a run after one edit, and how many files it examines again, in a project made of several repositories.

usage: python benchmarks/edits.py FOLDER... [--write]

The folders are copied into one repository. A run with an empty cache is measured, one over the unchanged files, and one after each edit: a
statement at the end of a file that no other imports, of the one that most files import, a comment at the end of that, and a new file. The last
rows are those of the language server, which keeps what it knows in its process and not in the cache: a file for the first time, and another
statement at its end for the third time.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import page

from torchdevlint.program.project import Project

# The command, which tells on standard error how many files it has examined.
_COUNTED = """\
import sys
from torchdevlint import cli
from torchdevlint.workspace import answers
result = answers.Answers.result
def counted(self, own):
    print("examined", self.examined, file=sys.stderr)
    return result(self, own)
answers.Answers.result = counted
sys.exit(cli.main(sys.argv[1:]))
"""
# What the server's process does with a document, for one version after the other; the seconds of the last one.
_SERVED = """\
import sys, time
from torchdevlint.server.work import Buffer, Job, do
path, versions = sys.argv[1], int(sys.argv[2])
with open(path, encoding="utf-8") as file:
    text = file.read()
for version in range(versions):
    before = time.process_time()
    do(Job("examine", Buffer(path, f"{text}\\nx = {version}\\n"), {}))
    spent = time.process_time() - before
print(f"{spent:.2f}")
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="write the table into docs/benchmarks.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / "project"
        (root / ".git").mkdir(parents=True)
        for folder in options.folders:
            shutil.copytree(folder, root / folder.name, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        lines = [*describe(root), "", *page.table(("", "CPU s", "files examined"), measure(root, Path(temporary)))]
    print(*lines, sep="\n")
    if options.write:
        page.write_section("edits", lines)
    return 0


def describe(root: Path) -> list[str]:
    files = list(root.rglob("*.py"))
    rows = sum(path.read_bytes().count(b"\n") for path in files if path.is_file())
    names = ", ".join(sorted(path.name for path in root.iterdir() if path.name != ".git"))
    return [
        f"Last run: {page.today()}, Python {sys.version.split()[0]}; {len(files):,} files, {rows:,} lines: {names}."
    ]


def measure(root: Path, temporary: Path) -> list[tuple[str, str, str]]:
    project = Project(str(root))
    importers = {path: len(project.importing(path)) for path in project.files if b"torch" in project.read(path)}
    leaf = max((path for path, count in importers.items() if not count), key=lambda path: len(project.read(path)))
    most = max(importers, key=lambda path: (importers[path], path))

    def edited(path: str, text: str) -> None:
        with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(text)

    def short(path: str) -> str:
        return f"`{Path(path).relative_to(root)}`"

    rows = [("nothing kept", *run(root, temporary)), ("nothing changed", *run(root, temporary))]
    edited(leaf, "\nx = 1\n")
    rows.append((f"a statement in {short(leaf)}, which none imports", *run(root, temporary)))
    edited(most, "\nx = 1\n")
    rows.append((f"a statement in {short(most)}, whose name {importers[most]} files import", *run(root, temporary)))
    edited(most, "\n# A comment.\n")
    rows.append(("a comment there", *run(root, temporary)))
    edited(str(Path(leaf).with_name("new_file.py")), "import torch\n\nx = torch.zeros(3).cuda()\n")
    rows.append(("a new file", *run(root, temporary)))
    for path in (leaf, most):
        rows.append((f"in an editor: {short(path)}", served(path, 1), "1"))
        rows.append(("in an editor: another statement at its end", served(path, 3), "1"))
    return rows


def served(path: str, versions: int) -> str:
    """CPU seconds of the language server's process for the last of so many versions of a file."""
    command = [sys.executable, "-c", _SERVED, path, str(versions)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "VIRTUAL_ENV": ""})
    return done.stdout.strip()


def run(root: Path, temporary: Path) -> tuple[str, str]:
    """CPU seconds of a process and its children, and the files that it has examined."""
    command = [sys.executable, "-c", _COUNTED, "check", "-q", "-j", "1", "--cache-dir", str(temporary / "cache"), "."]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command,
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
        env={**os.environ, "VIRTUAL_ENV": ""},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = done.stderr.decode()
    if done.returncode not in (0, 1) or "Traceback" in told:
        raise RuntimeError(told[-500:])
    examined = told.partition("examined ")[2].partition("\n")[0] or "0"
    return f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.1f}", examined


if __name__ == "__main__":
    sys.exit(main())
