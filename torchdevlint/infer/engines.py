"""Engines of pytorch-ignite: a function that is called with each batch, and handlers of events (ignite/engine/engine.py, `Engine.run`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.infer import reading
from torchdevlint.infer.values import NONE, UNKNOWN, Ext, Partial, Ref, Tup, Value, alternatives

if TYPE_CHECKING:
    from torchdevlint.infer.library import Call

ENGINE = "ignite.engine.Engine"
DECORATED = "ignite.engine.Engine.on.call"
_PROCESS, _HANDLERS = ".@process", ".@handlers"


def make(call: Call) -> Value:
    """`Engine(process_function)`."""
    return call.made("object", {_PROCESS: call.at(0, "process_function"), _HANDLERS: Tup(())}, ENGINE)


def method(call: Call, engine: Ref) -> Value | None:
    """A method of an engine; None where nothing is known of it."""
    match call.name:
        case "run":
            _run(call, engine)
            return UNKNOWN
        case "add_event_handler":
            _add(call, engine, call.at(1, "handler"), call.args[2:])
            return UNKNOWN
        case "on":  # a decorator
            return Partial(Ext(DECORATED), (engine, Tup(tuple(call.args[1:]))), ())
    return None


def decorated(call: Call) -> Value:
    """`@engine.on(event, *args)`: the function stays what it is."""
    engine, given, function = call.at(0), call.at(1), call.at(2)
    if isinstance(engine, Ref) and isinstance(given, Tup):
        _add(call, engine, function, list(given.items))
    return function


def _add(call: Call, engine: Ref, handler: Value, given: list[Value]) -> None:
    known = _handlers(call, engine)
    made = Partial(handler, (engine, *given), ())
    if made not in known:  # the second turn of a loop is as the first
        call.ctx.put(engine, _HANDLERS, Tup((*known, made)))


def _handlers(call: Call, engine: Ref) -> list[Value]:
    held = call.ctx.heap[engine].fields.get(_HANDLERS, NONE)
    return [one for several in alternatives(held) if isinstance(several, Tup) for one in several.items]


def _run(call: Call, engine: Ref) -> None:
    batch = reading.element(call.ctx, call.at(0, "data", NONE))
    call.run(call.ctx.heap[engine].fields.get(_PROCESS, UNKNOWN), engine, batch)
    for handler in _handlers(call, engine):
        call.run(handler)
