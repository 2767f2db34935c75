"""Whose a file is, as far as its path tells: it comes with the package, from a hub, or from the web, or this run has made it for a while."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchdevlint.infer import paths
from torchdevlint.infer.holding import may_be
from torchdevlint.infer.stored import DOWNLOADS, Read
from torchdevlint.infer.units import Unit
from torchdevlint.infer.values import Const, Term, Value, waits
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup

_HASHED = re.compile(r"-[0-9a-f]{8,}\.\w+\Z")  # torch.hub's convention: the first digits of the file's SHA-256
# `resnet101.pth`, `models/vgg_normalised.pth`: the name of an architecture alone, as its publishers call the file; a run calls it "best" or "epoch_3".
_ARCHITECTURE = re.compile(
    r"(?:\A|/)(?:pytorch_)?(?:alexnet|vgg|resnet|resnext|wide_resnet|densenet|googlenet|inception|squeezenet|mobilenet|shufflenet|efficientnet|xception|senet|swin|vit|deit|dinov?\d?"
    r"|mae|clip|sam|bert|roberta|gpt2|hubert|wav2vec|vggish|hrnet|darknet|yolov?\d?|arcface)[-_]?[\w.-]*\.(?:pth|pt|bin|ckpt|tar|pkl)\Z",
    re.IGNORECASE,
)
_HUB = re.compile(r"(?:\A|/)torch/hub/checkpoints/")  # where torch.hub keeps what it has downloaded
_OF_A_RUN = re.compile(
    r"best|epoch|last|latest|final|check|ckpt_|iter|step|fine|tuned|trained_|state|snap|save|my_|exp|cifar|mnist|\{|%",
    re.IGNORECASE,
)
_PRETRAINED = re.compile(r"(?:\A|/)pretrain(?:ed)?(?:[-_]?\w+)?/[^{}]{1,300}\.\w+\Z")
_TEMPORARY = frozenset({"TemporaryDirectory", "NamedTemporaryFile", "TemporaryFile", "mkdtemp", "mkstemp"})
_FIXTURES = frozenset({"tmp_path", "tmpdir", "tmp_path_factory", "tmpdir_factory"})  # pytest's
_TRAINING = re.compile(r"(?:\A|_)(?:train|fit)(?:_|\Z)")
# Words of programs of several processes, of which one saves and each loads.
_PROCESSES = frozenset({"init_process_group", "DistributedDataParallel", "DDP", "local_rank", "Accelerator"})


def is_published(reads: list[Read]) -> bool:
    """True for a file of the package, for what a download gave, and for a file that the function, a default, or every caller, names as such.

    Where the function takes `module.` off the keys, DataParallel has saved them, which runs on GPUs.
    """
    found = [_is_published(path, one) for one in reads for path in may_be(one)]
    return bool(found) and all(found) and not any(_takes_module_off(one.site.body) for one in reads)


def _is_published(path: Value, read: Read) -> bool:
    if read.is_downloaded or any(map(DOWNLOADS.search, paths.made_by(path))):
        return True
    parts = list(paths.parts_of_path(path))
    if "__file__" in paths.words(path) and not any(map(waits, parts)) and isinstance(parts[-1], Const):
        return True  # of the package, and not by a name that the caller, or an option, gives
    texts = [part.value for part in parts if isinstance(part, Const)]
    texts += [text for part in parts for text in _defaults_of_option(part, read.site.unit)]
    return any(_names_published(str(text)) for text in texts)


def _names_published(path: str) -> bool:
    file = path.rpartition("/")[2]
    return bool(
        _HASHED.search(path)
        or _HUB.search(path)
        or _PRETRAINED.search(path)
        or (_ARCHITECTURE.search(path) and not _OF_A_RUN.search(path) and file.count(".") <= 2)
    )


def _defaults_of_option(part: Value, unit: Unit) -> Iterator[str]:
    """The default of `args.vgg` where the file has `add_argument("--vgg", default="models/vgg_normalised.pth")`."""
    if not isinstance(part, Term) or part.op != "attribute" or "add_argument" not in unit.program.words:
        return
    for body in unit.program.bodies:
        lookup = Lookup.of(body)
        for method in lookup.attributes("add_argument"):
            for call in lookup.readers(method.dst):
                if isinstance(call, ir.Call) and part.args[1] in _flags(call, lookup):
                    default = lookup.definition(call.keyword("default"))
                    if isinstance(default, ir.Constant) and isinstance(default.value, str):
                        yield default.value


def _flags(call: ir.Call, lookup: Lookup) -> set[str]:
    given = (lookup.definition(argument.value) for argument in call.arguments if argument.keyword is None)
    return {str(op.value).lstrip("-").replace("-", "_") for op in given if isinstance(op, ir.Constant)}


def _takes_module_off(body: ir.Body | None) -> bool:
    return body is not None and any(op.value == "module." for op in Lookup.of(body).kind(ir.Constant))


def is_of_this_run(reads: list[Read]) -> bool:
    """True for a file that this very run has written: that of a training that lies behind, or one in a temporary folder."""
    return bool(reads) and all(_is_of_this_run(one) for one in reads)


def _is_of_this_run(read: Read) -> bool:
    if is_temporary(read.path) or any(map(_TRAINING.search, paths.made_by(read.path))):
        return True
    first = read.chain[-1].unit if read.chain else read.site.unit
    is_one = _PROCESSES.isdisjoint(first.program.words)
    return (read.is_trained and (is_one or not read.chain)) or (read.is_written and is_one)


def is_temporary(path: Value) -> bool:
    """True for a path below a temporary folder that was made for it, or that pytest gave."""
    words = paths.words(path)
    return not (words.isdisjoint(_TEMPORARY) and words.isdisjoint(_FIXTURES))
