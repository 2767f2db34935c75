"""A model zoo: of the factories that differ in constants a few are run as somebody from outside calls them."""

from __future__ import annotations

from torchdevlint.infer import analysis
from torchdevlint.infer.alike import MOST_ALIKE, alike
from torchdevlint.program import from_ast, ir

_ZOO = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, depth, device):
        super().__init__()
        self.table = torch.zeros(depth, device=device)

def build(name, depth, **options):
    return Net(depth, **options)

"""
_BOUND = "factories that differ in constants"


def _function(text: str) -> ir.Body:
    return next(body for body in from_ast.read(text).bodies if body.kind == "function")


def _zoo(*devices: str) -> str:
    return _ZOO + "".join(
        f"def net{number}(pretrained=False, **options):\n"
        f"    return build('net{number}', **dict(dict(depth={number}, device={device!r}), **options))\n\n"
        for number, device in enumerate(devices)
    )


def test_what_differs_in_constants_is_alike() -> None:
    first = alike(_function("def small(pretrained=False): return build('small', depth=[2, 2])"))
    assert first is not None
    assert first == alike(_function("def large(pretrained=False): return build('large', depth=[3, 4], wide=True)"))
    assert first != alike(_function("def placed(): return build('large', device='cuda:1')"))
    assert first != alike(_function("def other(): return make('other')"))


def test_what_does_more_is_no_factory() -> None:
    for text in (
        "def f(x): return build(x) + 1",
        "def f(x):\n    if x:\n        return build(x)\n    return build(1)",
        "def f(x): return x(1)",
        "def f(x):\n    model = build(x)\n    return model.cuda()",
        "def f(): return torch.zeros(3)",
        "def f(x): return x",
    ):
        assert alike(_function(text)) is None, text


def test_the_limit_is_counted_and_a_device_of_its_own_is_heard() -> None:
    few = analysis.Analysis(from_ast.read(_zoo(*["cpu"] * MOST_ALIKE))).run()
    assert _BOUND not in few.bounds
    many = analysis.Analysis(from_ast.read(_zoo(*["cpu"] * (MOST_ALIKE + 3), "cuda"))).run()
    assert many.bounds[_BOUND] == 3
    run = {body.name for body in many.summaries_reached()}
    assert run >= {"net0", f"net{MOST_ALIKE - 1}", f"net{MOST_ALIKE + 3}"}
    assert f"net{MOST_ALIKE}" not in run


def test_who_calls_a_factory_behind_the_limit_knows_its_model() -> None:
    text = _zoo(*["cpu"] * (MOST_ALIKE + 3)) + (
        f"net = net{MOST_ALIKE + 2}()\nnet.cuda()\nprint(net.table + torch.zeros(3, device='cuda'))\n"
    )
    found = analysis.Analysis(from_ast.read(text)).run()
    assert [fault.verdict for fault in found.faults.values()] == ["broken"]  # a plain attribute stays behind
