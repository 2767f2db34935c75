"""What a class is, from its statement alone: a Module or not, its bases, the methods that forward reaches."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchdevlint.facts.facts import ClassSummary
from torchdevlint.facts.values import Kind
from torchdevlint.infer import classes
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import block_of
from torchdevlint.program.project import Member
from torchdevlint.stubs.knowledge import modules
from torchdevlint.stubs.knowledge.platforms import OTHER_FRAMEWORKS

if TYPE_CHECKING:
    from torchdevlint.facts.analysis import FileFacts

SETUP_METHODS = (
    "__init__",
    "__post_init__",
    "setup",
    "reset_parameters",
    "init_weights",
    "_init_weights",
    "build",
    "_build",
    "configure_model",
)
_DEEPEST_NESTING = 4
_MODULE_NAME = re.compile(r"(?:Module|Model|Net|Network|Encoder|Decoder|Layer|Block|Head|Backbone|Agent|Policy)\Z")


def describe(analysis: FileFacts, found: ClassSummary) -> None:
    """Fill in what the class statement says."""
    cls = found.cls
    in_file = {base: one for base in cls.bases if (one := analysis.class_named(base, cls)) is not None}
    bases = tuple(analysis.resolve_text(base) for base in cls.bases)
    found.bases = bases
    found.base_summaries = tuple(analysis.summary_of(in_file[base]) for base in cls.bases if base in in_file)
    found.is_lightning = any(
        base in modules.LIGHTNING_BASES or base.endswith("LightningModule") for base in bases
    ) or any(base.is_lightning for base in found.base_summaries)
    found.is_module = found.is_lightning or _is_module(analysis, cls, found.base_summaries)
    found.has_device_property = "device" in cls.methods or any(
        base.has_device_property for base in found.base_summaries
    )
    found.forward_methods = _reachable(analysis, found) if found.is_module else frozenset()
    setup = reached(analysis, found, [name for name in SETUP_METHODS if name in cls.methods])
    found.first_methods = frozenset(name for name in setup if not _is_run_again(analysis, found, name, setup))


def _is_module(analysis: FileFacts, cls: ir.Class, summaries: tuple[ClassSummary, ...]) -> bool:
    if any(base.is_module for base in summaries) or classes.is_module(analysis.names, cls):
        return True
    for base in classes.foreign_bases_of(analysis.names, cls):  # of the others the project shows what they are
        if base.partition(".")[0] in OTHER_FRAMEWORKS:
            continue
        if base in modules.MODULE_BASES or (base.startswith("torch.nn.") and base.rpartition(".")[2][:1].isupper()):
            return True
        last = base.rpartition(".")[2]
        if last.endswith(("PreTrainedModel", "LightningModule")) or base in ("nn.Module", "Module"):
            return True
        if "." in base and _MODULE_NAME.search(last) and _holds_modules(analysis, cls):
            return True
        # A class with forward whose base comes from elsewhere, named as modules are.
        if (
            "forward" in cls.methods
            and base not in ("?", "object")
            and not last.endswith(("Function", "Dataset", "Hook", "Transform"))
        ):
            resolved_elsewhere = "." in base
            if resolved_elsewhere and analysis.imports("torch") and not base.startswith(("torch.autograd", "abc.")):
                return True
    return False


def is_ignite_metric(summary: ClassSummary) -> bool:
    """True for a metric of pytorch-ignite, also through a class of this file."""
    family = (summary, *summary.ancestors)
    return any(base.startswith(modules.IGNITE_METRICS) for one in family for base in one.bases)


def _holds_modules(analysis: FileFacts, cls: ir.Class) -> bool:
    """True when `__init__` stores an instance of a class of torch.nn (or an embedding or layer by name) on self."""
    init = cls.methods.get("__init__")
    if init is None:
        return False
    lookup = Lookup.of(init)
    made = (lookup.definition(store.value) for store in lookup.kind(ir.StoreAttribute))
    called = (lookup.path(op.function) for op in made if isinstance(op, ir.Call))
    return any(name and modules.is_module_class(analysis.resolve_text(name)) for name in called)


def holds_nothing(analysis: FileFacts, cls: ir.Class, depth: int = 0) -> bool:
    """True for a Module of the project, built of parts without parameters and buffers alone: there is nothing of it to move, train or save."""
    there = analysis if cls in analysis.program.classes else _file_of(cls, analysis)
    if there is None:
        return False
    analysis = there
    summary = analysis.summary_of(cls)
    known = {base.cls.name for base in summary.base_summaries}
    if not summary.is_module or depth >= _DEEPEST_NESTING or summary.registered:
        return False
    for written, resolved in zip(summary.cls.bases, summary.bases, strict=True):
        if written not in known and resolved != "torch.nn.Module" and resolved not in modules.EMPTY_MODULES:
            return False
    bodies = [analysis.index_of(body) for body in cls.methods.values()]
    if any(body.self_calls & _REGISTERS or _REGISTERS & body.uses.keys() for body in bodies):
        return False
    called = {path for body in bodies for path, use in body.uses.items() if use.called or use.attributes & _MODULE_USES}
    for name, stores in summary.stores.items():
        for store in stores:
            value = store.value
            if value.kind is Kind.MODULE:
                if value.symbol in modules.EMPTY_MODULES:
                    continue
                if value.definition is None or not holds_nothing(analysis, value.definition, depth + 1):
                    return False
            elif value.kind in (Kind.TUPLE, Kind.LIST, Kind.DICT, Kind.PARAMETERS) or (
                value.kind in (Kind.UNKNOWN, Kind.CLASS, Kind.FUNCTION) and f"self.{name}" in called
            ):
                return False
    return all(holds_nothing(analysis, base.cls, depth + 1) for base in summary.base_summaries)


def _file_of(cls: ir.Class, analysis: FileFacts) -> FileFacts | None:
    """The facts of the other file of the project that defines a class."""
    from torchdevlint.facts.files import facts_of

    member, path = analysis.member, analysis.names.unit_of(cls.body).path
    return facts_of(Member(member.project, path)) if member is not None and path and path != member.path else None


_REGISTERS = frozenset("register_buffer register_parameter register_module add_module __setattr__ setattr".split())
_MODULE_USES = frozenset("parameters children modules weight state_dict forward".split())


def _reachable(analysis: FileFacts, summary: ClassSummary) -> frozenset[str]:
    """The methods that forward reaches through calls on self."""
    starts = [
        "forward",
        "training_step",
        "validation_step",
        "test_step",
        "predict_step",
        "loss",
        "__call__",
        "forward_train",
        "forward_test",
        "step",
    ]
    pending = [name for name in starts if summary.method(name) is not None]
    if not pending:
        # forward stands in a base class elsewhere: what this class defines is what that one calls.
        pending = [name for name in summary.cls.methods if not name.startswith("__") and name not in SETUP_METHODS]
    return reached(analysis, summary, pending) - {"__init__"}


def reached(analysis: FileFacts, summary: ClassSummary, pending: list[str]) -> frozenset[str]:
    """The methods reached from these through calls on self and through properties."""
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        body = summary.method(name)
        if name in seen or body is None:
            continue
        seen.add(name)
        index = analysis.index_of(body)
        pending += [called for called in index.self_calls if called not in seen]
        pending += [read for read in index.self_reads if read not in seen and is_property(summary.method(read))]
    return frozenset(seen)


def _is_run_again(analysis: FileFacts, summary: ClassSummary, name: str, setup: frozenset[str]) -> bool:
    """True when a method that is no set-up calls `self.name()` whatever happens: what that one stores is renewed."""
    for caller, body in summary.cls.methods.items():
        if caller in setup:
            continue
        calls = [call for called, call in analysis.index_of(body).local_calls if called == name]
        if calls and not _are_on_condition(body, calls):
            return True
    return False


def _are_on_condition(body: ir.Body, calls: list[ir.Call]) -> bool:
    """True when each call stands in a block that one branch of a test alone leads to."""
    for block in (block_of(body, call) for call in calls):
        before = [other for other in body.blocks if block is not None and block.index in other.successors]
        if len(before) != 1 or len(before[0].successors) != 2:
            return False
    return True


def is_property(method: ir.Body | None) -> bool:
    """True for a method that is read like an attribute."""
    return method is not None and any(d == "property" or d.endswith("cached_property") for d in method.decorators)
