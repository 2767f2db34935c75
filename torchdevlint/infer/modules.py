"""Modules of torch.nn and of libraries: how they are made, called and asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from torchdevlint.infer import claims, classes, containers, devices, opaque, paths, reading, samples, tensors
from torchdevlint.infer.guards import consistent
from torchdevlint.infer.joins import MOST_ALTERNATIVES, for_each, join, one_of
from torchdevlint.infer.state import NO_FACTS, OF_DATA, Facts, is_moved
from torchdevlint.infer.summary import Operand
from torchdevlint.infer.values import (
    FALSE,
    HOST,
    MANY,
    NONE,
    NOWHERE,
    NUMBER,
    TRUE,
    UNKNOWN,
    Args,
    Bound,
    Cls,
    Const,
    DoubleStar,
    Ext,
    Func,
    Keywords,
    OneOf,
    Partial,
    Place,
    Rec,
    Ref,
    Site,
    Star,
    Tensor,
    Term,
    Text,
    Tup,
    Value,
    alternatives,
    device_at,
    is_open,
    options_of,
    places_of,
    unknown,
    waits,
)
from torchdevlint.stubs.knowledge.modules import (
    CAUSAL_MASKS,
    INPUT_MOVERS,
    LAYERS_WITH_BIAS,
    LAYERS_WITH_WEIGHT,
    STACKS,
    SUBMODULES,
    SWITCHES,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

_LISTS = frozenset({"torch.nn.ModuleList", "torch.nn.ParameterList"})
_DICTS = frozenset({"torch.nn.ModuleDict", "torch.nn.ParameterDict"})
_OF_PARAMETERS = frozenset({"torch.nn.ParameterList", "torch.nn.ParameterDict"})  # make parameters of tensors
SEQUENTIAL = "torch.nn.Sequential"
AVERAGED = "torch.optim.swa_utils.AveragedModel"  # a copy of a model, which it calls
_INPUTS = frozenset(
    "input input1 input2 query key value hx h_0 src tgt memory mask attn_mask src_mask tgt_mask memory_mask key_padding_mask "
    "src_key_padding_mask tgt_key_padding_mask offsets per_sample_weights".split()
)
_KEEP = _LISTS | _DICTS | {SEQUENTIAL} | set(STACKS)  # what they are given
_OF_PICTURES = ("torchvision.models.", "timm.", "segmentation_models_pytorch.")  # models whose parts take tensors alone
MOST_LOSS_INPUTS = 3
_PLACING = frozenset({"device_map", "quantization_config", "load_in_8bit", "load_in_4bit"})
_RECURRENT = frozenset({"torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"})
_WEIGHTS = frozenset(
    "weight bias in_proj_weight in_proj_bias q_proj_weight k_proj_weight v_proj_weight bias_k bias_v weight_ih_l0 weight_hh_l0 "
    "running_mean running_var num_batches_tracked".split()
)
# torch/nn/utils/prune.py, weight_norm.py, spectral_norm.py
_DERIVED = tuple("_orig _mask _v _g _u _l0 _l0_reverse".split())
_WEIGHTED_LOSSES = frozenset("CrossEntropyLoss NLLLoss BCELoss BCEWithLogitsLoss MultiMarginLoss".split())
# They multiply by the weight, so that a number on the CPU is one; the others check or expand it (torch/nn/functional.py).
_MULTIPLIED_BY_WEIGHT = frozenset(("BCEWithLogitsLoss", "MultiLabelSoftMarginLoss"))
_SIZES = frozenset(
    "in_features out_features in_channels out_channels hidden_size num_layers embedding_dim num_embeddings kernel_size training p eps".split()
)
# Methods of torch.nn.Module (torch/nn/modules/module.py).
_METHODS = frozenset(
    "to cuda cpu xpu mps npu hpu eval train parameters named_parameters state_dict load_state_dict register_buffer register_parameter apply "
    "modules named_modules children named_children buffers named_buffers zero_grad requires_grad_ float double half bfloat16 type add_module "
    "append extend insert to_empty share_memory register_module __call__ forward get_parameter get_submodule get_buffer keys values items pop".split()
)
_OWN_DICTS = frozenset({"_buffers", "_parameters", "_modules"})
_TRAINING = "@training"  # whether `eval` or `train` was the last to be called
_EMPTY = "@empty"  # of a layer whose arguments say that it holds nothing
_LAYER = "@layer"  # what a layer holds that a model of pictures has made; of what class it is nobody says
_IS_EMPTY = re.compile(r"relu|gelu|silu|act|pool|drop|flatten|softmax|identity|upsample", re.IGNORECASE)
_SELF = frozenset("eval train float double half bfloat16 type requires_grad_ apply share_memory compile".split())


_MOST_SCATTERED = 3  # containers in each other

HOOKS = {
    f"register_{name}": f".@{name}"
    for name in ("forward_hook", "forward_pre_hook", "full_backward_hook", "full_backward_pre_hook", "backward_hook")
}


HANDLE = "torch.utils.hooks.RemovableHandle"


def _add_hook(ctx: Context, ref: Ref, key: str, hook: Value, with_keywords: bool, site: Site | None) -> Value:
    """One more hook, which is called behind the others and may be given keyword arguments too; the handle that removes it."""
    added = Tup((hook, TRUE if with_keywords else FALSE))
    hooks = _hooks(ctx, ref, key)
    if added not in hooks:
        ctx.put(ref, key, Tup((*hooks, added)))
    told: dict[Any, Value] = {".@module": ref, ".@key": Const(key), ".@hook": added}
    return ctx.new(site, "object", Ext(HANDLE), told, tag=("handle", key))


def unhook(ctx: Context, handle: Rec) -> None:
    """`handle.remove()`."""
    key, removed = handle.at(".@key"), handle.at(".@hook")
    for ref in alternatives(handle.at(".@module")):
        if isinstance(ref, Ref) and isinstance(key, Const):
            ctx.put(ref, key.value, Tup(tuple(one for one in _hooks(ctx, ref, str(key.value)) if one != removed)))


def _hooks(ctx: Context, ref: Ref, key: str) -> list[Tup]:
    rec = ctx.heap.get(ref)
    several = alternatives(rec.fields[key]) if rec is not None and key in rec.fields else ()
    return [hook for one in several if isinstance(one, Tup) for hook in one.items if isinstance(hook, Tup)]


def parametrize(ctx: Context, module: Ref, name: str, parametrization: Value, weight: Value, site: Site | None) -> None:
    """What a parametrization adds to a module: submodules that hold it and the parameter that it replaces (torch/nn/utils/parametrize.py)."""
    rec = ctx.heap[module]
    place = {key: rec.fields[key] for key in ("@device", "@origin", "@implicit") if key in rec.fields}
    if ".parametrizations" not in rec.fields:
        held = ctx.new(site, "module", Ext("torch.nn.ModuleDict"), place, tag="parametrized")
        ctx.put(module, ".parametrizations", held)
    several = {**place, "*": parametrization, ".original": weight}
    one = ctx.new(site, "module", Ext("torch.nn.ModuleList"), several, tag=("parametrized", name))
    ctx.put(ctx.heap[module].fields[".parametrizations"], ("k", name), one)


def hooked(ctx: Context, ref: Ref, args: Args, keywords: Keywords, site: Site | None) -> tuple[Args, Keywords]:
    """What a module's `forward` gets once its hooks have seen it (torch/nn/modules/module.py, `_call_impl`)."""
    held = ctx.heap[ref].fields.get(".parametrizations")
    for _, one in within(ctx, held, deep=1) if isinstance(held, Ref) else ():
        fields = ctx.heap[one].fields
        if ".original" in fields:
            ctx.call(fields["*"], [fields[".original"]], {}, site)
    for hook in _hooks(ctx, ref, ".@forward_pre_hook"):
        function, with_keywords = hook.items
        given = [ref, Tup(tuple(args)), *([_as_dict(ctx, keywords, site)] if with_keywords == TRUE else [])]
        made = ctx.call(function, given, {}, site)
        if with_keywords == TRUE:
            pair = reading.items(ctx, made)
            several = _as_many(ctx, pair[0], args) if pair is not None and len(pair) == 2 else None
            rec = ctx.rec(pair[1]) if pair is not None and several is not None else None
            if several is not None and rec is not None:
                args = several
                given_anew = {str(key[1]): value for key, value in rec.fields.items() if isinstance(key, tuple)}
                keywords = dict.fromkeys(keywords, rec.fields["*"]) | given_anew if "*" in rec.fields else given_anew
        elif (known := _as_many(ctx, made, args)) is not None:
            args = known
        elif isinstance(made, (Tensor, Term)) and made is not UNKNOWN:
            args = [made]
    return args, keywords


