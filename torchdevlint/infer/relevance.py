"""What a claim that does not hold is about: whether it is worth telling, and what the tensor on the CPU was made for."""

from __future__ import annotations

from torchdevlint.infer.analysis import OWN_SELF
from torchdevlint.infer.claims import RETURNED
from torchdevlint.infer.places import given_to, is_computed_elsewhere, where
from torchdevlint.infer.summary import Fault
from torchdevlint.infer.units import Unit
from torchdevlint.infer.values import HOST, Ext, Site, Term, Value, alternatives, waits
from torchdevlint.program import ir, roles
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup, reads
from torchdevlint.stubs.knowledge.functions import LOADS
from torchdevlint.stubs.knowledge.tensor_attributes import DTYPES

_OF_DATA_SETS = ("torchvision.transforms.", "torch_geometric.transforms.", "monai.transforms.", "torchio.")
_ASKS = frozenset({"device", "is_cuda"})
_REGISTERS = frozenset(("register_buffer", "register_parameter", "Parameter", "Buffer"))
_CUDA = "cuda"
_MOVES = frozenset({"to", "cuda"})
_SIZES = ("shape", "size", "numel")


def is_worth_telling(fault: Fault) -> bool:
    """False for what is open to others where the function shows that it is not meant for tensors anywhere."""
    if fault.verdict == "broken":
        return True
    place = fault.other.device
    if fault.is_of_module and not (isinstance(place, Term) and place.op in ("as_device", "near")):
        return False  # a model and its inputs stay together until one of them is moved
    if isinstance(place, Term) and place.op == "own" and place != OWN_SELF and not _is_left_to_others(place.args[0]):
        return False  # no caller decides where it is
    is_on_cpu_by_choice = fault.host is not None and not fault.host.implicit and not _is_loaded(fault.host.origin)
    if is_on_cpu_by_choice and not _is_asked_where(fault):
        return False  # ... and so may be what it meets
    if fault.roles[0] == "assigned":
        return False  # PyTorch's source moves the indices of an assignment to the tensor; no GPU has shown it yet
    is_own = place == OWN_SELF
    is_given = isinstance(place, Term) and place.op == "own" and not is_own
    if is_given and fault.kind == "host" and not (_is_read_of_an_argument(fault) or _is_computed_elsewhere(fault)):
        return False  # who works on arrays is given what is on the CPU
    if fault.roles == RETURNED and not _is_sized_by_a_tensor(fault.place):
        return False  # an index, or a constant, may be meant for the CPU
    is_training = fault.kind == "same" and fault.roles[0] == "kept weight" and is_given
    if is_training and not _is_asked_where(fault) and not _is_in_forward(fault):
        return False  # who trains on the CPU has the weights of its loss there
    body = fault.site.body
    if body is None:
        return True
    is_in_model = any(call.body is not None and call.body.name == "forward" for call in fault.chain)
    if (
        not is_own
        and not is_in_model
        and any(_prepares_samples(one, fault.site.unit) for one in (body, fault.entry) if one is not None)
    ):
        return False
    made = fault.place
    if moves_with_module(fault) and made.body is not None and _is_run_by_constructor(made.body):
        return False  # a parameter that the constructor makes moves with its module; who makes it anew afterwards is not seen
    if made.body is not None and (roles.exports(made.body) or _is_probe(made.op, made.body)):
        return False
    if any(one.body is not None and _is_other_side_of_a_move(one.op, one.body) for one in (made, fault.site)):
        return False  # `x.cuda() if flag else x`: without the flag nothing is on a GPU
    if roles.exports(body):
        return False
    is_input = fault.roles[0] == "input"  # of a model: what it gives is where the model is
    is_named = isinstance(place, Term) and place.op == "as_device"  # the other one is there already
    return fault.kind == "index" or is_named or not _is_moved_at_once(fault.site.op, body, by_name=not is_input)


def moves_with_module(fault: Fault) -> bool:
    """True for a parameter or buffer that is on the CPU, and for what is computed from one."""
    return fault.host is not None and (fault.host.follows or _is_registered(fault.place))


def _is_loaded(made: Site | None) -> bool:
    """True for what comes from a file: `map_location="cpu"` says how it is read, and not where it is wanted."""
    if made is None or made.body is None or not isinstance(made.op, ir.Call):
        return False
    return Lookup.of(made.body).path(made.op.function) in LOADS


