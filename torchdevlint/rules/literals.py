"""Devices that a program spells in place, and what says that it may."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.devices import Device
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.once import once_per_body
from torchdevlint.facts.scopes import binds
from torchdevlint.facts.spelled import accelerator_in, texts_in
from torchdevlint.facts.values import Kind, Value
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import block_of, is_unconditional
from torchdevlint.stubs.knowledge.platforms import OTHER_FRAMEWORKS

_COLLECTIVES = frozenset(
    f"torch.distributed.{name}"
    for name in "all_reduce all_gather all_gather_into_tensor broadcast gather reduce reduce_scatter scatter".split()
)


def is_of_another_framework(facts: Facts) -> bool:
    """True for a file that imports another framework for tensors, and not torch: what it moves is none of torch's."""
    return facts.imports(*OTHER_FRAMEWORKS) and not facts.imports("torch")


def is_conditional_test(facts: Facts) -> bool:
    """True in a test function that a decorator or a call in it may skip."""
    if not facts.body.name.startswith("test"):
        return False
    skips = Lookup.of(facts.body).has_attribute("skip", "skipTest", "importorskip")
    return bool(facts.body.decorators) or skips


def spelled_accelerator(register: ir.Register | None, facts: Facts) -> Device | None:
    """The accelerator that stands in place as "cuda:0" or torch.device("cuda"); None for anything else, names included."""
    return accelerator_in(register, facts.body, facts.analysis)


def calls_collective(facts: Facts) -> bool:
    """True in a function with a collective, or with DistributedDataParallel over one device: CUDA is there for NCCL, which no other device has."""
    return facts.body.kind == "function" and _calls_collective(facts.body, facts)


@once_per_body
def _calls_collective(body: ir.Body, facts: Facts) -> bool:
    by_name = facts.analysis.calls_in(body)
    return not _COLLECTIVES.isdisjoint(by_name) or any(
        name.endswith(".DistributedDataParallel") and any(call.keyword("device_ids") is not None for call in calls)
        for name, calls in by_name.items()
    )


def device_in_scope(at: ir.Op | None, facts: Facts) -> str | None:
    """The spelling of a device that is certainly bound at an operation; a name that only `if __name__ == "__main__":` binds is not."""
    name = facts.nearest_device(at)
    if name is None or facts.body.kind == "module" or not name.isidentifier():
        return name
    bound_here = binds(facts.body, name)
    module = facts.program.module
    if bound_here or name not in module.local_names or facts.body.parent is not module:
        return name
    binding = (block_of(module, op) for op in Lookup.of(module).stores(name))
    return name if any(block is not None and is_unconditional(block, module) for block in binding) else None


def chosen_device(at: ir.Op, facts: Facts) -> tuple[str, bool] | None:
    """The spelling of a device in scope, and whether an availability test picks it and would pick CUDA."""
    name = device_in_scope(at, facts)
    return None if name is None else (name, _picks_cuda(name, facts))


def _picks_cuda(name: str, facts: Facts) -> bool:
    """True for a name that is bound, everywhere, by a choice between "cuda" and the CPU that asks for CUDA."""
    if not name.isidentifier():
        return False
    value = facts.frame.lookup(name)
    if not isinstance(value, Value) or value.kind not in (Kind.DEVICE, Kind.STRING) or not value.device.chosen:
        return False
    return names_first_cuda(name, facts)


def names_first_cuda(name: str, facts: Facts) -> bool:
    """True for a device (`device`, `self.device`) that is, by every binding of this file, the first CUDA device where it is no CPU."""
    found = set(_bound_texts(name, facts))
    return bool(found) and found <= {"cuda", "cuda:0", "cpu"} and found != {"cpu"}


def _bound_texts(name: str, facts: Facts) -> Iterator[str]:
    """The device strings that a name or an attribute of self is bound to; "?" for anything else."""
    root, _, attribute = name.partition(".")
    if attribute:
        summary = facts.class_summary
        for store in summary.stores_of(attribute) if summary is not None and "." not in attribute else ():
            yield from texts_in(store.op.value, store.body, facts.analysis)
        return
    for body in (facts.body, facts.program.module):
        bound = facts.analysis.index_of(body).bound_to(root)
        for value in bound:
            yield from texts_in(value, body, facts.analysis)
        if bound:
            return
