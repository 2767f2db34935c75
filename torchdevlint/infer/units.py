"""A file as the analysis sees it: its names that never change, its classes, and a site for each operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from torchdevlint.infer.values import NUMBER, Cls, Const, Ext, Func, Ref, Site, Term, Tup, Value
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.roles import SETS_DEFAULT, SETS_TYPE
from torchdevlint.source.grounds import Ground
from torchdevlint.source.sieve import MODULES, SPELLINGS

_PLAIN_DECORATORS = frozenset({"staticmethod", "contextmanager", "asynccontextmanager", "lru_cache", "cache"})
_CHOOSES_CURRENT = frozenset({"set_device", "device_index", "set_device_index"})
REGISTERS = frozenset({"register_buffer", "register_parameter", "Parameter"})


_OF_LIBRARIES = tuple(name.decode() for name in MODULES)
_OF_DEVICE_CODE = frozenset(name.decode().strip(".(") for name in SPELLINGS)


def chooses_current_device(program: ir.Program) -> bool:
    """True where an accelerator is made the current one (`torch.cuda.set_device(1)`, `with torch.cuda.device(1)`)."""
    if not _CHOOSES_CURRENT.isdisjoint(program.words):
        return True
    for lookup in map(Lookup.of, program.bodies):
        cuda = {op.dst for op in lookup.attributes("cuda")}
        if any(op.object in cuda for op in lookup.attributes("device")):
            return True
        if any(op.qualified.startswith("torch.cuda.") for op in lookup.kind(ir.Import)):
            return True
    return False


def _is_of_either(ops: Sequence[ir.ValueOp | None]) -> bool:
    """True where a name is one thing or another: `try: import cupy as xp`, else `import numpy as xp`. Which of them, the run of the module tells.

    One thing that is imported by several ways keeps its name.
    """
    imported = [op.qualified for op in ops if isinstance(op, ir.Import) and not op.qualified.startswith(".")]
    return (
        len({one.partition(".")[0] for one in imported}) > 1 and len({one.rpartition(".")[2] for one in imported}) > 1
    )


class _Literals:
    """Expressions at the top of a file that mean the same whenever they are read. `stored` is what each name is bound to."""

    def __init__(self, made: dict[ir.Register, ir.ValueOp], stored: dict[str, list[ir.ValueOp | None]]) -> None:
        self._made, self._stored = made, stored

    def made_by(self, register: ir.Register) -> ir.ValueOp | None:
        """The operation that writes a register of the module."""
        return self._made.get(register)

    def of_name(self, op: ir.ValueOp | None) -> Value | None:
        """What a name is bound to once; not a flag, which other files set before it is read."""
        if isinstance(op, ir.Constant):
            is_flag = op.value is None or isinstance(op.value, bool)
            return None if is_flag or op.value != op.value else Const(op.value)
        called = self._imported(self._made.get(op.function)) if isinstance(op, ir.Call) else ""
        return NUMBER if called.startswith("logging.") else None

    def of_names(self, op: ir.ValueOp | None) -> Tup | None:
        """The names that a display lists, also in `frozenset({"mask", "length"})`."""
        if isinstance(op, ir.Call) and len(op.arguments) == 1:
            function = self._made.get(op.function)
            is_set = isinstance(function, ir.Load) and function.name in ("frozenset", "set", "tuple")
            op = self._made.get(op.arguments[0].value) if is_set else None
        parts = [self._made.get(one.value) for one in op.elements] if isinstance(op, ir.Sequence) else []
        names = [Const(one.value) for one in parts if isinstance(one, ir.Constant) and isinstance(one.value, str)]
        return Tup(tuple(names)) if names and len(names) == len(parts) else None

    def of_default(self, op: ir.ValueOp | None) -> Value | None:
        """What the default of a parameter is wherever its function is called: a literal, also below zero, a tuple of such, or what is imported."""
        if isinstance(op, ir.Constant):
            return Const(op.value)
        if isinstance(op, ir.Unary) and op.operator == "-":
            number = self._made.get(op.operand)
            is_number = isinstance(number, ir.Constant) and type(number.value) in (int, float)
            return Const(-number.value) if is_number and isinstance(number, ir.Constant) else None
        if isinstance(op, ir.Sequence) and op.shape == "tuple" and not any(one.starred for one in op.elements):
            parts = [self.of_default(self._made.get(one.value)) for one in op.elements]
            return None if None in parts else Tup(tuple(part for part in parts if part is not None))
        name = self._imported(op)
        return Ext(name) if name else None

    def _imported(self, op: ir.ValueOp | None) -> str:
        """The dotted name of what is imported, or read of it; empty for everything else."""
        if isinstance(op, ir.Attribute):
            owner = self._imported(self._made.get(op.object))
            return f"{owner}.{op.name}" if owner else ""
        imports = self._stored.get(op.name, []) if isinstance(op, ir.Load) else [op]
        only = imports[0] if len(imports) == 1 else None
        return only.qualified if isinstance(only, ir.Import) else ""


class Unit:
    """One file. `path` is absolute, empty for a text that stands alone."""

    def __init__(self, program: ir.Program, path: str = "") -> None:
        self.program, self.path = program, path
        self.globals = Ref(("globals", self))
        self.bounds: Counter[str] = Counter()
        self.looked_into: set[str] = set()  # other files, by their paths
        self.class_fields: dict[ir.Class, dict[Any, Value]] = {}
        self.rows: dict[ir.Class, Value] = {}  # what `namedtuple` made, of which a class derives
        # What decorators were given, by the frames of what they have made.
        self.closures: dict[Any, dict[Any, Value]] = {}
        self.decorated: dict[str, Value] = {}  # functions of the module that such decorators have made
        self.sets_default = not SETS_DEFAULT.isdisjoint(program.words)
        self.default_set_elsewhere = False  # by a file that imports this one
        self.sets_type = (
            SETS_TYPE in program.words
        )  # so does what sets the default tensor type, of which `torch.Tensor` is
        self.ground: Ground | None = None  # of the run of its module
        self._sites: dict[int, Site] = {}
        self._captured: dict[ir.Body, frozenset[str]] = {}

    def __repr__(self) -> str:
        return f"Unit({self.path or '<text>'})"

    def site(self, op: ir.Op, body: ir.Body) -> Site:
        """The site of an operation."""
        found = self._sites.get(id(op))
        if found is None:
            found = self._sites[id(op)] = Site(op, body, self)
        return found

    def standing(self) -> tuple[Any, ...]:
        """What is read of the file's functions without asking for their summaries."""
        methods = [(name, method) for cls in self.program.classes for name, method in cls.methods.items()]
        return (
            self.global_stores,
            self.set_of_others,
            self.set_of_classes,
            SETS_DEFAULT.isdisjoint(self.program.words),
            self.chooses_current_device,
            self.is_looked_at,
            [self.is_of_constructors(name) for name, _ in methods],
            [REGISTERS.isdisjoint(self.attributes_read(method)) for _, method in methods],
            [op.value for cls in self.program.classes for op in Lookup.of(cls.body).kind(ir.Constant)],
        )

    def forget(self, replaced: list[ir.Op]) -> None:
        """What was read of the operations of the file, before these were replaced."""
        for name in [name for name in self.__dict__ if name in _CACHED and name not in OF_OUTLINE]:
            del self.__dict__[name]
        self._captured.clear()
        for op in replaced:
            self._sites.pop(id(op), None)

    @cached_property
    def is_looked_at(self) -> bool:
        """False for a file without any word of tensors, of which no rule is asked (`torchdevlint.source.sieve`)."""
        words = self.program.words
        return not words.isdisjoint(_OF_DEVICE_CODE) or any(name in word for word in words for name in _OF_LIBRARIES)

    @cached_property
    def chooses_current_device(self) -> bool:
        """True where the file makes an accelerator the current one."""
        return chooses_current_device(self.program)

    @cached_property
    def global_stores(self) -> frozenset[str]:
        """Names that functions bind with `global`."""
        return frozenset(name for body in self.program.bodies for name in body.global_names)

    @cached_property
    def set_of_others(self) -> frozenset[str]:
        """The attributes that a function sets of another object than its own: `self.agent.is_ready = True`."""
        return frozenset(
            op.name
            for body in self.program.bodies
            for op in Lookup.of(body).kind(ir.StoreAttribute)
            if not _is_receiver(body, op.object)
        )

    @cached_property
    def set_of_classes(self) -> frozenset[str]:
        """The attributes of classes that functions set: `Scaler.mean = mean`, `cls.mean = mean`, `type(self).mean = mean`."""
        return frozenset(
            op.name
            for body in self.program.bodies
            if body.kind == "function"
            for op in Lookup.of(body).kind(ir.StoreAttribute)
            if self._is_class(body, op.object)
        )

    def _is_class(self, body: ir.Body, register: ir.Register) -> bool:
        read = Lookup.of(body).definition(register)
        if isinstance(read, ir.Load):
            is_first = bool(body.parameters) and read.name == body.parameters[0].name
            return (is_first and body.is_class_method) or isinstance(self.statics.get(read.name), Cls)
        if isinstance(read, ir.Call):
            return Lookup.of(body).called(read) == "type"
        return isinstance(read, ir.Attribute) and read.name == "__class__"

    @cached_property
    def programs(self) -> frozenset[str]:
        """The functions that the module itself calls, such as `main`: each is a whole program."""
        module = self.program.module
        calls = (op.function for block in module.blocks for op in block.ops if isinstance(op, ir.Call))
        loads = (Lookup.of(module).definition(called) for called in calls)
        return frozenset(op.name for op in loads if isinstance(op, ir.Load))

    @cached_property
    def stars(self) -> tuple[str, ...]:
        """The modules of which the file imports every name, the last one first: its names stand above those of the others."""
        ops = [op for block in self.program.module.blocks for op in block.ops]
        return tuple(op.qualified for op in reversed(ops) if isinstance(op, ir.Import) and op.name == "*")

    @cached_property
    def statics(self) -> dict[str, Value]:
        """Module-level names that are bound to functions, classes and imports alone, or once to what no caller needs to decide."""
        stored: dict[str, list[ir.ValueOp | None]] = {}
        made: dict[ir.Register, ir.ValueOp] = {}
        where: dict[str, int] = {}
        for block in self.program.module.blocks:
            for op in block.ops:
                if isinstance(op, ir.ValueOp):
                    made[op.dst] = op
                elif isinstance(op, ir.Store):
                    stored.setdefault(op.name, []).append(made.get(op.value))
                    where[op.name] = block.index
        literals = _Literals(made, stored)
        found: dict[str, Value] = {}
        for name, ops in stored.items():
            value: Value | None = None
            if name in self.global_stores or _is_of_either(ops):
                continue
            if all(isinstance(op, (ir.MakeFunction, ir.MakeClass, ir.Import)) for op in ops):
                is_certain = len(ops) == 1 or isinstance(ops[0], ir.Import) or self._is_always_run(where[name])
                value = self._static(ops[-1], literals) if is_certain else None
            elif all(isinstance(op, ir.Import) or (isinstance(op, ir.Constant) and op.value is None) for op in ops):
                # `except ImportError: name = None`: what needs it is not run without it
                value = self._static(next((op for op in ops if isinstance(op, ir.Import)), None), literals)
            elif len(ops) == 1:
                value = literals.of_name(ops[0])
                if value is None and self._is_looked_through_alone(name):
                    value = literals.of_names(ops[0])
            if value is not None:
                found[name] = value
        return found

    def _is_looked_through_alone(self, name: str) -> bool:
        """True for a name of the module of which this file asks nothing but what it holds: `key in KEPT`, `for key in KEPT:`."""
        readers = (
            reader
            for body in self.program.bodies
            for load in Lookup.of(body).kind(ir.Load)
            if load.name == name
            for reader in Lookup.of(body).readers(load.dst)
        )
        return all(isinstance(reader, (ir.Compare, ir.Iterate)) for reader in readers)

    def _is_always_run(self, block: int) -> bool:
        """True for a block of the module through which each run of it comes."""
        cfg = Cfg.of(self.program.module)
        last = cfg.last_certain
        return last is not None and cfg.block_dominates(block, last)

    def _static(self, op: ir.ValueOp | None, literals: _Literals) -> Value | None:
        if isinstance(op, ir.Import):
            return Ext(op.qualified)
        if isinstance(op, ir.MakeClass):
            return Cls(op.cls, self.globals)
        if not isinstance(op, ir.MakeFunction):
            return None
        function = op.function
        if any(
            name not in _PLAIN_DECORATORS and not name.startswith(("functools.", "torch.", "contextlib."))
            for name in function.decorators
        ):
            return None
        defaults = []
        for parameter in function.parameters:
            if parameter.default is not None:
                default = literals.of_default(literals.made_by(parameter.default))
                if default is None:
                    return None
                defaults.append((parameter.name, default))
        return Func(function, self.globals, None, tuple(defaults))

    @cached_property
    def _readers(self) -> dict[str, set[ir.Body]]:
        """The bodies that read an attribute of a name."""
        found: dict[str, set[ir.Body]] = {}
        for body in self.program.bodies:
            for block in body.blocks:
                for op in block.ops:
                    if isinstance(op, ir.Attribute):
                        found.setdefault(op.name, set()).add(body)
        return found

    def attributes_read(self, body: ir.Body) -> set[str]:
        """The names of the attributes that a body reads."""
        return {op.name for block in body.blocks for op in block.ops if isinstance(op, ir.Attribute)}

    def members(self, cls: ir.Class) -> set[str]:
        """The names of the methods of a class of this file, of what its body binds, and of the attributes that its methods set."""
        found = {*cls.methods, *cls.body.local_names}
        for body in cls.methods.values():
            found |= attributes_set(body)
        return found - {"__init__"}

    @cached_property
    def methods(self) -> frozenset[str]:
        """The names of the methods of all classes of the file."""
        return frozenset(name for cls in self.program.classes for name in cls.methods)

    def is_of_constructors(self, name: str) -> bool:
        """True for a method that constructors of this file alone call, before anything moves."""
        readers = self._readers.get(name)
        return (
            name not in ("forward", "__call__") and bool(readers) and all(r.name == "__init__" for r in readers or ())
        )

    @cached_property
    def subclasses(self) -> dict[ir.Class, list[ir.Class]]:
        """The classes of this file that derive from another one of it."""
        found: dict[ir.Class, list[ir.Class]] = {}
        for cls in self.program.classes:
            for base in cls.bases:
                value = self.statics.get(base)
                if isinstance(value, Cls):
                    found.setdefault(value.cls, []).append(cls)
        return found

    @cached_property
    def receivers(self) -> dict[Term, Cls]:
        """The first parameter of each method, and its class."""
        found = {}
        for body in self.program.bodies:
            if body.kind == "function" and body.owner is not None and body.parameters and not body.needs_no_object:
                found[Term("parameter", body, body.parameters[0].name)] = Cls(body.owner, self.globals)
        return found

    def captured(self, body: ir.Body) -> frozenset[str]:
        """Names of a body that bodies inside it read or bind."""
        found = self._captured.get(body)
        if found is None:
            found = self._captured[body] = frozenset(_captured(body))
        return found


# Of the module and of what functions there are.
OF_OUTLINE = frozenset({"statics", "stars", "programs", "subclasses", "receivers", "methods"})
_CACHED = frozenset(name for name, member in vars(Unit).items() if isinstance(member, cached_property))


def _is_receiver(body: ir.Body, register: ir.Register) -> bool:
    read = Lookup.of(body).definition(register)
    is_method = body.owner is not None and bool(body.parameters)
    return is_method and isinstance(read, ir.Load) and read.name == body.parameters[0].name


def attributes_set(body: ir.Body) -> set[str]:
    """The attributes that a body sets, of whatever object."""
    return {op.name for block in body.blocks for op in block.ops if isinstance(op, ir.StoreAttribute)}


def _captured(body: ir.Body) -> set[str]:
    found: set[str] = set()
    if body.kind not in ("function", "lambda"):
        return found
    pending = [*body.functions, *(inner for cls in body.classes for inner in (cls.body, *cls.methods.values()))]
    while pending:
        inner = pending.pop()
        pending += inner.functions
        for block in inner.blocks:
            found |= {op.name for op in block.ops if isinstance(op, ir.Load) and op.name in body.local_names}
        found |= inner.nonlocal_names & body.local_names
    return found