def _is_left_to_others(value: Value) -> bool:
    """False for what an unknown function gives for what may be on the CPU as well, and for what comes from nowhere that a caller sees."""
    if isinstance(value, Term) and value.op == "call":
        given = [[where(one) for one in alternatives(one)] for one in given_to(value)]
        known = [place for places in given for place in places if place is not None]
        is_chosen = any(len(places) > 1 and HOST in places for places in given)
        return not is_chosen and (not known or any(place != HOST for place in known))
    if isinstance(value, Term) and value.op in ("item", "unpack", "element", "attribute"):
        return _is_left_to_others(value.args[0])
    return waits(value)


def _is_read_of_an_argument(fault: Fault) -> bool:
    """True for `x.numpy()` of an argument or a part of one: what is called so was given as a tensor, and not as an array."""
    place = fault.other.device
    what = place.args[0] if isinstance(place, Term) else None
    return fault.roles[1] == "method" and isinstance(what, Term) and what.op in ("parameter", "item", "element")


def _is_computed_elsewhere(fault: Fault) -> bool:
    """True for `model(x.cuda()).numpy()`: what is computed from a tensor on an accelerator is there, if nobody says otherwise."""
    place = fault.other.device
    what = place.args[0] if isinstance(place, Term) and place.op == "own" else None
    if fault.roles[1] != "method" or not isinstance(what, Term):
        return False
    return is_computed_elsewhere(what)


_VALUES = frozenset("zeros ones full empty rand randn".split())


def _is_sized_by_a_tensor(made: Site) -> bool:
    """True for `torch.zeros(x.shape[0])` and `torch.ones(len(x))`: one value for each row of another tensor."""
    if made.body is None or not isinstance(made.op, ir.Call):
        return False
    lookup = Lookup.of(made.body)
    name = lookup.definition(made.op.function)
    if not isinstance(name, ir.Attribute) or name.name not in _VALUES:
        return False
    pending = [argument.value for argument in made.op.arguments if argument.keyword in (None, "size")]
    seen: set[object] = set()
    while pending:
        written = lookup.definition(pending.pop())
        if written is None or id(written) in seen:
            continue
        seen.add(id(written))
        if isinstance(written, ir.Attribute) and written.name in _SIZES:
            return True
        if isinstance(written, ir.Load):
            if written.name == "len":
                return True
            pending += [op.value for op in lookup.kind(ir.Store) if op.name == written.name]
        else:
            pending += reads(written)
    return False


def is_of_an_argument(fault: Fault) -> bool:
    """True for what is open because of an argument, where nothing shows that it is meant for tensors anywhere.

    What a `forward` is given is where the module is, and what its other methods are given mostly too. So is what a function is given that asks where a
    tensor is. These prove less where calls are seen, none of which names a device, and a `forward` alone proves nothing of what is read as an array.
    """
    place = fault.other.device
    if isinstance(place, Term) and place.op == "near":  # by a module that nobody can look into
        place = place.args[0]
    is_own = isinstance(place, Term) and place.op == "own" and place != OWN_SELF
    if fault.verdict != "open" or not is_own or _is_computed_elsewhere(fault):
        return False
    bodies = {site.body for site in (fault.site, fault.place, *fault.chain) if site.body is not None}
    if any(body.name == "forward" for body in bodies):
        return False
    if fault.kind == "host":
        return fault.is_called or not any(map(_asks_where, bodies))
    is_shown = fault.is_entered_at_module or any(map(_asks_where, bodies))
    return not is_shown or fault.is_called


def _is_asked_where(fault: Fault) -> bool:
    """True where the functions that make the tensor and let it meet an argument ask where a tensor is: they are meant for tensors anywhere."""
    place = fault.other.device
    if fault.is_of_module or not isinstance(place, Term) or place.op != "own":
        return False
    return any(_asks_where(body) for body in (fault.site.body, fault.place.body) if body is not None)


def _is_in_forward(fault: Fault) -> bool:
    """True where a model makes the tensor: what it is given is where the model is."""
    return any(body is not None and body.name == "forward" for body in (fault.site.body, fault.place.body))