def _as_many(ctx: Context, made: Value, args: Args) -> Args | None:
    """The arguments that a hook gives instead: as many as there were, if nobody counts them."""
    known = reading.items(ctx, made)
    return known if known is not None or not isinstance(made, Ref) else [reading.element(ctx, made)] * len(args)


def given_back(ctx: Context, ref: Ref, args: Args, keywords: Keywords, result: Value, site: Site | None) -> Value:
    """What the call of a module gives once its hooks have seen it."""
    for hook in _hooks(ctx, ref, ".@forward_hook"):
        function, with_keywords = hook.items
        named = [_as_dict(ctx, keywords, site)] if with_keywords == TRUE else []
        made = ctx.call(function, [ref, Tup(tuple(args)), *named, result], {}, site)
        result = result if made == NONE or made is UNKNOWN else made
    # gradients are where their values are
    for kind in ("full_backward_pre_hook", "full_backward_hook", "backward_hook"):
        for hook in _hooks(ctx, ref, ".@" + kind):
            grads = [Tup(tuple(given)) for given in ([result], args)]
            ctx.call(hook.items[0], [ref, *(grads[:1] if "pre" in kind else grads[::-1])], {}, None)
    return result


def _as_dict(ctx: Context, keywords: Keywords, site: Site | None) -> Value:
    return ctx.new(site, "dict", None, {("k", key): value for key, value in keywords.items()}, tag="hooked")


