"""What a warm child does, a new interpreter does as well."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import warm

_TOLD = """
import sys
print(sorted(sys.modules), sys.argv, sys.orig_argv, sys.path, sys.flags)
print(sys.dont_write_bytecode, __name__, __spec__ is None, type(__loader__), sorted(globals()), SITE)
"""
_ENDS = """
import atexit, sys, threading, time
def later():
    time.sleep(0.1)
    print("later", flush=True)
threading.Thread(target=later).start()
atexit.register(print, "atexit")
sys.stdout.write("no end of line")
"""
_TORCH = """
import sys
print("torch" in sys.modules, "numpy" in sys.modules)
import numpy, torch.nn
print("torch" in sys.modules, torch.__spec__.name, torch.__loader__.__class__, numpy.ones(2).sum(), torch.get_num_threads())
layer = torch.nn.Linear(64, 64)
layer(torch.ones(512, 64)).sum().backward()
print(layer.weight.grad.sum(), torch.cuda.is_initialized(), sys.modules["torch.nn"] is torch.nn)
def told():
    late = [name for name in ("torch._dynamo", "torch._dynamo.config", "torch._inductor", "sympy") if name in sys.modules]
    names = {name: sorted(vars(module)) for name, module in sys.modules.items() if name.partition(".")[0] == "torch"}
    return late, len(names), len(str(names)), torch.manual_seed is torch.random.manual_seed
print(told())
torch.optim.SGD(layer.parameters(), lr=0.1).step()
print(told(), sys.modules["torch._dynamo"] is torch._dynamo)
"""
_SPAWNS = """
import multiprocessing, subprocess, sys
def child(value):
    print(value, "torch" in sys.modules, flush=True)
    sys.exit(value)
if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=child, args=(3,))
    process.start()
    process.join()
    print(process.exitcode, subprocess.call([sys.executable, "-c", "import sys; sys.exit(4)"]))
"""


_OF_A_FILE = "import inspect\ndef f(): pass\nprint(inspect.getsource(f), __file__)\n"
_PROGRAMS = (
    _TOLD,
    _ENDS,
    "import sys\nprint(sys.stdin.read(), file=sys.stderr)\nsys.exit('a sentence')\n",
    "def f():\n    raise KeyError(1)\n\nf()\n",
    "import os\nprint('lost')\nos._exit(5)\n",
    "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
    "raise KeyboardInterrupt\n",
)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        *((how, text) for text in _PROGRAMS for how in ("script", "-m", "-c")),
        *((how, text) for text in (_OF_A_FILE, _SPAWNS) for how in ("script", "-m")),
        pytest.param("script", _TORCH, id="torch"),
    ],
)
def test_both_do_the_same(how: str, text: str, tmp_path: Path) -> None:
    if text == _TORCH:
        pytest.importorskip("torch")
    (tmp_path / "program.py").write_text(text, encoding="utf-8")
    words = {"script": ["program.py", "a"], "-m": ["-m", "program", "-u"], "-c": ["-c", text, "a"]}[how]
    command, site = [sys.executable, *words], tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("import builtins\nbuiltins.SITE = 1\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(site)}
    fresh = subprocess.run(
        command, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    forked = warm.run(
        command, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, timeout=60, children=text == _SPAWNS
    )
    assert (forked.returncode, forked.stdout) == (fresh.returncode, fresh.stdout)
    assert _own(forked.stderr) == _own(fresh.stderr)


def _own(text: str) -> list[str]:
    """A traceback without the frames of runpy, which differ."""
    return [line for line in text.splitlines() if not re.search("runpy|frozen", line)]


def test_what_is_left_running_is_told() -> None:
    process = warm.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    assert process.pid in warm.running()
    assert process.poll() is None
    process.kill()
    while process.poll() is None:
        time.sleep(0.01)
    assert process.wait() == -9
    assert process.pid not in warm.running()


def test_threads_are_those_of_the_environment() -> None:
    pytest.importorskip("torch")
    command = [sys.executable, "-c", "import torch; print(torch.get_num_threads())"]
    assert warm.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=60).stdout == "1\n"


@pytest.mark.parametrize("flag", ["-I", "-S", "-E", "-O"])
def test_other_flags_get_a_new_interpreter(flag: str) -> None:
    done = warm.run([sys.executable, flag, "-c", "import os; print(os.getppid())"], timeout=60)
    assert int(done.stdout) == os.getpid()
