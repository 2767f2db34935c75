"""The project index: the other files of a project, read when somebody asks about them.

A file cannot know of itself who imports and calls it, or what the modules that it imports need. Nothing here is imported or run: files are
read as bytes, and lowered by the standard library's `ast` when a question comes to them.
"""

# Paths are strings here: a Path object for each file of a large repository costs more than the search.
# ruff: noqa: PTH100, PTH111, PTH118, PTH119, PTH120

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cache, cached_property, lru_cache, wraps
from pathlib import PurePath
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from torchdevlint.findings import Span
from torchdevlint.program import from_ast, ir
from torchdevlint.program.environment import Environment, environment_in, names_in, package_meant
from torchdevlint.program.requirements import (
    STATES_COMMANDS,
    STATES_REQUIREMENTS,
    Version,
    asks_for_cuda,
    asks_for_kernels,
    asks_for_torch,
    commanded,
    first_torch_beyond,
    listed,
    oldest_torch,
)
from torchdevlint.source import disk, grounds
from torchdevlint.source.folders import DEFAULT_EXCLUDE
from torchdevlint.source.reading import read_bytes

# A larger project is not searched: each question would cost more than the file that asks.
MOST_FILES = 4_000
MOST_BYTES = 40_000_000
MOST_FOLDERS = 10_000
FEWEST_FILES = 3
_MOST_SIBLINGS = 200  # files and folders beside or below one, that are asked what belongs together
# Where a name may stand of what is called from notebooks, settings, scripts and by readers of the documentation.
_TEXTS = (".ipynb", ".md", ".rst", ".txt", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".sh", ".pyi", ".pyx")
_LARGEST_TEXT = 2_000_000
_IN_REQUIREMENTS = re.compile(rf"{STATES_REQUIREMENTS.pattern}|.*\.txt")  # the names in a folder of requirements
_LARGEST_READ = MOST_BYTES
# The bytes and Programs of the files that were linted last, for those that ask of them later.
_LINTED: dict[str, tuple[bytes, ir.Program | None]] = {}
_MOST_KEPT = 100
_Wanted = tuple[tuple[bytes, ...], re.Pattern[bytes]]
# Import statements, also over several lines.
_IMPORTS = re.compile(rb"(?m)^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import\b[ \t]*(?:\([^)]*\)?|(?:\\\\\n|[^\n;])*)")
_IMPORTING = re.compile(rb"(?m)^[ \t]*(?:from|import)\b[^\n(]*(?:\([^)]*\)?)?")
# A module that reads its command line is a program.
COMMAND_LINES = (
    "argparse",
    "click",
    "fire",
    "hydra",
    "absl",
    "typer",
    "tyro",
    "simple_parsing",
    "gin",
    "optparse",
    "docopt",
)
_RUNS = re.compile(rb"__main__|(?m:^[ \t]*(?:import|from)[ \t]+(?:" + "|".join(COMMAND_LINES).encode() + rb")\b)")
_TEST_FOLDERS = frozenset({"test", "tests", "testing", "unit_tests"})
_TEST_LIBRARIES = re.compile(rb"(?m)^[ \t]*(?:import|from)[ \t]+(?:pytest|unittest|torch\.testing\._internal)\b")
# What a file does when it is run, and not imported.
STARTS = re.compile(rb"(?m)^if[ (]+__name__[ ]*==[ ]*[\"']__main__[\"']")
_INSTRUCTIONS = re.compile(r"(?:readme|install|instructions?)\b.*\.(?:md|rst|txt)", re.IGNORECASE)
_COLLECTED = re.compile(r"test_\w+\.py\Z|\w+_test\.py\Z")  # by pytest
_WORDS = re.compile(rb"[\w\x80-\xff]+")
_REPOSITORIES = (".git", ".hg")
_TORCH = "torch"
_PYPROJECT = "pyproject.toml"
_PACKAGES = (_PYPROJECT, "setup.py", "setup.cfg")
# The tables of a TOML file; a line of an array that looks like one is taken for one, and tells of a project as before.
_TABLES = re.compile(rb"(?m)^[ \t]*\[+[ \t]*([^\]\n]+)")
_COMMENT = re.compile(rb"(?m)^[ \t]*#[^\n]*")
_OURS = b"tool.torchdevlint"
_PROGRAMS = ("LICENSE", "LICENSE.md", "LICENSE.txt", "COPYING", "requirements.txt", "environment.yml")
_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")
_Method = Callable[Concatenate["Project", _Given], _Answer]
QUESTIONS: dict[str, Callable[..., object]] = {}  # what a later run may ask a project again, by name