def _asks_where(body: ir.Body) -> bool:
    """True for a function that reads the device of something other than its own object, and for what stands in one function with such a one."""
    while body.parent is not None and body.parent.kind == "function":
        body = body.parent
    pending = [body]
    while pending:
        one = pending.pop()
        if _reads_device(one):
            return True
        pending += one.functions
    return False


def _reads_device(body: ir.Body) -> bool:
    receiver = body.parameters[0].name if body.owner is not None and body.parameters else ""
    lookup = Lookup.of(body)
    asked = {op.object for name in _ASKS for op in lookup.attributes(name)}
    return any(op.dst in asked and op.name != receiver for op in lookup.kind(ir.Load))


def is_copied_beside(fault: Fault) -> bool:
    """True for an argument that is read as an array in a function that copies another of its arguments to the CPU first."""
    body = fault.site.body
    if fault.kind != "host" or body is None:
        return False
    lookup, names = Lookup.of(body), {parameter.name for parameter in body.parameters}
    copied = {_root(lookup, method.object) for method in lookup.attributes("cpu")} & names
    read = lookup.definition(fault.site.op.function) if isinstance(fault.site.op, ir.Call) else None
    return bool(copied - {_root(lookup, read.object) if isinstance(read, ir.Attribute) else ""})


def _root(lookup: Lookup, register: ir.Register) -> str:
    """The variable that a chain of methods and attributes begins with; "" for none."""
    made = lookup.definition(register)
    while isinstance(made, (ir.Call, ir.Attribute, ir.Subscript)):
        made = lookup.definition(made.function if isinstance(made, ir.Call) else made.object)
    return made.name if isinstance(made, ir.Load) else ""


def _prepares_samples(body: ir.Body, unit: Unit) -> bool:
    """True for data code and tests, which work on the CPU, and for what they define inside."""
    above: ir.Body | None = body
    while above is not None:
        is_transform = above.owner is not None and any(_is_transform(base, unit) for base in above.owner.bases)
        if is_transform or roles.gives_samples(above):
            return True
        above = above.parent
    return roles.is_test_function(body)


def _is_transform(base: str, unit: Unit) -> bool:
    """True for a class that changes what a data set gives, before anything is moved."""
    head, _, rest = base.partition(".")
    found = unit.statics.get(head)
    name = f"{found.name}.{rest}" if isinstance(found, Ext) else base
    return name.startswith(_OF_DATA_SETS)


def _is_registered(made: Site) -> bool:
    """True for a tensor of which, where it is made, a parameter or buffer comes: by `register_buffer`, or as `nn.Parameter(0.1 * torch.randn(3))`."""
    if made.body is None or not isinstance(made.op, ir.ValueOp):
        return False
    lookup, pending = Lookup.of(made.body), [made.op]
    while pending:
        for reader in lookup.readers(pending.pop().dst):
            if isinstance(reader, ir.Call) and lookup.called(reader) in _REGISTERS:
                return True
            if isinstance(reader, (ir.Binary, ir.Unary)):
                pending.append(reader)
    return False


def _is_run_by_constructor(body: ir.Body) -> bool:
    """True for a method that the constructor of its class calls, also through other methods: `self.reset_parameters()`."""
    methods = body.owner.methods if body.owner is not None else {}
    pending, reached = ["__init__"], set[str]()
    while pending:
        name = pending.pop()
        if name in methods and name not in reached:
            reached.add(name)
            pending += [op.name for op in Lookup.of(methods[name]).kind(ir.Attribute)]
    return body.name in reached


def _is_probe(made: ir.Op, body: ir.Body) -> bool:
    """True for `net(torch.zeros(1, 3, 32, 32)).shape`: one sample that is made to read a size."""
    lookup = Lookup.of(body)
    sizes = [one for one in made.arguments if one.keyword is None] if isinstance(made, ir.Call) else []
    first = sizes[0].value if len(sizes) > 1 or (sizes and sizes[0].star) else None
    if first is None or not any(op.dst == first and op.value == 1 for op in lookup.kind(ir.Constant)):
        return False
    given = {op.dst for parameter in body.parameters for op in lookup.loads(parameter.name)}
    return any(op.object not in given for name in _SIZES for op in lookup.attributes(name))


