"""Files that are published: they come with the package or from a hub, and whoever publishes weights saves them from the CPU as a rule."""

from __future__ import annotations

import re

from torchdevlint.flow.facts import Facts
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.callers import argument_given, calls_of
from torchdevlint.rules.neighbours import bound_elsewhere
from torchdevlint.rules.order import block_of, deciding_sides
from torchdevlint.rules.paths import last_name, parts
from torchdevlint.rules.structure import body_of, once_per_body, operations

_DOWNLOAD = re.compile(r"download|urlretrieve|http_get|_from_url|cached_path|cached_file", re.IGNORECASE)
_HASHED = re.compile(r"-[0-9a-f]{8,}\.\w+\Z")  # torch.hub's convention: the first digits of the file's SHA-256
# `resnet101.pth`, `models/vgg_normalised.pth`: the name of an architecture alone, as its publishers call the file; a run calls it "best" or "epoch_3".
_ARCHITECTURE = re.compile(
    r"(?:\A|/)(?:pytorch_)?(?:alexnet|vgg|resnet|resnext|wide_resnet|densenet|googlenet|inception|squeezenet|mobilenet|shufflenet|efficientnet|xception|senet|swin|vit|deit|dinov?\d?"
    r"|mae|clip|sam|bert|roberta|gpt2|hubert|wav2vec|vggish|hrnet|darknet|yolov?\d?|arcface)[-_]?[\w.-]*\.(?:pth|pt|bin|ckpt|tar|pkl)\Z",
    re.IGNORECASE,
)
_OF_A_RUN = re.compile(
    r"best|epoch|last|latest|final|check|ckpt_|iter|step|fine|tuned|trained_|state|snap|save|my_|exp|cifar|mnist|\{|%",
    re.IGNORECASE,
)
_PRETRAINED = re.compile(r"(?:\A|/)pretrain(?:ed)?(?:[-_]?\w+)?/[^{}]{1,300}\.\w+\Z")


def is_published(call: ir.Call, facts: Facts) -> bool:
    """True for a file of the package, for what a download gave, and for a file that this body, its option's default, or every caller, names as such.

    Where the body takes `module.` off the keys, DataParallel has saved them, which runs on GPUs.
    """
    if _takes_module_off(facts.body, facts):
        return False
    path = call.argument("f", 0)
    if _is_published_path(path, facts.body, facts):
        return True
    made_of = list(parts(path, facts))
    if any(_has_published_option(op, facts) for op, _ in made_of if isinstance(op, ir.Attribute)):
        return True
    if any(_is_published_constant(op, body, facts) for op, body in made_of if isinstance(op, (ir.Load, ir.Attribute))):
        return True
    name = facts.place(path)
    if all(parameter.name != name for parameter in facts.body.parameters):
        return False
    given = [(argument_given(site, facts.body, name), site) for site in calls_of(facts.body, facts)]
    if any(site.call.has_splat for _, site in given):
        return False
    if not all(register is None for register, _ in given):
        return all(
            _has_empty_default(name, facts) if register is None else _is_published_path(register, site.body, site.facts)
            for register, site in given
        )
    if given and _has_empty_default(name, facts):
        member = facts.analysis.member
        return member is not None and not member.project.is_package  # nobody there gives a file
    return _has_published_default(name, facts)


def _is_published_constant(op: ir.Load | ir.Attribute, body: ir.Body, facts: Facts) -> bool:
    """True for a name of another module of the project that is bound there to such a path: `from .config import RESNET_PATH`."""
    return any(
        _is_published_path(register, there.program.module, there)
        for register, there in bound_elsewhere(op, body, facts)
    )


def _has_empty_default(name: str, facts: Facts) -> bool:
    """True for `pretrained=""` and `pretrained=None`: a call that gives nothing loads nothing."""
    written = [
        facts.analysis.index_of(facts.body.parent).definitions[parameter.default]
        for parameter in facts.body.parameters
        if facts.body.parent is not None and parameter.name == name and parameter.default is not None
    ]
    return any(isinstance(op, ir.Constant) and not op.value for op in written)


