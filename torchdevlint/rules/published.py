"""Files that are published: they come with the package or from a hub, and whoever publishes weights saves them from the CPU as a rule."""

from __future__ import annotations

import re

from torchdevlint.flow.facts import Facts
from torchdevlint.program import ir
from torchdevlint.rules.paths import last_name, parts

_DOWNLOAD = re.compile(r"download|urlretrieve|http_get|_from_url|cached_path|cached_file", re.IGNORECASE)
_HASHED = re.compile(r"-[0-9a-f]{8,}\.\w+\Z")  # torch.hub's convention: the first digits of the file's SHA-256


def is_published(call: ir.Call, facts: Facts) -> bool:
    """True for a file of the package, for what a download gave, and for a file that this body downloads when it is not there."""
    made_of = list(parts(call.argument("f", 0), facts))
    if any(_is_published(op, body, facts) for op, body in made_of):
        return True
    names = {op.name for op, _ in made_of if isinstance(op, ir.Load)}
    return any(
        isinstance(op, ir.Call)
        and _DOWNLOAD.search(last_name(op, facts.body, facts))
        and not names.isdisjoint(
            part.name
            for argument in op.arguments
            for part, _ in parts(argument.value, facts)
            if isinstance(part, ir.Load)
        )
        for block in facts.body.blocks
        for op in block.ops
    )


def _is_published(op: ir.Op, body: ir.Body, facts: Facts) -> bool:
    if isinstance(op, ir.Load):
        return op.name == "__file__"
    if isinstance(op, ir.Constant):
        return isinstance(op.value, str) and bool(_HASHED.search(op.value))
    return isinstance(op, ir.Call) and _downloads(last_name(op, body, facts), facts)


def _downloads(name: str, facts: Facts) -> bool:
    """True for a function that downloads by its name, or a function of this file that calls such a one."""
    if _DOWNLOAD.search(name):
        return True
    return any(
        isinstance(op, ir.Call) and _DOWNLOAD.search(last_name(op, body, facts))
        for body in facts.program.bodies
        if name and body.name == name and body.kind == "function"
        for block in body.blocks
        for op in block.ops
    )
