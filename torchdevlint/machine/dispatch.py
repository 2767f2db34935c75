"""The dispatch mode: sees every operator, forward and backward, checks the tags of its tensors and tags its results.

Most calls have all tensors on one device and take the short way: read tags, run, write tags. Only calls that mix
devices, that make tensors, or that the hazards or the ledger want to see take the long way.
"""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode

from torchdevlint.machine import checks, errors, forgiving, hazards, ledger
from torchdevlint.machine.op_rules import OpRule
from torchdevlint.machine.places import Place, user_place
from torchdevlint.machine.state import STATE, normal_device
from torchdevlint.machine.tags import (
    ANY_DEVICE,
    CPU,
    HOST,
    WILD,
    WRAPPERS,
    Device,
    Tag,
    device_in_op,
    flat,
    set_tag,
    storage_of,
    tag_of,
)

SYNCS = frozenset(
    {"_local_scalar_dense", "nonzero", "masked_select", "equal", "_unique2", "unique_dim", "unique_consecutive"}
)
"""Operators whose result or result's size the host must wait for."""
_SYNC_NAMES = {"_local_scalar_dense": "item"}
_READS_NOTHING = frozenset({"copy_", "_to_copy", "detach", "empty_like", "set_", "record_stream", "_reshape_alias"})
_ALWAYS_CHECKED = frozenset({"_pack_padded_sequence"})
_HOST_LENGTHS = frozenset({"_pack_padded_sequence", "_pad_packed_sequence"})
"""Operators whose second result (batch sizes, lengths) is a CPU tensor on every machine."""
_INDEXES = frozenset({"index", "index_put_", "_index_put_impl_"})
_ON_CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
_NO_TAG, _ONE_TAG, _MANY_TAGS = 0, 1, 2
_NO_TENSORS = frozenset({type(None), int, float, bool, complex})
"""What C++ passes for a tensor argument besides tensors: nothing, or a Python number."""
_NO_RULE = OpRule("cuda", False, "", ())
_MIXED = Tag(None)
IN_FLIGHT = hazards.IN_FLIGHT
WATCH = forgiving.WATCH

UNJUDGED: dict[str, Place | None] = {}
"""Operators that met mixed devices and whose checks nobody knows, with the first line that called them."""
RULES: dict[str, OpRule] = {}


class _Here(threading.local):
    mode: DeviceMode | None = None
    copies_to_host = False
    """Whether a `_to_copy` that names the CPU means it: C++ names the CPU for every tensor."""


_HERE = _Here()


def settled_by() -> Tag:
    """The tag that a wildcard takes when a user looks at it: that of the last operator on a device."""
    mode = _HERE.mode
    return HOST if mode is None or mode.last is None else mode.last


def copy_wrapper(source: Any, device: Any) -> Any:
    """A wrapper on another device: its own `__torch_dispatch__` moves what it wraps."""
    before = _HERE.copies_to_host
    _HERE.copies_to_host = device == CPU
    try:
        return torch.ops.aten._to_copy.default(source, device=device)
    finally:
        _HERE.copies_to_host = before


class Plan:
    """What the mode needs to know about one operator, worked out once from its schema."""

    __slots__ = (
        "arguments",
        "base",
        "call",
        "foreign",
        "generator",
        "keywords",
        "kinds",
        "name",
        "results",
        "slow",
        "tensors",
        "writes_first",
    )

    def __init__(self, func: Any) -> None:
        schema = func._schema
        self.name = func.__name__
        self.base = self.name.split(".", 1)[0]
        self.call = func._op
        self.arguments = [(a.name, a.kwarg_only) for a in schema.arguments]
        self.kinds = tuple(_kind(str(a.type)) for a in schema.arguments if not a.kwarg_only)
        self.tensors = _leading_tensors(self.kinds)
        self.keywords = frozenset(
            a.name
            for a in schema.arguments
            if a.kwarg_only and (_kind(str(a.type)) or a.name in ("device", "generator"))
        )
        self.results = _results(self.name, schema)
        self.foreign = func.namespace not in ("aten", "prim", "prims")
        self.writes_first = schema.is_mutable
        makes = self.results != _NO_TAG and not any(self.kinds) and "out" not in self.keywords
        observed = self.base in SYNCS or self.base in _INDEXES
        self.slow = (
            makes
            or self.foreign
            or self.base in _ALWAYS_CHECKED
            or self.base in _HOST_LENGTHS
            or self.base == "set_"
            or (observed and ledger.RECORDER.ledger is not None)
        )

    def named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The call's arguments by name; absent ones are None."""
        return {
            name: kwargs.get(name) if keyword or i >= len(args) else args[i]
            for i, (name, keyword) in enumerate(self.arguments)
        }