def _has_published_option(option: ir.Attribute, facts: Facts) -> bool:
    """True for `args.vgg` where the file has `add_argument("--vgg", default="models/vgg_normalised.pth")`."""
    for body in facts.program.bodies:
        definitions = facts.analysis.index_of(body).definitions
        for op in operations(body):
            if not isinstance(op, ir.Call) or last_name(op, body, facts) != "add_argument":
                continue
            flags = [definitions[argument.value] for argument in op.arguments if argument.keyword is None]
            named = [flag.value for flag in flags if isinstance(flag, ir.Constant) and isinstance(flag.value, str)]
            if any(flag.lstrip("-").replace("-", "_") == option.name for flag in named):
                default = op.keyword("default")
                return default is not None and _is_published_path(default, body, facts)
    return False


def is_given_no_file(op: ir.Op, facts: Facts) -> bool:
    """True for a load whose path is an argument that no call in this file gives, or gives with an ending for which another branch is there."""
    body = body_of(op, facts)
    block = block_of(body, op) if body is not None else None
    if body is None or block is None or not isinstance(op, ir.Call):
        return False
    loads = (part for part, _ in parts(op.argument("f", 0), facts, body) if isinstance(part, ir.Load))
    # What the body binds again (`configs = read() if configs is None else configs`) is not what the call gives.
    read = {load.name for load in loads if not any(Lookup.of(body).stores(load.name))}
    given = {p.name: facts.analysis.constants_given(body, p.name) for p in body.parameters if p.name in read}
    if any(constants is not None and not any(constants) for constants in given.values()):
        return True
    tests = [_ending(test, body, facts) for test, side in deciding_sides(body, block) if side]
    return any(
        name in given and not any(isinstance(text, str) and text.endswith(ending) for text in given[name] or (ending,))
        for name, ending in tests
    )


def _ending(test: ir.Register, body: ir.Body, facts: Facts) -> tuple[str, str]:
    """The name and the ending of `name.endswith(".pth")`; two empty texts for any other test."""
    index = facts.analysis.index_of(body)
    call = index.definitions[test]
    if not isinstance(call, ir.Call) or len(call.arguments) != 1:
        return "", ""
    name, _, method = index.dotted(call.function).rpartition(".")
    ending = index.definitions[call.arguments[0].value]
    if method != "endswith" or not isinstance(ending, ir.Constant) or not isinstance(ending.value, str):
        return "", ""
    return name, ending.value


def _has_published_default(name: str, facts: Facts) -> bool:
    parent = facts.body.parent
    defaults = [parameter.default for parameter in facts.body.parameters if parameter.name == name]
    return parent is not None and any(
        default is not None and _is_published_path(default, parent, facts) for default in defaults
    )


def _is_published_path(path: ir.Register | None, inside: ir.Body, facts: Facts) -> bool:
    made_of = list(parts(path, facts, inside))
    if any(_is_published(op, body, facts) for op, body in made_of):
        return True
    names = {op.name for op, _ in made_of if isinstance(op, ir.Load)}
    if "__file__" in names and names.isdisjoint(parameter.name for parameter in inside.parameters):
        return True  # of the package, and not by a name that the caller gives
    return not names.isdisjoint(_downloaded(inside, facts))


@once_per_body
def _downloaded(body: ir.Body, facts: Facts) -> frozenset[str]:
    """The names that a body gives to functions that download by their names."""
    return frozenset(
        part.name
        for op in Lookup.of(body).kind(ir.Call)
        if _DOWNLOAD.search(last_name(op, body, facts))
        for argument in op.arguments
        for part, _ in parts(argument.value, facts, body)
        if isinstance(part, ir.Load)
    )


@once_per_body
def _takes_module_off(body: ir.Body, facts: Facts) -> bool:
    return any(op.value == "module." for op in Lookup.of(body).kind(ir.Constant))


def _is_published(op: ir.Op, body: ir.Body, facts: Facts) -> bool:
    if isinstance(op, ir.Constant):
        return isinstance(op.value, str) and _names_published(op.value)
    return isinstance(op, ir.Call) and _downloads(last_name(op, body, facts), facts)


def _names_published(path: str) -> bool:
    file = path.rpartition("/")[2]
    return bool(
        _HASHED.search(path)
        or _PRETRAINED.search(path)
        or (_ARCHITECTURE.search(path) and not _OF_A_RUN.search(path) and file.count(".") <= 2)
    )


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