def _is_other_side_of_a_move(op: ir.Op, body: ir.Body) -> bool:
    """True for an operation in one branch of a test whose other branch names CUDA: the test asks whether the program runs on a GPU."""
    cfg, lookup = Cfg.of(body), Lookup.of(body)
    opposite = {(test, not outcome) for test, outcome in cfg.decided_by(op)}
    if not opposite:
        return False
    named: list[ir.Op] = [one for one in lookup.kind(ir.Constant) if str(one.value).partition(":")[0] == _CUDA]
    named += lookup.attributes(_CUDA)
    return any(not opposite.isdisjoint(cfg.decided_by(one)) for one in named)


def _is_moved_at_once(met: ir.Op, body: ir.Body, *, by_name: bool) -> bool:
    """True for `torch.cat([zeros, x]).to(device)`, also where a name holds the result: who moves it there has its parts on the CPU."""
    result = getattr(met, "dst", None)
    if result is None:
        return False
    lookup = Lookup.of(body)
    for reader in lookup.readers(result):
        if isinstance(reader, ir.Attribute) and _is_move(reader, lookup):
            return True
        if (
            by_name
            and isinstance(reader, ir.Store)
            and any(_is_moved(load, reader, body) for load in lookup.loads(reader.name))
        ):
            return True
    return False


def _is_moved(load: ir.Load, store: ir.Store, body: ir.Body) -> bool:
    """True where a name that is moved holds what this store has bound, and nothing else."""
    lookup = Lookup.of(body)
    is_moved = any(isinstance(op, ir.Attribute) and _is_move(op, lookup) for op in lookup.readers(load.dst))
    return is_moved and Cfg.of(body).bindings(load.name, load).stores == (store,)


def _is_move(method: ir.Attribute, lookup: Lookup) -> bool:
    """True for `.to(device)` and `.cuda()`; `.to(torch.float32)` and `.to(x.dtype)` change the type alone."""
    calls = [op for op in lookup.readers(method.dst) if isinstance(op, ir.Call) and op.function == method.dst]
    given = [argument for call in calls for argument in call.arguments if argument.keyword != "dtype"]
    to_type = [_is_dtype(lookup.definition(argument.value)) for argument in given if argument.keyword is None]
    is_conversion = method.name == "to" and bool(calls) and len(to_type) == len(given) and all(to_type)
    return method.name in _MOVES and not is_conversion


def _is_dtype(written: ir.Op | None) -> bool:
    """True for `x.dtype`, `torch.float32` and a name that says so."""
    name = written.name if isinstance(written, (ir.Attribute, ir.Load)) else ""
    return name.endswith("dtype") or name in DTYPES


_READS = frozenset({"item", "tolist"})
_EXTREMES = frozenset({"max", "min", "amax", "amin", "sum"})


def is_of_a_number(fault: Fault) -> bool:
    """True for a factory that is given a number which a tensor has told: `torch.arange(lengths.max())`."""
    made = fault.place
    if made.body is None or not isinstance(made.op, ir.Call):
        return False
    lookup = Lookup.of(made.body)
    met = _variables_of(fault.site.op, lookup) if fault.site.body is made.body else frozenset[str]()
    pending = [argument.value for argument in made.op.arguments if argument.keyword in (None, "data")]
    while pending:
        written = lookup.definition(pending.pop())
        if isinstance(written, ir.Binary):
            pending += [written.left, written.right]
        elif isinstance(written, ir.Sequence):
            pending += [element.value for element in written.elements]
        elif isinstance(written, ir.Call):
            method = lookup.definition(written.function)
            if not isinstance(method, ir.Attribute):
                pending += [argument.value for argument in written.arguments]  # `int(x.max()) + 1`
                continue
            receiver = lookup.definition(method.object)
            is_met = isinstance(receiver, ir.Load) and receiver.name in met
            if method.name in _READS or (method.name in _EXTREMES and is_met and not written.arguments):
                return True
    return False


def _variables_of(op: ir.Op, lookup: Lookup) -> frozenset[str]:
    """The variables whose values, or parts of them, an operation takes."""
    found, pending = set[str](), [*reads(op)]
    while pending:
        written = lookup.definition(pending.pop())
        if isinstance(written, ir.Load):
            found.add(written.name)
        elif written is not None:
            pending += reads(written)
    return frozenset(found)