def _kind(type_name: str) -> int:
    """0: no tensor; 1: a tensor or None; 2: a list of them."""
    if "Tensor" not in type_name:
        return 0
    return 2 if "List[" in type_name or "[]" in type_name else 1


def _results(name: str, schema: Any) -> int:
    """Whether results need a tag: a result that aliases an argument shares its storage and so its tag.

    Composite operators (`to`, `reshape`, ...) alias only at times; they arrive whole in inference mode.
    """
    kinds = [_kind(str(r.type)) for r in schema.returns]
    aliases = all(r.alias_info is not None for r, kind in zip(schema.returns, kinds, strict=True) if kind)
    composite = RULES.get(name, _NO_RULE).kind == "composite-implicit"
    if not any(kinds) or (aliases and not composite):
        return _NO_TAG
    return _ONE_TAG if kinds == [1] else _MANY_TAGS


def _common_tag(kinds: tuple[int, ...], args: tuple[Any, ...]) -> Tag | None:
    """The tag of the first tensor when all are on its device, `_MIXED` when not, None without tensors."""
    tag = None
    for kind, value in zip(kinds, args):  # noqa: B905 - trailing defaults are absent
        if kind == 0 or value.__class__ in _NO_TENSORS:
            continue
        for tensor in value if kind == 2 else (value,):
            if tensor is None:
                continue
            its = storage_of(tensor)._tdl_tag
            if tag is None:
                tag = its
            elif its.device is not tag.device:
                return _MIXED
    return tag


def _leading_tensors(kinds: tuple[int, ...]) -> int:
    """1 or 2 when the operator's tensors are just its first one or two arguments, else 0."""
    for count in (1, 2):
        if kinds[:count] == (1,) * count and not any(kinds[count:]):
            return count
    return 0


def tag_results(out: Any, tag: Tag) -> None:
    """Tag every tensor in an operator's result; meta tensors have no data to be anywhere."""
    for tensor in flat(out):
        if not tensor.is_meta:
            set_tag(tensor, tag)


class DeviceMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """One per thread: dispatch modes are thread-local."""

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.last: Tag | None = None

    def __enter__(self) -> Any:
        _HERE.mode = self
        return super().__enter__()  # type: ignore[no-untyped-call]

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # True wraps each call in torch._dynamo.disable, which is slow and imports dynamo

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # the hottest function of the machine: one attribute look-up a tensor, no call that can be spared
        if types and not WRAPPERS.isdisjoint(types):
            return NotImplemented  # the subclass unwraps itself, and calls again with what is inside
        try:
            plan = func._tdl_plan
        except AttributeError:
            if isinstance(func, HigherOrderOperator):
                return self._higher_order(func, args, kwargs or {})
            plan = func._tdl_plan = Plan(func)
        if plan.slow or IN_FLIGHT or (kwargs and plan.keywords and not plan.keywords.isdisjoint(kwargs)):
            return self._long_way(func, plan, args, kwargs or {})
        tag = None
        try:
            tensors = plan.tensors
            if tensors == 1:
                tag = storage_of(args[0])._tdl_tag
            elif tensors == 2:
                tag = storage_of(args[0])._tdl_tag
                other = args[1]
                if other.__class__ not in _NO_TENSORS and storage_of(other)._tdl_tag.device is not tag.device:
                    tag = _MIXED
            else:
                tag = _common_tag(plan.kinds, args)
        except (
            NotImplementedError,
            RuntimeError,
            TypeError,
            IndexError,
        ):  # no storage, or a number in a tensor's place
            tag = _MIXED
        if tag is _MIXED:
            return self._long_way(func, plan, args, kwargs or {})
        out = plan.call(*args, **kwargs) if kwargs else plan.call(*args)
        if tag is HOST or tag is None:  # None: no tensor at all, an empty list
            return out
        if tag.device is not CPU and tag is not WILD:
            self.last = tag
            if WATCH.operand is not None:
                WATCH.operand()
        results = plan.results
        if results == _ONE_TAG:
            try:
                storage_of(out)._tdl_tag = tag
            except (NotImplementedError, RuntimeError):
                out._tdl_tag = tag
        elif results == _MANY_TAGS:
            tag_results(out, tag)
        return out

    def _higher_order(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Higher-order operators run their Python body eagerly, with the mode on."""
        body = func.py_kernels.get(torch._C.DispatchKey.CompositeExplicitAutograd)
        if body is None:
            raise NotImplementedError(f"a virtual GPU cannot judge the higher-order operator {func.name()}")
        with self:
            return body(*args, **kwargs)

    def _long_way(self, func: Any, plan: Plan, args: Any, kwargs: dict[str, Any]) -> Any:
        wanted = kwargs.get("device")
        if wanted is not None and wanted.type == "cuda":
            return self._make_on_device(func, wanted, args, kwargs)
        tensors = flat(args) + flat(list(kwargs.values()))
        if _HERE.copies_to_host and plan.base == "_to_copy":
            out = func(*args, **kwargs)
            tag_results(out, Tag(CPU, tag_of(tensors[0]).born, user_place()))
            return out
        if not tensors:
            out = func(*args, **kwargs)
            if wanted is None or wanted.type == "cpu":
                tag_results(out, WILD)
            return out
        named = plan.named(args, kwargs)
        decomposed = None
        try:
            if plan.base in _ALWAYS_CHECKED:
                checks.SPECIAL[plan.base](plan.name, named)
            device, decomposed = self._result_device(func, plan, named, tensors, args, kwargs)
            generator = kwargs.get("generator")
            if decomposed is None and generator is not None and device is not ANY_DEVICE and device is not checks.EACH:
                check_generator(device, generator)
        except RuntimeError as error:
            device = _after_fault(error, plan, named, tensors)
        if decomposed is not None:
            return decomposed[0]
        self._settle_wildcards(tensors, device)
        self._observe(plan, named, tensors, device)
        if plan.foreign:
            return self._run_foreign(func, args, kwargs, self._tag_for(device, tensors))
        out = func(*args, **kwargs)
        self._tag_out(plan, out, device, tensors, args)
        return out

    def _make_on_device(self, func: Any, wanted: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """A factory that no patch saw (a reference taken before the start, or C++) was asked for a CUDA device."""
        device = normal_device(wanted)
        if kwargs.get("generator") is not None:
            check_generator(device, kwargs["generator"])
        out = func(*args, **{**kwargs, "device": CPU})
        tag_results(out, Tag(device, user_place()))
        return out

    def _result_device(
        self, func: Any, plan: Plan, named: dict[str, Any], tensors: list[Any], args: Any, kwargs: dict[str, Any]
    ) -> tuple[Any, tuple[Any] | None]:
        """The device of the results, after the checks; or the results of a decomposed call."""
        known = [device for device in map(device_in_op, tensors) if device is not ANY_DEVICE]
        if not known:
            return ANY_DEVICE, None
        if all(device == known[0] for device in known):
            return known[0], None
        special = checks.SPECIAL.get(plan.base)
        if special is not None:
            return special(plan.name, named), None
        if plan.base.startswith("_foreach"):
            return checks.foreach(plan.name, named, _written(func, named)), None
        rule = RULES.get(plan.name) if not plan.foreign else None
        if rule is None:
            UNJUDGED.setdefault(str(func), user_place())
            rule = _NO_RULE if not plan.foreign else None
        if rule is not None:
            if rule.kind.startswith("composite"):
                out = self._decompose(func, rule, args, kwargs)
                if out is not None:
                    return None, out
            _check(rule, plan, func, named, tensors)
        return next((d for d in known if d != CPU), CPU), None

    def _decompose(self, func: Any, rule: OpRule, args: Any, kwargs: dict[str, Any]) -> tuple[Any] | None:
        """An operator without a CUDA kernel is judged by the operators that it is made of."""
        keys = torch._C.DispatchKey
        key = keys.CompositeExplicitAutograd if rule.kind == "composite-explicit" else keys.CompositeImplicitAutograd
        if not torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), key):
            return None
        with self:
            return (func._op_dk(key, *args, **kwargs),)

    def _run_foreign(self, func: Any, args: Any, kwargs: dict[str, Any], tag: Tag) -> Any:
        """A custom operator: what its Python body does is seen too."""
        with self:
            out = func.redispatch(_ON_CPU, *args, **kwargs)
        for tensor in flat(out):
            if tag_of(tensor) is HOST:
                set_tag(tensor, tag)
        return out

    def _settle_wildcards(self, tensors: list[Any], device: Any) -> None:
        """Tensors made in C++ take the device of what they meet; a lone 0-dim CPU tensor settles nothing."""
        if device is ANY_DEVICE or device is checks.EACH:
            return
        wild = [tensor for tensor in tensors if tag_of(tensor) is WILD]
        if wild and (device != CPU or any(t.dim() and tag_of(t).device == CPU for t in tensors)):
            tag = self._tag_for(device, tensors)
            for tensor in wild:
                set_tag(tensor, tag)

    def _observe(self, plan: Plan, named: dict[str, Any], tensors: list[Any], device: Any) -> None:
        on_gpu = isinstance(device, Device) and device.type == "cuda"
        if plan.base in SYNCS and on_gpu:
            hazards.synchronised(_SYNC_NAMES.get(plan.base, plan.base))
        if plan.base == "copy_":
            _observe_copy(named)
        elif IN_FLIGHT and plan.base not in _READS_NOTHING:
            hazards.check_operator(plan.name, tensors, plan.writes_first)
        if plan.base in _INDEXES and on_gpu:
            _observe_indices(named, device)

    def _tag_for(self, device: Any, tensors: list[Any]) -> Tag:
        if device is ANY_DEVICE:
            return WILD
        return next((tag for tag in map(tag_of, tensors) if tag.device is device), None) or Tag(device)

    def _tag_out(self, plan: Plan, out: Any, device: Any, tensors: list[Any], args: Any) -> None:
        if plan.base == "set_":
            return  # takes over an existing storage and its tag
        if device is checks.EACH:
            for source, tensor in zip(args[0], flat(out), strict=False):
                set_tag(tensor, tag_of(source))
            return
        if isinstance(device, Device) and device.type not in ("cpu", "cuda"):
            return
        tag = self._tag_for(device, tensors)
        if device is not CPU and device is not ANY_DEVICE:
            self.last = tag
            if WATCH.operand is not None:
                WATCH.operand()
        if plan.base in _HOST_LENGTHS:
            set_tag(out[0], tag)
        elif plan.results != _NO_TAG or _without_storage(tensors):
            tag_results(out, tag)


def _after_fault(error: RuntimeError, plan: Plan, named: dict[str, Any], tensors: list[Any]) -> Any:
    """The device on which a forgiven operator goes on: that of what it writes, else the GPU. Raises `error` unless it is forgiven."""
    if WATCH.fault is None or not WATCH.fault(error, tensors):
        raise error
    if plan.base.startswith("_foreach"):
        return checks.EACH
    indexed = plan.base in _INDEXES or plan.base == "_unsafe_index"  # the index would follow the tensor
    written = flat(named.get("self")) if plan.writes_first or indexed else []
    known = [device for device in map(device_in_op, written or tensors) if device is not ANY_DEVICE]
    return next((device for device in known if device != CPU), CPU)


def _dispatch_after_fork(self: DeviceMode, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """In a forked child of a parent that used CUDA, every operator on an inherited CUDA tensor fails."""
    for tensor in flat(args):
        if getattr(device_in_op(tensor), "type", None) == "cuda":
            raise errors.fork_use(func.__name__)
    return _dispatch(self, func, types, args, kwargs)


_dispatch = DeviceMode.__torch_dispatch__


def after_fork_in_child() -> None:
    """Called in every forked child, before anything else runs there."""
    if STATE.bad_fork:
        DeviceMode.__torch_dispatch__ = _dispatch_after_fork  # type: ignore[method-assign]


def _without_storage(tensors: list[Any]) -> bool:
    return any(t.layout != torch.strided for t in tensors)


def _check(rule: OpRule, plan: Plan, func: Any, named: dict[str, Any], tensors: list[Any]) -> None:
    if rule.kind == "cuda" and rule.exact:
        checks.exactly_same(named, rule.arguments, rule.method, plan.name)
    elif rule.kind == "nocuda":
        checks.same_device(tensors, named, plan.name, scalars=False)
    elif not plan.base.startswith("_fused"):
        ordered = flat([named.get(name) for name in rule.arguments]) if rule.arguments else tensors
        scalars = plan.base not in checks.WITHOUT_HOST_SCALARS
        common = checks.same_device(ordered, named, plan.name, scalars, _written(func, named))
        checks.kernel_takes(plan.base, named, common, plan.name)


def _written(func: Any, named: dict[str, Any]) -> list[Any]:
    """The tensors that the operator writes."""
    arguments = func._schema.arguments
    return [t for a in arguments if a.alias_info is not None and a.alias_info.is_write for t in flat(named.get(a.name))]


def check_generator(device: Any, generator: Any) -> None:
    """aten/src/ATen/core/Generator.h, check_generator."""
    from torchdevlint.machine.patches.generator import device_of_generator

    own = device_of_generator(generator)
    if device.type != own.type:
        text = f"Expected a '{device.type}' device type for generator but found '{own.type}'"
        forgiving.refuse(errors.fault(RuntimeError(text), "torch.Generator", [("generator", generator)]), [])


def _observe_copy(named: dict[str, Any]) -> None:
    """`Tensor.copy_`: between devices it travels; asynchronous ones stay in flight."""
    target, source, non_blocking = named["self"], named["src"], bool(named.get("non_blocking"))
    to, origin = device_in_op(target), device_in_op(source)
    if to is ANY_DEVICE or origin is ANY_DEVICE or to == origin:
        if IN_FLIGHT:
            hazards.check_operator("copy_", [target, source], writes_first=True)
        return
    observe_transfer(source, target, non_blocking, "copy_")


def observe_transfer(source: Any, target: Any, non_blocking: bool, cause: str, implicit: bool = False) -> None:
    """Tell hazards and ledger about a copy between devices; ``source`` and ``target`` carry their tags."""
    to_host, from_host = device_in_op(target) == CPU, device_in_op(source) == CPU
    kind: ledger.EntryKind = "d2h" if to_host else "h2d" if from_host else "d2d"
    ledger.record_copy(kind, cause, source, implicit)
    if IN_FLIGHT and from_host:
        hazards.check_read(source, cause)
    if kind == "d2d":
        return
    pinned = is_pinned(target if to_host else source)
    if not non_blocking:
        hazards.synchronised(cause)
    elif to_host:
        hazards.copy_to_host_began(target)
    elif pinned:
        hazards.copy_to_device_began(source)


def is_pinned(tensor: Any) -> bool:
    """Whether the tensor lies in page-locked host memory."""
    try:
        return bool(getattr(storage_of(tensor), "_tdl_pinned", False))
    except (NotImplementedError, RuntimeError):
        return False


def _observe_indices(named: dict[str, Any], device: Any) -> None:
    """Indices on the host travel to the device; a mask costs a synchronisation (its nonzero)."""
    for index in flat(named["indices"]):
        if device_in_op(index) == CPU:
            ledger.record_copy("h2d", "index on the CPU", index, implicit=True)
        if index.dtype in (torch.bool, torch.uint8):
            hazards.synchronised("mask index")


def enter_thread() -> DeviceMode:
    """Put the machine on this thread."""
    mode = DeviceMode()
    mode.__enter__()
    return mode
