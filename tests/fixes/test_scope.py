"""What a name means where an edit puts it: `mark` becomes `mark.to(EXPRESSION)` in each program, and the scope judges."""

from __future__ import annotations

import textwrap

import pytest

from torchdevlint.fixes import builders
from torchdevlint.fixes.scope import Scope, Verdict
from torchdevlint.program import ir
from torchdevlint.program.bounds import parse
from torchdevlint.program.from_libcst import lower
from torchdevlint.rules.engine import analyse

IMPORTS = "import torch\nfrom torch import nn\n"


def judged(text: str, expression: str) -> Verdict:
    program = lower(parse(IMPORTS + textwrap.dedent(text)))
    scope = Scope(analyse(program, ()).analysis)
    mark = next(
        op
        for body in program.bodies
        for block in body.blocks
        for op in block.ops
        if isinstance(op, ir.Load) and op.name == "mark"
    )
    edits = builders.wrap_method(mark, "to", expression)
    assert edits is not None
    return scope.judge(edits)


CHOSEN = 'torch.device("cuda" if torch.cuda.is_available() else "cpu")'

FITS = {
    "of the module, bound before the class": (f"device = {CHOSEN}\nclass C:\n    mark", "device"),
    "a local": (f"device = {CHOSEN}\nmark", "device"),
    "a parameter": ("def f(device):\n    mark", "device"),
    "of the module, bound before the function": (f"device = {CHOSEN}\ndef f():\n    mark", "device"),
    "of the module, bound behind the function": (f"def f():\n    mark\ndevice = {CHOSEN}\nf()", "device"),
    "of an enclosing function": ("def f(device):\n    def g():\n        mark\n    return g", "device"),
    "of an enclosing function, over a class": (
        "def f(device):\n    class A:\n        device = 3\n        def g(self):\n            mark",
        "device",
    ),
    "on both paths": ('if a:\n    device = "cuda"\nelse:\n    device = "cpu"\nmark', "device"),
    "a tensor's": ("def f(x: torch.Tensor):\n    mark", "x.device"),
    "a made tensor's": ("x = torch.zeros(3)\nmark", "x.device"),
    "an object's, read before": ("def f(model):\n    print(model.device)\n    mark", "model.device"),
    "no None, by a test": ("def f(x: torch.Tensor = None):\n    if x is not None:\n        mark", "x.device"),
    "no None, by an early exit": (
        "def f(x: torch.Tensor = None):\n    if x is None:\n        return\n    mark",
        "x.device",
    ),
    "no None any more": (
        "def f(x: torch.Tensor = None):\n    if x is None:\n        x = torch.zeros(3)\n    mark",
        "x.device",
    ),
    "an index": ("mark", "0"),
    "a literal": ("mark", '"cpu"'),
    "a choice": ("mark", CHOSEN),
    "in a lambda": ("def f(device):\n    return lambda x: mark", "device"),
    "of a module's own property": (
        "class A(nn.Module):\n    @property\n    def device(self):\n        return 1\n    def f(self):\n        mark",
        "self.device",
    ),
    "set by the constructor": (
        "class A(nn.Module):\n    def __init__(self, device):\n        self.device = device\n    def f(self):\n        mark",
        "self.device",
    ),
    "set above in the constructor": (
        "class A(nn.Module):\n    def __init__(self, device):\n        self.device = device\n        mark",
        "self.device",
    ),
    "of options": ("def f(args):\n    mark\ndef g(args):\n    print(args.device)", "args.device"),
    "global": (f"device = {CHOSEN}\ndef f():\n    global device\n    mark", "device"),
    "the variable of a comprehension": ("def f(devices, xs):\n    return [mark for device in devices]", "device"),
    "next of the parameters": ("def f(model: nn.Module):\n    mark", "next(model.parameters()).device"),
}
REFUSED = {
    "of the module, bound behind the class": (f"class C:\n    mark\ndevice = {CHOSEN}\nC()", "device"),
    "of the module, bound behind a class in the class": (
        f"class C:\n    class D:\n        mark\ndevice = {CHOSEN}",
        "device",
    ),
    "bound below": (f"mark\ndevice = {CHOSEN}", "device"),
    "bound on one path": (f"if a:\n    device = {CHOSEN}\nmark", "device"),
    "deleted": (f"device = {CHOSEN}\ndel device\nmark", "device"),
    "of no one": ("mark", "device"),
    "bound under main alone": (
        f'def f():\n    mark\nif __name__ == "__main__":\n    device = {CHOSEN}\n    f()',
        "device",
    ),
    "called before it is bound": (f"def f():\n    mark\nf()\ndevice = {CHOSEN}", "device"),
    "of a class, in its method": ("class A:\n    device = 0\n    def f(self):\n        mark", "device"),
    "shadowed by a number": ("def f(x):\n    device = 1.5\n    mark", "device"),
    "shadowed by a local of later": (f"device = {CHOSEN}\ndef f():\n    mark\n    device = 1", "device"),
    "a module": ("class A(nn.Module):\n    def f(self):\n        mark", "self"),
    "a dict": ("device = {}\nmark", "device"),
    "a number's": ("x = 3\nmark", "x.device"),
    "a list's": ("x = [torch.zeros(3)]\nmark", "x.device"),
    "of a class whose objects have it": (
        "class A(nn.Module):\n    @property\n    def device(self):\n        return 1\n"
        "    @classmethod\n    def f(cls):\n        mark",
        "cls.device",
    ),
    "of a class whose constructor sets it": (
        "class A(nn.Module):\n    def __init__(self, device):\n        self.device = device\n"
        "    @classmethod\n    def f(cls):\n        mark",
        "cls.device",
    ),
    "of an object that is asked whether it has one": (
        'def f(model):\n    mark\n    if hasattr(model, "device"):\n        return model.device',
        "model.device",
    ),
    "with a default": (
        'def f(model):\n    mark\n    return getattr(model, "device", None)',
        "model.device",
    ),
    "set below in the constructor": (
        "class A(nn.Module):\n    def __init__(self, device):\n        mark\n        self.device = device",
        "self.device",
    ),
    "of a module of torch": ("model = nn.Linear(3, 2)\nmark", "model.device"),
    "of a module of this file without one": (
        "class A(nn.Module):\n    def f(self):\n        mark",
        "self.device",
    ),
    "torch under another name": ("def f(torch):\n    mark", 'torch.device("cpu")'),
    "a dict, by its keys": ('def f(data):\n    use(data["label"], data.dtype)\n    mark', "data.device"),
    "something that is asked whether it is a tuple": (
        "def f(x):\n    if isinstance(x, tuple):\n        x = x[0]\n    mark\n    return x * 2 + x.exp()",
        "x.device",
    ),
    "None by default": ("def f(x: torch.Tensor = None):\n    mark", "x.device"),
    "asked for None below": ("def f(x: torch.Tensor):\n    mark\n    if x is not None:\n        return x", "x.device"),
    "where it is None": ("def f(x: torch.Tensor):\n    if x is None:\n        mark", "x.device"),
    "where one of two is None": (
        "def f(x: torch.Tensor, y: torch.Tensor):\n    if x is None or y is None:\n        mark",
        "x.device",
    ),
    "a swallowed binding": (
        f"import contextlib\nwith contextlib.suppress(E):\n    device = {CHOSEN}\nmark",
        "device",
    ),
    "the name of a handler": ("try:\n    f()\nexcept E as device:\n    pass\nmark", "device"),
    "deleted global": (f"device = {CHOSEN}\ndef f():\n    mark\ndel device", "device"),
}
DOUBTFUL = {
    "an object of unknown class": ("def f(model):\n    mark", "model.device"),
    "the number of a GPU": ("def f(args):\n    mark\ndef g(args):\n    print(args.gpu)", "args.gpu"),
    "of options that nobody reads": ("def f(args):\n    mark", "args.device"),
    "a name that tells nothing": ("def f(there):\n    mark", "there"),
    "an attribute set elsewhere": (
        "class A(nn.Module):\n    def setup(self, device):\n        self.device = device\n    def f(self):\n        mark",
        "self.device",
    ),
}


@pytest.mark.parametrize("case", FITS)
def test_what_fits(case: str) -> None:
    assert judged(*FITS[case]) is Verdict.FITS


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    assert judged(*REFUSED[case]) is Verdict.REFUSED


@pytest.mark.parametrize("case", DOUBTFUL)
def test_what_is_never_safe(case: str) -> None:
    assert judged(*DOUBTFUL[case]) is Verdict.DOUBTFUL
