"""What a path expression is made of, through names, joins and sums."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchdevlint.flow.facts import Facts
from torchdevlint.program import ir
from torchdevlint.program.project import Member, Project
from torchdevlint.rules.neighbours import facts_of
from torchdevlint.source.grounds import remembered

_DEPTH = 10
_OPTIONS = ("parse_args", "parse_known_args")


def parts(register: ir.Register | None, facts: Facts, inside: ir.Body | None = None) -> Iterator[tuple[ir.Op, ir.Body]]:
    """The operations that make a path, each with its body: parts of a join, both sides of a sum, the value of a name that is stored once.

    The register is one of `inside`, or of the body that the facts are of.
    """
    if register is not None:
        yield from _parts(register, inside or facts.body, facts, _DEPTH)


def settings_of(register: ir.Register | None, facts: Facts) -> list[object]:
    """What the project binds to a setting, which an attribute or a literal key names: the defaults of fields and all that is stored or given under its name.

    Nothing for any other expression. What is no literal is None.
    """
    index, member = facts.index, facts.analysis.member
    written = None if register is None else index.definitions[register]
    key = index.definitions[written.index] if isinstance(written, ir.Subscript) else None
    name = written.name if isinstance(written, ir.Attribute) else getattr(key, "value", None)
    return (
        []
        if member is None or not isinstance(name, str) or not name.isidentifier()
        else list(_bound(name, member.project))
    )


@remembered(256)
def _bound(name: str, project: Project) -> tuple[object, ...]:
    found: list[object] = []
    for path in project.holding((name.encode(),), re.compile(rf"\b{name}\b[\"']?\s*[:=]".encode())):
        facts = facts_of(Member(project, path))
        for body in facts.program.bodies if facts is not None else ():
            definitions = facts.analysis.index_of(body).definitions if facts is not None else []
            for op in (op for block in body.blocks for op in block.ops):
                given: list[ir.Register] = []
                if isinstance(op, ir.StoreAttribute) or (isinstance(op, ir.Store) and body.kind == "class"):
                    given = [op.value] if op.name == name else []
                elif isinstance(op, ir.Call):
                    given = [argument.value for argument in op.arguments if argument.keyword == name]
                elif isinstance(op, ir.StoreSubscript):
                    key = definitions[op.index]
                    given = [op.value] if isinstance(key, ir.Constant) and key.value == name else []
                found += [getattr(definitions[value], "value", None) for value in given]
    return tuple(found)


def spelling(register: ir.Register | None, body: ir.Body, facts: Facts) -> str:
    """An expression as a text that only the same expression has; empty for one with parts that a text would not tell apart."""
    definitions = facts.analysis.index_of(body).definitions
    written = None if register is None else definitions[register]
    inner: tuple[ir.Register, ...]
    if isinstance(written, ir.Constant):
        return repr(written.value)
    if isinstance(written, ir.Load):
        return written.name
    if isinstance(written, ir.Attribute):
        frame, inner = f"{{}}.{written.name}", (written.object,)
    elif isinstance(written, ir.Subscript):
        frame, inner = "{}[{}]", (written.object, written.index)
    elif isinstance(written, ir.Binary):
        frame, inner = f"({{}} {written.operator} {{}})", (written.left, written.right)
    elif isinstance(written, ir.Sequence):
        frame, inner = f"{written.shape}:{'{},' * len(written.elements)}", tuple(e.value for e in written.elements)
    elif isinstance(written, ir.Call) and not written.has_splat:
        frame = "{}(" + "".join(f"{argument.keyword or ''}={{}}," for argument in written.arguments) + ")"
        inner = (written.function, *(argument.value for argument in written.arguments))
    else:
        return ""
    texts = [spelling(part, body, facts) for part in inner]
    return frame.format(*texts) if all(texts) else ""


def _parts(register: ir.Register, body: ir.Body, facts: Facts, depth: int) -> Iterator[tuple[ir.Op, ir.Body]]:
    definitions = facts.analysis.index_of(body).definitions
    written = definitions[register]
    if written is None:
        return
    yield written, body
    if depth == 0:
        return
    inner: list[ir.Register] = []
    if isinstance(written, ir.Call):
        function = definitions[written.function]
        if isinstance(function, ir.Attribute) and function.name in _OPTIONS:
            return  # a path that is an option of a program is not made of the program's description
        inner += [function.object] if isinstance(function, ir.Attribute) else []  # "{}.transforms.pt".format(...)
        inner += [argument.value for argument in written.arguments]
    elif isinstance(written, ir.Binary):
        inner += [written.left, written.right]
    elif isinstance(written, ir.FormattedString):
        inner += written.parts[-1:]
    elif isinstance(written, (ir.Subscript, ir.Attribute)):
        inner.append(written.object)
    elif isinstance(written, ir.Load):
        here = body if _binds(written.name, body, facts) else facts.program.module
        stored = facts.analysis.index_of(here).bound_to(written.name)
        given = any(parameter.name == written.name for parameter in here.parameters)
        if len(stored) == 1 and not given:
            yield from _parts(stored[0], here, facts, depth - 1)
    for part in inner:
        yield from _parts(part, body, facts, depth - 1)


def _binds(name: str, body: ir.Body, facts: Facts) -> bool:
    return name in facts.analysis.index_of(body).stored or any(parameter.name == name for parameter in body.parameters)


def last_name(call: ir.Call, body: ir.Body, facts: Facts) -> str:
    """The last name of a callee: "hf_hub_download" for `huggingface_hub.hf_hub_download(...)`."""
    written = facts.analysis.index_of(body).definitions[call.function]
    return written.name if isinstance(written, (ir.Load, ir.Attribute)) else ""
