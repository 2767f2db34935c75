"""Python children that need not import torch: forks of one process that has imported it, for tests that start many.

A child that runs a small program needs two seconds and a half of CPU for the import of torch and the end of the interpreter. `Popen` and `run` stand for those of
`subprocess`: what they start is forked from a server that holds torch's modules aside, takes over arguments, environment, folder and
streams, and runs `sitecustomize` and the program as a new interpreter does; `import torch` runs through the import system and the hooks of
the program and finds the modules that are held aside. A command that is no plain Python, or an environment that torch or the interpreter
reads while they start, gets a real interpreter. What a warm child starts, `multiprocessing` included, is warm where its environment says so.

Each kind of run has a test with real interpreters beside those that are run so: a fork cannot show that an interpreter starts as it should.
"""

from __future__ import annotations

import sys

_FRESH = frozenset(sys.modules)  # what a new interpreter holds
_ARE_WE_THE_SERVER = __name__ == "__main__"

# ruff: noqa: E402 - what a new interpreter holds must be seen before
# ruff: noqa: PTH100, PTH109, SIM115 - as the interpreter does it
import atexit
import builtins
import contextlib
import fcntl
import functools
import gc
import importlib.machinery
import importlib.util
import inspect
import io
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import tempfile
import threading
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

_THREADS = "OMP_NUM_THREADS"
_SERVER = "TORCHDEVLINT_TESTS_WARM"
"""The address of the server, in the environment of children whose own children are warm."""
_READ_AT_START = ("PYTHON", "TORCH_", "PYTORCH_", "OMP_", "MKL_", "KMP_", "LD_", "ATEN_", "LC_", "LANG")
_READ_BY_US = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", _THREADS}
_LATE = "torch._dynamo"
"""What every optimizer imports when it is made, which takes nearly as long as torch itself: it is held aside as well, and found when it is imported."""
_MOST = 1 << 20  # bytes of a request
_HIGH = 256  # above the numbers of open files


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that the interpreter and torch read when they start."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(_READ_AT_START) and name not in _READ_BY_US
    }


# ---------------------------------------------------------------------------------------------------- asking for a child


class Popen(subprocess.Popen):  # type: ignore[type-arg]
    """`subprocess.Popen` whose Python children are forks of the server."""

    _answers: socket.socket | None = None

    def _execute_child(self, *given: Any) -> None:
        start = super()._execute_child  # type: ignore[misc]
        names = inspect.signature(start).bind(*given).arguments
        command, environment = names["args"], dict(os.environ if names["env"] is None else names["env"])
        cwd = os.fsdecode(names["cwd"] or os.getcwd())
        if not self._can_be_forked(names) or not _is_plain(command, environment, cwd):
            start(*given)
            return
        command = list(command)
        sys.audit("subprocess.Popen", names["executable"] or command[0], command, names["cwd"], names["env"])
        streams = [names["p2cread"], names["c2pwrite"], names["errwrite"]]
        descriptors = {own: own if stream == -1 else stream for own, stream in enumerate(streams)}
        has_session = bool(names["start_new_session"])
        self.pid, self._answers = _ask(command, environment, descriptors, cwd, has_session)
        self._child_created = True
        ends = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(names[end] for end in ends))  # type: ignore[attr-defined]

    @staticmethod
    def _can_be_forked(names: Mapping[str, Any]) -> bool:
        plain = ("preexec_fn", "pass_fds", "shell", "gid", "gids", "uid")
        no_group = names.get("process_group", -1) in (None, -1)
        is_plain = not any(names.get(name) for name in plain) and names["umask"] == -1 and no_group
        return is_plain and sys.platform == "linux"

    def _internal_poll(self, *given: Any, **named: Any) -> int | None:
        if self._answers is None:
            return super()._internal_poll(*given, **named)  # type: ignore[misc,no-any-return]
        if self.returncode is None:
            status = _status(self._answers, socket.MSG_DONTWAIT)
            if status is not None:
                self._handle_exitstatus(status)  # type: ignore[attr-defined]
        return self.returncode

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if self._answers is None:
            return super()._try_wait(wait_flags)  # type: ignore[misc,no-any-return]
        status = _status(self._answers, socket.MSG_DONTWAIT if wait_flags & os.WNOHANG else 0)
        return (0, 0) if status is None else (self.pid, status)


