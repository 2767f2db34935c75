"""Puts rows together: a `Spec` says what is combined, `Parts` gives the lines that a shape asks for, a `Program` is the files."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from differential.rows import KINDS, Carrier, Device, Kind, Maker, Meeting, Placer, fill, takes
from differential.tables import IMPORTS

_NAMES = {
    "F": ("weights", "offset", "bias", "prior", "gains"),
    "N": ("factor", "alpha"),
    "I": ("labels", "index", "targets"),
    "B": ("mask", "visible"),
}
_OPERANDS = ("inputs", "features", "hidden", "x", "scores", "signal")
_CARRIED = ("chosen", "current", "prepared", "other", "extra", "selected")
_COLLECTIONS = ("ChainMap", "OrderedDict", "defaultdict", "deque", "namedtuple")


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of a whole program. `open` shapes are asked by a driver that the linter is not shown; `group` shapes have a process group.

    `batch` is that of `draw.BATCHES` with which it was written.
    """

    name: str
    family: str
    batch: str = "first"
    kept: bool = False
    group: bool = False
    loop: bool = False


@dataclass(frozen=True, slots=True)
class Spec:
    """What is combined; `key` seeds the small choices, so that both programs of a pair make the same ones."""

    maker: Maker
    carriers: tuple[Carrier, ...]
    meeting: Meeting
    placer: Placer
    device: Device
    shape: Shape
    fix: str
    key: int

    def rows(self) -> tuple[Maker | Carrier | Meeting | Placer | Device | Shape, ...]:
        """Its entries."""
        return (self.maker, *self.carriers, self.meeting, self.placer, self.device, self.shape)

    @property
    def kept(self) -> bool:
        """Whether any of its entries was kept from the authors of the analysis when it was written."""
        return any(row.kept for row in self.rows())

    def labels(self) -> dict[str, list[str]]:
        """The names of its entries, by table."""
        return {
            "maker": ["loaded pair" if self.shape.name == "loop-pair" else self.maker.name],
            "carrier": [carrier.name for carrier in self.carriers],
            "meeting": [self.meeting.name],
            "placer": [self.placer.name],
            "device": [self.device.name],
            "shape": [self.shape.name],
            "family": [self.shape.family],
            "fix": [self.fix],
        }

    def fits(self) -> bool:
        """Whether the entries go together."""
        x, t = KINDS[self.meeting.x], KINDS[self.meeting.t]
        wraps = sum(carrier.wrap is not None for carrier in self.carriers)
        tops = [text.split("\n")[0] for text in self._tops() if text]
        return (
            takes(self.placer.kinds, x)
            and takes(self.maker.kinds, t)
            and all(takes(carrier.kinds, t) for carrier in self.carriers)
            and not (wraps and self.meeting.module)
            and wraps <= 1
            and not (self.shape.family == "open" and (self.placer.closed or self.device.closed))
            and (self.shape.group or not self.meeting.group)
            and not (self.shape.loop and not any(field in self.placer.lines for field in ("$moved", "$plain")))
            and not (self.shape.loop and not x.dims)
            and not (self.shape.name == "loop-pair" and x.dims[0] != (t.dims or (0,))[0])
            and len(set(tops)) == len(tops)
        )

    def _tops(self) -> Iterable[str]:
        return (self.maker.top, self.placer.top, self.device.top, *(carrier.top for carrier in self.carriers))


@dataclass(frozen=True, slots=True)
class Program:
    """Files by path. `shown` are those that the linter gets; `entry` is the script that is run, `hidden` its text where it is not shown."""

    shown: Mapping[str, str]
    entry: str
    hidden: str = ""

    @property
    def files(self) -> dict[str, str]:
        """All of them."""
        return {**self.shown, self.entry: self.hidden} if self.hidden else dict(self.shown)

    def with_shown(self, shown: Mapping[str, str]) -> Program:
        """The same program with other texts of its shown files."""
        return replace(self, shown={name: shown.get(name, text) for name, text in self.shown.items()})

    def text(self) -> str:
        """All files as one text, to be read by people."""
        parts = [f"# --- {name}\n{text}" for name, text in self.shown.items()]
        return "\n".join(
            parts + ([f"# --- {self.entry} (the linter is not shown it)\n{self.hidden}"] if self.hidden else [])
        )


