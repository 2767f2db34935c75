"""What the calls in a file give to its own functions: the fourth source of kinds, behind annotations, defaults and use.

`self.scale(torch.tanh(mean))` tells that the argument of `scale` is a tensor, whatever `scale` does with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.facts.index import BodyIndex
from torchdevlint.facts.values import Evidence, Kind
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.facts.analysis import FileFacts

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
        given = analysis.frame_of(index.body).values[register]
        told = told or (given.kind is Kind.TENSOR and given.evidence >= Evidence.USAGE)
    return told