def run(
    command: Sequence[str],
    *,
    timeout: float,
    env: Mapping[str, str] | None = None,
    children: bool = True,
    **named: Any,
) -> subprocess.CompletedProcess[str]:
    """`subprocess.run` of a warm child, with its output as text. With `children`, those that it starts are warm too."""
    environment = dict(os.environ if env is None else env)
    if children:
        environment[_SERVER] = _address()
    pipe = subprocess.PIPE
    with Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment, **named) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
        return subprocess.CompletedProcess(command, process.returncode, out, err)


def _ask(
    command: Sequence[Any], environment: Mapping[str, str], descriptors: Mapping[int, int], cwd: str, has_session: bool
) -> tuple[int, socket.socket]:
    """A child that has these open files under these numbers, and where its end will be told."""
    request = {
        "command": [os.fsdecode(word) for word in command],
        "cwd": cwd,
        "environment": dict(environment),
        "session": has_session,
        "numbers": list(descriptors),
    }
    answers = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    answers.connect(_address())
    socket.send_fds(answers, [json.dumps(request).encode()], list(descriptors.values()))
    return json.loads(answers.recv(_MOST))["pid"], answers


def _status(answers: socket.socket, flags: int) -> int | None:
    """A child's status, None while it runs."""
    try:
        told = answers.recv(_MOST, flags)
    except BlockingIOError:
        return None
    return int(json.loads(told)["status"]) if told else signal.SIGKILL  # the server is gone


