"""What nobody can look into: modules of unknown classes that were moved, their inputs and outputs, and what tokenizers give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from torchdevlint.infer import claims, reading, tensors
from torchdevlint.infer.guards import consistent
from torchdevlint.infer.host_libraries import ROOTS
from torchdevlint.infer.state import PLACED, Facts
from torchdevlint.infer.summary import Operand
from torchdevlint.infer.values import (
    BATCH_ENCODING,
    HOST,
    MANY,
    NOWHERE,
    UNMOVED,
    DoubleStar,
    Ext,
    Place,
    Site,
    Star,
    Tensor,
    Term,
    Value,
    alternatives,
    places_of,
)
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs.knowledge.modules import INPUT_MOVERS, MODEL_INPUTS

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context


def placed(ctx: Context, function: Value) -> list[tuple[Facts, Place]]:
    """Where something unknown is that was moved and is now called, and under which conditions: no tensor can be called, so it is a module."""
    if not isinstance(function, Term):
        return []
    rec = ctx.heap.get(function)
    place = rec.fields.get(PLACED) if rec is not None and rec.kind == "overlay" else None
    if place is None and function.op == "moved":
        place = function.args[1]
    several = places_of(place) if place is not None else ()
    here = [(guards, one) for guards, one in several if len(several) == 1 or consistent(guards, ctx.facts)]
    return here if any(one not in (HOST, NOWHERE, UNMOVED) for _, one in here) else []


def call(
    ctx: Context, function: Value, place: Place, args: Sequence[Value], keywords: Mapping[str, Value], site: Site
) -> Value:
    """A call of such a module: as far as one can tell it wants its inputs where it was moved, and gives its outputs there."""
    near = Term("near", place)
    if holds_wrapper(ctx, function):
        return Term("unknown", site)
    for value in inputs(args, keywords):
        rec = ctx.rec(value)
        if rec is not None and rec.kind == "list":
            ctx.analysis.heard.lists.add(site)
        for held in _given_by(ctx, value):
            for one in tensors.flattened(ctx, held):
                given = [Operand(one, False, "input"), Operand(Tensor(near), False, "module")]
                claims.claim(ctx, "same", given, site)
    return Term("moved", Term("call", function, tuple(args), tuple(sorted(keywords.items())), site), near, None)


def inputs(args: Sequence[Value], keywords: Mapping[str, Value]) -> list[Value]:
    """What a model computes with, where it is; what else it is given, by a name of its own, it may read on the CPU."""
    return [*args, *(value for name, value in keywords.items() if name in MODEL_INPUTS)]


def holds_wrapper(ctx: Context, function: Value) -> bool:
    """True for `model.features = nn.DataParallel(model.features)`: which part sees the inputs first is not known, and that one brings them along."""
    while isinstance(function, Term) and function.op == "moved":
        function = function.args[0]
    rec = ctx.rec(function)
    held = [ctx.rec(one) for content in rec.fields.values() for one in alternatives(content)] if rec is not None else ()
    return any(one is not None and isinstance(one.cls, Ext) and one.cls.name in INPUT_MOVERS for one in held)


def _given_by(ctx: Context, argument: Value) -> list[Value]:
    """The values that an argument gives: several for `*rows` and `**batch`."""
    if isinstance(argument, Star):
        return [reading.element(ctx, argument.value)]
    if isinstance(argument, DoubleStar):
        rec = ctx.rec(argument.value)
        return list(rec.items.values()) if rec is not None and rec.kind == "dict" else []
    return [argument]


def is_pipeline(site: Site) -> bool:
    """True for `pipe(...)` and for what a class of that name made: a pipeline of diffusers or transformers places its inputs itself."""
    if site.body is None or not isinstance(site.op, ir.Call):
        return False
    lookup = Lookup.of(site.body)
    called = lookup.definition(site.op.function)
    return isinstance(called, ir.Load) and (
        "pipe" in called.name.lower() or any(_is_made_by_one(op.value, lookup) for op in lookup.stores(called.name))
    )


def _is_made_by_one(register: ir.Register, lookup: Lookup) -> bool:
    """True for `DDPMPipeline.from_pretrained(...)`."""
    made: ir.Op | None = lookup.definition(register)
    while isinstance(made, (ir.Call, ir.Attribute)):
        if isinstance(made, ir.Attribute) and made.name.endswith("Pipeline"):
            return True
        made = lookup.definition(made.function if isinstance(made, ir.Call) else made.object)
    return isinstance(made, ir.Load) and made.name.endswith("Pipeline")


def is_of_host_library(value: Value) -> bool:
    """True for what such a library gave, and a part of it: `plt.figure().add_subplot().imshow` reads host memory, and numbers wherever they are."""
    while isinstance(value, Term) and value.op in ("attribute", "call", "item", "unpack", "element"):
        value = value.args[0]
    site = value.args[0] if isinstance(value, Term) and value.op == "unknown" else None
    if not isinstance(site, Site) or site.body is None or not isinstance(site.op, ir.Call):
        return False
    root = Lookup.of(site.body).path(site.op.function).partition(".")[0]
    found = site.unit.statics.get(root)
    return isinstance(found, Ext) and found.name.partition(".")[0] in ROOTS


def encoded(ctx: Context, function: Term, site: Site | None) -> Value:
    """What a tokenizer or processor of transformers gives with `return_tensors="pt"`: tensors on the CPU (tokenization_utils_base.py, `BatchEncoding`)."""
    made = Tensor(HOST, MANY, site, "always")
    is_one = function.op == "attribute" and function.args[1] in ("encode", "apply_chat_template")
    return made if is_one else ctx.new(site, "dict", BATCH_ENCODING, {"*": made}, tag="encoding")
