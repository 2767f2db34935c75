"""pytest on a virtual GPU machine: `pytest --virtual-gpus N`.

Without that option nothing changes and nothing but pytest is imported. With it pytest starts anew in a child, before anything can import torch;
its header says VIRTUAL. With `--device-mutants` as well, the values of test code live on the GPU (`torchdevlint.verify.mutants`).
`@pytest.mark.virtual_gpus(2)` skips a test where there are fewer, `@pytest.mark.transfers(max=2, syncs=0)` fails one that
copies or synchronises more often, and the fixture `virtual_ledger` is the machine's `Ledger`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

_INSIDE = "TORCHDEVLINT_PYTEST"
"""Set in the child: how many virtual GPUs it was started with."""
_CANNOT_JUDGE = (
    ("a virtual GPU cannot judge", ""),
    ("a virtual GPU cannot trace", ""),
    ("CUDA_HOME environment variable is not set", "nvcc"),
    ("No module named 'triton'", "Triton"),
    ("_cuda_jiterator_compile", "kernels compiled at run time"),
)
"""Errors that speak of what the virtual machine lacks, and what that is (empty: the error says it)."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup("torchdevlint")
    group.addoption(
        "--virtual-gpus",
        type=int,
        default=None,
        metavar="N",
        help="run on a virtual machine with N CUDA devices (torchdevlint)",
    )
    group.addoption(
        "--device-mutants",
        action="store_true",
        help="with --virtual-gpus: run the tests as if their author had put every value on cuda:0, and tell the device faults of the library",
    )
    group.addoption(
        "--device-mutants-lib",
        action="append",
        default=[],
        metavar="PATH",
        help="a folder of the library under test; may be repeated (default: everything below the root that is no test code)",
    )
    group.addoption("--device-mutants-report", metavar="FILE", help="write what the mutants showed to FILE, as JSON")
    group.addoption(
        "--device-mutants-fix",
        action="store_true",
        help="show the linter's repairs of the faults as a diff, and run the tests again with them; nothing is written",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Start anew on the machine, before the first conftest.py can import torch."""
    options = early_config.known_args_namespace
    if options.device_mutants and options.virtual_gpus is None:
        raise pytest.UsageError("--device-mutants needs --virtual-gpus N")
    if options.virtual_gpus is not None and _inside() is None:
        from torchdevlint.verify.proofs import no_torch_here

        lacking = no_torch_here()
        if lacking:
            raise pytest.UsageError(f"--virtual-gpus needs torch{lacking}")
        raise SystemExit(_start_anew(options.virtual_gpus, early_config))
    _join_mutants(early_config)


def pytest_configure(config: pytest.Config) -> None:
    """Say which markers exist."""
    config.addinivalue_line(
        "markers", "virtual_gpus(n): skip the test on a virtual machine with fewer GPUs, or on none"
    )
    config.addinivalue_line(
        "markers",
        "transfers(max=None, syncs=None): with --virtual-gpus, the most copies and synchronisations of a test",
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    """A reader of a log must not take this for a run on a GPU."""
    gpus = _inside()
    return (
        None
        if gpus is None
        else f"torchdevlint: VIRTUAL machine with {gpus} virtual GPU{'s'[: gpus != 1]}, no real one"
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Hold the marks of a test, and skip it where the machine has no answer."""
    if _inside() is None:
        yield
        return
    before = _traffic()
    outcome: Any = yield
    error = outcome.excinfo[1] if outcome.excinfo else None
    _tell_places(item, error)
    what = _lacking(error) if isinstance(error, Exception) else None
    excess = "" if error is not None else _excess(item.get_closest_marker("transfers"), before, _traffic())
    if what is not None:
        outcome.force_exception(pytest.skip.Exception(what, _use_item_location=True))
    elif excess:
        outcome.force_exception(pytest.fail.Exception(excess, pytrace=False))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests that want more virtual GPUs than there are."""
    mark = item.get_closest_marker("virtual_gpus")
    if mark is None:
        return
    wanted = mark.args[0] if mark.args else mark.kwargs.get("n", 1)
    if (_inside() or 0) < wanted:
        pytest.skip(f"needs --virtual-gpus {wanted}")


@pytest.fixture
def virtual_ledger() -> Any:
    """The machine's ledger, empty at the start of the test: copies and synchronisations by line."""
    if _inside() is None:
        pytest.skip("needs --virtual-gpus")
    import torch  # noqa: F401 - the machine starts with it

    from torchdevlint.machine import current

    machine = current()
    if machine is None or machine.ledger is None:
        pytest.skip("the virtual machine keeps no ledger in this process")
    machine.ledger.clear()
    return machine.ledger


# ---------------------------------------------------------------------------------------------------- the child


def _inside() -> int | None:
    """How many virtual GPUs this process was started with; None outside."""
    import os

    value = os.environ.get(_INSIDE)
    return None if value is None else int(value)


def _join_mutants(config: pytest.Config) -> None:
    """In a child of a mutant run: rewrite test code from here on."""
    import os

    if "TORCHDEVLINT_MUTANTS" in os.environ:
        from torchdevlint.verify.mutants.session import join

        join(config)


def _start_anew(gpus: int, config: pytest.Config) -> int:
    """Run the same command line in a child on the machine, once or as mutants; the exit code."""
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)  # else the child's output shows when it has ended
    if not config.known_args_namespace.device_mutants:
        return _run_on_machine(gpus, config)
    from torchdevlint.verify.mutants.orchestrate import run

    return run(gpus, config, _INSIDE)