def running() -> list[int]:
    """The children of the server that have not ended."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
        asking.connect(_address())
        asking.send(b"{}")
        found: list[int] = json.loads(asking.recv(_MOST))
    return found


def _spawn_warm() -> None:
    """Let the processes that `multiprocessing` spawns in this process be warm."""
    from multiprocessing import popen_spawn_posix, util

    spawn, poll = util.spawnv_passfds, popen_spawn_posix.Popen.poll
    running: dict[int, socket.socket] = {}

    def spawn_warm(path: Any, words: Sequence[Any], numbers: Sequence[int]) -> int:
        command = list(words)
        if "--multiprocessing-fork" not in command or not _is_plain(command, os.environ, os.getcwd()):
            return spawn(path, words, numbers)
        descriptors = {number: number for number in (0, 1, 2, *numbers)}
        pid, running[pid] = _ask(command, os.environ, descriptors, os.getcwd(), False)
        return pid

    def poll_warm(self: Any, flag: int = os.WNOHANG) -> int | None:
        if self.pid not in running:
            return poll(self, flag)
        if self.returncode is None:
            status = _status(running[self.pid], socket.MSG_DONTWAIT if flag & os.WNOHANG else 0)
            self.returncode = None if status is None else os.waitstatus_to_exitcode(status)
        return self.returncode  # type: ignore[no-any-return]

    util.spawnv_passfds = spawn_warm
    popen_spawn_posix.Popen.poll = poll_warm  # type: ignore[method-assign]


def _is_plain(command: Any, environment: Mapping[str, str], cwd: str) -> bool:
    """Whether a command is `python SCRIPT`, `python -m MODULE` or `python -c CODE`, with nothing that changes how Python starts."""
    if not isinstance(command, list) or os.fsdecode(command[0]) != sys.executable or len(command) < 2:
        return False
    word = os.fsdecode(next((word for word in command[1:] if os.fsdecode(word) not in ("-u", "-B")), "-"))
    if word not in ("-c", "-m") and (word.startswith("-") or not Path(cwd, word).is_file()):
        return False
    return "PYTHONSAFEPATH" not in environment and _read_at_start(environment) == _read_by_server(_address())


def _address() -> str:
    """Where the server of this test process, or that of a process above, listens."""
    return os.environ.get(_SERVER) or _start_server()


@functools.cache
def _read_by_server(address: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(Path(address).with_name("environment").read_text(encoding="utf-8"))
    return found


@functools.cache
def _start_server() -> str:
    folder = tempfile.mkdtemp(prefix="warm-")
    address = str(Path(folder) / "server")
    Path(address).with_name("environment").write_text(json.dumps(_read_at_start(os.environ)), encoding="utf-8")
    ours, theirs = socket.socketpair()
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", _SERVER, _THREADS)}
    process = subprocess.Popen(
        [sys.executable, __file__, address, str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        env=environment,
        cwd="/",
        stdin=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the tests: it ends with them
    )
    theirs.close()
    atexit.register(_end_server, process, ours, folder)
    if ours.recv(1) != b"+":
        raise RuntimeError("the server of warm children cannot start")
    return address


def _end_server(process: subprocess.Popen[bytes], line: socket.socket, folder: str) -> None:
    line.close()
    process.wait()
    for path in Path(folder).iterdir():
        path.unlink()
    Path(folder).rmdir()


# ---------------------------------------------------------------------------------------------------- the server


def _serve(address: str, line: int) -> None:
    """Fork children until the process that started us closes its end of `line`."""
    aside = _import_and_hold_aside()
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(address)
    listening.listen(64)
    ended, end = os.pipe()
    os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(end, warn_on_full_buffer=False)
    waiting: dict[int, socket.socket] = {}
    os.write(line, b"+")
    with selectors.DefaultSelector() as selector:
        for source in (listening.fileno(), ended, line):
            selector.register(source, selectors.EVENT_READ)
        while True:
            ready = {key.fd for key, _ in selector.select()}
            if ended in ready:
                os.read(ended, 4096)
            _tell_the_ended(waiting)
            if line in ready:
                return
            if listening.fileno() in ready:
                asking, _ = listening.accept()
                told, descriptors, _, _ = socket.recv_fds(asking, _MOST, 32)
                request = json.loads(told or b"{}")
                if request:
                    pid = os.fork()
                    if pid == 0:
                        _become(request, descriptors, aside)  # does not come back
                    for descriptor in descriptors:
                        os.close(descriptor)
                    waiting[pid] = asking
                    asking.send(json.dumps({"pid": pid}).encode())
                else:
                    asking.send(json.dumps([*waiting]).encode())


def _tell_the_ended(waiting: dict[int, socket.socket]) -> None:
    while waiting:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with contextlib.suppress(OSError), waiting.pop(pid) as asking:
            asking.send(json.dumps({"status": status}).encode())


def _import_and_hold_aside() -> dict[str, types.ModuleType]:
    """Import torch, and take all modules that a new interpreter does not hold out of `sys.modules`."""
    gc.disable()
    import torch  # noqa: F401

    _late.bring()
    gc.collect()
    gc.freeze()
    aside = {name: module for name, module in sys.modules.items() if name not in _FRESH}
    for name in aside:
        del sys.modules[name]
    return aside


class _Late:
    """What the import of `_LATE` brings beside torch: modules, and the names that it sets in modules of torch."""

    def __init__(self) -> None:
        self.modules: frozenset[str] = frozenset()
        self._set: list[tuple[dict[str, Any], str, Any, Any]] = []

    def bring(self) -> None:
        """Imports it, and takes back what it has set until somebody imports it."""
        before = {name: dict(vars(module)) for name, module in sys.modules.items()}
        importlib.import_module(_LATE)
        self.modules = frozenset(sys.modules.keys() - before.keys())
        for name, old in before.items():
            names = vars(sys.modules[name])
            changed = [key for key, value in names.items() if value is not old.get(key, self)]
            for key in changed if name.partition(".")[0] == "torch" else ():
                self._set.append((names, key, old.get(key, self), names.pop(key)))
                if key in old:
                    names[key] = old[key]

    def set(self) -> None:
        """Sets the names again that nobody has set to something else; that of `_LATE` once it is imported."""
        for names, key, old, new in self._set:
            is_there = getattr(new, "__name__", "") != _LATE or _LATE in sys.modules
            if is_there and names.get(key, self) is old:
                names[key] = new


_late = _Late()


class _Aside:
    """Finds the modules that are held aside. With a package come its modules, with torch all that its import brought."""

    def __init__(self, modules: dict[str, types.ModuleType]) -> None:
        self.modules = modules

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname not in self.modules:
            return None
        return importlib.machinery.ModuleSpec(fullname, _Restored(self.modules, self.modules[fullname].__spec__))


def _brought(name: str, modules: Iterable[str]) -> list[str]:
    """Those of the modules that come with one."""
    if name == "torch":
        return [other for other in modules if other not in _late.modules]
    if name == _LATE:
        return [other for other in modules if other in _late.modules]
    own = [other for other in modules if other.startswith(f"{name}.") and other not in _late.modules]
    if name in _late.modules and name.startswith("torch."):  # which of the others it imports is not known
        own += [other for other in modules if other in _late.modules and not f"{other}.".startswith(f"{_LATE}.")]
    return own


class _Restored:
    """Loads a module that is held aside."""

    def __init__(self, modules: dict[str, types.ModuleType], spec: Any) -> None:
        self.modules = modules
        self.spec = spec

    def create_module(self, spec: Any) -> types.ModuleType:
        return self.modules.pop(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__ = self.spec
        name = module.__name__
        for other in _brought(name, self.modules):
            sys.modules.setdefault(other, self.modules.pop(other))
        if name in _late.modules:
            _late.set()
        if name == "torch" and _THREADS in os.environ:
            module.set_num_threads(int(os.environ[_THREADS]))


# ---------------------------------------------------------------------------------------------------- the child


def _become(request: dict[str, Any], descriptors: list[int], aside: dict[str, types.ModuleType]) -> None:
    """Be a new interpreter that runs a command. Ends the process."""
    leave = os._exit
    status = 1
    try:
        program = _prepare(request, descriptors, aside)
        status = _run(program)
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
    finally:
        leave(status)


def _prepare(request: dict[str, Any], descriptors: list[int], aside: dict[str, types.ModuleType]) -> Callable[[], None]:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if request["session"]:
        os.setsid()
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _HIGH) for descriptor in descriptors]
    os.closerange(3, _HIGH)
    for number, descriptor in zip(request["numbers"], high, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    words = request["command"]
    flags = [word for word in words[1:3] if word in ("-u", "-B")]
    sys.orig_argv = list(words)
    _open_streams("-u" in flags or bool(os.environ.get("PYTHONUNBUFFERED")))
    sys.dont_write_bytecode = "-B" in flags or bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    what, *rest = words[1 + len(flags) :]
    own = {"-c": "", "-m": request["cwd"]}.get(what)
    first = str(Path(what).resolve().parent) if own is None else own
    added = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[:] = [first, *added, *sys.path[1:]]
    numbers = aside.get("numpy.random")
    if numbers is not None:
        numbers.seed()
    for name in [name for name in sys.modules if name not in _FRESH]:
        aside.setdefault(name, sys.modules.pop(name))
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __spec__=None, __annotations__={})
    main.__loader__ = importlib.machinery.BuiltinImporter  # type: ignore[assignment]
    sys.modules["__main__"] = main
    sys.meta_path.insert(0, _Aside(aside))
    if _SERVER in os.environ:
        subprocess.Popen = Popen  # type: ignore[misc]
        _spawn_warm()
    gc.enable()
    sys.modules.pop("sitecustomize", None)
    importlib.invalidate_caches()
    try:
        import sitecustomize  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
    return functools.partial(_program, what, rest, main)


def _open_streams(unbuffered: bool) -> None:
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            raw = open(number, f"{mode}b", buffering=0 if unbuffered and mode == "w" else -1, closefd=False)
        except OSError:
            setattr(sys, name, None)
            continue
        old = getattr(sys, f"__{name}__")
        stream = io.TextIOWrapper(
            raw,
            encoding=old.encoding,
            errors=old.errors,
            line_buffering=name == "stderr" or raw.isatty(),
            write_through=unbuffered and mode == "w",
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _program(what: str, rest: list[str], main: types.ModuleType) -> None:
    if what == "-m":
        sys.argv = ["-m", *rest[1:]]
        sys.modules["runpy"] = runpy
        runpy._run_module_as_main(rest[0])  # type: ignore[attr-defined]
        return
    if what == "-c":
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0] + "\n", "<string>", "exec"), main.__dict__)
        return
    sys.argv = [what, *rest]
    path = os.path.abspath(what)
    main.__file__ = path
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    main.__dict__["__cached__"] = None
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec")
    exec(code, main.__dict__)


def _run(program: Callable[[], None]) -> int:
    """The exit status of a program, its error told as the interpreter does."""
    try:
        program()
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return (error.code or 0) & 0xFF
        print(error.code, file=sys.stderr)
        return 1
    except BaseException as error:
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
            traceback = traceback.tb_next
        sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        if isinstance(error, KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        return 1
    return 0


if _ARE_WE_THE_SERVER:
    _serve(sys.argv[1], int(sys.argv[2]))
