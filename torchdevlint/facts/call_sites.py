"""What the calls in a file give to its own functions: the fourth source of kinds, behind annotations, defaults and use.

`self.scale(torch.tanh(mean))` tells that the argument of `scale` is a tensor, whatever `scale` does with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.facts.index import BodyIndex
from torchdevlint.facts.values import Evidence, Kind
from torchdevlint.program import ir
from torchdevlint.stubs.knowledge import functions, methods

if TYPE_CHECKING:
    from torchdevlint.facts.analysis import FileFacts

_NO_TENSOR_METHODS = frozenset(
    "numel dim size get_device is_floating_point element_size storage nelement data_ptr is_cuda backward".split()
)
_MAKES_ON_THE_HOST = functions.FACTORIES | functions.HOST_FACTORIES | functions.NON_TENSOR | functions.LOADS

Sites = dict[str, list[tuple[BodyIndex, ir.Call]]]


def collect(analysis: FileFacts) -> Sites:
    """The calls of the file by the name that is called."""
    found: Sites = {}
    for body in analysis.program.bodies:
        index = analysis.index_of(body)
        for name, call in index.local_calls:
            found.setdefault(name, []).append((index, call))
    return found


def given_tensor(analysis: FileFacts, body: ir.Body, parameter: ir.Parameter, number: int) -> bool:
    """True when a call in the file gives this parameter what is certainly a tensor, and none gives it a constant."""
    sites = analysis.call_sites.get(body.name, ())
    told = False
    for index, call in sites:
        if call.has_splat:
            continue
        register = call.argument(parameter.name, number - body.is_bound)
        if register is None:
            continue
        if isinstance(index.definitions[register], ir.Constant):
            return False
        told = told or _is_tensor(analysis, index, register)
    return told


def _is_tensor(analysis: FileFacts, index: BodyIndex, register: ir.Register) -> bool:
    op = index.definitions[register]
    if isinstance(op, ir.Load):
        return index.use(op.name).kind() == (Kind.TENSOR, Evidence.USAGE)
    if not isinstance(op, ir.Call):
        return False
    written = index.definitions[op.function]
    if isinstance(written, ir.Attribute):
        name = _imported(analysis, index, op.function)
        if name:
            return (
                (name.startswith(("torch.nn.functional.", "torch.linalg.", "torch.fft.")) or name.count(".") == 1)
                and name.startswith("torch.")
                and name not in _MAKES_ON_THE_HOST
                and name.rpartition(".")[2][:1].islower()
            )
        return written.name in methods.TENSOR_ONLY - _NO_TENSOR_METHODS and written.name not in methods.NEW_LIKE
    return False


def _imported(analysis: FileFacts, index: BodyIndex, register: ir.Register) -> str:
    """The dotted name of an imported function, or ""."""
    parts: list[str] = []
    op = index.definitions[register]
    while isinstance(op, ir.Attribute):
        parts.append(op.name)
        op = index.definitions[op.object]
    if not isinstance(op, ir.Load) or op.name not in analysis.aliases:
        return ""
    return ".".join([analysis.aliases[op.name], *reversed(parts)])