@dataclass
class Parts:
    """The lines of one program, asked for by a shape with the names and devices that are in scope there.

    `tops` are the definitions that the lines need, by part: `make`, `carry`, `place`, `meet`, `device`.
    """

    spec: Spec
    right: bool
    tops: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        spec, self.pick = self.spec, random.Random(self.spec.key)
        self.x_kind, self.t_kind = KINDS[spec.meeting.x], KINDS[spec.meeting.t]
        self.x = self.pick.choice(_OPERANDS)
        self.t = self.pick.choice(_NAMES[self.t_kind.sort])
        self.device = spec.device.expr
        self._need("device", spec.device.top, None)

    @property
    def mends(self) -> bool:
        """Whether the right program places the tensor (else its meeting is another)."""
        return self.right and not self.spec.meeting.good

    def _need(self, part: str, top: str, kind: Kind | None) -> None:
        text = fill(top, **kind.fields()) if kind else top
        tops = self.tops.setdefault(part, [])
        if text and text not in tops:
            tops.append(text)

    def place(self, device: str, loaded: str = "") -> list[str]:
        """Lines that bind the operand on `device`; `loaded` is the name of a tensor to be used instead of a new one."""
        self._need("place", self.spec.placer.top, self.x_kind)
        fields = self.x_kind.fields(device)
        if loaded:
            fields |= {"plain": loaded, "moved": loaded, "rand": loaded}
        return fill(self.spec.placer.lines, x=self.x, **fields).split("\n")

    def make(self, device: str, name: str = "", given: str = "") -> list[str]:
        """Lines that bind the tensor in question; `given` replaces the maker's expression. `device` is where the right program puts it."""
        maker, fix = self.spec.maker, self.spec.fix
        name = name or self.t
        if not given:
            self._need("make", maker.top, self.t_kind)
        takes_device = not given and "$dv" in maker.expr + maker.pre + ("$dv" if "$rand" in maker.expr else "")
        if fix == "factory" and not takes_device:
            fix = "inline"
        placed = f", device={device}" if self.mends and fix == "factory" else ""
        fields = self.t_kind.fields(device, placed)
        lines = fill(maker.pre, **fields).split("\n") if maker.pre and not given else []
        expr = given or fill(maker.expr, **fields)
        if self.mends and fix == "inline":
            expr = f"{_bracketed(expr)}.to({device})"
        lines.append(f"{name} = {expr}")
        if self.mends and fix == "after-make":
            lines.append(f"{name} = {name}.to({device})")
        if self.mends and fix == "cuda()":
            lines.append(f"{name} = {name}.cuda()")
        return lines

    def carry(self, name: str = "", scope: str = "nonlocal") -> tuple[list[str], str]:
        """Lines of the carriers, and the name that the tensor has then. `scope` is what a nested function declares."""
        name, lines = name or self.t, []
        spare = [other for other in _CARRIED if other != name]
        self.pick.shuffle(spare)
        for carrier in self.spec.carriers:
            self._need("carry", carrier.top, self.t_kind)
            if carrier.lines:
                new = spare.pop()
                lines += fill(carrier.lines, t=name, o=new, scope=scope, **self.t_kind.fields()).split("\n")
                name = new
        return lines, name

    def meet(self, name: str, module: str = "", x: str = "") -> list[str]:
        """Lines that bind `out`."""
        spec, x = self.spec, x or self.x
        lines = [f"{name} = {name}.to({x}.device)"] if self.mends and spec.fix == "at-use" else []
        body = spec.meeting.good if self.right and spec.meeting.good else spec.meeting.lines
        wrap = next((carrier.wrap for carrier in spec.carriers if carrier.wrap), None)
        if wrap is None:
            return lines + fill(body, x=x, t=name, m=module).split("\n")
        header = fill(wrap[0], a="left", b="right").split("\n")
        depth = [len(line) - len(line.lstrip()) for line in header if line.lstrip().startswith("def ")][-1] // 4 + 1
        inner = fill(body, x="left", t="right").split("\n")
        self._need("meet", "\n".join(header + indent([*inner, "return out"], depth)), None)
        return [*lines, "out = " + fill(wrap[1], x=x, t=name, a="left", b="right")]

    def module(self, device: str, name: str = "layer") -> list[str]:
        """The line that makes and moves the meeting's module, if it has one."""
        return [f"{name} = {self.spec.meeting.module}.to({device})"] if self.spec.meeting.module else []

    def shown(self, name: str = "out") -> str:
        """What of the result is printed."""
        return re.sub(r"\bout\b", name, self.spec.meeting.shown)

    def file(self, parts: str, *blocks: Sequence[str], imports: Sequence[str] = (), beside: str = "") -> str:
        """The text of a file: imports, the definitions that `parts` need, and blocks of lines. It imports what `beside` needs, too."""
        tops = list(dict.fromkeys(top for part in parts.split() for top in self.tops.get(part, ())))
        code = "\n\n\n".join([*tops, *("\n".join(block) for block in blocks if block)])
        return "\n".join(_imports(code + beside, imports)) + "\n\n\n" + code + "\n"

    def single(self, *blocks: Sequence[str]) -> Program:
        """A program of one file."""
        return Program({"main.py": self.file("device make place carry meet", *blocks)}, "main.py")


def _bracketed(expr: str) -> str:
    return f"({expr})" if re.search(r" [>/*+&] ", expr) else expr


def _imports(code: str, own: Sequence[str]) -> list[str]:
    lines = []
    for pattern, line in IMPORTS:
        if re.search(pattern, code) or line == "import torch":
            names = [name for name in _COLLECTIONS if re.search(rf"\b{name}\(|\({name}\)", code)]
            lines.append(line.replace("<collections>", ", ".join(names)))
    third = next(i for i, line in enumerate(lines) if line in ("import numpy as np", "import torch"))
    groups = [lines[:third], lines[third:], list(own)]
    return "\n\n".join("\n".join(group) for group in groups if group).split("\n")


def indent(lines: Iterable[str], by: int = 1) -> list[str]:
    """Lines, further to the right."""
    return [("    " * by + line) if line else line for line in lines]
