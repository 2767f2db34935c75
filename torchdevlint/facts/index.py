"""One look over a body before it is interpreted: who wrote each register, and how names are used.

Usage is the third source of kinds, behind annotations and constructors (RULES.md, Appendix B): a name on which `.unsqueeze` is called holds
a tensor, one whose `.parameters()` are asked for holds a module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from torchdevlint.facts.naming import looks_like_device
from torchdevlint.facts.values import Evidence, Kind
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs.knowledge import methods
from torchdevlint.stubs.knowledge.tensor_attributes import TENSOR_ATTRIBUTES

_Answer = TypeVar("_Answer")


@dataclass(slots=True)
class NameUse:
    """How one name (or path such as `self.net`) is used in a body."""

    attributes: set[str] = field(default_factory=set)
    torch_argument: bool = False  # given to a torch function
    module_argument: bool = False  # given to a submodule: `self.conv(x)`
    method_argument: bool = (
        False  # given to a method of the class itself, which may want anything: `self.update(model)`
    )
    host_argument: bool = False  # given to numpy or another host library
    arithmetic: bool = False
    index: bool = False  # what something is indexed with: `table[x]`
    called: bool = False
    gives_dtype: bool = False  # `dtype=x.dtype` of a torch function: x is a tensor, an array's dtype would raise
    is_converted: bool = (
        False  # bound anew to `torch.tensor(...)`: what is done with it from then on tells nothing of what was given
    )
    is_pipeline: bool = False  # by its name: it can be moved and called, and moves its inputs itself

    @property
    def is_module_call(self) -> bool:
        """True for a call which, of something that can be moved, only a module answers."""
        return self.called and not self.is_pipeline

    def kind(self) -> tuple[Kind, Evidence]:
        """What the use proves, and how well."""
        kind, evidence = self._shown_kind()
        if kind is Kind.TENSOR and not self.attributes <= TENSOR_ATTRIBUTES:
            return Kind.UNKNOWN, Evidence.NONE
        return kind, evidence

    @property
    def is_tensor_dtype(self) -> bool:
        """True where `x.dtype` of the name is given to torch, and nothing is read of it that no tensor has."""
        return self.gives_dtype and self.attributes <= TENSOR_ATTRIBUTES

    def _shown_kind(self) -> tuple[Kind, Evidence]:
        used = self.attributes
        if used & methods.MODULE_STRONG:
            return Kind.MODULE, Evidence.STRONG
        if used & methods.OPTIMIZER_ONLY or {"step", "zero_grad"} <= used:
            return Kind.OPTIMIZER, Evidence.STRONG
        if used & methods.TENSOR_ONLY and not self.called:
            return Kind.TENSOR, Evidence.USAGE
        if used & methods.MODULE_ONLY or ("weight" in used and used & methods.LAYER_SIZES):
            return Kind.MODULE, Evidence.USAGE
        if self.called:
            if used & methods.MOVES and self.is_module_call:
                return Kind.MODULE, Evidence.USAGE  # nothing else can be moved and called
            return Kind.UNKNOWN, Evidence.NONE
        if "device" in used and "shape" in used and not self.host_argument:
            return Kind.TENSOR, Evidence.USAGE
        if self.torch_argument and not self.host_argument:
            return Kind.TENSOR, Evidence.USAGE
        shown = used & methods.TENSOR_WEAK
        if (self.module_argument and shown) or (self.method_argument and shown - methods.OF_MODULES_TOO):
            return Kind.TENSOR, Evidence.USAGE
        if self.arithmetic and (self.module_argument or self.method_argument):
            return Kind.TENSOR, Evidence.USAGE
        if used & methods.TENSOR_WEAK - {"dtype", "item", "max", "min", "sum", "mean", "to"} and not self.host_argument:
            return Kind.TENSOR, Evidence.NAME
        return Kind.UNKNOWN, Evidence.NONE


_NO_USE = NameUse()


@dataclass(slots=True)
class BodyIndex:
    """What one pass over the operations of a body tells."""

    definitions: list[ir.Op | None]
    uses: dict[str, NameUse]
    self_name: str
    body: ir.Body
    self_calls: set[str] = field(default_factory=set)
    self_reads: set[str] = field(default_factory=set)
    stored: dict[str, list[ir.Register]] = field(default_factory=dict)  # what is bound to each name, block by block
    local_calls: list[tuple[str, ir.Call]] = field(default_factory=list)  # of `name(...)` and `self.name(...)`
    _device_places: tuple[str, ...] | None = None
    _answers: dict[Any, Any] = field(default_factory=dict)

    def use(self, path: str) -> NameUse:
        """How `path` is used; an empty use for one that is not."""
        return self.uses.get(path, _NO_USE)

    def bound_to(self, name: str) -> list[ir.Register]:
        """The values that are bound to a name here, block by block."""
        return self.stored.get(name, [])

    def once(self, question: Callable[[BodyIndex], _Answer]) -> _Answer:
        """The answer to a question about what is written in this body, which is kept."""
        if question not in self._answers:
            self._answers[question] = question(self)
        answer: _Answer = self._answers[question]
        return answer

    def names_of(self, register: ir.Register) -> list[str]:
        """The names that are bound to a value."""
        return self.once(_names).get(register, [])

    def bound_once(self, name: str) -> ir.Op | None:
        """The operation that made what a name is bound to; None where it is bound more than once, or not here."""
        values = self.bound_to(name)
        return self.definitions[values[0]] if len(values) == 1 else None

    def dotted(self, register: ir.Register) -> str:
        """The names that an expression is written with ("a.b.c"); "" for anything else, ".b" for an attribute of anything else."""
        written = self.definitions[register]
        if isinstance(written, ir.Attribute):
            return f"{self.dotted(written.object)}.{written.name}"
        return written.name if isinstance(written, ir.Load) else ""

    def takes_from_anywhere(self, name: str) -> bool:
        """True for an argument that the body never reads, or moves before all else, as a whole or part by part."""
        loads = [op for op in self._in_order() if isinstance(op, ir.Load) and op.name == name]
        tested = {
            op.left for op in self._in_order() if isinstance(op, ir.Compare) and op.operators[0] in ("is", "is not")
        }
        read = [op.dst for op in loads if op.dst not in tested]
        if not read:
            is_parameter = any(parameter.name == name for parameter in self.body.parameters)
            return is_parameter and not self.body.functions
        return self._rebinds_moved(name, read[0]) or self._moves_parts(name, read)

    def _rebinds_moved(self, name: str, first: ir.Register) -> bool:
        """True where the first read of a name is that in `name = name.to(...)`."""
        for op in self._in_order():
            if isinstance(op, ir.Store) and op.name == name:
                made = self.definitions[op.value]
                method = self.definitions[made.function] if isinstance(made, ir.Call) else None
                return isinstance(method, ir.Attribute) and method.name in methods.MOVES and method.object == first
        return False

    def _moves_parts(self, name: str, read: list[ir.Register]) -> bool:
        """True for `name["x"].to(...)` where nothing is computed with the whole."""
        use, parts, moved = self.use(name), set(read), False
        for op in self._in_order():
            if isinstance(op, ir.Subscript) and op.object in parts:
                parts.add(op.dst)
            elif isinstance(op, ir.Attribute) and op.object in parts - set(read):
                moved = moved or op.name in methods.MOVES
        return moved and not (use.torch_argument or use.module_argument or use.method_argument or use.arithmetic)

    def _in_order(self) -> Iterator[ir.Op]:
        return (op for number in Cfg.of(self.body).loops_first for op in self.body.blocks[number].ops)

    @property
    def device_places(self) -> tuple[str, ...]:
        """The names and paths of this body that speak of a device, `device` first and the others by the alphabet."""
        found = self._device_places
        if found is None:
            places = {parameter.name for parameter in self.body.parameters} | self.stored.keys()
            lookup = Lookup.of(self.body)
            places.update(declared.name for declared in lookup.kind(ir.Declare))
            attributes: list[ir.Attribute | ir.StoreAttribute] = [*lookup.kind(ir.Attribute)]
            attributes += lookup.kind(ir.StoreAttribute)
            for op in attributes:
                if base := lookup.path(op.object):
                    places.add(f"{base}.{op.name}")
            named = sorted((place != "device", place) for place in places if looks_like_device(place))
            found = self._device_places = tuple(place for _, place in named)
        return found


def _names(index: BodyIndex) -> dict[ir.Register, list[str]]:
    found: dict[ir.Register, list[str]] = {}
    for name, values in index.stored.items():
        for value in values:
            found.setdefault(value, []).append(name)
    return found


def of(body: ir.Body, aliases: dict[str, str]) -> BodyIndex:
    """The index of a body, made once for the same imports: an editor asks for the bodies that did not change at every key."""
    if body.index is not None and body.index[0] == aliases:
        found: BodyIndex = body.index[1]
        return found
    found = build(body, aliases)
    body.index = aliases, found
    return found


def build(body: ir.Body, aliases: dict[str, str]) -> BodyIndex:
    """Index a body; `aliases` maps the file's imported names to dotted names."""
    definitions: list[ir.Op | None] = [None] * body.register_count
    lookup = Lookup.of(body)
    for op in lookup.all:
        if isinstance(op, ir.ValueOp):
            definitions[op.dst] = op
    found = BodyIndex(definitions, {}, _self_name(body), body)
    _Reading(found, lookup, aliases).read()
    return found