def _run_on_machine(gpus: int, config: pytest.Config) -> int:
    """Run the same command line in a child on the machine; its exit code."""
    import os
    import shutil
    import signal
    import subprocess
    import sys
    import tempfile
    from pathlib import Path

    from torchdevlint.machine.launch import environment
    from torchdevlint.machine.shape import Shape

    try:
        shape = Shape(gpus=gpus)
    except ValueError as error:
        raise pytest.UsageError(f"--virtual-gpus: {error}") from error
    reports = tempfile.mkdtemp(prefix="torchdevlint-")
    variables = environment(shape, ledger=True, report_dir=Path(reports), base={**os.environ, _INSIDE: str(gpus)})
    invocation = config.invocation_params
    # `python -m pytest` puts the current folder on sys.path, the console script does not
    flags = ["-m", "pytest"] if Path(sys.argv[0]).name == "__main__.py" else ["-c", _CONSOLE]
    sys.stdout.flush()
    child = subprocess.Popen([sys.executable, *flags, *map(str, invocation.args)], cwd=invocation.dir, env=variables)
    # Ctrl-C reaches the child as well: it ends, and we with it; other signals are for us alone, so they are passed on
    handlers = {signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None)}
    handlers[signal.SIGTERM] = signal.signal(signal.SIGTERM, lambda number, _: child.send_signal(number))
    try:
        return child.wait()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        shutil.rmtree(reports, ignore_errors=True)


_CONSOLE = "import sys; sys.path[:1] = []; import pytest; sys.exit(pytest.console_main())"


# ---------------------------------------------------------------------------------------------------- tests


def _tell_places(item: pytest.Item, error: BaseException | None) -> None:
    """A device error ends where the test called torch, as on a GPU, and the report names the lines that made and moved its tensors."""
    places = getattr(error, "torchdevlint_places", None)
    if error is None or places is None:
        return
    item.add_report_section("call", "torchdevlint", places.describe())
    last = traceback = error.__traceback__
    while traceback is not None:
        if "torchdevlint/machine/" not in traceback.tb_frame.f_code.co_filename.replace("\\", "/"):
            last = traceback
        traceback = traceback.tb_next
    if last is not None:
        last.tb_next = None


def _lacking(error: Exception) -> str | None:
    """Why a virtual machine has no answer to a test that failed with this error; None when it has one."""
    text = str(error)
    for words, what in _CANNOT_JUDGE:
        if words in text:
            return f"a virtual GPU cannot judge {what}" if what else text
    return None


_Traffic = dict[tuple[str, str, str], int]


def _traffic() -> _Traffic:
    """What the ledger of this process holds so far: (kind, cause, line) and how often."""
    import sys

    if "torch" not in sys.modules:
        return {}
    from torchdevlint.machine import current

    machine = current()
    if machine is None or machine.ledger is None:
        return {}
    counts: _Traffic = {}
    for entry in machine.ledger.entries:
        key = ("sync" if entry.kind == "sync" else "copy", entry.cause, str(entry.place or "outside user code"))
        counts[key] = counts.get(key, 0) + entry.count
    return counts


def _excess(mark: pytest.Mark | None, before: _Traffic, after: _Traffic) -> str:
    """What a test copied and synchronised beyond its mark, line by line; empty when it kept to it."""
    told = []
    for kind, name, limit in (
        ("copy", "copy", _limit(mark, 0, "max")),
        ("sync", "synchronisation", _limit(mark, 1, "syncs")),
    ):
        made = {key: count - before.get(key, 0) for key, count in after.items() if key[0] == kind}
        made = {key: count for key, count in made.items() if count > 0}
        total = sum(made.values())
        if limit is not None and total > limit:
            told.append(f"{total} x {name}, at most {limit} allowed:")
            told += [f"  {place}: {count} x {cause}" for (_, cause, place), count in made.items()]
    return "\n".join(told)


def _limit(mark: pytest.Mark | None, position: int, name: str) -> Any:
    if mark is None:
        return None
    return mark.args[position] if len(mark.args) > position else mark.kwargs.get(name)
