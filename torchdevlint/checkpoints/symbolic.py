"""A pickle machine that makes nothing: globals stay names, calls stay calls, and only what torch's storages need is understood.

Every value stands on the stack once for the instruction that pushed it. Strings remember that instruction (their site), so that
a location tag can be rewritten where it is pushed, and nowhere else (`torchdevlint.checkpoints.rewriting`).
"""

from __future__ import annotations

import _compat_pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torchdevlint.checkpoints import tables
from torchdevlint.checkpoints.contents import CheckpointError
from torchdevlint.checkpoints.opcodes import Truncated, operations

_LONGEST_TEXT = 1000  # of a string that is kept: names of parameters, tags, keys
_LONGEST_NAME = 300
_DEEPEST_CALL = 4
_TYPE_CALLS = "torch._tensor._rebuild_from_type_v2"


class Thing:
    """A container, or an object that something unknown would make: what it holds, so that tensors in it are found."""

    __slots__ = ("held", "kind")

    def __init__(self, kind: str, held: list[Any] | None = None) -> None:
        self.kind = kind  # list, dict, object
        self.held = held


class Text:
    """A string: its value (None where it is too long to matter), the site that pushed it, and the site of its literal."""

    __slots__ = ("literal", "site", "value")

    def __init__(self, value: str | None, site: int, literal: int) -> None:
        self.value = value
        self.site = site
        self.literal = literal