def _question(method: _Method[_Given, _Answer]) -> _Method[_Given, _Answer]:
    """A question with a plain answer, which is noted for those who ask it again (see torchdevlint.source.grounds)."""
    name = method.__name__
    QUESTIONS[name] = method
    form = grounds.Form(plain, _RESTORED[name])

    @wraps(method)
    def ask(self: Project, *given: _Given.args, **named: _Given.kwargs) -> _Answer:
        if not grounds.are_noted():
            return method(self, *given, **named)
        question = (name, self.place, *given, *named.values())
        answer: _Answer = grounds.asked(question, lambda: method(self, *given, **named), form)
        return answer

    return ask  # type: ignore[return-value]


def plain(answer: object) -> object:
    """An answer as JSON can hold it, the same for the same answer in any process."""
    if answer is None or isinstance(answer, (bool, int, str)):
        return answer
    if isinstance(answer, bytes):
        return answer.decode("latin-1")
    if isinstance(answer, PurePath):
        return str(answer)
    if isinstance(answer, Mapping):
        return sorted([plain(key), plain(value)] for key, value in answer.items())
    if isinstance(answer, Set):
        return sorted(map(plain, answer))  # type: ignore[type-var]
    if isinstance(answer, (tuple, list)):
        return [plain(one) for one in answer]
    raise TypeError(f"no plain answer: {type(answer).__name__}")


def _same(answer: Any) -> Any:
    return answer


# How an answer is made again of what is kept of it.
_RESTORED: dict[str, Callable[[Any], Any] | None] = {
    **dict.fromkeys(("files", "importing", "holding", "mentioning", "resolve", "installed"), tuple),
    **dict.fromkeys(
        ("tells_by_silence", "is_package", "is_in_package", "is_test", "builds_for_cuda_alone", "asks_for_cuda"), _same
    ),
    **dict.fromkeys(("asks_for_kernels", "says", "matches", "is_offered", "lacks", "is_path_entry"), _same),
    "imported_by": frozenset,
    **dict.fromkeys(("torch_beyond", "torch_oldest"), lambda kept: kept and tuple(kept)),
}
_DIGEST: grounds.Form[str] = grounds.Form(plain, _same)


