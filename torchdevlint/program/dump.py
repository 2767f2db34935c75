"""A Program as compact text, for tests and for whoever wonders what a front end made of a file.

function f(x, *y)
  0 -> 1, 2 if %1
    %0 = load x
    %1 = call %0(%2, k=%3)
"""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.program import ir
from torchdevlint.program.lookup import reads


def dump(program: ir.Program) -> str:
    """The bodies of `program`, each with its blocks and their operations."""
    return "\n".join(line for body in program.bodies for line in _body(body)) + "\n"


def annotation_text(annotation: ir.Annotation) -> str:
    """An annotation as it would be written."""
    arguments = [annotation_text(argument) for argument in annotation.arguments]
    if annotation.name == "|":
        return " | ".join(arguments)
    if annotation.name == "[]":
        return f"[{', '.join(arguments)}]"
    return f"{annotation.name}[{', '.join(arguments)}]" if arguments else annotation.name


def _body(body: ir.Body) -> Iterator[str]:
    name = f" {body.qualname}" if body.kind != "module" else ""
    parameters = ", ".join(map(_parameter, body.parameters))
    signature = f"({parameters})" if body.kind in ("function", "lambda") else ""
    returns = f" -> {annotation_text(body.returns)}" if body.returns is not None else ""
    flags = "async " * body.is_async + "generator " * body.is_generator
    decorators = "".join(f"@{name} " for name in body.decorators)
    yield f"{decorators}{flags}{body.kind}{name}{signature}{returns}"
    for block in body.blocks:
        yield f"  {block.index}{_successors(block)}{_surroundings(block)}"
        for op in block.ops:
            yield f"    {_op(op)}"


def _parameter(parameter: ir.Parameter) -> str:
    star = parameter.kind if parameter.kind in ("*", "**") else ""
    annotation = f": {annotation_text(parameter.annotation)}" if parameter.annotation is not None else ""
    default = f"={_register(parameter.default)}" if parameter.default is not None else ""
    mark = {"positional-only": "/", "keyword-only": "!"}.get(parameter.kind, "")
    return f"{star}{parameter.name}{mark}{annotation}{default}"


def _successors(block: ir.Block) -> str:
    if not block.successors:
        return ""
    test = f" if {_register(block.test)}" if block.test is not None else ""
    return f" -> {', '.join(map(str, block.successors))}{test}"


def _surroundings(block: ir.Block) -> str:
    parts = [f"loop {loop}" for loop in block.loops]
    parts += [f"with {_register(manager)}" for manager in block.withs]
    parts += [f"try {context.identity} {context.part} ({', '.join(context.catches)})" for context in block.tries]
    return f" [{'; '.join(parts)}]" if parts else ""


def _register(register: ir.Register | None) -> str:
    return "-" if register is None else f"%{register}"


def _op(op: ir.Op) -> str:
    text = _text(op)
    return f"%{op.dst} = {text}" if isinstance(op, ir.ValueOp) else text


def _text(op: ir.Op) -> str:
    match op:
        case ir.Constant(value=value):
            return f"constant {value!r}"
        case ir.Load(name=name):
            return f"load {name}"
        case ir.Attribute(object=holder, name=name):
            return f"%{holder}.{name}"
        case ir.Call(function=function, arguments=arguments):
            written = (f"{a.star}{a.keyword + '=' if a.keyword else ''}%{a.value}" for a in arguments)
            return f"call %{function}({', '.join(written)})"
        case ir.Binary(operator=operator, left=left, right=right):
            return f"%{left} {operator} %{right}"
        case ir.Unary(operator=operator, operand=operand):
            return f"{operator} %{operand}"
        case ir.Compare(left=left, operators=operators, comparators=comparators):
            return f"%{left}" + "".join(f" {o} %{c}" for o, c in zip(operators, comparators, strict=True))
        case ir.Choice(shape=shape, values=values, test=test):
            condition = f" by {_register(test)}" if test is not None else ""
            return f"choice {shape}({_registers(values)}){condition}"
        case ir.Subscript(object=holder, index=index):
            return f"%{holder}[%{index}]"
        case ir.Slice(lower=lower, upper=upper, step=step):
            return f"slice {_register(lower)}:{_register(upper)}:{_register(step)}"
        case ir.Sequence(shape=shape, elements=elements):
            return f"{shape}({', '.join('*' * e.starred + _register(e.value) for e in elements)})"
        case ir.Mapping(keys=keys, values=values):
            pairs = (f"%{k}: %{v}" if k is not None else f"**%{v}" for k, v in zip(keys, values, strict=True))
            return f"mapping({', '.join(pairs)})"
        case ir.FormattedString(prefix=prefix, parts=parts, texts=texts):
            shown = (f"{{%{part}}}{text}" for part, text in zip(parts, texts, strict=True))
            return f"formatted {prefix + ''.join(shown)!r}"
        case ir.Comprehension(shape=shape, key=key, value=value):
            return f"comprehension {shape}({f'%{key}: ' if key is not None else ''}%{value})"
        case ir.MakeFunction(function=body):
            return f"make {body.qualname}"
        case ir.MakeClass(cls=cls):
            bases = ", ".join(f"{n}=%{r}" for n, r in zip(cls.bases, cls.base_registers, strict=True))
            return f"make class {cls.qualname}({bases})"
        case ir.Import(qualified=qualified, name=name):
            return f"import {qualified} as {name}"
        case ir.Unpack(source=source, index=index, count=count, starred=starred):
            return f"unpack {'*' * starred}%{source} {index} of {count}"
        case ir.Iterate(iterable=iterable, is_async=is_async):
            return f"{'async ' * is_async}iterate %{iterable}"
        case ir.Enter(manager=manager):
            return f"enter %{manager}"
        case ir.Await(value=value):
            return f"await %{value}"
        case ir.Yield(value=value, delegates=delegates):
            return f"yield {'from ' * delegates}{_register(value)}"
        case ir.AugmentedAssign(operator=operator, target=target, value=value):
            return f"%{target} {operator}= %{value}"
        case ir.Matches(subject=subject):
            return f"%{subject} matches {', '.join(f'%{one}' for one in reads(op)[1:])}"
        case ir.Opaque(operands=operands):
            return f"opaque({_registers(operands)})"
        case ir.Store(name=name, value=value, annotation=annotation):
            return f"store {name}{_annotated(annotation)} = %{value}"
        case ir.Declare(name=name, annotation=annotation):
            return f"declare {name}{_annotated(annotation)}"
        case ir.StoreAttribute(object=holder, name=name, value=value, annotation=annotation):
            return f"store %{holder}.{name}{_annotated(annotation)} = %{value}"
        case ir.StoreSubscript(object=holder, index=index, value=value):
            return f"store %{holder}[%{index}] = %{value}"
        case ir.Delete(name=name):
            return f"delete {name}"
        case ir.Exit(managers=managers):
            return f"exit {', '.join(f'%{one}' for one in managers)}"
        case ir.DeleteAttribute(object=holder, name=name):
            return f"delete %{holder}.{name}"
        case ir.DeleteSubscript(object=holder, index=index):
            return f"delete %{holder}[%{index}]"
        case ir.Discard(value=value):
            return f"discard %{value}"
        case ir.Return(value=value):
            return f"return {_register(value)}"
        case ir.Raise(value=value):
            return f"raise {_register(value)}"
    raise TypeError(f"{type(op).__name__} is no operation")


def _registers(registers: tuple[ir.Register, ...]) -> str:
    return ", ".join(map(_register, registers))


def _annotated(annotation: ir.Annotation | None) -> str:
    return "" if annotation is None else f": {annotation_text(annotation)}"
