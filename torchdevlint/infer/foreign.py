"""Foreign code: what a call of torch, NumPy, Python's own library or an unknown name gives."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from torchdevlint.infer import (
    annotated,
    arrays,
    autograd,
    claims,
    containers,
    devices,
    distributions,
    host_libraries,
    launchers,
    library,
    loaders,
    modules,
    operators,
    optimizers,
    paths,
    protocols,
    python_calls,
    reading,
    stored,
    tensors,
)
from torchdevlint.infer.classes import (
    APPLY,
    DATA_LOADERS,
    PROTOCOLS,
    attribute_of,
    foreign_bases_of,
    is_named_tuple,
    is_optimizer,
    special,
    wrapped,
)
from torchdevlint.infer.conditions import TENSOR_ATTRIBUTES
from torchdevlint.infer.joins import for_each, join, lift
from torchdevlint.infer.summary import Operand
from torchdevlint.infer.values import (
    ACCELERATOR,
    BATCH_ENCODING,
    FALSE,
    HOST,
    MANY,
    NONE,
    NOTHING,
    NOWHERE,
    NUMBER,
    OTHER,
    SIZE,
    TRUE,
    UNKNOWN,
    UNKNOWN_INDEX,
    Args,
    Array,
    Bound,
    Cls,
    Const,
    Device,
    DoubleStar,
    Ext,
    Func,
    Keywords,
    Partial,
    Place,
    Rec,
    Ref,
    Site,
    Sort,
    Star,
    Tensor,
    Term,
    Text,
    Tup,
    Value,
    alternatives,
    indexed,
    is_array,
    is_elsewhere,
    is_open,
    shifted,
    unknown,
    waits,
)
from torchdevlint.program.roles import SETS_TYPE
from torchdevlint.stubs import loader
from torchdevlint.stubs.knowledge import functions
from torchdevlint.stubs.knowledge.modules import INPUT_MOVERS

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

# Methods of a class that make a module of it (transformers/modeling_utils.py, diffusers/models/modeling_utils.py, huggingface_hub/hub_mixin.py).
_MAKERS = frozenset({"from_pretrained", "from_config", "from_single_file"})
_LOADS = frozenset({"torch.load", "torch.serialization.load"})
# What puts a sharded checkpoint together, on the CPU (torch/distributed/checkpoint/format_utils.py).
_CONVERSIONS = frozenset({"torch.distributed.checkpoint.format_utils.dcp_to_torch_save"})
_SAVES = frozenset({"torch.save", "torch.serialization.save"})
# Data sets of an image and the number of its class (torchvision/datasets); a loader makes tensors of both.
_LABELLED_IMAGES = frozenset(
    f"torchvision.datasets.{name}"
    for name in (
        "CIFAR10 CIFAR100 Caltech101 Caltech256 Country211 DTD DatasetFolder EMNIST EuroSAT FGVCAircraft FakeData FashionMNIST "
        "Flowers102 Food101 GTSRB ImageFolder ImageNet Imagenette KMNIST LSUN MNIST OxfordIIITPet PCAM Places365 QMNIST RenderedSST2 "
        "SEMEION STL10 SUN397 SVHN StanfordCars USPS"
    ).split()
)
_SPLITS = frozenset({"torch.utils.data.random_split", "torch.utils.data.dataset.random_split"})
_DRAW_ON_HOST = DATA_LOADERS | {"torch.utils.data.RandomSampler", "torch.utils.data.sampler.RandomSampler"}
_PARAMETERS = frozenset(
    {"torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.Buffer", "torch.nn.parameter.Buffer"}
)
# What the analysis looks at is a machine with CUDA: a fault that needs an accelerator needs one.
_CUDA_WORKS = frozenset(
    "torch.cuda.is_available torch.accelerator.is_available torch.backends.cuda.is_built torch.cuda.is_initialized".split()
)
_OTHER_MACHINES = frozenset(
    {"torch.backends.mps.is_available", "torch.xpu.is_available", "torch.mps.is_available", "torch.npu.is_available"}
)
_TRACING = (
    "is_tracing",
    "is_scripting",
    "is_in_onnx_export",
    "is_compiling",
    "is_dynamo_compiling",
    "is_current_stream_capturing",
)
_FUNCTION_TRANSFORMS = frozenset(
    {"torch.vmap", "torch.func.vmap", "torch.func.grad", "torch.func.grad_and_value"}
    | {"torch.func.jacrev", "torch.func.jacfwd", "torch.func.hessian"}
)
_CALLS_WITH_PARAMETERS = frozenset({"torch.func.functional_call", "torch.nn.utils.stateless.functional_call"})
_UNKNOWN_HOMES = tuple(
    f"torch.{name}"
    for name in (
        "optim distributed utils autograd amp jit onnx multiprocessing distributions profiler func "
        "vmap fx ao quantization ops package hub sparse nested masked export"
    ).split()
)


_MAKE = frozenset(
    {"builtins.super.__new__", "builtins.object.__new__", "builtins.type.__new__", "builtins.type.__call__"}
)


_MODULE = "torch.nn.Module"


def _of_module(ctx: Context, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`nn.Module.to(net, device)`: a method as `nn.Module` has it, whatever the class of the module makes of it."""
    from torchdevlint.infer.calls import residual

    if ctx.mode == "summary" and is_open(args[0]):
        return residual(ctx, Ext(f"{_MODULE}.{name}"), args, keywords, site)
    found: Value = UNKNOWN
    for one, rec in ctx.each(args[0]):
        if isinstance(one, Ref) and rec is not None and rec.kind == "module":
            found = modules.method(ctx, one, rec, name, args[1:], keywords, site)
    return found


