"""The pytest plugin of a mutant run, inside the machine."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from torchdevlint.verify.mutants.importing import Asserts, Finder
from torchdevlint.verify.mutants.record import Recorder, Seen
from torchdevlint.verify.mutants.runtime import install
from torchdevlint.verify.mutants.settings import Settings, from_environment
from torchdevlint.verify.mutants.testcode import TestCode

_WRITE_EVERY = 5.0
_MACHINERY = ("torchdevlint/machine/", "torchdevlint/verify/mutants/")


class Session:
    """Collects what the tests of this process show."""

    def __init__(self, settings: Settings, config: pytest.Config) -> None:
        named = [str(path) for path in _named_files(config)]
        self.settings = settings
        self.code = TestCode(settings.root, settings.library, (*settings.tests, *named))
        self.recorder = Recorder(self.code, Path(settings.folder))
        self.finder: Finder | None = None
        self.runtime: Any = None
        self.only = set(Path(settings.only).read_text(encoding="utf-8").splitlines()) if settings.only else None
        self.written = time.monotonic()
        if settings.mode != "plain":
            self.runtime = install(self.code, self.recorder, settings.mode)
            self.finder = Finder(self.code, _asserts(config), settings.overlay)
            self.recorder.skipped = self.finder.skipped
            sys.meta_path.insert(0, self.finder)
            self.recorder.missed = self.finder.missed()
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, self._terminated)
        elif settings.overlay:
            self.finder = Finder(TestCode("/nonexistent"), None, settings.overlay)
            sys.meta_path.insert(0, self.finder)

    def _terminated(self, number: int, _: Any) -> None:
        """Whoever stops the run wants to know what it saw."""
        self.recorder.write()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Docstrings are no test code that could be rewritten."""
        if getattr(config.option, "doctestmodules", False):
            config.option.doctestmodules = False

    def pytest_report_header(self, config: pytest.Config) -> list[str]:
        """What the log is of."""
        if self.settings.mode == "plain":
            return []
        told = {"told": ", the library told by its own parameters", "default": ", CUDA the default device"}
        lines = [
            f"torchdevlint: DEVICE MUTANTS, values of test code live on cuda:0{told.get(self.settings.mode, '')}; doctests are off"
        ]
        if self.recorder.missed:
            lines.append(f"torchdevlint: imported too early to be rewritten: {', '.join(self.recorder.missed[:5])}")
        return lines

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the tests that this run is about."""
        if self.only is not None:
            dropped = [item for item in items if item.nodeid not in self.only]
            items[:] = [item for item in items if item.nodeid in self.only]
            config.hook.pytest_deselected(items=dropped)
        if self.settings.mode != "plain":
            for item in items:
                _gpu_parameters(item)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """What is seen now belongs to this test."""
        if self.runtime is not None:
            self.runtime.ready()
        self.recorder.begin(item.nodeid)
        yield
        if time.monotonic() - self.written > _WRITE_EVERY:
            self.recorder.write()
            self.written = time.monotonic()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """A test that reached a fault of the library fails, at its end."""
        outcome: Any = yield
        error = outcome.excinfo[1] if outcome.excinfo else None
        if error is not None:
            self._raised(error)
        found = self.recorder.of_test
        for seen in found:
            item.user_properties.append(
                ("device_mutant" if seen.signal == "fault" else "device_mutant_return", seen.describe())
            )
        faults = [seen for seen in found if seen.signal == "fault"]
        if faults and error is None:
            outcome.force_exception(pytest.fail.Exception(_text(faults), pytrace=False))

    def _raised(self, error: BaseException) -> None:
        """A device fault that ended the test, which the machine could not go on from."""
        if self.runtime is None or self.runtime.values is None:
            return
        known: BaseException | None = error
        visited: set[int] = set()
        while known is not None and id(known) not in visited:
            visited.add(id(known))
            places = getattr(known, "torchdevlint_places", None)
            if places is not None and not getattr(known, "torchdevlint_kept", False):
                from torchdevlint.machine.tags import Tag

                guilty = [(Tag(t.device, t.created, t.moved), -1) for t in places.tensors if t.device == "cpu"]
                self.recorder.fault(places, str(known), guilty)
                return
            known = known.__cause__ or known.__context__

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        """Keep how the test ended."""
        result: Any = yield
        report = result.get_result()
        kept = self.recorder.outcomes.setdefault(item.nodeid, {"outcome": "passed", "seconds": 0.0})
        kept["seconds"] = round(kept["seconds"] + report.duration, 3)
        if report.outcome == "passed" or kept["outcome"] != "passed":
            return
        kept["outcome"] = "xfailed" if hasattr(report, "wasxfail") else report.outcome
        if report.failed and call.excinfo is not None:
            kept["faults"] = any(seen.signal == "fault" for seen in self.recorder.of_test)
            kept["error"] = f"{call.excinfo.typename}: {call.excinfo.value}"[:300]
            kept["at"] = _last_line(call.excinfo.value)

    def pytest_sessionfinish(self) -> None:
        """Write what was seen."""
        if self.finder is not None:
            self.recorder.missed = (
                sorted({*self.recorder.missed, *self.finder.missed()}) if self.settings.mode != "plain" else []
            )
        self.recorder.write()


def join(config: pytest.Config) -> None:
    """Make this pytest process part of the run that the environment tells of."""
    settings = from_environment()
    if settings is not None:
        config.pluginmanager.register(Session(settings, config), "torchdevlint-mutants")


def _named_files(config: pytest.Config) -> Iterator[Path]:
    """Files that the command line names: they are test code whatever they are called."""
    for word in getattr(config.known_args_namespace, "file_or_dir", None) or ():
        path = Path(config.invocation_params.dir, word.split("::")[0]).resolve()
        if path.is_file():
            yield path


def _asserts(config: pytest.Config) -> Asserts | None:
    """Pytest's rewriting of asserts, so that failures read as always; None with --assert=plain."""
    if getattr(config.known_args_namespace, "assertmode", "rewrite") == "plain":
        return None
    from _pytest.assertion.rewrite import rewrite_asserts

    return lambda tree, source, path: rewrite_asserts(tree, source, path, config)


def _gpu_parameters(item: pytest.Item) -> None:
    """Parameters that name the CPU as a device name the GPU; the test's id stays."""
    params = getattr(getattr(item, "callspec", None), "params", None)
    if not isinstance(params, dict):
        return
    torch = sys.modules.get("torch")
    for name, value in params.items():
        named = isinstance(value, str) and value == "cpu" and "device" in name
        if named:
            params[name] = "cuda:0"
        elif torch is not None and isinstance(value, torch.device) and value.type == "cpu":
            params[name] = torch.device("cuda:0")


def _text(faults: list[Seen]) -> str:
    return "\n".join(
        [
            "device mutant: with the test's values on cuda:0 the library mixes devices",
            *(f"  {seen.describe()}" for seen in faults),
        ]
    )


def _last_line(error: BaseException) -> list[Any] | None:
    """The innermost line outside the machine."""
    line, traceback = None, error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not any(part in file.replace("\\", "/") for part in _MACHINERY):
            line = [file, traceback.tb_lineno]
        traceback = traceback.tb_next
    return line
