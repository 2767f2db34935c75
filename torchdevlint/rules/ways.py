"""By which way a tensor or a module came to where a finding stands: the calls that handed it on, and the names that it was given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torchdevlint.infer.summary import Fault, Given
from torchdevlint.infer.values import Site
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup


class Named(NamedTuple):
    """Where a name is assigned."""

    site: Site
    store: ir.Store


def assigned(fault: Fault, but: Sequence[ir.Op] = ()) -> Iterator[Named]:
    """Where what is to be moved was given the name that it is used by. None where more than one assignment may be meant.

    `but`: operations that are spoken of; what assigns their very result says nothing more.
    """
    read = handed_on(fault)
    found = _assigned(*read) if read is not None else _bound(fault)
    for named in found:
        made = Lookup.of(named.site.body).definition(named.store.value) if named.site.body is not None else None
        if made not in but:
            yield named


def _bound(fault: Fault) -> Iterator[Named]:
    if fault.bound is not None and isinstance(fault.bound.op, ir.Store):
        yield Named(fault.bound, fault.bound.op)


def handed_on(fault: Fault) -> tuple[Site, ir.Register] | None:
    """The outermost call that hands on what is to be moved, and the argument or the receiver that it is there."""
    register = _argument(fault.given) if fault.given is not None else None
    return (fault.given.call, register) if fault.given is not None and register is not None else None


def _argument(given: Given) -> ir.Register | None:
    """What a call gives a parameter; the receiver for the first one of a method."""
    call, body = given.call.op, given.call.body
    if not isinstance(call, ir.Call) or body is None:
        return None
    names = [parameter.name for parameter in given.body.parameters]
    is_method = given.body.owner is not None and names and _is_bound(call, given.body, body)
    if is_method and given.parameter == names[0]:
        written = Lookup.of(body).definition(call.function)
        named = isinstance(written, ir.Attribute) and written.name == given.body.name
        return written.object if isinstance(written, ir.Attribute) and named else call.function
    return call.argument(given.parameter, names.index(given.parameter) - bool(is_method))


def _is_bound(call: ir.Call, called: ir.Body, body: ir.Body) -> bool:
    """False for `Net.forward(net, x)`, where the receiver is an argument."""
    written = Lookup.of(body).definition(call.function)
    path = Lookup.of(body).path(written.object) if isinstance(written, ir.Attribute) else ""
    is_of_class = called.owner is not None and path.rpartition(".")[2] == called.owner.name
    return not called.is_static and not is_of_class


def _assigned(site: Site, register: ir.Register) -> Iterator[Named]:
    body = site.body
    written = Lookup.of(body).definition(register) if body is not None else None
    if body is None or not isinstance(written, ir.Load):
        return
    stores: tuple[ir.Store, ...] = Cfg.of(body).bindings(written.name, written).stores
    if not stores and written.name not in body.local_names:
        body = site.unit.program.module
        stores = Lookup.of(body).stores(written.name)
    if len(stores) == 1:
        yield Named(site.unit.site(stores[0], body), stores[0])
