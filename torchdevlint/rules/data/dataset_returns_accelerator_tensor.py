"""TDL701."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.class_shape import reached
from torchdevlint.facts.facts import ClassSummary, Facts
from torchdevlint.facts.loaders import called_by
from torchdevlint.facts.naming import follows_an_object, looks_like_device
from torchdevlint.facts.scopes import nested
from torchdevlint.facts.values import Kind
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import ERROR, Mention, Report, Rule, on_any_call, on_call, on_file
from torchdevlint.rules.structure import asks_for_other_start
from torchdevlint.stubs.knowledge import modules

_DATASET = re.compile(r"torch\.utils\.data\.(?:dataset\.)?(?:Iterable|Map)?Dataset\Z|torchvision\.datasets\.\w+\Z")
# Who brings samples together in processes of its own: a loader, or the trainer of a library that makes one.
_LOADER = re.compile(rb"loader|Trainer\b|datamodule", re.IGNORECASE)


class _Placement(NamedTuple):
    """An operation that puts a tensor on an accelerator."""

    op: ir.Call
    device: str
    is_certain: bool  # an accelerator in any case


class _Loading(NamedTuple):
    """A DataLoader of the file: None where the setting is not a constant."""

    op: ir.Call
    workers: bool | None
    pinned: bool | None
    collate: str  # the name of the function or method
    collate_body: ir.Body | None


class DatasetReturnsAcceleratorTensor(Rule):
    """Finds datasets and collate functions that put samples on an accelerator.

    ## What it does
    Reports `.cuda()`, `.to(device)` and `device=` for an accelerator in `__getitem__` or `__iter__` of a `torch.utils.data.Dataset`, in
    the methods they call, and in functions given as `collate_fn=` and the functions of the file that those call: once for each of them.

    ## Why is this bad?
    This code runs in the DataLoader's worker processes. A forked worker raises `RuntimeError: Cannot re-initialize CUDA in forked
    subprocess`; with `pin_memory=True` the
    loader raises `RuntimeError: cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned`; otherwise every worker holds a
    CUDA context of its own.

    ## Example
        class Images(Dataset):
            def __getitem__(self, index):
                return torch.from_numpy(self.images[index]).cuda()

    ## Use instead
        class Images(Dataset):
            def __getitem__(self, index):
                return torch.from_numpy(self.images[index])

        for images in loader:
            images = images.to(device, non_blocking=True)

    ## When it stays silent
    Moves to the device of another tensor, of the sample or of the data set (`self.images.device`), or to the CPU; data that is placed in
    the constructor; programs that start workers by "spawn". When all loaders of the file
    load in the main process without pinning it is an info, and so where the file is a program that names no loader, or stands in a project
    and no file that imports it, or names its classes, speaks of a loader.

    ## Proof
    A loader with `pin_memory=True` raises on the accelerator tensors of the dataset; with the move in the loop it works.

    ## References
    torch/cuda/__init__.py (_lazy_init); torch/utils/data/_utils/pin_memory.py; the data loading notes: "not recommended to return CUDA
    tensors in multi-process loading".
    """

    code, name, severity = "TDL701", "dataset-returns-accelerator-tensor", ERROR
    needs = ("Dataset", "IterableDataset", "MapDataset", "datasets", "DataLoader")

    def __init__(self) -> None:
        self._placed: dict[int, list[_Placement]] = {}
        self._loaders: list[_Loading] = []
        self._forks = True

    @on_any_call
    def note_placement(self, call: ir.Call, facts: Facts) -> None:
        """Moves to a device, by body."""
        self._forks = self._forks and not asks_for_other_start(call, facts)
        device = facts.placed_on(call)
        if device is None or not device.may_be_accelerator or facts.guarded("worker"):
            return
        # `x.to(y.device)` follows a sample; only a device that the program names is one that it chose.
        if (device.place == "sym" and not (device.chosen or looks_like_device(device.name))) or (
            follows_an_object(device.name)
        ):
            return
        self._placed.setdefault(id(facts.body), []).append(_Placement(call, device.name, device.is_accelerator))

    @on_call(*modules.LOADERS)
    def note_loader(self, call: ir.Call, facts: Facts) -> None:
        """What the file's loaders do with workers and pinning."""
        collate = call.argument("collate_fn", 6)
        value = facts.value(collate)
        place = facts.place(collate).rpartition(".")[2]
        body = value.definition if value.kind is Kind.FUNCTION else None
        self._loaders.append(
            _Loading(call, _truth(call, "num_workers", 5, facts), _truth(call, "pin_memory", 7, facts), place, body)
        )

    @on_file
    def check(self, facts: Facts) -> Iterator[Report]:
        if not self._placed or not self._forks:
            return
        case, loader = self._case(facts)
        loads = (Mention(loader.op, "this loader runs it"),) if loader is not None else ()
        told: dict[tuple[str, str], list[_Placement]] = {}
        for where, body in _sample_code(self._loaders, facts):
            for placed in self._placed.get(id(body), ()):
                told.setdefault((where, placed.device), []).append(placed)
        for (where, device), (first, *others) in told.items():
            more = f" ({len(others)} more)" if others else ""
            yield self.report(
                first.op,
                f"{where} puts its tensors on `{device}`{more}; return CPU tensors and move the batch in the loop",
                detail='In a DataLoader worker that raises "Cannot re-initialize CUDA in forked subprocess", and with '
                "`pin_memory=True` \"cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned\".",
                case=case or ("" if first.is_certain else "the device is a variable"),
                related=(*loads, *(Mention(one.op, "so does this") for one in others)),
            )

    def _case(self, facts: Facts) -> tuple[str, _Loading | None]:
        """The row of the policy, and the loader of the file that has workers or pins memory."""
        for loader in self._loaders:
            if loader.workers or loader.pinned:
                return "", loader
        plain = bool(self._loaders) and all(one.workers is False and one.pinned is False for one in self._loaders)
        if plain or (not self._loaders and (_is_loaded_nowhere(facts) or _is_read_by_its_program(facts))):
            return "no loader has workers or pins memory", None
        return "no loader is seen with workers or pinned memory", None


def _is_read_by_its_program(facts: Facts) -> bool:
    """True for a program of one file that makes no loader: it takes its samples itself."""
    lookups = [Lookup.of(body) for body in facts.program.bodies]
    called = {lookup.path(op.function).rpartition(".")[2] for lookup in lookups for op in lookup.kind(ir.Call)}
    return facts.roles.is_run_alone and not any("loader" in name.lower() for name in called)


def _is_loaded_nowhere(facts: Facts) -> bool:
    """True for a file of a project of several files, of which none that imports it, or names a class of it, speaks of a loader."""
    member = facts.analysis.member
    if member is None or not member.project.tells_by_silence or facts.mentions("DataLoader"):
        return False
    names = tuple(cls.name.encode() for cls in facts.program.classes)
    users = {
        *member.project.importing(member.path),
        *member.project.holding(names, re.compile(rb"\b(?:%s)\b" % b"|".join(names))),
    }
    named = re.compile(rb"(\bclass )?\b(?:%s)\b" % b"|".join(names))

    def loads(user: str) -> bool:
        text = member.project.read(user)
        defines = any(found.group(1) for found in named.finditer(text))  # another data set of that name
        return not defines and _LOADER.search(named.sub(b"", text)) is not None  # a data set may call itself a loader

    return not any(loads(user) for user in users - {member.path})


def _truth(call: ir.Call, name: str, position: int, facts: Facts) -> bool | None:
    register = call.argument(name, position)
    if register is None:
        return None if call.has_splat else False
    constant = facts.constant(register)
    return bool(constant) if isinstance(constant, (int, bool)) else None


def _sample_code(loaders: list[_Loading], facts: Facts) -> Iterator[tuple[str, ir.Body]]:
    """The bodies that run once per sample or batch, with what to call them."""
    seen: set[int] = set()

    def fresh(body: ir.Body) -> bool:
        if id(body) in seen:
            return False
        seen.add(id(body))
        return True

    datasets = [s for s in map(facts.analysis.summary_of, facts.program.classes) if _is_dataset(s)]
    collates = {loader.collate for loader in loaders if loader.collate}
    for summary in datasets:
        starts = ["__getitem__", "__getitems__", "__iter__", *(collates & set(summary.cls.methods))]
        run = reached(facts.analysis, summary, starts) - {"__init__"}
        for body in (body for name, body in summary.cls.methods.items() if name in run):
            for inner in nested(body):
                if fresh(inner):
                    yield f"`{summary.cls.name}.{body.name}`", inner
    for loader in loaders:
        if isinstance(loader.collate_body, ir.Body):
            for body in called_by(loader.collate_body, facts.analysis):
                for inner in nested(body):
                    if fresh(inner):
                        yield f"the collate function `{loader.collate or 'lambda'}`", inner


def _is_dataset(summary: ClassSummary) -> bool:
    return any(_DATASET.match(base) for one in (summary, *summary.ancestors) for base in one.bases)