class Global:
    """A name that unpickling would import."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Stored:
    """A storage, at its first persistent id."""

    __slots__ = ("dtypes", "key", "location", "names", "numel", "tensors", "type_name")

    def __init__(self, type_name: str, key: str, location: str, numel: int) -> None:
        self.type_name = type_name
        self.key = key
        self.location = location
        self.numel = numel
        self.dtypes: set[str] = set()
        self.names: list[str] = []
        self.tensors = 0


class Tensor:
    """A tensor that views a storage."""

    __slots__ = ("storage",)

    def __init__(self, storage: Stored) -> None:
        self.storage = storage


@dataclass(slots=True)
class Pickled:
    """What a pickle says. Sites are positions of instructions in the bytes that were read."""

    end: int = 0
    protocol: int = 0
    result: Any = None
    storages: dict[str, Stored] = field(default_factory=dict)
    globals: dict[str, None] = field(default_factory=dict)  # in order of appearance
    opcodes: set[str] = field(default_factory=set)
    devices: set[str] = field(default_factory=set)  # of torch.device objects
    restored_on: set[str] = field(default_factory=set)  # tags of tensors whose backend has no storages
    wrappers: bool = False  # tensor subclasses that hold a device of their own
    location_sites: dict[int, tuple[int, str]] = field(default_factory=dict)  # push of a tag -> its literal, its value
    copies: dict[int, list[int]] = field(default_factory=dict)  # literal of a string -> instructions that push it again
    shared_ids: bool = False  # a persistent id is used twice: no pickler of torch does that
    module_ids: bool = False  # the legacy format's ("module", class, file, source)


class _Mark:
    __slots__ = ()


_MARK = _Mark()
_OTHER = Thing("other")
_STRINGS = {
    "BINUNICODE": "utf-8",
    "SHORT_BINUNICODE": "utf-8",
    "BINUNICODE8": "utf-8",
    "SHORT_BINSTRING": "latin-1",
    "BINSTRING": "latin-1",
    "UNICODE": "raw-unicode-escape",
}
_CONSTANTS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_SMALL_INTEGERS = frozenset({"BININT1", "BININT2"})
_SIGNED_INTEGERS = frozenset({"BININT", "LONG1", "LONG4"})
_LINE_INTEGERS = frozenset({"INT", "LONG"})
_GETS = frozenset({"BINGET", "LONG_BINGET", "GET"})
_PUTS = frozenset({"BINPUT", "LONG_BINPUT", "PUT"})
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_CONTAINERS = {"EMPTY_LIST": "list", "EMPTY_DICT": "dict", "EMPTY_SET": "list"}
_MARKED = {"LIST": "list", "DICT": "dict", "FROZENSET": "list"}
_OPAQUE = frozenset(
    {"FLOAT", "BINFLOAT", "STRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8", "NEXT_BUFFER"}
)


class _Machine:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.said = Pickled()

    def run(self, start: int) -> Pickled:
        for name, position, begin, end in operations(self.data, start):
            self.said.opcodes.add(name)
            self.step(name, position, begin, end)
            self.said.end = end
        self.said.result = self.pop()
        _name_tensors(self.said)
        return self.said

    def step(self, name: str, position: int, begin: int, end: int) -> None:
        stack = self.stack
        if name in _GETS:
            self.push_again(position, self.memo.get(self.number(name, begin, end), _MARK))
        elif name in _PUTS:
            self.memo[self.number(name, begin, end)] = self.top()
        elif name in _STRINGS:
            stack.append(Text(self.text(begin, end, _STRINGS[name]), position, position))
        elif name == "MEMOIZE":
            self.memo[len(self.memo)] = self.top()
        elif name == "MARK":
            stack.append(_MARK)
        elif name == "TUPLE":
            stack.append(tuple(self.pop_to_mark()))
        elif name in _TUPLES:
            items = [self.pop() for _ in range(_TUPLES[name])]
            stack.append(tuple(reversed(items)))
        elif name == "EMPTY_TUPLE":
            stack.append(())
        elif name in _SMALL_INTEGERS or name in _SIGNED_INTEGERS or name in _LINE_INTEGERS:
            stack.append(self.integer(name, begin, end))
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _CONTAINERS:
            stack.append(Thing(_CONTAINERS[name]))
        elif name in _MARKED:
            items = self.pop_to_mark()
            stack.append(Thing(_MARKED[name], items or None))
        elif name in _OPAQUE:
            stack.append(_OTHER)
        elif name in ("SETITEM", "APPEND"):
            items = [self.pop() for _ in range(2 if name == "SETITEM" else 1)]
            self.hold(items[::-1])
        elif name in ("SETITEMS", "APPENDS", "ADDITEMS"):
            self.hold(self.pop_to_mark())
        elif name == "BUILD":
            self.hold_state(self.pop())
        elif name == "BINPERSID":
            self.persistent(self.pop())
        elif name == "PERSID":
            raise CheckpointError("names its storages by lines of text, which no version of torch does")
        elif name == "REDUCE":
            arguments = self.pop()
            stack.append(self.call(self.pop(), arguments))
        elif name == "GLOBAL":
            stack.append(self.imported(*self.lines(begin, end)))
        elif name == "STACK_GLOBAL":
            attribute, module = self.pop(), self.pop()
            if not (isinstance(attribute, Text) and isinstance(module, Text) and attribute.value and module.value):
                raise CheckpointError("is damaged: its pickle imports something without a name")
            stack.append(self.imported(module.value, attribute.value))
        elif name == "NEWOBJ":
            arguments = self.pop()
            stack.append(self.call(self.pop(), arguments))
        elif name == "NEWOBJ_EX":
            keywords, arguments, made = self.pop(), self.pop(), self.pop()
            stack.append(Thing("object", [made, arguments, keywords]))
        elif name == "INST":
            self.imported(*self.lines(begin, end))
            stack.append(Thing("object", self.pop_to_mark()))
        elif name == "OBJ":
            stack.append(Thing("object", self.pop_to_mark()))
        elif name == "POP":
            if not stack:
                raise self.damaged()
            stack.pop()
        elif name == "POP_MARK":
            self.pop_to_mark()
        elif name == "DUP":
            if isinstance(self.top(), (Text, tuple)):
                self.said.shared_ids = True
            stack.append(self.top())
        elif name == "PROTO":
            self.said.protocol = self.data[begin]
        elif name in ("EXT1", "EXT2", "EXT4"):
            raise CheckpointError("uses the extension registry of copyreg, which no version of torch does")
        elif name == "FRAME":
            if end + int.from_bytes(self.data[begin:end], "little") > len(self.data):
                raise Truncated
        elif name not in ("READONLY_BUFFER", "STOP"):
            raise CheckpointError(f"uses the pickle instruction {name}, which this tool does not know")

    def damaged(self) -> CheckpointError:
        return CheckpointError("is damaged: its pickle takes values that it has not made")

    def top(self) -> Any:
        if not self.stack or self.stack[-1] is _MARK:
            raise self.damaged()
        return self.stack[-1]

    def pop(self) -> Any:
        if not self.stack or self.stack[-1] is _MARK:
            raise self.damaged()
        return self.stack.pop()

    def pop_to_mark(self) -> list[Any]:
        stack = self.stack
        at = len(stack) - 1
        while at >= 0 and stack[at] is not _MARK:
            at -= 1
        if at < 0:
            raise self.damaged()
        items = stack[at + 1 :]
        del stack[at:]
        return items

    def push_again(self, position: int, value: Any) -> None:
        if value is _MARK:
            raise self.damaged()
        if isinstance(value, Text):
            value = Text(value.value, position, value.literal)
            self.said.copies.setdefault(value.literal, []).append(position)
        elif type(value) is tuple and _is_persistent_id(value):
            self.said.shared_ids = True
        self.stack.append(value)

    def hold(self, items: list[Any]) -> None:
        target = self.top()
        if isinstance(target, Thing):
            if target is _OTHER:
                return
            if target.kind == "dict" and len(items) % 2:
                target.kind = "object"
            if target.held is None:
                target.held = items
            else:
                target.held.extend(items)

    def hold_state(self, state: Any) -> None:
        target = self.top()
        self.hold([None, state] if isinstance(target, Thing) and target.kind == "dict" else [state])

    def number(self, name: str, begin: int, end: int) -> int:
        if name in ("GET", "PUT"):
            value = self.integer("INT", begin, end)
            if not isinstance(value, int):
                raise self.damaged()
            return value
        return int.from_bytes(self.data[begin:end], "little")

    def integer(self, name: str, begin: int, end: int) -> Any:
        if end - begin > 24:
            return _OTHER
        raw = self.data[begin:end]
        if name in _SMALL_INTEGERS:
            return int.from_bytes(raw, "little")
        if name in _SIGNED_INTEGERS:
            return int.from_bytes(raw, "little", signed=True)
        if raw in (b"00\n", b"01\n"):  # how protocol 0 writes False and True
            return raw == b"01\n"
        try:
            return int(raw.strip().rstrip(b"L"))
        except ValueError:
            raise self.damaged() from None

    def text(self, begin: int, end: int, encoding: str) -> str | None:
        if end - begin > _LONGEST_TEXT:
            return None
        if encoding == "raw-unicode-escape":
            end -= 1
        return self.data[begin:end].decode(encoding, "replace")

    def lines(self, begin: int, end: int) -> tuple[str, str]:
        if end - begin > _LONGEST_TEXT:
            raise CheckpointError("is damaged: its pickle imports a name of more than 1,000 letters")
        module, name = self.data[begin : end - 1].decode("utf-8", "replace").split("\n")
        return module, name

    def imported(self, module: str, name: str) -> Global:
        if self.said.protocol < 3:  # names of Python 2, as pickle and torch translate them
            if (module, name) in _compat_pickle.NAME_MAPPING:
                module, name = _compat_pickle.NAME_MAPPING[module, name]
            else:
                module = _compat_pickle.IMPORT_MAPPING.get(module, module)
        full = f"{module}.{name}"
        self.said.globals[full] = None
        return Global(full)

    def persistent(self, identity: Any) -> None:
        if type(identity) is tuple and len(identity) == 4 and _value(identity[0]) == "module":
            self.said.module_ids = True
            self.stack.append(identity[1])
            return
        if not (type(identity) is tuple and _is_persistent_id(identity) and len(identity) in (5, 6)):
            raise CheckpointError("refers to something outside of its pickle that is no storage")
        kind, key, location, numel = identity[1:5]
        named = _value(key) if isinstance(key, Text) else None
        if not (isinstance(kind, Global) and named is not None and isinstance(location, Text)):
            raise CheckpointError("describes a storage in a way that no version of torch writes")
        type_name = kind.name.rpartition(".")[2]
        if type_name not in tables.STORAGES:
            raise CheckpointError(f"holds a storage of an unknown kind, {kind.name[:_LONGEST_NAME]}")
        if type(numel) is not int or numel < 0 or location.value is None:
            raise CheckpointError(f"is damaged: storage {named[:20]} has no size or no device")
        self.said.location_sites[location.site] = (location.literal, location.value)
        stored = self.said.storages.get(named)
        if stored is None:
            stored = self.said.storages[named] = Stored(type_name, named, location.value, numel)
        elif numel * tables.STORAGES[type_name][1] > stored.numel * tables.STORAGES[stored.type_name][1]:
            stored.type_name, stored.numel = (
                type_name,
                numel,
            )  # a slice may be described first; the record must hold the largest
        self.stack.append(stored)

    def call(self, made: Any, arguments: Any, depth: int = 0) -> Any:
        if not (isinstance(made, Global) and type(arguments) is tuple):
            return Thing("object", [made, arguments])
        name = made.name
        short = name.removeprefix("torch._utils.")
        if name == _TYPE_CALLS and len(arguments) == 4 and depth < _DEEPEST_CALL:
            return self.call(arguments[0], arguments[2], depth + 1)
        if name == "torch.device":
            self.said.devices.add(":".join(str(_value(argument))[:40] for argument in arguments[:2]))
            return Thing("device")
        if short in tables.REBUILT_FROM_STORAGE and arguments and isinstance(arguments[0], Stored):
            where = tables.REBUILT_FROM_STORAGE[short][1]
            stored = arguments[0]
            dtype = arguments[where] if where is not None and len(arguments) > where else None
            named = dtype.name if isinstance(dtype, Global) else ""
            stored.dtypes.add(named[6:] if named.startswith("torch.") else tables.STORAGES[stored.type_name][0])
            stored.tensors += 1
            held = [Tensor(stored), *(item for item in arguments[1:] if isinstance(item, (tuple, Thing)))]
            return held[0] if short != "_rebuild_qtensor" else Thing("object", held)
        if short in tables.REBUILT_FROM_TENSOR and arguments:
            return arguments[0] if len(arguments) < 4 else Thing("object", [arguments[0], arguments[3]])
        if short in tables.REBUILT_ON_DEVICE and len(arguments) > 2 and isinstance(arguments[2], Text):
            where_to = arguments[2]
            if where_to.value is not None:
                self.said.restored_on.add(where_to.value[:40])
                self.said.wrappers = True
        if short == "_rebuild_wrapper_subclass":
            self.said.wrappers = True
        if name in ("collections.OrderedDict", "collections.Counter", "collections.defaultdict"):
            return Thing("dict", [None, arguments] if arguments else None)
        return Thing(
            "object", [argument for argument in arguments if isinstance(argument, (tuple, Thing, Tensor, Stored))]
        )


def _value(item: Any) -> Any:
    return item.value if isinstance(item, Text) else item


def _is_persistent_id(item: tuple[Any, ...]) -> bool:
    return len(item) >= 5 and isinstance(item[0], Text) and item[0].value == "storage"


def interpret(data: bytes, start: int = 0) -> Pickled:
    """Reads the pickle that begins at `start`. Raises `CheckpointError`; `opcodes.Truncated` where the bytes end too early.

    Time and memory are linear in the number of instructions, which `opcodes.MAXIMUM` bounds.
    """
    return _Machine(data).run(start)


def _name_tensors(said: Pickled) -> None:
    """Gives storages the paths of their tensors, each value visited once however often the pickle shares it."""
    seen: set[int] = set()
    waiting: list[tuple[Any, str]] = [(said.result, "")]
    while waiting:
        value, path = waiting.pop()
        if isinstance(value, (Tensor, Stored)):
            stored = value.storage if isinstance(value, Tensor) else value
            if len(stored.names) < 3 and path and path not in stored.names:
                stored.names.append(path)
            continue
        if id(value) in seen or not isinstance(value, (Thing, tuple)):
            continue
        seen.add(id(value))
        children = list(_children(value, path))
        waiting.extend(reversed(children))


def _children(value: Any, path: str) -> list[tuple[Any, str]]:
    held = value if type(value) is tuple else value.held
    if not held:
        return []
    numbered = type(value) is tuple or value.kind == "list"
    if type(value) is not tuple and value.kind == "dict":
        pairs = zip(held[::2], held[1::2], strict=False)
        return [
            (item, _path(path, _value(key))) for key, item in pairs if isinstance(item, (Thing, tuple, Tensor, Stored))
        ]
    name: Callable[[int], str] = (lambda index: _path(path, index)) if numbered else (lambda index: path)
    return [(item, name(index)) for index, item in enumerate(held) if isinstance(item, (Thing, tuple, Tensor, Stored))]


def _path(path: str, key: Any) -> str:
    if len(path) > _LONGEST_NAME or not isinstance(key, (str, int)):
        return path
    return f"{path}.{key}" if path else str(key)