def make(ctx: Context, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """A module of a foreign class."""
    fields: dict[Any, Any] = {"@device": HOST, "@origin": site}
    if keywords.get("device", NONE) != NONE:
        place = devices.as_device(ctx, keywords["device"])
        fields["@device"] = HOST if place == "default" else place
    elif is_placed_by_keywords(keywords):
        fields["@device"] = NOWHERE
    elif ctx.default() is not None:
        fields["@device"] = ctx.default()
    else:
        fields["@implicit"] = True
    first = args[0] if args else NONE
    switches = [
        args[at] if at < len(args) else keywords.get(key, TRUE if default else FALSE)
        for key, at, default in SWITCHES.get(name, ())
    ]
    if switches and all(one == FALSE for one in switches):
        fields[_EMPTY] = True
    if name == SEQUENTIAL or name in _LISTS or name in _DICTS:
        held = _contents(ctx, name, args)
        fields.update({key: part_of(ctx, Ext(name), one) for key, one in held.items()})
    elif name in INPUT_MOVERS or name == AVERAGED:
        inner = ctx.rec(first)
        fields.pop("@implicit", None)
        place = inner.fields.get("@device", NOWHERE) if inner is not None else NOWHERE
        fields.update({".module": first, "@device": place})
    layer: Value | None = None
    if name in STACKS:
        layer = containers.copied(ctx, args[0] if args else keywords.get(STACKS[name][0], UNKNOWN), site)
        rec = ctx.rec(layer)
        fields["@device"] = devices.device_of(ctx, layer)
        if rec is None or "@implicit" not in rec.fields:
            fields.pop("@implicit", None)
    ref = ctx.new(site, "module", Ext(name), _with_parts(ctx, name, fields, site, (name,), layer), tag=name)
    if is_loss(name):
        takes_first = name.rpartition(".")[2] in _WEIGHTED_LOSSES
        for key in ("weight", "pos_weight"):
            value = keywords.get(key, first if key == "weight" and takes_first else NONE)
            if value != NONE:
                ctx.put(ref, "." + key, followed(ctx, value))
        if "reduction" in keywords:
            ctx.put(ref, ".reduction", keywords["reduction"])
    return ref


def _with_parts(
    ctx: Context,
    name: str,
    fields: dict[Any, Any],
    site: Site | None,
    path: tuple[str, ...],
    layer: Value | None = None,
) -> dict[Any, Any]:
    """The fields of a module with the submodules that its constructor makes, which are where it is; `layer`: of what a stack makes copies."""
    for attribute, cls in SUBMODULES.get(name, {}).items():
        place = {key: fields[key] for key in ("@device", "@origin", "@implicit") if key in fields}
        inside = (*path, attribute)
        if name in STACKS:
            kind = STACKS[name][1]
            own = _with_parts(ctx, kind, dict(place), site, inside) if layer is None else {}
            place["*"] = ctx.new(site, "module", Ext(kind), own, tag=(*inside, kind)) if layer is None else layer
        held = _with_parts(ctx, cls, place, site, inside)
        fields["." + attribute] = ctx.new(site, "module", Ext(cls), held, tag=inside)
    return fields


def is_placed_by_keywords(keywords: Keywords) -> bool:
    """True for `from_pretrained(..., device_map=...)` and its like, which put the parts of a model where they choose (transformers/modeling_utils.py)."""
    return any(name in _PLACING and value not in (NONE, FALSE) for name, value in keywords.items())


def _contents(ctx: Context, name: str, args: Args) -> dict[Any, Any]:
    first = args[0] if args else NONE
    rec = ctx.rec(first)
    known = reading.items(ctx, first) if name in _LISTS else None
    is_of_dict = name == SEQUENTIAL and len(args) == 1 and rec is not None and rec.kind == "dict"
    if name in _DICTS or is_of_dict:
        return rec.items if rec is not None else {}
    if known is None and (name in _LISTS or any(isinstance(one, Star) for one in args)):
        held = [_layers(ctx, one, name) for one in args if one != NONE]
        return {"*": join(*held)} if held else {}
    return {("k", at): one for at, one in enumerate(known if known is not None else args)}


def _layers(ctx: Context, given: Value, name: str) -> Value:
    """The layers that an argument of a container gives: a list gives what it holds."""
    if isinstance(given, Star):
        return reading.element(ctx, given.value)
    return reading.element(ctx, given) if name in _LISTS else given


def part_of(ctx: Context, container: Value | None, value: Value) -> Value:
    """What a container of a class keeps of a value: those of parameters make one of a tensor."""
    is_parameter = isinstance(container, Ext) and container.name in _OF_PARAMETERS
    return followed(ctx, value) if is_parameter else value


def is_loss(name: str) -> bool:
    """True for the dotted name of a loss."""
    return name.startswith("torch.nn.") and name.endswith("Loss")


def followed(ctx: Context, value: Value) -> Value:
    """A value as the parameter or buffer that it becomes: it goes where its module goes."""

    def one(value: Value) -> Value:
        if isinstance(value, Tensor):
            return Tensor(value.device, value.rank, value.origin, value.implicit, True, value.kept)
        return Tensor(Term("device_of", value), MANY, None, "", True) if is_open(value) else value

    return for_each(one, value)


def attribute(ctx: Context, ref: Ref, rec: Rec, name: str) -> Value | None:
    """`module.name` where the object holds no such field; None where nothing is known."""
    place: Place = rec.fields.get("@device", NOWHERE)
    if _LAYER in rec.fields and name in _WEIGHTS:
        return weights(rec)
    if _LAYER in rec.fields and name in _SIZES:
        return NUMBER
    if isinstance(rec.cls, Ext):
        stub = ctx.stubs.module_class(rec.cls.name)
        if (name in _WEIGHTS or name.endswith(_DERIVED)) and stub is not None and stub.holds != "empty":
            return weights(rec)
        item = _item_named(rec, name)
        if item is not None:  # a layer of `Sequential(OrderedDict(...))`, or of a ModuleDict
            return rec.at(item)
        if name == "device" and not rec.cls.name.startswith("torch."):
            return device_at(place)
        if name in _SIZES:
            return NUMBER
    layer = layer_of(ctx, ref, rec, name)
    if layer is not None:
        return layer
    if isinstance(rec.cls, Ext):
        return Bound(ref, name)
    if name in ("weight", "bias") and place != HOST:
        inherited = _inherited(ctx, rec, name)
        if inherited is not None:
            return inherited
    if name in _OWN_DICTS:
        return Bound(ref, "__dict__")
    if name == "device":
        return device_at(NOWHERE if place == HOST and _has_no_device(ctx, rec.cls) else place)
    if name == "training":
        return rec.at(_TRAINING, Term("attribute", ref, "training"))
    return Bound(ref, name) if name in _METHODS or name.startswith("register_") else None


def layer_of(ctx: Context, ref: Ref, rec: Rec, name: str) -> Value | None:
    """A layer of a model of pictures, by its name ("*": any of them): it moves with the model, and with whatever else holds it."""
    is_layer = _LAYER in rec.fields or _is_of_pictures(ctx, rec)
    if (
        not is_layer
        or name in _METHODS
        or name.startswith(("_", "register_", "num_"))
        or name in ("device", "training")
    ):
        return None
    fields = {key: rec.fields[key] for key in ("@device", "@origin", "@implicit") if key in rec.fields}
    fields[_LAYER] = "weights" if name == "*" or name.isdigit() else "empty" if _IS_EMPTY.search(name) else "parameters"
    key = "." + name if name != "*" else name
    made = ctx.new(rec.fields.get("@origin"), "module", None, fields, tag=("layer", ref, name))
    ctx.put(ref, key, made)
    return made


def _is_of_pictures(ctx: Context, rec: Rec) -> bool:
    stub = ctx.stubs.module_class(rec.cls.name) if isinstance(rec.cls, Ext) else None
    return stub is not None and stub.holds == "parameters" and stub.name.startswith(_OF_PICTURES)


def _inherited(ctx: Context, rec: Rec, name: str) -> Value | None:
    """A parameter of the layer that a class of the project inherits from, `class LoRALinear(nn.Linear)`.

    It is known behind a move of the module alone: until then it is where the arguments of the layer's constructor say.
    """
    bases = classes.foreign_bases_of(ctx.analysis, rec.cls.cls) if isinstance(rec.cls, Cls) else ()
    if name == "weight":
        return weights(rec) if not LAYERS_WITH_WEIGHT.isdisjoint(bases) else None
    return join(weights(rec), NONE) if not LAYERS_WITH_BIAS.isdisjoint(bases) else None


def _has_no_device(ctx: Context, cls: Value | None) -> bool:
    """True for a class of the project that inherits from `torch.nn.Module` alone, which has no `device`: it was set where nobody sees it."""
    return isinstance(cls, Cls) and all(map(classes.is_base, classes.foreign_bases_of(ctx.analysis, cls.cls)))


def inherited(ctx: Context, layer: str, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`nn.Linear.__init__(self, ...)` and `nn.Linear.forward(self, x)` of a class of the project that inherits from the layer."""
    from torchdevlint.infer.calls import residual

    target, *given = args
    rec = ctx.heap.get(target) if isinstance(target, Ref) else None
    keeps = layer in _KEEP or is_loss(layer) or any(isinstance(one, (Star, DoubleStar)) for one in args)
    is_open = any(waits(one) for one in given if not isinstance(one.value if isinstance(one, Star) else one, Ref))
    if ctx.mode == "summary" and (keeps and is_open if name == "__init__" else rec is None):
        return residual(ctx, Ext(f"{layer}.{name}"), args, keywords, site)
    if name == "__init__":
        made = ctx.rec(make(ctx, layer, given, keywords, site))
        told = {"@implicit", "@origin"} | ({"@device"} if made is not None and "@implicit" in made.fields else set())
        for key, content in made.fields.items() if made is not None else ():
            if key not in told:
                ctx.put(target, key, content)
        return NONE
    if rec is None or not isinstance(target, Ref) or rec.kind != "module":
        return unknown(site)
    return call(ctx, target, rec, given, keywords, site, layer)


def call(ctx: Context, ref: Ref, rec: Rec, args: Args, keywords: Keywords, site: Site | None, layer: str = "") -> Value:
    """`module(...)` of a foreign class, or of one that inherits from it."""
    own = classes.layer_of(ctx.analysis, rec.cls.cls) if isinstance(rec.cls, Cls) else ""
    name = rec.cls.name if isinstance(rec.cls, Ext) else layer or own
    if name == SEQUENTIAL or name in _LISTS:
        return _call_sequence(ctx, rec, args, site)
    if name in INPUT_MOVERS or name == AVERAGED:
        inner = rec.fields.get(".module")
        held = ctx.rec(inner) if isinstance(inner, Ref) else None
        if name == AVERAGED and isinstance(inner, Term):
            return ctx.call(inner, args, keywords, site)
        if held is None or not isinstance(inner, Ref):
            return Tensor(rec.fields["@device"], MANY)
        place = place_within(ctx, held)
        if name != AVERAGED:
            args = [_scattered(ctx, one, place, site, (at,)) for at, one in enumerate(args)]
            keywords = {key: _scattered(ctx, one, place, site, (key,)) for key, one in keywords.items()}
        return ctx.call(inner, args, keywords, site)
    told = _told(ctx, ref, rec, "forward", args, keywords, site)
    if told is not None:
        return told
    stub = ctx.stubs.module_class(name) if not opaque.holds_wrapper(ctx, ref) else None
    holds = rec.fields.get(_LAYER, stub.holds if stub is not None else "unknown")
    if _LAYER in rec.fields and not any(map(_may_be_tensor, args)):
        return unknown(site)
    if holds == "weights":
        return _call_model(ctx, ref, rec, args, keywords, site)
    if holds == "unknown":
        return unknown(site)
    if holds == "parameters" and _EMPTY not in rec.fields:
        return _call_layer(ctx, ref, rec, name, args, keywords, site)
    return _call_empty(ctx, rec, name, args, keywords, site)


def _scattered(ctx: Context, value: Value, place: Place, site: Site | None, path: tuple[object, ...]) -> Value:
    """An input of a wrapper, which brings it to its module, also in lists and dicts, and no other object (torch/nn/parallel/scatter_gather.py)."""
    if isinstance(value, OneOf):
        return one_of(
            [(guards, _scattered(ctx, one, place, site, (*path, at))) for at, (guards, one) in enumerate(value.options)]
        )
    if isinstance(value, (Tensor, Term)):
        return devices.move(ctx, value, place, None)
    if isinstance(value, Tup):
        return Tup(tuple(_scattered(ctx, one, place, site, (*path, at)) for at, one in enumerate(value.items)))
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is None or site is None or rec.kind not in ("list", "dict") or len(path) > _MOST_SCATTERED:
        return value
    others = {key: one for key, one in rec.fields.items() if key not in rec.items}
    parts = {key: _scattered(ctx, one, place, site, (*path, key)) for key, one in rec.items.items()}
    return ctx.new(site, rec.kind, rec.cls, {**others, **parts}, tag=("scattered", path))


def _told(
    ctx: Context, ref: Ref, rec: Rec, name: str, args: Args, keywords: Keywords, site: Site | None
) -> Value | None:
    """A call of a method that a stub tells of; None for any other."""
    from torchdevlint.infer import operators

    if not isinstance(rec.cls, Ext) or rec.cls.name.startswith("torch."):
        return None
    stub = ctx.stubs.module_class(rec.cls.name)
    signatures = ctx.stubs.functions(f"{stub.name}.{name}") if stub is not None else ()
    return operators.apply(ctx, signatures, [ref, *args], keywords, site) if signatures else None


def _is_of_transformers(rec: Rec) -> bool:
    """True for a model of transformers, which runs itself for `generate` (transformers/generation/utils.py)."""
    return isinstance(rec.cls, Ext) and rec.cls.name.startswith("transformers.")


def _call_model(ctx: Context, ref: Ref, rec: Rec, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """A module with weights: once it was moved it wants its inputs where it is, as far as one can tell, and gives its outputs there."""
    if site is None or opaque.is_pipeline(site):
        return unknown(site)
    found: list[tuple[Facts, Value]] = []
    for guards, place in places_of(rec.fields.get("@device", NOWHERE)):
        if place in (HOST, NOWHERE):
            found.append((guards, unknown(site)))
            continue
        with ctx.under(guards):
            given = [samples.sample(ctx, one, site) for one in args]
            found.append((guards, opaque.call(ctx, ref, place, given, keywords, site)))
    return one_of(found)


_MOST_APPLIED = 12


def within(ctx: Context, ref: Ref, prefix: str = "", deep: int = 4) -> list[tuple[str, Value]]:
    """The modules in a module, by their names, from the inside out as `apply` takes them."""
    found: list[tuple[str, Value]] = []
    rec = ctx.heap.get(ref)
    for key, content in rec.fields.items() if rec is not None else ():
        name = str(key[1]) if isinstance(key, tuple) else key[1:] if key.startswith(".") else "0" if key == "*" else ""
        for one in alternatives(content) if name else ():
            inner = ctx.heap.get(one) if isinstance(one, Ref) else None
            if inner is not None and inner.kind == "module" and isinstance(one, Ref) and deep:
                found += within(ctx, one, f"{prefix}{name}.", deep - 1)
                found.append((prefix + name, one))
        if len(found) > _MOST_HELD:
            break
    return found


def _applied(ctx: Context, ref: Ref, function: Value, site: Site | None) -> None:
    """`module.apply(function)`: of each module in it, then of itself (torch/nn/modules/module.py)."""
    several = list(dict.fromkeys([one for _, one in within(ctx, ref)]))
    if len(several) > _MOST_APPLIED:
        ctx.analysis.hit("modules that a function is applied to")
    for one in [*several[:_MOST_APPLIED], ref]:
        ctx.call(function, [one], {}, site)


def is_empty(ctx: Context, value: Value) -> bool:
    """True for a layer without parameters and buffers, which is where its input is."""
    rec = ctx.rec(value)
    stub = ctx.stubs.module_class(rec.cls.name) if rec is not None and isinstance(rec.cls, Ext) else None
    return stub is not None and stub.holds == "empty"


def _call_sequence(ctx: Context, rec: Rec, args: Args, site: Site | None) -> Value:
    value = args[0] if args else UNKNOWN
    fields = rec.fields.items()
    parts = [one for key, one in fields if isinstance(key, tuple) or (key[0] == "." and claims.may_be_module(ctx, one))]
    if not parts and "*" not in rec.fields and isinstance(rec.cls, Cls):
        return unknown(site)  # nobody saw what it was given
    for part in parts:
        value = ctx.call(part, [value], {}, site)
    if "*" in rec.fields:
        given, results = value, list[Value]()

        def called(layer: Value) -> Value:
            results.append(ctx.call(layer, [given], {}, site))
            return results[-1]

        result = ctx.lift(called, rec.fields["*"])
        # Of several kinds of layers each is called: what one of them gives back as it is, the others have brought to where they are.
        changed = [one for one in results if one != given]
        value = join(*changed) if changed and len(results) > 1 else result
    return value


def _call_layer(
    ctx: Context, ref: Ref, rec: Rec, name: str, args: Args, keywords: Keywords, site: Site | None
) -> Value:
    """A layer with parameters: every tensor that it is given must be where they are."""
    place: Place = rec.fields.get("@device", NOWHERE)
    inside = [ctx.rec(one) for _, one in within(ctx, ref)] if name in SUBMODULES else ()
    if any(one is not None and one.fields.get("@device") != place for one in inside):
        place = NOWHERE  # its layers were moved one by one
    origin = rec.fields.get("@origin")
    layer = Tensor(place, MANY, origin, weights(rec).implicit)
    unread = _unread_masks(name, args, keywords)
    named = [one for key, one in keywords.items() if key in _INPUTS and key not in unread]
    given = [one.value if isinstance(one, Star) else one for at, one in enumerate(args) if at not in unread] + named
    flat = [part for one in given[:6] for part in tensors.flattened(ctx, one)]
    replaced = [rec.fields["." + name] for name in _WEIGHTS if "." + name in rec.fields]
    for one in alternatives(args[0]) if args else ():
        ctx.prove(one)
    for part in flat:
        claims.claim(ctx, "same", [Operand(part, False, "input"), Operand(layer, False, "module")], site)
        for weight in replaced:
            claims.claim(ctx, "same", [Operand(weight, False, "operand"), Operand(part, False, "input")], site)
    for key, content in rec.fields.items() if name not in SUBMODULES else ():
        inner = ctx.rec(content) if key[0] == "." and isinstance(content, Ref) else None  # `model.fc = nn.Linear(...)`
        held = held_by(ctx, inner) if inner is not None and inner.kind == "module" else {}
        for weight in list(held.values())[:1]:
            meeting = [Operand(Tensor(place, MANY), False, "input"), Operand(weight, False, "module")]
            claims.claim(ctx, "same", meeting, site)
    result: Value
    known = [tensors.as_tensor(ctx, one) for part in flat for one in alternatives(part)]
    if place == HOST and any(isinstance(one, Tensor) and one.device != HOST for one in known):
        result = Tensor(NOWHERE, MANY)  # told already: what follows from it is no fault of its own
    elif place == NOWHERE:
        result = tensors.combined(ctx, [Operand(part) for part in flat], MANY)
    else:
        result = Tensor(place, MANY, origin if place == HOST else None)
    if name in _RECURRENT:
        return Tup((result, Tup((result, result)) if name.endswith("LSTM") else result))
    return Tup((result, result)) if name in ("torch.nn.MultiheadAttention", "torch.nn.LSTMCell") else result


def _unread_masks(name: str, args: Args, keywords: Keywords) -> tuple[int | str, ...]:
    """The arguments, by place and by keyword, that a causal mask may be given for: torch computes it by itself and reads no other (`_detect_is_causal_mask`)."""
    masks = CAUSAL_MASKS.get(name, ())
    is_padded = (
        any("padding" in key for key in keywords)
        or len(args) > max((one for one in masks if isinstance(one, int)), default=0) + 1
    )
    return () if is_padded else masks


def _call_empty(ctx: Context, rec: Rec, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """A module without parameters: its tensors must share a device among themselves."""
    from torchdevlint.infer import operators

    functional = ctx.stubs.functions("torch.nn.functional." + _in_snake_case(name))
    if is_loss(name):
        if functional and name.endswith("CTCLoss"):
            return operators.apply(ctx, functional, args, keywords, site)
        several = [*args, *keywords.values()]
        if len(several) > MOST_LOSS_INPUTS:  # it would not run: what is called is another one
            return unknown(site)
        tolerant = [*(one.tolerant for one in functional[0].parameters[: len(several)])] if functional else []
        tolerant += [False] * (len(several) - len(tolerant))
        given = [Operand(one, like, "operand") for one, like in zip(several, tolerant, strict=True)]
        weights = [
            Operand(rec.fields[key], name.rpartition(".")[2] in _MULTIPLIED_BY_WEIGHT, "kept weight")
            for key in (".weight", ".pos_weight")
            if key in rec.fields
        ]
        for one in alternatives(args[0]) if args else ():
            ctx.prove(one)
        claims.claim(ctx, "same", [*given, *weights], site)
        rank = MANY if rec.fields.get(".reduction") == Const("none") else 0
        return tensors.combined(ctx, given, rank) if given else UNKNOWN
    value = args[0] if args else UNKNOWN
    if is_open(value):
        ctx.prove(value)
        known = tensors.as_tensor(ctx, value)
        return known if isinstance(known, Tensor) else Tensor(Term("device_of", value), MANY)
    if len(args) > 1 and functional:
        return operators.apply(ctx, functional, args, keywords, site)
    if len(args) > 1:
        claims.claim(ctx, "same", [Operand(one, False, "operand") for one in args], site)
    return value


_OTHERWISE = {"bce_loss": "binary_cross_entropy", "kl_div_loss": "kl_div"}


def _in_snake_case(name: str) -> str:
    """How `torch.nn.functional` calls what a class does: `mse_loss` for `MSELoss`."""
    last = name.rpartition(".")[2].replace("MultiLabel", "Multilabel")
    found = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", last).lower()
    return _OTHERWISE.get(found, found)


def method(ctx: Context, ref: Ref, rec: Rec, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`module.name(...)` of what `torch.nn.Module` or a stub defines."""
    told = _told(ctx, ref, rec, name, args, keywords, site)
    if told is not None:
        return told
    if name == "to_empty":
        devices.move_module(ctx, ref, devices.as_device(ctx, args[0] if args else keywords.get("device", UNKNOWN)))
        return ref
    if name in devices.MOVES or (name == "type" and args):
        place = tensors.place_of_type(args[0]) if name == "type" else devices.target_of(ctx, name, args, keywords)
        if place is not None:
            devices.move_itself(ctx, ref, place, site)
        return ref
    if name == "_apply" and args and isinstance(args[0], Partial) and args[0].function == Ext(devices.MOVER):
        devices.move_module(ctx, ref, devices.as_device(ctx, args[0].args[0]))
        return ref
    if name == "register_buffer":
        register_buffer(ctx, ref, args, keywords)
        return NONE
    if name in ("register_parameter", "add_module", "register_module") and len(args) > 1:
        _register(ctx, ref, args[0], _part(args[1]))
        return NONE
    if name.startswith("register_") and name.endswith("buffer"):
        _register(ctx, ref, args[0] if args else keywords.get("name", UNKNOWN), Tensor(NOWHERE, MANY, follows=True))
        return NONE
    if name in HOOKS:
        hook, with_keywords = args[0] if args else keywords.get("hook", UNKNOWN), keywords.get("with_kwargs") == TRUE
        return _add_hook(ctx, ref, HOOKS[name], hook, with_keywords, site)
    if name in ("eval", "train"):
        _set_training(ctx, ref, FALSE if name == "eval" else args[0] if args else keywords.get("mode", TRUE))
    if name == "apply" and args:
        _applied(ctx, ref, args[0], site)
    if name in _SELF:
        return ref
    if name in _LISTED or name in ("get_parameter", "get_buffer"):
        own = held_by(ctx, rec, buffers="parameters" not in name, parameters="buffers" not in name)
        own = own or held_by(ctx, rec)
        first = args[0] if args else UNKNOWN
        if name in ("get_parameter", "get_buffer") and isinstance(first, Const) and first.value in own:
            return own[first.value]
        one = join(*own.values()) if own else _weights_within(ctx, rec)
        if name in ("get_parameter", "get_buffer"):
            return one
        if name in ("parameters", "buffers"):
            foremost = _first_parameter(ctx, rec) if name == "parameters" else None
            of_first = {} if foremost is None else {reading.FIRST_ITEM: foremost}
            return ctx.new(site, "generator", None, {"*": one, **of_first}, tag=(name, ref))
        if name in ("named_parameters", "named_buffers"):
            pairs = [(frozenset[Any](), Tup((Const(key), kept))) for key, kept in own.items() if key != "*"]
            is_known = pairs and len(pairs) == len(own) <= MOST_ALTERNATIVES
            pair = one_of(list(pairs)) if is_known else Tup((NUMBER, one))
            return ctx.new(site, "generator", None, {"*": pair}, tag=(name, ref))
        fields = {
            ("k", key) if key != "*" else key: plain(kept)
            for key, kept in own.items()
            if rec.fields.get(f"{_TRANSIENT}.{key}") is not True
        }
        return ctx.new(site, "dict", None, fields or {"*": plain(one)}, tag=(name, ref))
    if name == "get_submodule" and args and isinstance(args[0], Const):
        return dict(within(ctx, ref)).get(str(args[0].value), UNKNOWN)
    if name == "load_state_dict" and keywords.get("assign", NONE) == TRUE:
        if ctx.mode == "summary" and args and is_open(args[0]):  # where that is a caller knows
            ctx.emit(Term("call", Term("attribute", ref, name), tuple(args), tuple(sorted(keywords.items())), site))
        _assign_state(ctx, ref, rec, ctx.rec(args[0]) if args else None)
    if name in ("append", "insert", "extend") and args:
        given = part_of(ctx, rec.cls, reading.element(ctx, args[0]) if name == "extend" else args[-1])
        ctx.add(ref, "*", given)
        return ref
    if name == "forward" and isinstance(rec.cls, Ext):
        return call(ctx, ref, rec, args, keywords, site)
    if name in ("forward", "__call__") or (name == "generate" and _is_of_transformers(rec)):
        return ctx.call(ref, args, keywords, site)
    inside = within(ctx, ref, deep=1 if "children" in name else 4) if name in _OF_PARTS else []
    if 0 < len(inside) < MOST_ALTERNATIVES:
        parts: list[tuple[str, Value]] = [*([("", ref)] if "modules" in name else []), *inside]
        several: list[Value] = [Tup((Const(path), one)) if name.startswith("named") else one for path, one in parts]
        return ctx.new(site, "generator", None, {"*": join(*several)}, tag=(name, ref))
    if name in ("items", "values", "keys", "children", "modules", "named_children", "named_modules"):
        value = reading.layers_in(ctx, ref, rec)
        is_pair = name in ("items", "named_children", "named_modules")
        held = Tup((NUMBER, value)) if is_pair else NUMBER if name == "keys" else value
        return ctx.new(site, "generator", None, {"*": held}, tag=(name, ref))
    return unknown(site)


def _may_be_tensor(value: Value) -> bool:
    return any(isinstance(one, (Tensor, Term)) for one in alternatives(value))


def _set_training(ctx: Context, module: Value, mode: Value, deep: int = 6) -> None:
    """`module.eval()` and `module.train()`, which tell the submodules as well, each once: a part may be held in many ways."""
    told: dict[Ref, Rec] = {}
    stage = [module]
    for _ in range(deep):
        held: list[Value] = []
        for value in stage:
            rec = ctx.heap.get(value) if isinstance(value, Ref) and value not in told else None
            if rec is None or rec.kind != "module" or not isinstance(value, Ref):
                continue
            told[value] = rec
            parts = [one for key, one in rec.fields.items() if isinstance(key, tuple) or key == "*" or key[:1] == "."]
            held += [one for content in parts for one in alternatives(content) if isinstance(one, Ref)]
        stage = held
    for value in reversed(told):
        ctx.put(value, _TRAINING, mode)


@contextmanager
def having(ctx: Context, module: Value, given: Value) -> Iterator[None]:
    """A module with other parameters and buffers for a while, which are where they are given."""
    dicts = [
        ctx.rec(one) for one in (given.items if isinstance(given, Tup) else (given,))
    ]  # of parameters, and of buffers
    parts = next((list(rec.items.values()) for rec in dicts if rec is not None and rec.items), [])
    saved = ctx.heap
    if parts and isinstance(module, Ref):
        ctx.heap = dict(saved)
        devices.move_module(ctx, module, devices.device_of(ctx, join(*parts)))
    try:
        yield
    finally:
        ctx.heap = saved


# `register_buffer(name, None)`, and the conditions that it is under: a tensor that is assigned to the name becomes the buffer.
_REGISTERED = "@registered "


def register_buffer(ctx: Context, module: Value, args: Args, keywords: Keywords) -> None:
    """`module.register_buffer(name, tensor, persistent=True)`."""
    value = args[1] if len(args) > 1 else keywords.get("tensor", UNKNOWN)
    named = args[0] if args else keywords.get("name", UNKNOWN)
    _register(ctx, module, named, _part(followed(ctx, value)))
    persistent = args[2] if len(args) > 2 else keywords.get("persistent", TRUE)
    if isinstance(named, Const):
        ctx.put(module, f"{devices.BUFFER}.{named.value}", True)
        if persistent == FALSE:
            ctx.put(module, f"{_TRANSIENT}.{named.value}", True)


def _register(ctx: Context, ref: Value, name: Value, value: Value) -> None:
    given = str(name.value) if isinstance(name, Const) else paths.glob_of(name) if isinstance(name, Text) else "*"
    if given != "*":
        ctx.put(ref, "." + given, value)
        if NONE in alternatives(value):
            ctx.put(ref, f"{_REGISTERED}.{given}", ctx.facts)


_TRANSIENT = "@transient "  # before the field of a buffer that no state dict holds


def _assign_state(ctx: Context, ref: Ref, rec: Rec, state: Rec | None) -> None:
    """`load_state_dict(state, assign=True)`: the parameters and buffers are those of the state, where they are."""
    held = list(state.items.values()) if state is not None else []
    devices.move_module(ctx, ref, devices.device_of(ctx, join(*held)) if held else NOWHERE)
    for key, content in rec.fields.items():
        if rec.fields.get(f"{_TRANSIENT}{key}") is True:
            ctx.put(ref, key, content)


def weights(rec: Rec) -> Tensor:
    """A parameter of a module. On the CPU it is there because nobody said where, unless the module was made for a device."""
    place: Place = rec.fields.get("@device", NOWHERE)
    implicit: Literal["", "default"] = "default" if place == HOST and "@implicit" in rec.fields else ""
    made: Site | None = rec.fields.get("@origin")
    return Tensor(place, MANY, made.part if made is not None else None, implicit, True)


_OF_PARTS = frozenset({"modules", "named_modules", "children", "named_children"})
_LISTED = frozenset("parameters buffers named_parameters named_buffers state_dict".split())
_MOST_HELD = 30


def plain(value: Value) -> Value:
    """Each tensor that a value may be, for itself."""
    return for_each(lambda one: tensors.plain(one) if isinstance(one, Tensor) else one, value)


def held_by(
    ctx: Context, rec: Rec, prefix: str = "", deep: int = 4, *, buffers: bool = True, parameters: bool = True
) -> dict[str, Value]:
    """The parameters and buffers of a module by their names; under "*" those of layers whose names are not known here."""
    found: dict[str, Value] = {}
    stub = ctx.stubs.module_class(rec.cls.name) if isinstance(rec.cls, Ext) else None
    holds = rec.fields.get(_LAYER, stub.holds if stub is not None else "unknown")
    if holds == "parameters" and _EMPTY not in rec.fields:
        found["*"] = weights(rec)
    for key, content in rec.fields.items():
        name = str(key[1]) if isinstance(key, tuple) else key[1:] if key.startswith(".") else None
        if name is None or len(found) > _MOST_HELD:
            continue
        inner = ctx.heap.get(content) if isinstance(content, Ref) else None
        if all(isinstance(one, Tensor) and one.follows for one in alternatives(content)):
            if buffers if rec.fields.get(f"{devices.BUFFER}{key}") is True else parameters:
                found[prefix + name] = content
        elif inner is not None and inner.kind == "module" and deep:
            below = held_by(ctx, inner, f"{prefix}{name}.", deep - 1, buffers=buffers, parameters=parameters)
            both = [one for one in (found.get("*"), below.get("*")) if one is not None]
            found |= below
            if both:
                found["*"] = join(*both)
    return found


def _weights_within(ctx: Context, rec: Rec) -> Value:
    """The parameters of a module of which none is known: where its parts are, one of which a caller may have given."""
    made, place = weights(rec), place_within(ctx, rec)
    return made if place == made.device else Tensor(place, MANY)


def place_within(ctx: Context, rec: Rec, deep: int = 4) -> Place:
    """Where the parameters of a module are, which is not where it was made if its parts were moved one by one."""
    first = _first_parameter(ctx, rec)
    if first is not None:
        return devices.device_of(ctx, first)
    place: Place = rec.fields.get("@device", NOWHERE)
    if place != HOST:
        return place
    held = [one for key, one in rec.fields.items() if isinstance(key, tuple) or key == "*" or key[:1] == "."]
    places: set[Place] = set()
    for one, inner in (pair for content in held for pair in ctx.each(content)):
        if inner is not None and inner.kind == "module":
            if not _is_without_parameters(ctx, inner):
                places.add(place_within(ctx, inner, deep - 1) if deep else NOWHERE)
        elif is_open(one):
            places.add(NOWHERE)  # it may be a module
    return place if not places else places.pop() if len(places) == 1 else NOWHERE


def _first_parameter(ctx: Context, rec: Rec, deep: int = 4) -> Value | None:
    """The first of a module's parameters: its own stand in front of those of its parts (torch/nn/modules/module.py, `named_parameters`)."""
    stub = ctx.stubs.module_class(rec.cls.name) if isinstance(rec.cls, Ext) else None
    if (
        rec.fields.get(_LAYER, stub.holds if stub is not None else "unknown") == "parameters"
        and _EMPTY not in rec.fields
    ):
        return weights(rec)
    held: dict[Any, Value] = {key: one for key, one in rec.fields.items() if isinstance(key, tuple) or key[:1] == "."}
    for key, content in held.items():
        is_tensor = isinstance(content, Tensor) and content.follows
        if is_tensor and rec.fields.get(f"{devices.BUFFER}{key}") is not True:
            return content
    for content in held.values():
        inner = ctx.heap.get(content) if isinstance(content, Ref) else None
        if inner is not None and inner.kind == "module":
            first = _first_parameter(ctx, inner, deep - 1) if deep else None
            if first is not None or not _is_without_parameters(ctx, inner):
                return first
        elif isinstance(content, OneOf) or is_open(content):
            return None  # it may be a module
    return None


def _is_without_parameters(ctx: Context, rec: Rec) -> bool:
    stub = ctx.stubs.module_class(rec.cls.name) if isinstance(rec.cls, Ext) else None
    return stub is not None and stub.holds == "empty"


def replace_data(ctx: Context, owner: Value | None, target: Value, value: Value) -> None:
    """`layer.weight.data = value`: the layer is where its new values are, and the tensor for whoever holds it under another name."""
    place = devices.device_of(ctx, value)
    for one in alternatives(target):
        if isinstance(one, Tensor) and one.origin is not None:
            data = devices.of_data(one.origin, follows=one.follows)
            if one.follows and place == one.device == HOST and data not in ctx.heap:
                continue  # as before, it is where its module is
            ctx.put(data, OF_DATA, place)
            for ref, held in list(ctx.heap.items()) if one.follows else ():
                is_of_line = held.kind == "module" and held.fields.get("@origin") is one.origin.whole
                if (
                    is_of_line and held.fields.get("@device", one.device) == one.device
                ):  # one that is elsewhere is another of that line
                    ctx.note_move(ref)
                    ctx.put(ref, "@device", place)
        elif isinstance(one, Tensor) and one.follows and one.kept:
            held_as = list(_held_as(ctx, one))
            if len(held_as) == 1:  # of several nobody knows which
                ctx.put(*held_as[0], followed(ctx, value))
    rec = ctx.heap.get(owner) if isinstance(owner, Ref) else None
    if owner is not None and rec is not None and rec.kind == "module" and "@device" in rec.fields:
        ctx.note_move(owner)
        ctx.put(owner, "@device", place)


def _held_as(ctx: Context, parameter: Tensor) -> Iterator[tuple[Ref, str]]:
    """The modules that may keep a parameter, of which nobody knows where it was made, and the attributes that they keep it under."""
    for ref, rec in ctx.heap.items():
        held = rec.fields.get("." + parameter.kept) if rec.kind == "module" else None
        if (
            isinstance(ref, Ref)
            and isinstance(held, Tensor)
            and held.follows
            and held.origin is None
            and held.device == parameter.device
        ):
            yield ref, "." + parameter.kept


def give_weight(ctx: Context, target: Value, value: Value) -> None:
    """`layer.weight = other.weight`: the layer is where what it computes with is, and goes along where the other module is moved."""
    several = alternatives(value)
    held = [one for one in several if isinstance(one, Tensor) and one.follows]
    places: set[Place] = {one.device for one in held}
    places |= {devices.device_of(ctx, one) for one in several if isinstance(one, Term) and one.waits}
    origins = {one.origin.whole for one in held if one.origin is not None}
    for one, rec in ctx.each(target):
        is_layer = isinstance(one, Ref) and rec is not None and rec.kind == "module" and len(places) == 1
        if not is_layer or rec is None:
            continue
        if rec.fields.get("@device") not in places:
            ctx.note_move(one)
            ctx.put(one, "@device", next(iter(places)))
        ctx.put(one, devices.TIED, next(iter(origins)) if len(origins) == 1 else None)


def _item_named(rec: Rec, name: str) -> Any | None:
    """The item of a container of modules that is its attribute as well; None where it has none of that name."""
    keys = [("k", name), *([("k", int(name))] if name.isdecimal() else [])]
    return next((key for key in keys if key in rec.fields), None)


def store_attribute(ctx: Context, target: Value, name: str, value: Value, *, by: str = "set") -> None:
    """`target.name = value`: a tensor that an object keeps is known by its name, also in a list or dict. `by`: see `setter_of`."""
    from torchdevlint.infer.classes import setter_of

    if isinstance(target, Func):
        target = Ref(("function", target.body))
    if name == "__dict__" and value != target and by != "del":
        from torchdevlint.infer.foreign import update_fields

        update_fields(ctx, target, [value], {})
        return
    for one in alternatives(target):
        setter = setter_of(ctx, one, name, by)
        if setter is not None:
            ctx.call(setter, [] if by.endswith("del") else [value], {}, None)
            return
        rec = ctx.heap.get(one) if isinstance(one, Ref) else None
        if isinstance(one, Ref) and rec is not None and rec.kind == "dict" and reading.shows_items(ctx, one, rec):
            ctx.put(one, ("k", name), value)
            return
    is_of_module = any(is_module(ctx, one) for one in alternatives(target))
    if is_of_module:
        value = _part(value)
    kept = known_by(ctx, value, name, of_module=is_of_module)
    for one, rec in ctx.each(kept):
        if rec is not None and rec.kind in ("list", "dict"):
            fields = {
                key: _kept(ctx, content, name) if key != "default" else content for key, content in rec.fields.items()
            }
            ctx.heap[one] = Rec(rec.kind, rec.cls, fields)
    for one, rec in ctx.each(target):
        held = _item_named(rec, name) if rec is not None and rec.kind == "module" else None
        if held is not None:  # `setattr(blocks, "0", layer)` of a Sequential
            ctx.put(one, held, kept)
            return
    if name == "weight":
        give_weight(ctx, target, kept)
    if by in ("dict_set", "raw_object_set"):
        ctx.put(target, f"{devices.HIDDEN}.{name}", True)
    ctx.put(target, "." + name, still_following(ctx, target, "." + name, kept))


def is_module(ctx: Context, value: Value) -> bool:
    """True for a module that was made, and for the `self` of a module's method."""
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    return ctx.analysis.is_receiver_of_module(value) if rec is None else rec.kind == "module"


def _part(value: Value) -> Value:
    """A parameter or buffer that a module holds: what is computed from it is where its module is."""

    def one(value: Value) -> Value:
        if isinstance(value, Tensor) and value.follows and value.origin is not None:
            return replace(value, origin=value.origin.part, moved=None)
        return value

    return for_each(one, value)


def store_named(ctx: Context, target: Value, name: Value, value: Value, *, by: str = "set") -> None:
    """`setattr(target, name, value)`: each name with the value that it may have."""
    found: dict[str, list[tuple[Any, Value]]] = {}
    for guards, one in options_of(name):
        if isinstance(one, Const):
            several = [(inner, kept) for inner, kept in options_of(value) if consistent(guards, inner)]
            found.setdefault(str(one.value), []).extend(several)
        elif waits(one) and ctx.mode == "summary":
            ctx.emit(Term(by, target, name, value))
            _store_anywhere(ctx, target, one, value, by, is_known_later=True)
            return
        elif isinstance(one, Text) and paths.glob_of(one) != "*":
            several = found.setdefault(paths.glob_of(one), [])
            recs = [ctx.rec(each) for each in alternatives(target)]
            key = "." + paths.glob_of(one)
            several += [(NO_FACTS, rec.fields[key]) for rec in recs if rec is not None and key in rec.fields]
            several += options_of(value)
        elif not by.endswith("del"):
            _store_anywhere(ctx, target, one, value, by)
    for key, several in found.items():
        store_attribute(ctx, target, key, join(*(kept for _, kept in several)), by=by)


def _store_anywhere(
    ctx: Context, target: Value, name: Value, value: Value, by: str, *, is_known_later: bool = False
) -> None:
    """An attribute under a name that nobody knows: each that is known may be it, and is moved where what is stored was."""
    moved = [one for one in alternatives(value) if is_moved(one)]
    for one, rec in ctx.each(target) if moved else ():
        if rec is None or rec.kind == "overlay":
            if ctx.mode == "summary" and is_open(one):
                ctx.emit(Term(by, one, name, value))
            continue
        for key, held in rec.fields.items():
            if isinstance(key, str) and key.startswith(".") and not key.startswith(".@"):
                is_tensor = any(isinstance(content, Tensor) for content in alternatives(held))
                # An item of its `__dict__` is one of its own; of any other name it is not known whether it is this one.
                is_lost = is_tensor and by != "dict_set" and not is_known_later
                ctx.put(one, key, join(UNKNOWN if is_lost else held, *moved))


def still_following(ctx: Context, target: Value, key: str, value: Value) -> Value:
    """A tensor that takes the place of a parameter or buffer is one (torch/nn/modules/module.py, `__setattr__`)."""
    for one, rec in ctx.each(target):
        fields = rec.fields if rec is not None else {}
        old = fields.get(key)
        if isinstance(old, Tensor) and old.follows:
            ctx.put(one, f"{devices.REPLACED}{key}", True)
            return followed(ctx, value)
        registered = fields.get(_REGISTERED + key)
        if isinstance(registered, frozenset):
            options = options_of(value)
            return one_of([(way, followed(ctx, one) if consistent(way, registered) else one) for way, one in options])
    return value


def known_by(ctx: Context, value: Value, name: str, *, of_module: bool) -> Value:
    """What an object keeps under a name: its tensors are known by that, but for the parameters of a module that something else keeps."""
    if not of_module and all(isinstance(one, Tensor) and one.follows and one.kept for one in alternatives(value)):
        return value
    return for_each(lambda one: _kept(ctx, one, name), value)


def _kept(ctx: Context, value: Value, name: str) -> Value:
    # What is computed is a tensor by now; what is written in place (`+=`) is still what it was.
    if isinstance(value, Term) and value.op == "binary" and ctx.mode != "summary" and not value.args[0].endswith("="):
        known = tensors.as_tensor(ctx, value)
        value = known if isinstance(known, Tensor) and known.device == HOST else value
    if isinstance(value, Tensor):
        is_computed = value.origin is not None and value.origin.is_part and not value.follows
        origin = value.origin.whole if is_computed and value.origin is not None else value.origin
        return Tensor(value.device, value.rank, origin, value.implicit, value.follows, name, like=value.like)
    return Tup(tuple(_kept(ctx, item, name) for item in value.items)) if isinstance(value, Tup) else value