class Project:
    """The Python files below a root. Questions that it cannot answer give nothing; no method raises for what a file holds."""

    def __init__(self, root: str, origin: Project | None = None, environment: Environment | None = None) -> None:
        """With `origin` it is that project with another text of a file: what does not depend on the text is shared with it.

        `environment`: the packages that are installed where the project runs.
        """
        self.root = root
        self._origin = origin
        self._environment: Environment | None = environment if origin is None else origin._environment
        self._bytes: dict[str, bytes] = {} if origin is None else origin._bytes
        self._programs: dict[str, ir.Program | None] = {} if origin is None else origin._programs
        # Of the files as they are on the disk: which files each imports, and which hold what was asked for.
        self._imports: dict[str, frozenset[str]] = {} if origin is None else origin._imports
        self._holders: dict[_Wanted, tuple[str, ...]] = {} if origin is None else origin._holders
        self._asks_for_torch: dict[str, list[tuple[str, str]]] = {}
        self._tests: dict[str, bool] = {}
        self._edited: dict[str, bytes] = {}
        self._edited_programs: dict[str, ir.Program | None] = {}
        self._edited_imports_of: dict[str, frozenset[str]] = {}
        self._digests: dict[str, str] = {}
        self._words: dict[str, set[bytes]] = {}

    @property
    def place(self) -> str:
        """What the project is known by to those who ask again: its root, the folder of its packages, and the file that it shows with another text."""
        return "\0".join((self.root, self.environment, *self._edited))

    @property
    def environment(self) -> str:
        """The folder of the packages that are installed where the project runs; "" for none."""
        return "" if self._environment is None else self._environment.folder

    def showing(self, path: str, text: str, *, apart: bool = False) -> Project:
        """The project with a text in place of a file: itself, where the file holds this text and nobody wants it `apart`.

        Else another one, for which every question is asked anew; what was read of the other files is shared.
        """
        try:
            raw = self._edited.get(path) or self._bytes.get(path) or read_bytes(path, _LARGEST_READ)
        except (OSError, ValueError):
            return self
        if _decoded(raw) == text and not apart:
            return self
        other = Project(self.root, self)
        other._edited = {path: text.encode("utf-8", "replace")}
        return other

    def adopt(self, path: str, program: ir.Program) -> None:
        """Takes a Program for that of the file that is shown with another text."""
        _LINTED.pop(path, None)
        self._edited_programs[path] = program
        self._edited_imports_of.pop(path, None)

    def goes_on(self, old: Project, path: str) -> bool:
        """True where another one, of earlier, has given the same answers on all files, as long as one file is asked for no more than what it imports.

        Then the Programs that were read are those of this one too.
        """
        if self.root != old.root or self._walked != old._walked:
            return False
        if _imported(self.read(path)) != _imported(old.read(path)):
            return False
        if self._bytes is old._bytes:
            return True
        if any(self.read(known) != raw for known, raw in old._bytes.items() if known != path):
            return False
        if any(self._programs.get(known, program) is not program for known, program in old._programs.items()):
            return False
        self._programs.update(old._programs)
        return True

    @cached_property
    def _walked(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The absolute paths of the Python files and of the texts, sorted; none where the project is too large."""
        if self._origin is not None:
            return self._origin._walked
        files: list[str] = []
        texts: list[str] = []
        size = 0
        for count, (folder, names) in enumerate(_folders(self.root)):
            for name in names:
                if not name.endswith((".py", *_TEXTS)):
                    continue
                path = os.path.join(folder, name)
                if name == _PYPROJECT and _has_settings_alone(path):
                    continue
                content = disk.size(path)
                if content is None or (content > _LARGEST_TEXT and not name.endswith(".py")):
                    continue
                (files if name.endswith(".py") else texts).append(path)
                size += content
            if len(files) + len(texts) > MOST_FILES or size > MOST_BYTES or count > MOST_FOLDERS:
                return (), ()
        return tuple(sorted(files)), tuple(sorted(texts))

    @property
    @_question
    def files(self) -> tuple[str, ...]:
        """The absolute paths of the project's Python files; none where the project is too large."""
        return self._walked[0]

    @property
    @_question
    def tells_by_silence(self) -> bool:
        """True for a project of several files: what none of them says, it does not do. From less than three nothing follows."""
        return len(self._walked[0]) >= FEWEST_FILES

    @property
    @_question
    def is_package(self) -> bool:
        """True where the project is installed for others, who call what it does not call itself."""
        return self._is_installed

    @cached_property
    def _is_installed(self) -> bool:
        return any(_stands(self.root, name) for name in _PACKAGES)

    @_question
    def is_in_package(self, path: str) -> bool:
        """True for a file that stands beside an `__init__.py`, and in a namespace package inside of such a package: a folder without one (PEP 420)."""
        folder = os.path.dirname(path)
        while not self._file(os.path.join(folder, "__init__.py")):
            if folder == self.root or not os.path.basename(folder).isidentifier():
                return False
            folder = os.path.dirname(folder)
        return True

    def package_of(self, path: str) -> str:
        """The folder of the package that the project is, for a file of it; "" for a file of a program, and for one beside the package."""
        found, folder = "", os.path.dirname(path)
        while self.is_package and self.is_in_package(os.path.join(folder, "__init__.py")):
            found, folder = folder, os.path.dirname(folder)
        return found

    def that_decide_for(self, path: str, files: Set[str]) -> frozenset[str]:
        """Of some files, those whose doings hold for whoever uses one: for a file of a package those of the package, since its examples are some users
        of many, and else all.
        """
        package = self.package_of(path) if files else ""
        return frozenset(one for one in files if not package or one.startswith(package + os.sep))

    @_question
    def is_test(self, path: str) -> bool:
        """True for a test, by what the file says or how pytest knows it, and for the helpers in a folder of tests.

        A name alone is no evidence: `test.py`, and `def test_step` in any file, evaluate models.
        """
        found = self._tests.get(path)
        if found is None:
            *folders, name = PurePath(os.path.relpath(path, self.root)).parts
            text = self.read(path)
            is_helper = not _TEST_FOLDERS.isdisjoint(folders) and _RUNS.search(text) is None
            is_collected = _COLLECTED.match(name) is not None and b"def test" in text
            found = is_helper or is_collected or name == "conftest.py" or _TEST_LIBRARIES.search(text) is not None
            self._tests[path] = found
        return found

    @property
    @_question
    def builds_for_cuda_alone(self) -> bool:
        """True for a package that cannot be built without CUDA: its setup.py knows extensions for CUDA and no other."""
        setup = self.read(os.path.join(self.root, "setup.py"))
        return b"CUDAExtension" in setup and not any(word in setup for word in (b"CppExtension", b"is_available"))

    @property
    @_question
    def asks_for_kernels(self) -> bool:
        """True where the requirements at the root, or in its folder of requirements, name kernels for CUDA, also for a part of what the project does."""
        return self._requires_kernels

    @cached_property
    def _requires_kernels(self) -> bool:
        return asks_for_kernels(
            stated for folder in (self.root, os.path.join(self.root, "requirements")) for stated in self._stated(folder)
        )

    @_question
    def asks_for_cuda(self, path: str) -> bool:
        """True where the instructions beside a file, or in the next folder above that has some, say that CUDA or a GPU is needed."""
        folder = os.path.dirname(path)
        while True:
            texts = [text for _, text in self._texts(folder, _INSTRUCTIONS)]
            if texts or folder == self.root or os.path.dirname(folder) == folder:
                return any(map(asks_for_cuda, texts))
            folder = os.path.dirname(folder)

    @_question
    def torch_beyond(self, path: str) -> Version | None:
        """The first minor version of torch that the requirements of a file rule out; None where nothing is said, or one of those who speak sets no end."""
        return first_torch_beyond(self._torch_asked(path))

    @_question
    def torch_oldest(self, path: str) -> Version | None:
        """The oldest minor version of torch that the requirements of a file let in; None where nothing is said, or one of those who speak sets no start."""
        return oldest_torch(self._torch_asked(path))

    def _torch_asked(self, path: str) -> list[tuple[str, str]]:
        """The requirements beside a file, each with the name of its text, or else those of the next folder above that asks for torch.

        In a folder whose requirements do not speak of torch, the commands of its README, scripts and container recipes tell what is installed, and where
        there is none, the list of requirements in its README.
        """
        folder = os.path.dirname(path)
        asked = []
        while folder not in self._asks_for_torch:
            asked.append(folder)
            texts = list(self._stated(folder))
            if not asks_for_torch(texts):
                written = list(self._texts(folder, STATES_COMMANDS))
                texts = [(name, commanded(text)) for name, text in written]
                if not asks_for_torch(texts):
                    texts = [(name, listed(text)) for name, text in written if name.lower().startswith("readme")]
            if asks_for_torch(texts) or folder == self.root or os.path.dirname(folder) == folder:
                self._asks_for_torch[folder] = texts
                break
            folder = os.path.dirname(folder)
        self._asks_for_torch.update(dict.fromkeys(asked, self._asks_for_torch[folder]))
        return self._asks_for_torch[folder]

    def _stated(self, folder: str) -> Iterator[tuple[str, str]]:
        """The texts of a folder that state requirements, by their names."""
        is_theirs = os.path.basename(folder) == "requirements"
        yield from self._texts(folder, _IN_REQUIREMENTS if is_theirs else STATES_REQUIREMENTS)
        yield from self._texts(os.path.join(folder, "requirements"), _IN_REQUIREMENTS)

    def _texts(self, folder: str, names: re.Pattern[str]) -> Iterator[tuple[str, str]]:
        """The texts of a folder with such names, but for those that are too large to be read for this."""
        for name in sorted(names_in(folder)):
            path = os.path.join(folder, name)
            if names.fullmatch(name) and (disk.size(path) or _LARGEST_TEXT) < _LARGEST_TEXT:
                yield name, self.read(path).decode("utf-8", "replace")

    def program(self, path: str) -> ir.Program | None:
        """The Program of a file; None for one that cannot be read."""
        self._note(path)
        programs = self._edited_programs if path in self._edited else self._programs
        if path not in programs:
            raw = self._shown(path)
            seen, program = _LINTED.pop(path, (b"", None))
            programs[path] = program if program is not None and seen == raw else _read(_decoded(raw))
        return programs[path]

    def span_of(self, path: str, op: ir.Op) -> Span | None:
        """Where an operation of a file's Program stands in its text; None where that cannot be said."""
        self._note(path)
        program, text = self._programs.get(path), _decoded(self._shown(path))
        if program is None or program.node is not None:
            return None
        return from_ast.span_of(program, text, op)

    def program_of(self, path: str, text: str) -> ir.Program | None:
        """The Program of a text that stands for a file: the one that was read of the file, where it is its text. It is kept for a while, as
        others may ask for it.
        """
        raw = text.encode("utf-8", "replace")
        if raw == self._bytes.get(path) and path in self._programs and path not in self._edited:
            return self._programs[path]
        program = _read(text)
        _LINTED[path] = raw, program
        if len(_LINTED) > _MOST_KEPT:
            del _LINTED[next(iter(_LINTED))]
        return program

    @_question
    def importing(self, path: str) -> tuple[str, ...]:
        """The other Python files with an import statement that holds the name of a module."""
        word = _module_of(path)
        edited = [other for other, words in self._edited_imports.items() if word in words]
        unedited = (other for other in self._importers.get(word, ()) if other not in self._edited)
        return tuple(other for other in sorted((*unedited, *edited)) if other != path)

    @cached_property
    def _edited_imports(self) -> dict[str, set[bytes]]:
        """The words of the import statements of the files that are shown with another text."""
        return {path: _imported(raw) for path, raw in self._edited.items() if path in self._known}

    @cached_property
    def _importers(self) -> dict[bytes, list[str]]:
        """The files, as they are on the disk, by the words of their import statements: whoever asks for one module asks for many."""
        if self._origin is not None:
            return self._origin._importers
        found: dict[bytes, list[str]] = {}
        for path in self._walked[0]:
            for word in _imported(self._stored(path)):
                found.setdefault(word, []).append(path)
        return found

    @_question
    def imported_by(self, path: str) -> frozenset[str]:
        """The files that run for the import statements of a file, wherever these stand in it."""
        known = self._edited_imports_of if path in self._edited else self._imports
        if path not in known:
            program = self.program(path)
            imports = () if program is None else _imports_of(program)
            known[path] = frozenset(file for dotted in imports for file in self.resolve(dotted, path))
        return known[path]

    @_question
    def holding(self, parts: tuple[bytes, ...], pattern: re.Pattern[bytes]) -> tuple[str, ...]:
        """The Python files that hold one of these bytes, and then match: a plain search is the faster one by far."""
        key = parts, pattern
        if key not in self._holders:
            self._holders[key] = tuple(path for path in self._walked[0] if _holds(self._stored(path), key))
        found = self._holders[key]
        if self._edited:
            edited = [path for path, raw in self._edited.items() if path in self._known and _holds(raw, key)]
            found = tuple(sorted((*(path for path in found if path not in self._edited), *edited)))
        return found

    def importing_again(self, path: str, before: Iterable[str], changed: Set[str]) -> tuple[str, ...]:
        """`importing`, where it was this before, and these files have changed since: the others are not read."""
        word = _module_of(path)
        return self._among(before, changed, lambda other: other != path and word in self._words_imported(other))

    def _words_imported(self, path: str) -> set[bytes]:
        if path not in self._words:
            self._words[path] = _imported(self._shown(path))
        return self._words[path]

    def holding_again(
        self, parts: tuple[bytes, ...], pattern: re.Pattern[bytes], before: Iterable[str], changed: Set[str]
    ) -> tuple[str, ...]:
        """`holding`, in the same way."""
        return self._among(before, changed, lambda path: _holds(self._shown(path), (parts, pattern)))

    def _among(self, before: Iterable[str], changed: Set[str], holds: Callable[[str], bool]) -> tuple[str, ...]:
        kept = [path for path in before if path in self._known and path not in changed]
        return tuple(sorted((*kept, *filter(holds, changed & self._known))))

    @property
    def walked(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The Python files, and the texts in which names may stand."""
        return self._walked

    @_question
    def says(self, path: str, *words: bytes) -> bool:
        """Whether one of these words stands in a file. Who asks so, and not for its bytes, is told of no other change of it."""
        raw = self._shown(path)
        return any(word in raw for word in words)

    @_question
    def matches(self, path: str, pattern: re.Pattern[bytes]) -> bool:
        """Whether a file matches somewhere."""
        return pattern.search(self._shown(path)) is not None

    @_question
    def mentioning(self, word: str) -> tuple[str, ...]:
        """The files that mention a word: in Python files other than in an import under its own name, or a line of comment."""
        return tuple(path for path in (*self._walked[0], *self._walked[1]) if self._is_in_code(path, word))

    def mentioning_again(self, word: str, before: Iterable[str], changed: Set[str]) -> tuple[str, ...]:
        """`mentioning`, where it was this before, and these files have changed since: the others are not read."""
        held = {*before} - changed | {path for path in changed if self._is_in_code(path, word)}
        return tuple(path for path in (*self._walked[0], *self._walked[1]) if path in held)

    def _is_in_code(self, path: str, word: str) -> bool:
        text = self._shown(path)
        is_code = path.endswith(".py")
        return _stands_in(text, word) and (
            not is_code or _stands_in(_COMMENT.sub(b"", _IMPORTS.sub(_renamed, text)), word)
        )

    @_question
    def is_offered(self, word: str, path: str) -> bool:
        """True for a name of a file that an `__init__.py` holds, or is: it is for others."""
        raw = word.encode()
        pattern = re.compile(rb"(?<!\w)" + re.escape(raw) + rb"(?!\w)")
        packages = (file for file in self._walked[0] if os.path.basename(file) == "__init__.py")
        return any(file == path or pattern.search(self.read(file)) for file in packages)

    @_question
    def resolve(self, dotted: str, importer: str) -> tuple[str, ...]:
        """The files that run when `importer` imports a dotted name (".models.Net" when relative): the packages on the way, and the module.

        The last parts may name something in a module. A module is looked for beside the importer, in the folders above it, and anywhere if
        but one file of the project has that name: programs that extend `sys.path` import so. What stands in the package of the importer comes last,
        unless that is run by its path: then its neighbours are modules by themselves.
        """
        if self._environment is not None and self._environment.holds(importer):
            return self._environment.resolve(dotted, importer)
        stripped = dotted.lstrip(".")
        parts = stripped.split(".") if stripped else []
        if stripped != dotted:
            folder = package_meant(dotted, importer)
            return self._below(folder, parts) or self._file(os.path.join(folder, "__init__.py"))
        if not parts or parts[0] in sys.stdlib_module_names:
            return ()
        if (
            parts[0] == _TORCH
        ):  # a package of that name is PyTorch, but where the project is PyTorch itself: `company/torch` is `company.torch`
            return self._below(self.root, parts) or self._below(os.path.join(self.root, "src"), parts)
        folder = os.path.dirname(importer)
        if (found := self._below(folder, parts)) and self._is_run_by_itself(importer):
            return found
        within: list[str] = []
        shadowing: tuple[str, ...] = ()  # an `alg.py` of a nearer folder, where `alg.algs.base` is asked for
        while True:
            if self._file(os.path.join(folder, "__init__.py")):
                within.append(folder)
            elif found := self._below(folder, parts):
                if not self._is_cut_short(found, folder, parts):
                    return found
                shadowing = shadowing or found
            parent = os.path.dirname(folder)
            if folder == self.root or parent == folder:
                break
            folder = parent
        for folder in within:
            if found := self._below(folder, parts):
                return found
        homes = self._homes.get(parts[0], ())
        if not homes:
            homes = tuple(home for home in self._namespaces.get(parts[0], ()) if self._below(home, parts))
        return shadowing or (self._below(homes[0], parts) if len(homes) == 1 else ())

    @staticmethod
    def _is_cut_short(found: tuple[str, ...], folder: str, parts: list[str]) -> bool:
        """True where at least two more parts of the name are asked for than are there: one may be a name in the last module."""
        last = os.path.relpath(found[-1].removesuffix(os.sep + "__init__.py"), folder)
        return len(parts) - last.count(os.sep) > 2

    def _is_run_by_itself(self, path: str) -> bool:
        """True for a program in a package that does not import this package by its name: it is started by its path, and its folder is on `sys.path`."""
        package = re.escape(os.path.basename(os.path.dirname(path)).encode())
        imports_own = re.compile(rb"(?m)^[ \t]*(?:from|import)[ \t]+(?:\.|" + package + rb"\b)")
        return self.matches(path, STARTS) and not self.matches(path, imports_own)

    @_question
    def installed(self, dotted: str, importer: str) -> tuple[str, ...]:
        """The files of an installed package that run when `importer` imports a dotted name, where the project has no such module itself."""
        return () if self._environment is None else self._environment.resolve(dotted, importer)

    @_question
    def lacks(self, module: str, importer: str) -> bool:
        """True for a module (".models.net" when relative) that a package of the project should hold and does not, compiled and generated ones aside.

        So for what a file imports from beside it that was copied out of its package.
        """
        stripped = module.lstrip(".")
        parts = stripped.split(".")
        folder = package_meant(module, importer)
        if stripped != module:
            if not self._file(os.path.join(folder, "__init__.py")):
                is_beside = any(name.partition(".")[0] == parts[0] for name in names_in(folder))
                return bool(parts[0]) and not is_beside and not _is_made(parts[0])
        else:
            homes = [home for home in self._homes.get(parts[0], ()) if self.is_path_entry(home, importer)]
            if len(homes) != 1 or parts[0] in sys.stdlib_module_names or parts[0] == _TORCH:
                return False
            folder = os.path.join(homes[0], parts.pop(0))
        for part in parts:
            if not self._file(os.path.join(folder, "__init__.py")) or self._file(os.path.join(folder, part + ".py")):
                return False
            if not disk.is_folder(os.path.join(folder, part)):
                return not _is_made(part) and all(name.partition(".")[0] != part for name in names_in(folder))
            folder = os.path.join(folder, part)
        return False

    @_question
    def is_path_entry(self, home: str, importer: str) -> bool:
        """True for a folder from which a file imports its project's packages: one above it, the root, or `src`, and in no package itself."""
        above = os.path.join(importer, "").startswith(os.path.join(home, ""))
        is_usual = home in (self.root, os.path.join(self.root, "src"))
        return (above or is_usual) and not self._file(os.path.join(home, "__init__.py"))

    @cached_property
    def _known(self) -> frozenset[str]:
        if self._origin is not None:
            return self._origin._known
        return frozenset(self._walked[0])

    @cached_property
    def _homes(self) -> dict[str, tuple[str, ...]]:
        """The folders that hold a module or package of a name."""
        if self._origin is not None:
            return self._origin._homes
        homes: dict[str, set[str]] = {}
        for path in self._walked[0]:
            folder, name = os.path.split(path)
            if name == "__init__.py":
                folder, name = os.path.split(folder)
            homes.setdefault(name.removesuffix(".py"), set()).add(folder)
        return {name: tuple(sorted(folders)) for name, folders in homes.items()}

    @cached_property
    def _namespaces(self) -> dict[str, tuple[str, ...]]:
        """The folders that hold a folder of a name that is no package and has modules below it: a namespace package where its parent is on `sys.path`."""
        if self._origin is not None:
            return self._origin._namespaces
        found: dict[str, set[str]] = {}
        seen: set[str] = set()
        for path in self._walked[0]:
            folder = os.path.dirname(path)
            while folder not in seen and len(folder) > len(self.root):
                seen.add(folder)
                parent, name = os.path.split(folder)
                if not self._file(os.path.join(folder, "__init__.py")):
                    found.setdefault(name, set()).add(parent)
                folder = parent
        return {name: tuple(sorted(folders)) for name, folders in found.items()}

    def _below(self, folder: str, parts: list[str]) -> tuple[str, ...]:
        found: tuple[str, ...] = ()
        for part in parts:
            folder = os.path.join(folder, part)
            package = self._file(os.path.join(folder, "__init__.py"))
            module = self._file(folder + ".py")
            if module and not package:  # a package stands above a module of its name
                return found + module
            found += package
        return found

    def _file(self, path: str) -> tuple[str, ...]:
        return (path,) if path in self._known else ()

    def read(self, path: str) -> bytes:
        """The bytes of a file, read once; none where it cannot be read."""
        self._note(path)
        return self._shown(path)

    def digest(self, path: str) -> str:
        """What the bytes of a file are known by."""
        if path not in self._digests:
            self._digests[path] = disk.digest(self._shown(path))
        return self._digests[path]

    def _note(self, path: str) -> None:
        if grounds.are_noted():
            grounds.asked(("digest", self.place, path), lambda: self.digest(path), _DIGEST)

    def _shown(self, path: str) -> bytes:
        return self._edited[path] if path in self._edited else self._stored(path)

    def _stored(self, path: str) -> bytes:
        if path not in self._bytes:
            try:
                self._bytes[path] = read_bytes(path, _LARGEST_READ)
            except (OSError, ValueError):
                self._bytes[path] = b""
        return self._bytes[path]


class Member(NamedTuple):
    """A file in its project; `path` is absolute."""

    project: Project
    path: str


def project_of(root: str, environment: str) -> Project:
    """The project with this root, as it is on the disk, and the packages that are installed where it runs ("" for none)."""
    return _project(root, environment)


def member(path: str, environment: str = "") -> Member | None:
    """A file of the disk in its project: the repository that it stands in, the folder that is packaged, one with a licence or requirements of its own,
    or else the folder of the program that it belongs to.

    None where there is none of these. `environment`: the folder of the packages that are installed where it runs, "" for none.
    """
    absolute = os.path.abspath(path)
    root = _root(os.path.dirname(absolute))
    return None if root is None else Member(_project(root, environment), absolute)


WORKED_OUT: dict[str, Callable[..., object]] = {}  # what a later run may ask of a project or a file of one, by name
_Asker = TypeVar("_Asker", bound=Callable[..., object])


def worked_out(maxsize: int, restored: Callable[[Any], Any] | None) -> Callable[[_Asker], _Asker]:
    """As `functools.lru_cache`, for a question to a Project or a Member whose answer is plain (words, numbers, collections of them).

    Who asks it rests on the answer alone, and not on all that was asked for it. `restored` makes the answer again of what `plain` makes of it.
    """
    form: grounds.Form[object] = grounds.Form(plain, restored)

    def decorate(function: _Asker) -> _Asker:
        kept = lru_cache(maxsize)(function)
        name = f"{function.__module__}.{function.__qualname__}"

        @wraps(function)
        def ask(given: Project | Member) -> object:
            if not grounds.are_noted():
                return kept(given)
            place = (given.place,) if isinstance(given, Project) else (given.project.place, given.path)
            return grounds.asked((name, *place), lambda: kept(given), form, is_worked_out=True)

        WORKED_OUT[name] = ask
        ask.cache_clear = kept.cache_clear  # type: ignore[attr-defined]
        return ask  # type: ignore[return-value]

    return decorate


@cache
def _project(root: str, environment: str) -> Project:
    return Project(root, environment=environment_in(environment))


@grounds.remembered(None)
def _root(folder: str) -> str | None:
    marked = _nearest(folder, _REPOSITORIES) or _nearest(folder, _PACKAGES) or _nearest(folder, _PROGRAMS)
    return marked or _of_program(folder)


def _of_program(folder: str) -> str | None:
    """The folder of a program that nothing marks as a project: the file's own, or above it the one whose files import from there.

    None for a folder where everybody puts files: the home, that of temporary files, and the top of the file system.
    """
    root = folder
    while True:
        above, name = os.path.split(root)
        if above == root or _is_shared(above):
            break
        is_package = disk.exists(os.path.join(root, "__init__.py"))
        if not (is_package or _imports_from(above, {name}) or _imports_from(root, _folders_in(above) - {name})):
            break
        root = above
    return None if _is_shared(root) else root


def _imports_from(folder: str, names: Set[str]) -> bool:
    """True where a Python file of a folder imports from one of these folders."""
    words = {name.encode("utf-8", "surrogateescape") for name in names}
    try:
        files = [one.path for one in disk.entries(folder) if one.name.endswith(".py") and not _is_folder(one)]
    except OSError:
        return False
    for path in files[:_MOST_SIBLINGS] if words else ():
        try:
            if disk.size(path) and not words.isdisjoint(_imported(read_bytes(path, _LARGEST_TEXT))):
                return True
        except (OSError, ValueError):
            continue
    return False


def _folders_in(folder: str) -> set[str]:
    """The folders in a folder that hold a package, by their names: what programs beside it import (`tools/train.py`)."""
    try:
        found = [one for one in disk.entries(folder) if _is_folder(one)]
    except OSError:
        return set()
    return {one.name for one in found[:_MOST_SIBLINGS] if disk.exists(os.path.join(one.path, "__init__.py"))}


def _is_shared(folder: str) -> bool:
    import tempfile  # few folders need it

    shared = (os.path.expanduser("~"), tempfile.gettempdir(), os.path.dirname(folder))
    return any(os.path.realpath(one) == os.path.realpath(folder) for one in shared)


def _nearest(folder: str, names: tuple[str, ...]) -> str | None:
    while True:
        if any(_stands(folder, name) for name in names):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _stands(folder: str, name: str) -> bool:
    """True where a file or a folder is there that tells of a project."""
    path = os.path.join(folder, name)
    return disk.exists(path) and not (name == _PYPROJECT and _has_settings_alone(path))


def _imports_of(program: ir.Program) -> set[str]:
    """The dotted names that a file imports."""
    return {
        op.qualified
        for body in program.bodies
        for block in body.blocks
        for op in block.ops
        if isinstance(op, ir.Import)
    }


def _module_of(path: str) -> bytes:
    folder, name = os.path.split(path)
    module = os.path.basename(folder) if name == "__init__.py" else name.removesuffix(".py")
    return module.encode("utf-8", "surrogateescape")


def _imported(raw: bytes) -> set[bytes]:
    """The words of a file's import statements."""
    return {word for found in _IMPORTING.finditer(raw) for word in _WORDS.findall(found.group())}


def _has_settings_alone(path: str) -> bool:
    """True for a pyproject.toml of which each table is ours: settings of this tool are no evidence of what the code is for."""
    if not disk.size(path):
        return False
    try:
        raw = read_bytes(path, _LARGEST_TEXT)
    except OSError:
        return False
    text = _COMMENT.sub(b"", raw).strip()
    return text.startswith(b"[") and all(header.startswith(_OURS) for header in _TABLES.findall(text))


def _folders(root: str) -> Iterator[tuple[str, list[str]]]:
    """The folders of a project and the names of what is no folder in them. (`os.walk` calls itself for each level before 3.12.)"""
    stack = [root]
    while stack:
        folder = stack.pop()
        below, names = [], []
        try:
            for entry in disk.entries(folder):
                if not _is_folder(entry):
                    names.append(entry.name)
                elif entry.name not in DEFAULT_EXCLUDE and not _is_environment(folder, entry.name):
                    below.append(entry.path)
        except OSError:
            continue
        yield folder, names
        stack += sorted(below, reverse=True)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_environment(folder: str, name: str) -> bool:
    return name.startswith(".") or disk.exists(os.path.join(folder, name, "pyvenv.cfg"))


def _holds(raw: bytes, wanted: _Wanted) -> bool:
    parts, pattern = wanted
    return any(part in raw for part in parts) and pattern.search(raw) is not None


def _stands_in(text: bytes, word: str) -> bool:
    """True for a text in which a word stands other than as the name of what is defined there."""
    raw = word.encode()
    pattern = rb"(?<!\w)(?<!\bdef )(?<!\bclass )" + re.escape(raw) + rb"(?!\w)"
    return raw in text and re.search(pattern, text) is not None


def _renamed(statement: re.Match[bytes]) -> bytes:
    """What is left of an import statement: the names that it gives others."""
    return b" ".join(re.findall(rb"\w+(?=[ \t]+as\b)", statement.group()))


def _read(text: str) -> ir.Program | None:
    """The Program of a text; None for one that cannot be read."""
    program = from_ast.read(text)
    if program is None:
        from torchdevlint.program import from_libcst

        program = from_libcst.read(text)  # its syntax may be newer than the running Python
    return program


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _is_made(module: str) -> bool:
    """True for a module that is compiled or generated, by its name: `_C`, `version`, `model_pb2`, `ops_cuda`."""
    return module.startswith("_") or module.endswith(("_pb2", "_pb2_grpc", "_cuda", "_ext")) or "version" in module
