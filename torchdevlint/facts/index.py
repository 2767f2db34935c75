"""One look over a body before it is interpreted: who wrote each register, and how names are used.

Usage is the third source of kinds, behind annotations and constructors (RULES.md, Appendix B): a name on which `.unsqueeze` is called holds
a tensor, one whose `.parameters()` are asked for holds a module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from torchdevlint.facts.naming import looks_like_device
from torchdevlint.facts.values import Evidence, Kind
from torchdevlint.program import ir
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
    self_calls: frozenset[str]
    self_stores: frozenset[str]
    self_reads: frozenset[str]
    self_fills: frozenset[str]  # attributes of self into which an entry is stored
    extended: frozenset[str]  # names through which an attribute or element is stored
    order: list[int]  # reverse postorder of the blocks
    has_loop: bool
    stored: dict[str, list[ir.Register]]  # the values that are bound to each name, block by block
    body: ir.Body
    local_calls: tuple[tuple[str, ir.Call], ...] = ()  # calls of `name(...)` and `self.name(...)`, by name
    _readers: Readers | None = None
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
        return (op for number in self.order for op in self.body.blocks[number].ops)

    @property
    def readers(self) -> Readers:
        """What is done with the very value of each register; looked up when it is first asked for."""
        found = self._readers
        if found is None:
            found = self._readers = _readers_in(self.body)
        return found

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
                if base := _path(self.definitions, op.object):
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


class Readers(NamedTuple):
    """By register: the attributes that are read of it, and the first operation that gives it a name."""

    attributes: dict[ir.Register, set[str]]
    stores: dict[ir.Register, ir.Store | ir.StoreAttribute]


def _readers_in(body: ir.Body) -> Readers:
    found = Readers({}, {})
    for block in body.blocks:
        for op in block.ops:
            if isinstance(op, ir.Attribute):
                found.attributes.setdefault(op.object, set()).add(op.name)
            elif isinstance(op, (ir.Store, ir.StoreAttribute)):
                found.stores.setdefault(op.value, op)
    return found


def _path(definitions: list[ir.Op | None], register: ir.Register) -> str:
    op = definitions[register]
    if isinstance(op, ir.Load):
        return op.name
    if isinstance(op, ir.Attribute):
        base = _path(definitions, op.object)
        return f"{base}.{op.name}" if base else ""
    return ""


def _reverse_postorder(blocks: list[ir.Block]) -> tuple[list[int], bool]:
    """The blocks in reverse postorder from the entry, and whether an edge goes back."""
    state = [0] * len(blocks)
    order: list[int] = []
    has_loop = False
    stack: list[tuple[int, int]] = [(0, 0)]
    state[0] = 1
    while stack:
        block, at = stack[-1]
        successors = blocks[block].successors
        if at < len(successors):
            stack[-1] = (block, at + 1)
            successor = successors[-1 - at]  # the way out of a loop first, so that it comes last
            if state[successor] == 0:
                state[successor] = 1
                stack.append((successor, 0))
            elif state[successor] == 1:
                has_loop = True
        else:
            state[block] = 2
            order.append(block)
            stack.pop()
    order.reverse()
    return order, has_loop


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
    for block in body.blocks:
        for op in block.ops:
            if isinstance(op, ir.ValueOp):
                definitions[op.dst] = op
    uses: dict[str, NameUse] = {}
    self_name = _self_name(body)
    own_methods = body.owner.methods if self_name and body.owner is not None else {}
    self_calls: set[str] = set()
    self_stores: set[str] = set()
    self_reads: set[str] = set()
    self_fills: set[str] = set()
    extended: set[str] = set()
    stored: dict[str, list[ir.Register]] = {}
    local_calls: list[tuple[str, ir.Call]] = []

    def use(path: str) -> NameUse:
        found = uses.get(path)
        if found is None:
            found = uses[path] = NameUse(is_pipeline="pipe" in path.lower())
        return found

    for block in body.blocks:
        for op in block.ops:
            kind = type(op)
            if kind is ir.Attribute:
                path = _path(definitions, op.object)  # type: ignore[attr-defined]
                if path:
                    use(path).attributes.add(op.name)  # type: ignore[attr-defined]
                    if path == self_name:
                        self_reads.add(op.name)  # type: ignore[attr-defined]
            elif kind is ir.Call:
                callee = _path(definitions, op.function)  # type: ignore[attr-defined]
                _index_call(op, callee, definitions, aliases, self_name, self_calls, own_methods, use)  # type: ignore[arg-type]
                root, _, rest = callee.partition(".")
                if callee and (root == self_name or not rest) and "." not in rest and root not in aliases:
                    local_calls.append((rest or root, op))  # type: ignore[arg-type]
            elif kind is ir.Binary:
                for register in (op.left, op.right):  # type: ignore[attr-defined]
                    path = _path(definitions, register)
                    if path:
                        use(path).arithmetic = True
            elif kind is ir.Subscript:
                path = _path(definitions, op.index)  # type: ignore[attr-defined]
                if path:
                    use(path).index = True
            elif kind is ir.StoreAttribute:
                base = _path(definitions, op.object)  # type: ignore[attr-defined]
                if base:
                    extended.add(base.partition(".")[0])
                    if base == self_name:
                        self_stores.add(op.name)  # type: ignore[attr-defined]
            elif kind is ir.StoreSubscript:
                base = _path(definitions, op.object)  # type: ignore[attr-defined]
                if base:
                    root, _, name = base.partition(".")
                    extended.add(root)
                    if root == self_name and name:
                        self_fills.add(name)
            elif kind is ir.Store:
                stored.setdefault(op.name, []).append(op.value)  # type: ignore[attr-defined]
                if _makes_from_data(definitions, definitions[op.value], aliases):  # type: ignore[attr-defined]
                    use(op.name).is_converted = True  # type: ignore[attr-defined]
    order, has_loop = _reverse_postorder(body.blocks)
    return BodyIndex(
        definitions,
        uses,
        self_name,
        frozenset(self_calls),
        frozenset(self_stores),
        frozenset(self_reads),
        frozenset(self_fills),
        frozenset(extended),
        order,
        has_loop,
        stored,
        body,
        tuple(local_calls),
    )


def _self_name(body: ir.Body) -> str:
    if body.kind != "function" or not body.parameters or not body.is_bound:
        return ""
    return body.parameters[0].name


def _index_call(op: ir.Call, callee: str, definitions, aliases, self_name, self_calls, methods_of_class, use) -> None:  # type: ignore[no-untyped-def]
    root, _, rest = callee.partition(".")
    qualified = aliases.get(root, "") if callee else ""
    is_torch = qualified.partition(".")[0] in (
        "torch",
        "torchvision",
        "torch_scatter",
        "einops",
    ) and not _host_function(qualified, rest)
    is_host = qualified.partition(".")[0] in (
        "numpy",
        "scipy",
        "pandas",
        "matplotlib",
        "sklearn",
        "cv2",
        "PIL",
        "math",
        "random",
        "tensorflow",
        "jax",
    )
    is_module = bool(self_name) and root == self_name and bool(rest)
    if callee and not qualified:
        use(callee).called = True
    if is_module and "." not in rest:
        self_calls.add(rest)
    if not (is_torch or is_host or is_module):
        return
    # `torch.zeros(n)` says nothing of n; the operands of other functions are tensors.
    sized = is_torch and _takes_sizes(f"{qualified}.{rest}" if rest else qualified)
    joins = (is_torch and rest.rpartition(".")[2] in _JOINS) or qualified.rpartition(".")[2] in _JOINS
    if joins or (f"{qualified}.{rest}" if rest else qualified) == "einops.pack":
        for part in _elements(definitions, op):
            use(part).torch_argument = True
    for argument in op.arguments:
        if argument.keyword == "dtype" and qualified == "torch":
            read = definitions[argument.value]
            if isinstance(read, ir.Attribute) and read.name == "dtype" and (of := _path(definitions, read.object)):
                use(of).gives_dtype = True
        if argument.keyword is not None or argument.star:
            continue
        path = _path(definitions, argument.value)
        if not path and is_torch and not sized and qualified.partition(".")[0] == "torch":
            path = _scaled(definitions, argument.value)  # an array there would raise
        if not path:
            continue
        if is_torch and not sized:
            use(path).torch_argument = True
            sized = True  # only the first argument is a tensor for sure
        elif is_host:
            use(path).host_argument = True
        elif is_module and rest in methods_of_class:
            use(path).method_argument = True
        elif is_module:
            use(path).module_argument = True


def _scaled(definitions: list[ir.Op | None], register: ir.Register) -> str:
    """The name in arithmetic with numbers: `logvar` of `0.5 * logvar`."""
    written = definitions[register]
    if isinstance(written, ir.Unary) and written.operator == "-":
        return _path(definitions, written.operand) or _scaled(definitions, written.operand)
    if not isinstance(written, ir.Binary):
        return ""
    for number, other in ((written.left, written.right), (written.right, written.left)):
        if isinstance(constant := definitions[number], ir.Constant) and isinstance(constant.value, (int, float)):
            return _path(definitions, other) or _scaled(definitions, other)
    return ""


def _makes_from_data(definitions: list[ir.Op | None], op: ir.Op | None, aliases: dict[str, str]) -> bool:
    """True for `torch.tensor(...)` and `torch.from_numpy(...)`: what they are given is seldom a tensor."""
    if not isinstance(op, ir.Call):
        return False
    root, _, rest = _path(definitions, op.function).partition(".")
    return f"{aliases.get(root, '')}.{rest}" in ("torch.tensor", "torch.from_numpy")


_JOINS = frozenset("cat concat concatenate stack hstack vstack dstack column_stack block_diag".split())


def _elements(definitions: list[ir.Op | None], op: ir.Call) -> list[str]:
    """The names in the display that `torch.cat([a, b])` is given: tensors, all of them."""
    first = op.argument("tensors", 0)
    display = definitions[first] if first is not None else None
    if not isinstance(display, ir.Sequence):
        return []
    return [path for e in display.elements if not e.starred and (path := _path(definitions, e.value))]


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


def _host_function(qualified: str, rest: str) -> bool:
    return qualified in ("torch.utils", "torch.optim", "torch.distributed")
