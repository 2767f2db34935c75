"""What a row of a table is: the entries that programs are composed of.

Rows hold lines of Python with placeholders:

* `$x` the tensor on the accelerator, `$t` the tensor in question, `$o` its name behind a carrier, `$m` a module, `$dev` a device that is in scope;
* `$dv` nothing, or `, device=...` in the program that places everything where it belongs;
* `$rand`, `$shape`, `$size`, ...: fields of a `Kind`. `$on` is `$rand` made on `$dev`.

`top` are the definitions that a row needs at the top of its file.
"""

from __future__ import annotations

import string
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A shape and dtype. `sort` is F (float), N (float without dimensions), I (int64) or B (bool)."""

    name: str
    sort: str
    dims: tuple[int, ...]
    values: str = ""

    def fields(self, device: str = "", placed: str = "") -> dict[str, str]:
        """The placeholders that speak of this kind; `device` is what `$dev` stands for, `placed` what `$dv` does."""
        shape = ", ".join(map(str, self.dims)) or "()"
        size = f"({shape},)" if len(self.dims) == 1 else f"({shape})" if self.dims else "()"
        numpy_size = size
        made = {
            "F": "torch.randn({shape}{dv})",
            "N": "torch.rand((){dv})",
            "I": "torch.randint(0, 3, {size}{dv})",
            "B": "torch.rand({shape}{dv}) > 0.5",
        }[self.sort]
        array = {
            "F": f"np.ones({numpy_size}, dtype=np.float32)",
            "N": "np.float32(0.5)",
            "I": f"np.zeros({numpy_size}, dtype=np.int64)",
            "B": f"np.ones({numpy_size}, dtype=bool)",
        }[self.sort]

        def rand(dv: str) -> str:
            return made.format(shape=shape, size=size, dv=dv)

        on = rand(f", device={device}")
        return {
            "shape": shape,
            "size": size,
            "first": str(self.dims[0]) if self.dims else "1",
            "rest": ", ".join(map(str, self.dims[1:])),
            "values": self.values,
            "array": array,
            "rand": rand(placed),
            "plain": rand(""),
            "moved": f"({rand('')})" if self.sort == "B" else rand(""),
            "on": f"({on})" if self.sort == "B" else on,
            "dtype": {"I": ", dtype=torch.long", "B": ", dtype=torch.bool"}.get(self.sort, ""),
            "fill": {"I": "1", "B": "True"}.get(self.sort, "0.5"),
            "expand": shape.replace("()", ""),
            "legacy": {"F": "FloatTensor", "I": "LongTensor", "B": "BoolTensor", "N": "FloatTensor"}[self.sort],
            "dev": device,
            "dv": placed,
        }


KINDS = {
    kind.name: kind
    for kind in (
        Kind("vec", "F", (4,), "[0.5, 1.0, 2.0, 4.0]"),
        Kind("mat", "F", (3, 4), "[[1.0, 2.0, 3.0, 4.0], [0.5, 0.1, 0.2, 0.3], [5.0, 6.0, 7.0, 8.0]]"),
        Kind("img", "F", (2, 3, 8, 8)),
        Kind("seq", "F", (2, 5, 4)),
        Kind("sq", "F", (5, 5)),
        Kind("hid", "F", (1, 2, 4)),
        Kind("num", "N", (), "0.25"),
        Kind("idx", "I", (3,), "[2, 0, 1]"),
        Kind("ids", "I", (2, 5), "[[0, 1, 2, 1, 0], [2, 2, 1, 0, 1]]"),
        Kind("mask", "B", (3,), "[True, False, True]"),
    )
}


@dataclass(frozen=True, slots=True)
class Maker:
    """A way to get a tensor on the CPU. `kinds` are sorts (capitals) and names of kinds."""

    name: str
    kinds: str
    expr: str
    pre: str = ""
    top: str = ""
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Carrier:
    """How the tensor travels: lines that end in a binding of `$o`.

    `wrap` (header, call) is a carrier of both operands instead: a function `$a`, `$b` whose body is the meeting.
    """

    name: str
    lines: str = ""
    top: str = ""
    kinds: str = "FNIB"
    wrap: tuple[str, str] | None = None
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where `$x` and `$t`, of these kinds, meet: lines that bind `out`.

    `module` is made and moved by the shape and called `$m`. `good` are the lines of the right program, where the fault is not the place of `$t`.
    `group` marks collectives, which need a process group.
    """

    name: str
    x: str
    t: str
    lines: str
    module: str = ""
    good: str = ""
    shown: str = "out.float().sum().item()"
    group: bool = False
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Placer:
    """How the other operand comes to the accelerator: lines that bind `$x`.

    `closed` rows decide for the whole program, so that nothing follows for a library whose driver the linter is not shown.
    """

    name: str
    lines: str
    top: str = ""
    kinds: str = "FIB"
    kept: bool = False
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Device:
    """How a program chooses its device: an expression. `closed` as in `Placer`."""

    name: str
    expr: str
    top: str = ""
    kept: bool = False
    closed: bool = False


FIXES = ("factory", "inline", "after-make", "cuda()", "at-use")
"""How the right program of a pair places the tensor."""


def fill(template: str, **fields: str) -> str:
    """Replaces placeholders, those of the replaced text as well."""
    for _ in range(4):
        new = string.Template(template).safe_substitute(fields)
        if new == template:
            break
        template = new
    return template


def takes(kinds: str, kind: Kind) -> bool:
    """Whether a row's `kinds` name this kind or its sort."""
    return kind.sort in kinds or kind.name in kinds.split()