def _self_name(body: ir.Body) -> str:
    if body.kind != "function" or not body.parameters or not body.is_bound:
        return ""
    return body.parameters[0].name


_TENSOR_LIBRARIES = frozenset({"torch", "torchvision", "torch_scatter", "einops"})
_HOST_LIBRARIES = frozenset("numpy scipy pandas matplotlib sklearn cv2 PIL math random tensorflow jax".split())


class _Reading:
    """The one look over a body that fills its index."""

    def __init__(self, index: BodyIndex, lookup: Lookup, aliases: dict[str, str]) -> None:
        self._index, self._lookup, self._aliases = index, lookup, aliases
        self._definitions, self._path = index.definitions, lookup.path

    def read(self) -> None:
        """Take every operation into account."""
        index, lookup = self._index, self._lookup
        for read in lookup.kind(ir.Attribute):
            if path := self._path(read.object):
                self._use(path).attributes.add(read.name)
                if path == index.self_name:
                    index.self_reads.add(read.name)
        for call in lookup.kind(ir.Call):
            self._read_call(call)
        for binary in lookup.kind(ir.Binary):
            for register in (binary.left, binary.right):
                if path := self._path(register):
                    self._use(path).arithmetic = True
        for item in lookup.kind(ir.Subscript):
            if path := self._path(item.index):
                self._use(path).index = True
        for store in lookup.kind(ir.Store):
            index.stored.setdefault(store.name, []).append(store.value)
            if self._makes_from_data(self._definitions[store.value]):
                self._use(store.name).is_converted = True

    def _use(self, path: str) -> NameUse:
        found = self._index.uses.get(path)
        if found is None:
            found = self._index.uses[path] = NameUse(is_pipeline="pipe" in path.lower())
        return found

    def _read_call(self, op: ir.Call) -> None:
        callee, self_name = self._path(op.function), self._index.self_name
        root, _, rest = callee.partition(".")
        imported = self._aliases.get(root, "") if callee else ""
        if callee and not imported:
            self._use(callee).called = True
        is_own = bool(self_name) and root == self_name and bool(rest)
        if is_own and "." not in rest:
            self._index.self_calls.add(rest)
        if callee and (root == self_name or not rest) and "." not in rest and root not in self._aliases:
            self._index.local_calls.append((rest or root, op))
        library = imported.partition(".")[0]
        if library in _TENSOR_LIBRARIES and imported not in ("torch.utils", "torch.optim", "torch.distributed"):
            self._read_torch_call(op, imported, f"{imported}.{rest}" if rest else imported)
        elif library in _HOST_LIBRARIES:
            for path in self._given(op):
                self._use(path).host_argument = True
        elif is_own:
            methods_of_class = self._index.body.owner.methods if self._index.body.owner is not None else {}
            for path in self._given(op):
                if rest in methods_of_class:
                    self._use(path).method_argument = True
                else:
                    self._use(path).module_argument = True

    def _given(self, op: ir.Call) -> Iterator[str]:
        """What a call is given by position, as far as it has a name."""
        for argument in op.arguments:
            if argument.keyword is None and not argument.star and (path := self._path(argument.value)):
                yield path

    def _read_torch_call(self, op: ir.Call, imported: str, name: str) -> None:
        if name.rpartition(".")[2] in _JOINS or name == "einops.pack":
            for part in self._elements(op):
                self._use(part).torch_argument = True
        if imported == "torch":
            read = self._definitions[given] if (given := op.keyword("dtype")) is not None else None
            if isinstance(read, ir.Attribute) and read.name == "dtype" and (path := self._path(read.object)):
                self._use(path).gives_dtype = True
        if _takes_sizes(name):
            return  # `torch.zeros(n)` says nothing of n
        for argument in op.arguments:
            if argument.keyword is None and not argument.star:
                path = self._path(argument.value)
                if not path and imported.partition(".")[0] == "torch":
                    path = self._scaled(argument.value)  # an array there would raise
                if path:
                    self._use(path).torch_argument = True
                    return  # only the first argument is a tensor for sure

    def _scaled(self, register: ir.Register) -> str:
        """The name in arithmetic with numbers: `logvar` of `0.5 * logvar`."""
        written = self._definitions[register]
        if isinstance(written, ir.Unary) and written.operator == "-":
            return self._path(written.operand) or self._scaled(written.operand)
        if not isinstance(written, ir.Binary):
            return ""
        for number, other in ((written.left, written.right), (written.right, written.left)):
            constant = self._definitions[number]
            if isinstance(constant, ir.Constant) and isinstance(constant.value, (int, float)):
                return self._path(other) or self._scaled(other)
        return ""

    def _makes_from_data(self, op: ir.Op | None) -> bool:
        """True for `torch.tensor(...)` and `torch.from_numpy(...)`: what they are given is seldom a tensor."""
        if not isinstance(op, ir.Call):
            return False
        root, _, rest = self._path(op.function).partition(".")
        return f"{self._aliases.get(root, '')}.{rest}" in ("torch.tensor", "torch.from_numpy")

    def _elements(self, op: ir.Call) -> list[str]:
        """The names in the display that `torch.cat([a, b])` is given: tensors, all of them."""
        first = op.argument("tensors", 0)
        display = self._definitions[first] if first is not None else None
        if not isinstance(display, ir.Sequence):
            return []
        return [path for e in display.elements if not e.starred and (path := self._path(e.value))]


_JOINS = frozenset("cat concat concatenate stack hstack vstack dstack column_stack block_diag".split())
_NO_TENSOR_ARGUMENT = frozenset(
    "zeros ones empty rand randn full arange linspace logspace eye randint randperm tensor as_tensor device load save manual_seed Tensor FloatTensor "
    "LongTensor ByteTensor from_numpy no_grad is_tensor Size Generator set_grad_enabled cat stack asarray normal compile hstack vstack "
    "einsum tril_indices triu_indices set_default_dtype set_default_tensor_type hann_window clone_module finfo IntTensor BoolTensor "
    "DoubleTensor hamming_window blackman_window bartlett_window kaiser_window typename autocast is_floating_point set_num_threads".split()
)


def _takes_sizes(qualified: str) -> bool:
    head, _, last = qualified.rpartition(".")
    if head == "einops":
        return last not in ("rearrange", "reduce", "repeat")
    if head == "torch":
        return last in _NO_TENSOR_ARGUMENT
    return head not in ("torch.nn.functional", "torch.linalg", "torch.fft", "torch.special")