def call(ctx: Context, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """A call of something foreign by its dotted name."""
    if name in _MAKE and args:
        from torchdevlint.infer.calls import bare, construct, fill_tuple, residual

        if name == "builtins.type.__call__" and isinstance(args[0], Cls):
            return construct(ctx, args[0], args[1:], keywords, site, is_raw=True)
        if len(args) == 4 and ctx.class_made is not None:
            return ctx.class_made
        if isinstance(args[0], Cls):
            raw = bare(ctx, args[0], site, "new")
            fill_tuple(ctx, raw, args[0], args[1:], keywords, site)
            return raw
        if is_open(args[0]) and ctx.mode == "summary":
            return residual(ctx, Ext(name), args, keywords, site)
    if ctx.stubs.is_given(name):
        return _stubbed(ctx, name, args, keywords, site)
    if name.startswith("functorch."):
        name = "torch.func." + name.removeprefix("functorch.")
    handler = library.find(name)
    if handler is not None:
        return handler(ctx, args, keywords, site)
    root = name.partition(".")[0]
    owner, _, last = name.rpartition(".")
    if owner == _MODULE and args:
        return _of_module(ctx, last, args, keywords, site)
    if last in devices.MOVES and root != "torch" and owner not in ("", "builtins", "builtins.super"):
        place = devices.target_of(ctx, last, args, keywords)  # `batch.cuda()` of what an unknown file defines
        if place is not None:
            return devices.move(ctx, UNKNOWN, place, site)
    if launchers.is_launcher(name):
        return launchers.make(ctx, name, keywords, site)
    if name == APPLY and args:
        return autograd.apply(ctx, args, keywords, site)
    if last == "__init__" and args and is_optimizer(owner):
        return optimizers.inherited(ctx, owner, args, keywords, site)
    if last in ("__init__", "__iter__") and args and owner in DATA_LOADERS:
        return loaders.inherited(ctx, owner, last, args, keywords, site)
    if last in ("__init__", "forward") and args and ctx.stubs.module_class(owner) is not None:
        return modules.inherited(ctx, owner, last, args, keywords, site)
    if last in PROTOCOLS and owner in protocols.OWNERS and args:
        return protocols.method(ctx, args[0], last, args[1:], site, is_of_object=owner == "builtins.object")
    if root == "builtins":
        return python_calls.builtin(ctx, name[9:], args, keywords, site)
    if root == "torch":
        return _torch(ctx, name, args, keywords, site)
    if root == "numpy":
        return _numpy(ctx, name, args, keywords, site)
    if root in host_libraries.ROOTS:
        _claim_arrays(ctx, name, args, keywords, site)
    if name == "sklearn.model_selection.train_test_split" and not any(isinstance(one, Star) for one in args):
        return Tup(tuple(one for given in args for one in (given, given)))  # of each the two parts
    if name in _LABELLED_IMAGES:
        sample = Tensor(HOST, MANY, site, "batch")
        picture = loaders.transformed(ctx, keywords.get("transform", NONE), sample, site)
        return ctx.new(site, "object", Ext(name), {"*": Tup((picture, sample))}, tag="dataset")
    if ctx.stubs.find(name) is not None:
        return _stubbed(ctx, name, args, keywords, site)
    if last in _MAKERS and ctx.stubs.module_class(owner) is not None:
        made = modules.make(ctx, owner, args, keywords, site)
        if any(isinstance(one, DoubleStar) for one in args):
            devices.move_module(ctx, made, NOWHERE)  # a `device_map` may be among them
        return made
    hand_over(ctx, [*args, *keywords.values()], is_named="device" in keywords)
    return python_calls.library(ctx, name, args, keywords, site)


def hand_over(ctx: Context, given: Sequence[Value], *, is_named: bool = False) -> None:
    """A function of another library that is given a module and a device may bring the one to the other: nobody knows where the module is then."""
    is_told = is_named or any(map(devices.is_device, given))
    for one, rec in (pair for value in given for pair in ctx.each(value)):
        if rec is not None and rec.kind == "module" and is_told:
            devices.move_module(ctx, one, NOWHERE)
        elif rec is not None and rec.kind == "module" and ctx.mode == "summary" and any(map(waits, given)):
            ctx.emit(Term("handed", one, *given))
        elif is_told and isinstance(one, Term) and one.waits and ctx.mode == "summary":
            ctx.emit(Term("carried", one, NOWHERE))


def _stubbed(ctx: Context, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """A call of something that a stub tells of."""
    signatures = ctx.stubs.functions(name)
    if signatures:
        return operators.apply(ctx, signatures, args, keywords, site)
    return modules.make(ctx, name, args, keywords, site)


_OF_NUMPY = "numpy.random.Generator"


def _numpy(ctx: Context, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """NumPy reads a tensor through `__array__`, which refuses what is not on the CPU."""
    _claim_arrays(ctx, name, args, keywords, site)
    last = name.removeprefix("numpy.")
    if last in ("empty", "zeros", "full", "array", "asarray") and not host_libraries.is_of_numbers(
        last, args, keywords
    ):
        return _objects(ctx, last, args, keywords, site)
    if last in ("random.default_rng", "random.RandomState"):
        return ctx.new(site, "object", Ext(_OF_NUMPY), {}, tag="generator")
    return arrays.function(ctx, last, args, keywords, site)


def _objects(ctx: Context, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """An array of objects, which keeps what it is given as a list does."""
    held: dict[Any, Value] = {}
    if name == "full":
        held["*"] = _at(args, 1, keywords, "fill_value")
    elif name in ("array", "asarray"):
        held["*"] = reading.element(ctx, _at(args, 0, keywords, "object" if name == "array" else "a"))
    return ctx.new(site, "list", None, held, tag="objects")


def _claim_arrays(ctx: Context, name: str, args: Args, keywords: Keywords, site: Site | None) -> None:
    """What is made an array of must be on the CPU."""
    takes_data = name in ("numpy.array", "numpy.asarray", "numpy.ascontiguousarray")
    may_be_records = takes_data and host_libraries.may_be_of_records(args, keywords)
    for given in host_libraries.made_arrays(name, args, keywords):
        if may_be_records and isinstance(given, (Ref, Tup)):
            continue  # the items of a tuple are read by `float()` then, which a tensor on an accelerator answers
        rec = ctx.rec(given) if name.startswith("pandas.") else None
        columns = list(rec.items.values()) if rec is not None and rec.kind == "dict" else [given]
        for part in (part for one in columns for part in tensors.flattened(ctx, one)):
            # What may be something else as well is one operand with it: no claim of it is certain.
            asked = lift(lambda one: one if _is_read(one, takes_data=takes_data) else UNKNOWN, part)
            if any(one is not UNKNOWN for one in alternatives(asked)):
                claims.claim(ctx, "host", [Operand(asked, False, "numpy")], site)


def _is_read(value: Value, *, takes_data: bool) -> bool:
    """True for what an array is made of: a tensor, what was moved as one, and whatever a function is given that makes nothing but arrays."""
    return isinstance(value, Tensor) or (isinstance(value, Term) and (takes_data or value.op == "moved"))


def _torch(ctx: Context, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    special = _special(ctx, name, args, keywords, site)
    if special is not None:
        return special
    stub = ctx.stubs.find(name)
    if isinstance(stub, tuple):
        if name in tensors.MAY_GIVE_SEVERAL:
            return tensors.with_counts(operators.apply(ctx, stub, args, keywords, site), keywords)
        if any(parameter.starred and parameter.kind in ("tensor", "tensors") for parameter in stub[0].parameters):
            args = _unwrapped(ctx, args)
        if name == "torch.einsum":
            args = [args[0], *_unwrapped(ctx, args[1:])] if args else args
        made = operators.apply(ctx, stub, args, keywords, site)
        if name == "torch.Tensor" and ctx.unit.sets_type and isinstance(made, Tensor) and made.implicit == "always":
            return tensors.made(ctx, site, made.rank)  # of the default tensor type: torch/csrc/tensor/python_tensor.cpp
        return made
    if stub is not None or name in INPUT_MOVERS:
        return modules.make(ctx, name, args, keywords, site)
    return unknown(site)


def _unwrapped(ctx: Context, args: Args) -> list[Value]:
    """The tensors of `f([a, b])` for a function that is called `f(a, b)` as well."""
    if len(args) == 1:
        known = reading.items(ctx, args[0])
        if known is not None:
            return known
    return args


def _special(ctx: Context, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value | None:
    """What no signature can say; None for everything else."""
    last = name.rpartition(".")[2]
    first = args[0] if args else keywords.get("input", UNKNOWN)
    if name == "torch.device":
        return Device(_device(ctx, args[0] if args else keywords.get("type", UNKNOWN), args[1:], keywords))
    if name in ("torch.set_default_device", f"torch.{SETS_TYPE}"):
        _set_default(ctx, last, first)
        return NONE
    if name in _PARAMETERS:
        made = _parameter(args[0] if args else keywords.get("data", UNKNOWN), site)
        asked = args[1] if len(args) > 1 else keywords.get("requires_grad", TRUE)
        return tensors.trained(made) if asked == TRUE and not name.endswith("Buffer") else made
    if name in ("torch.as_tensor", "torch.asarray"):
        return _converted(ctx, first, keywords, site)
    if name == "torch.tensor" and keywords.get("device", NONE) == NONE:
        data = args[0] if args else keywords.get("data", UNKNOWN)
        copied = _copied(data) if ctx.default() is None else None
        if copied is not None:
            return copied
        if ctx.mode == "summary" and is_open(data) and data.waits and not annotated.is_number(data):
            return Term("call", Ext(name), tuple(args), tuple(sorted(keywords.items())), site)
    if ctx.is_any_machine and functions.AVAILABILITY.get(name):
        return Term("available", Const(name))
    if name in _CUDA_WORKS:
        return TRUE
    if name in _OTHER_MACHINES:
        return unknown(site)
    if last in _TRACING:
        return FALSE
    if name == "torch.is_tensor":
        from torchdevlint.infer.conditions import is_instance

        return is_instance(ctx, first, Ext("torch.Tensor"))
    if name.startswith("torch.Tensor.") and args and last in loader.tensor_methods() | devices.MOVES | {"numpy"}:
        return ctx.call(reading.attribute(ctx, first, last, site), args[1:], keywords, site)
    if name.startswith("torch.ops.aten."):
        plain = "torch." + name.removeprefix("torch.ops.aten.").partition(".")[0]
        return call(ctx, plain, args, keywords, site) if ctx.stubs.functions(plain) else unknown(site)
    if name.startswith(distributions.HOME) and ctx.stubs.find(name) is None:
        return distributions.make(ctx, name, args, keywords, site)
    if name in _FUNCTION_TRANSFORMS and args:
        return Partial(Ext("torch.func.transformed"), (first,), (("@name", Const(last)),))
    if name == "torch.func.transformed" and args and "@name" in keywords:
        return _transformed(ctx, args, dict(keywords), site)
    if name in _CALLS_WITH_PARAMETERS:
        module, state = _at(args, 0, keywords, "module"), _at(args, 1, keywords, "parameter_and_buffer_dicts")
        given = _at(args, 2, keywords, "args")
        if ctx.mode == "summary" and is_open(module):
            from torchdevlint.infer.calls import residual

            return residual(ctx, Ext(name), args, keywords, site)
        with modules.having(ctx, module, state):
            return ctx.call(module, [Star(given) if reading.items(ctx, given) is not None else given], {}, site)
    if name in ("torch.from_dlpack", "torch.utils.dlpack.from_dlpack"):
        if isinstance(first, Tensor):
            return first
        return Tensor(HOST, first.rank, site, "always") if is_array(first) else unknown(site)
    if name in ("torch.nested.nested_tensor", "torch.nested.as_nested_tensor"):
        made = _converted(ctx, reading.element(ctx, first), keywords, site)
        return lift(
            lambda one: dataclasses.replace(one, rank=shifted(one.rank, 1)) if isinstance(one, Tensor) else one, made
        )
    if name.startswith("torch._foreach_"):
        return library.foreach(library.Call(ctx, name, args, keywords, site))
    if name.startswith("torch.signal.windows."):
        return operators.apply(ctx, ctx.stubs.functions("torch.hann_window"), args, keywords, site)
    if name in loaders.DEFAULT_COLLATE:
        batch = _at(args, 0, keywords, "batch")
        samples = reading.items(ctx, batch)
        return loaders.batched(ctx, samples[0] if samples else reading.element(ctx, batch), site)
    if name == "torch.utils.data.default_convert":
        return library.mapped(ctx, Ext("torch.utils.data.default_convert.leaf"), _at(args, 0, keywords, "data"), site)
    if name == "torch.utils.data.default_convert.leaf":
        return Tensor(HOST, first.rank, site, "always") if is_array(first) else first
    if name in _SPLITS:
        _claim_generator(ctx, _at(args, 2, keywords, "generator"), site)
        return ctx.new(site, "list", None, {"*": _subset(ctx, first, NUMBER, site)}, tag="split")
    if name in ("torch.utils.data.Subset", "torch.utils.data.dataset.Subset"):
        return _subset(ctx, first, _at(args, 1, keywords, "indices"), site)
    if name in ("torch.utils.data.ConcatDataset", "torch.utils.data.ChainDataset"):
        one = reading.element(ctx, first)
        fields: dict[Any, Value] = {"*": reading.element(ctx, one), ".datasets": first}
        return one if ctx.rec(one) is None else ctx.new(site, "object", Ext(name), fields, tag="dataset")
    if name in _LOADS:
        return _loaded(ctx, args[0] if args else keywords.get("f", UNKNOWN), args, keywords, site)
    if name == "torch.jit.load" and site is not None:
        stored.read(ctx, paths.file_of(ctx, _at(args, 0, keywords, "f")), site)
    if name in _SAVES:
        stored.save(ctx, args[0] if args else keywords.get("obj", UNKNOWN), _at(args, 1, keywords, "f"), site)
        return NONE
    if name in _CONVERSIONS and site is not None:
        file = paths.file_of(ctx, _at(args, 1, keywords, "torch_save_path"))
        stored.write(ctx, file, Tup(()), Tup(()), site)
        return NONE
    if name in _DRAW_ON_HOST:
        _claim_generator(ctx, keywords.get("generator", NONE), site)
    if name in DATA_LOADERS:
        return loaders.make(ctx, name, args, keywords, site)
    if name in ("torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"):
        if any(isinstance(one, Star) for one in args):
            return loaders.residual(ctx, name, args, keywords, site) if ctx.mode == "summary" else unknown(site)
        fields = {"*": Tup(tuple(reading.element(ctx, one) for one in args)), ".tensors": Tup(tuple(args))}
        return ctx.new(site, "object", Ext(name), fields, tag="dataset")
    if name == "torch.utils.data.StackDataset":
        named = {("k", key): reading.element(ctx, one) for key, one in keywords.items()}
        several = Tup(tuple(reading.element(ctx, one) for one in args))
        item = ctx.new(site, "dict", None, named, tag="sample") if keywords else several
        return ctx.new(site, "object", Ext(name), {"*": item}, tag="dataset")
    if name in (devices.GENERATOR.name, "torch.manual_seed", "torch.random.manual_seed"):
        if name != devices.GENERATOR.name:
            args, keywords = [], {}  # the generator of the CPU comes back
        place = devices.as_device(ctx, args[0] if args else keywords.get("device", Const("cpu")))
        return ctx.new(site, "object", devices.GENERATOR, {".device": Device(place), "@origin": site}, tag="generator")
    if name.startswith("torch.backends."):
        return NUMBER
    if name.startswith("torch.cuda.") and ctx.stubs.find(name) is None:
        return OTHER
    if name.startswith(_UNKNOWN_HOMES) and ctx.stubs.find(name) is None:
        if is_optimizer(name):
            return optimizers.make(ctx, name, first if args else keywords.get("params", UNKNOWN), keywords, site)
        return OTHER if name.startswith("torch.optim.") else unknown(site)
    return None


def _subset(ctx: Context, data: Value, indices: Value, site: Site | None) -> Value:
    """A part of a data set; of one of which nothing is known it is as good as the whole."""
    fields: dict[Any, Value] = {"*": reading.element(ctx, data), ".dataset": data, ".indices": indices}
    name = "torch.utils.data.Subset"
    return data if ctx.rec(data) is None else ctx.new(site, "object", Ext(name), fields, tag="subset")


def _claim_generator(ctx: Context, generator: Value, site: Site | None) -> None:
    """What shuffles draws on the default device: on the CPU, where no file has set another. Who gives it the generator of a device that a
    variable holds has set that as the default, perhaps elsewhere.
    """
    known = tensors.as_tensor(ctx, generator)
    is_on_host = not ctx.unit.sets_default and ctx.default() is None
    if isinstance(known, Tensor) and is_elsewhere(known.device) and is_on_host:
        claims.claim(ctx, "host", [Operand(known, False, claims.GENERATOR)], site)


def _at(args: Args, position: int, keywords: Keywords, name: str) -> Value:
    """What a parameter is given."""
    return args[position] if position < len(args) else keywords.get(name, UNKNOWN)


def _device(ctx: Context, kind: Value, rest: list[Value], keywords: Keywords) -> Place:
    """`torch.device("cuda", 1)`."""
    place = devices.as_device(ctx, kind)
    index = rest[0] if rest else keywords.get("index", NONE)
    if place != ACCELERATOR or index == NONE:
        return place
    is_known = isinstance(index, Const) and type(index.value) is int
    return indexed(ACCELERATOR, str(index.value) if is_known else UNKNOWN_INDEX)  # type: ignore[union-attr]


def _set_default(ctx: Context, function: str, value: Value) -> None:
    if function == SETS_TYPE:
        name = value.name if isinstance(value, Ext) else str(value.value) if isinstance(value, Const) else ""
        place: object = ACCELERATOR if ".cuda." in name else HOST if name else None
    else:
        place = devices.as_device(ctx, value)
        place = None if place == "default" else place
    ctx.put(ctx.analysis.settings, "@default", place)


def _parameter(first: Value, site: Site | None) -> Value:
    def one(value: Value) -> Value:
        if isinstance(value, Tensor):
            made = None if isinstance(value.device, Term) else site  # what is open is told of by what a caller gives
            return Tensor(value.device, value.rank, value.origin or made, value.implicit, True)
        if is_open(value):
            return Tensor(Term("device_of", value), MANY, None, "", True)
        return Tensor(HOST, MANY, site, "default", True)

    return lift(one, first)


def _copied(data: Value) -> Value | None:
    """`torch.tensor(x)` of a tensor is where that is (torch/csrc/utils/tensor_new.cpp, `internal_new_from_data`); None for other data.

    Where one of several things is a tensor, what nobody knows may be one as well, and so may be what an unknown function makes of tensors.
    """
    several = alternatives(data)
    if not any(isinstance(one, Tensor) or _may_be_made_of_tensors(one) for one in several):
        return None
    found = [_copy_of(one) for one in several]
    return join(*(one for one in found if one is not None))


def _copy_of(one: Value) -> Value | None:
    if isinstance(one, Tensor):
        return Tensor(one.device, one.rank, one.origin, one.implicit)
    return UNKNOWN if isinstance(one, (Term, Ref)) else None


def _may_be_made_of_tensors(value: Value) -> bool:
    """True for what a function that nobody can look into has made of a tensor, and for a part of that."""
    while isinstance(value, Term) and value.op in ("item", "element", "unpack"):
        value = value.args[0]
    given = value.args[1] if isinstance(value, Term) and value.op == "call" else ()
    return any(isinstance(one, Tensor) for one in given)


def _converted(ctx: Context, first: Value, keywords: Keywords, site: Site | None) -> Value:
    """`torch.as_tensor`: a tensor stays where it is, unless there is a default device (torch/utils/_device.py)."""
    given, default = keywords.get("device", NONE), ctx.default()
    if given != NONE or default is not None:
        place = devices.as_device(ctx, given) if given != NONE or default is None else default
        return Tensor(place, tensors.rank_of_data(ctx, first), site if place == HOST else None)
    several = alternatives(first)
    if any(map(is_open, several)):  # an array or a number as well as a tensor
        if ctx.mode == "summary" and waits(first):
            return Term("call", Ext("torch.as_tensor"), (first,), tuple(sorted(keywords.items())), site)
        return unknown(site)
    found = [
        one if isinstance(one, Tensor) else tensors.made(ctx, site, tensors.rank_of_data(ctx, one)) for one in several
    ]
    return join(*found) if found else UNKNOWN


def _loaded(ctx: Context, first: Value, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """What `torch.load` gives: what was saved there in this program, moved to `map_location` where it is given."""
    saved = stored.load(ctx, first, site)
    where = keywords.get("map_location", args[1] if len(args) > 1 else NONE)
    waiting = stored.waiting(ctx, first, where, site) if saved is None else None
    return read_to(ctx, saved, where, site) if waiting is None else waiting


def read_to(ctx: Context, saved: Value | None, where: Value, site: Site | None) -> Value:
    """What was saved, if that is known, as a load with this `map_location` gives it."""
    if where == NONE:
        return saved if saved is not None else unknown(site)
    place = devices.as_device(ctx, where)
    if isinstance(where, Func):  # `lambda storage, location: storage` leaves it on the CPU, where it was read to
        storage = Tensor(HOST, MANY, site)
        placed = ctx.call(where, [storage, NUMBER], {}, None)
        place = placed.device if isinstance(placed, Tensor) else NOWHERE
    if saved is not None:
        return for_each(lambda one: _copy_at(ctx, one, place, site), saved)
    if isinstance(place, Term) or place == NOWHERE:
        return unknown(site)
    return Term("moved", unknown(site), place, site)


_MOST_NESTED = 4  # containers in a file


def _copy_at(ctx: Context, saved: Value, place: Place, site: Site | None, deep: int = _MOST_NESTED) -> Value:
    """A copy of what was saved, with its tensors at a place: where they were made has no part in where they are read to."""
    if isinstance(saved, Tensor):
        moved = devices.move(ctx, saved, place, site)
        is_on_host = isinstance(moved, Tensor) and moved.device == HOST
        return Tensor(HOST, saved.rank, site) if is_on_host else moved
    rec = ctx.heap.get(saved) if isinstance(saved, Ref) else None
    if rec is not None and rec.kind in ("dict", "list") and deep:
        held = {
            key: for_each(lambda one: _copy_at(ctx, one, place, site, deep - 1), content)
            if isinstance(key, tuple) or key == "*"
            else content
            for key, content in rec.fields.items()
        }
        return ctx.new(site, rec.kind, rec.cls, held, tag=("read", saved))
    if isinstance(saved, Tup) and deep:
        return Tup(tuple(_copy_at(ctx, one, place, site, deep - 1) for one in saved.items))
    return saved if isinstance(saved, (Const, Sort)) else devices.move(ctx, saved, place, site)


def _transformed(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`torch.vmap(function)(*args)` gives what the function gives; a gradient is where its argument is."""
    name = keywords.pop("@name")
    made = ctx.call(args[0], args[1:], keywords, site)
    if name == Const("vmap"):  # its results have one dimension more than what the function gives
        return lift(
            lambda one: dataclasses.replace(one, rank=MANY) if isinstance(one, Tensor) and one.rank == 0 else one, made
        )
    if len(args) < 2:
        return made
    return args[1] if name != Const("grad_and_value") else Tup((args[1], made))


# ---------------------------------------------------------------------------------------------------- methods


def call_method(ctx: Context, value: Value, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`value.name(...)` where the attribute was no function of the project."""
    if name in PROTOCOLS and not isinstance(value, Tensor):
        return protocols.method(ctx, value, name, args, site)
    if isinstance(value, Tensor):
        return tensors.method(ctx, value, name, args, keywords, site)
    if isinstance(value, Ref):
        rec = ctx.heap.get(value)
        if rec is None:
            from torchdevlint.infer.calls import residual

            return residual(ctx, Term("attribute", value, name), args, keywords, site)
        if rec.cls == BATCH_ENCODING and name in devices.MOVES:
            place = devices.target_of(ctx, name, args, keywords)
            return value if place is None else devices.move(ctx, value, place, site)
        if rec.kind in ("list", "dict", "generator") or (rec.kind == "object" and rec.cls is None):
            return containers.method(ctx, value, rec, name, args, keywords, site)
        if rec.kind == "module":
            return modules.method(ctx, value, rec, name, args, keywords, site)
        if rec.cls == devices.GENERATOR and name in ("manual_seed", "set_state"):
            return value
        if isinstance(rec.cls, Ext):
            return of_object(ctx, value, rec.cls.name, name, args, keywords, site)
        if name in ("_replace", "_asdict"):
            return containers.method(ctx, value, rec, name, args, keywords, site)
        if name in ("start", "join") and isinstance(rec.cls, Cls):
            bases = foreign_bases_of(ctx.analysis, rec.cls.cls)
            if any(base.endswith((".Thread", ".Process")) for base in bases):
                if name == "start":
                    special(ctx, value, "run", [], site)
                    ctx.started.append(reading.attribute(ctx, value, "run", site))
                else:
                    ctx.go_on()
                return NONE
        inner = wrapped(ctx, value)
        if name in ("__init__", "update") and inner != value:
            # `update` calls `__setitem__`, as that of `dict` does not
            containers.fill(ctx, value, args, keywords)
            return NONE
        if isinstance(inner, Ref) and inner != value and inner in ctx.heap:
            return containers.method(ctx, inner, ctx.heap[inner], name, args, keywords, site)
        of_mapping = protocols.of_mapping(ctx, value, name, args, site)
        return unknown(site) if of_mapping is None else of_mapping
    if isinstance(value, Bound) and value.name == "__dict__":
        return _of_fields(ctx, value.object, name, args, keywords, site)
    if isinstance(value, Term):
        return tensors.open_method(ctx, Term("attribute", value, name), args, keywords, site)
    if paths.is_text(value):
        found = paths.method(ctx, value, name, args, keywords, site)
        return NUMBER if found is None else found
    if isinstance(value, Array):
        if name == "dot":
            _claim_arrays(ctx, "numpy.dot", args, keywords, site)
        return arrays.method(ctx, value, name, args, keywords, site)
    if isinstance(value, (Device, Sort)):
        return NUMBER
    return UNKNOWN


def of_object(ctx: Context, ref: Ref, cls: str, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`object.name(...)` of an object of a foreign class that is no module."""
    if cls.startswith(distributions.HOME):
        return distributions.method(ctx, ref, ctx.heap[ref], name, args, keywords, site)
    if cls == _OF_NUMPY:
        return _numpy(ctx, "numpy.random." + name, args, keywords, site)
    if launchers.is_launcher(cls) and (done := launchers.method(ctx, ref, name, args, keywords, site)) is not None:
        return done
    if cls == autograd.CONTEXT and (kept := autograd.method(ctx, ref, name, args)) is not None:
        return kept
    found = library.method(ctx, ref, cls, name, args, keywords, site)
    return unknown(site) if found is None else found


def _of_fields(ctx: Context, value: Value, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """A method of `value.__dict__`: it reads and writes attributes."""
    first = args[0] if args else UNKNOWN
    if name == "update":
        update_fields(ctx, value, args, keywords)
        return NONE
    rec = ctx.rec(value)
    if name == "pop" and isinstance(first, Const):
        held = rec.fields.get(f".{first.value}") if rec is not None else None
        modules.store_attribute(ctx, value, str(first.value), NOTHING, by="raw_del")
        return held if held is not None else args[1] if len(args) > 1 else UNKNOWN
    if name in ("get", "setdefault") and isinstance(first, Const):
        return reading.attribute(ctx, value, str(first.value), site)
    if rec is None and isinstance(value, Term) and value is not UNKNOWN:
        asked = Term("attribute", Term("attribute", value, "__dict__"), name)
        return tensors.open_method(ctx, asked, args, keywords, site)
    if rec is None:
        return unknown(site)
    fields = {("k", key): content for key, content in rec.attributes.items()}
    made = ctx.new(site, "dict", None, fields, tag="fields")
    return containers.method(ctx, made, ctx.heap[made], name, args, keywords, site)


def update_fields(ctx: Context, value: Value, args: Args, keywords: Keywords) -> None:
    """`value.__dict__.update(...)`."""
    for key, content in containers.contents(ctx, "dict", args, keywords).items():
        if isinstance(key, tuple) or key == "*":
            name = Const(str(key[1])) if isinstance(key, tuple) else NUMBER
            modules.store_named(ctx, value, name, content, by="dict_set")


def entered(ctx: Context, value: Value, site: Site | None) -> Value:
    """What `with value as ...` binds."""
    from torchdevlint.infer import managers

    for one, rec in ctx.each(value):
        if rec is not None:
            if rec.kind == "generator":
                return reading.element(ctx, one)
            if rec.kind == managers.MANAGER and isinstance(one, Ref):
                return managers.enter(ctx, one, rec, site)
            if library.ENTERED in rec.fields:
                return rec.at(library.ENTERED)
            made = _of_manager(ctx, one, ("__enter__", "__aenter__"), [], site)
            if made is not None:
                return made
        if isinstance(one, Term) and one is not UNKNOWN:
            return Term("enter", one, site)
    return value


def left(ctx: Context, value: Value, site: Site | None) -> None:
    """The end of `with value`."""
    from torchdevlint.infer import managers

    for one in alternatives(value):
        if isinstance(one, Term) and one.waits:
            ctx.emit(Term("left", one, site))
        rec = ctx.rec(one)
        if isinstance(one, Ref) and rec is not None and rec.cls == Ext(library.STACK):
            library.unwind(ctx, one)
        if rec is not None and rec.cls == Ext(modules.HANDLE):
            modules.unhook(ctx, rec)
        if rec is not None and rec.kind == managers.MANAGER:
            managers.leave(ctx, rec, site)
        _of_manager(ctx, one, ("__exit__", "__aexit__"), [NONE, NONE, NONE], site)


def _of_manager(ctx: Context, value: Value, names: tuple[str, str], args: Args, site: Site | None) -> Value | None:
    """The call of a method of a context manager, or of an asynchronous one, of the project; None where it has none."""
    made = special(ctx, value, names[0], args, site)
    return special(ctx, value, names[1], args, site) if made is None else made


def has_attribute(ctx: Context, value: Value, asked: Value) -> Value:
    """`hasattr(value, asked)`; what was moved has what tensors have."""
    if not isinstance(asked, Const):
        return Term("has", value, asked) if ctx.mode == "summary" and waits(asked) else NUMBER
    name = str(asked.value)
    if isinstance(value, Tensor):
        return Const(name in loader.tensor_methods() or name in TENSOR_ATTRIBUTES)
    if isinstance(value, Term) and value.op == "moved" and name in TENSOR_ATTRIBUTES:
        return TRUE
    if isinstance(value, (Tup, Const, Text)) or value in (NUMBER, SIZE):
        return Const(hasattr((), name)) if isinstance(value, Tup) else NUMBER
    if isinstance(value, Term) and value is not UNKNOWN:
        return Term("has", value, asked)
    rec = ctx.rec(value)
    if rec is not None and rec.kind in ("list", "dict"):
        return Const(hasattr([] if rec.kind == "list" else {}, name))
    if rec is not None and ("." + name in rec.fields or (name in _OF_NAMED_TUPLES and _is_named_tuple(ctx, rec))):
        return TRUE
    if rec is None or rec.kind != "object" or not isinstance(rec.cls, Cls) or ctx.open_call_with(value) is not None:
        return NUMBER
    has = [attribute_of(ctx, rec.cls, one, None) is not None for one in (name, "__getattr__", "__getattribute__")]
    return TRUE if has[0] else FALSE if not any(has) and not foreign_bases_of(ctx.analysis, rec.cls.cls) else NUMBER


_OF_NAMED_TUPLES = frozenset({"_fields", "_asdict", "_replace", "_make"})


def _is_named_tuple(ctx: Context, rec: Rec) -> bool:
    if isinstance(rec.cls, Cls):
        return is_named_tuple(ctx.analysis, rec.cls.cls)
    return rec.is_named_tuple
