"""What the analysis knows of values: small programs with the fact that is expected at `probe(x)`."""

from __future__ import annotations

import libcst as cst
import pytest

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.frame import Frame
from torchdevlint.facts.imported import named
from torchdevlint.facts.naming import ABSENT
from torchdevlint.facts.values import Kind, Value
from torchdevlint.program import ir
from torchdevlint.program.from_libcst import lower
from torchdevlint.program.lookup import Lookup

IMPORTS = "import torch\nimport numpy as np\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom torch import Tensor\n"


def probed(source: str) -> tuple[Value, frozenset[str]]:
    """The value given to `probe(...)` and the guards that hold there."""
    program = lower(cst.parse_module(IMPORTS + source))
    analysis = FileFacts(program)
    found: list[tuple[Value, frozenset[str]]] = []
    for body in program.bodies:
        for block in body.blocks:
            for op in block.ops:
                if isinstance(op, ir.Call) and analysis.index_of(body).dotted(op.function) == "probe":
                    frame = Frame(analysis, body, op, block)
                    found.append((frame.values[op.arguments[0].value], frame.guards))
    assert len(found) == 1, "the program must call probe(...) once"
    return found[0]


@pytest.mark.parametrize(
    ("source", "kind", "device", "rank"),
    [
        ("probe(torch.zeros(2, 3))", Kind.TENSOR, "cpu", 2),
        ("probe(torch.zeros((2, 3, 4)))", Kind.TENSOR, "cpu", 3),
        ("probe(torch.tensor(1.0))", Kind.TENSOR, "cpu", 0),
        ("probe(torch.tensor([1.0]))", Kind.TENSOR, "cpu", 1),
        ("probe(torch.zeros(2).sum())", Kind.TENSOR, "cpu", 0),
        ("probe(torch.arange(3)[0])", Kind.TENSOR, "cpu", 0),
        ("probe(torch.arange(3)[None])", Kind.TENSOR, "cpu", 2),
        ("probe(torch.zeros(2, device='cuda:1'))", Kind.TENSOR, "cuda:1", 1),
        ("probe(torch.zeros(2).cuda())", Kind.TENSOR, "cuda", 1),
        ("probe(torch.zeros(2).cuda(1))", Kind.TENSOR, "cuda:1", 1),
        ("probe(torch.zeros(2).to('cuda').cpu())", Kind.TENSOR, "cpu", 1),
        ("probe(torch.zeros(2).to(torch.float64))", Kind.TENSOR, "cpu", 1),
        ("def f(x: Tensor):\n    probe(torch.zeros_like(x))", Kind.TENSOR, "x.device", -1),
        ("def f(x: Tensor):\n    probe(torch.ones(3).to(x))", Kind.TENSOR, "x.device", 1),
        ("def f(x: Tensor):\n    probe(torch.ones(3).type_as(x))", Kind.TENSOR, "x.device", 1),
        ("def f(x: Tensor):\n    probe(x.new_zeros(3))", Kind.TENSOR, "x.device", 1),
        ("def f(x: 'torch.Tensor | None' = None):\n    probe(x)", Kind.TENSOR, "x.device", -1),
        ("def f(x):\n    y = x.unsqueeze(0)\n    probe(x)", Kind.TENSOR, "x.device", -1),
        ("def f(x: Tensor, device):\n    y = x.to(device)\n    probe(y)", Kind.TENSOR, "device", -1),
        (
            "device = 'cuda' if torch.cuda.is_available() else 'cpu'\nprobe(torch.zeros(1, device=device))",
            Kind.TENSOR,
            "device",
            1,
        ),
        ("def f(x: Tensor):\n    with torch.device('cuda'):\n        probe(torch.zeros(1))", Kind.TENSOR, "cuda", 1),
        ("probe(nn.Linear(2, 2).to('cuda'))", Kind.MODULE, "cuda", None),
        ("m = nn.Linear(2, 2)\nn = m\nn.to('cuda')\nprobe(m(torch.zeros(1, 2)))", Kind.TENSOR, "cuda", -1),
        ("probe(nn.Linear(2, 2)(torch.zeros(1, 2)))", Kind.TENSOR, "cpu", -1),
        ("probe(torch.zeros(2).numpy())", Kind.NDARRAY, "top", None),
        ("try:\n    import torch as t\nexcept ImportError:\n    t = None\nprobe(t.zeros(2))", Kind.TENSOR, "cpu", 1),
        ("def make():\n    return torch.zeros(2, 2)\nprobe(make())", Kind.TENSOR, "cpu", 2),
        (
            "def to_device(x, device):\n    return x.to(device)\nprobe(to_device(torch.zeros(2), 'cuda'))",
            Kind.TENSOR,
            "cuda",
            1,
        ),
        ("xs = [torch.zeros(2) for _ in range(3)]\nfor x in xs:\n    probe(x)", Kind.TENSOR, "cpu", 1),
        ("d = {'a': torch.zeros(2), 'b': 1}\nprobe(d['a'])", Kind.TENSOR, "cpu", 1),
        ("d = {}\nd['a'] = torch.zeros(2).cuda()\nprobe(d['a'])", Kind.TENSOR, "cuda", 1),
        ("a, b = torch.zeros(2), torch.zeros(2, 2)\nprobe(b)", Kind.TENSOR, "cpu", 2),
        ("def f(x):\n    if isinstance(x, torch.Tensor):\n        probe(x)", Kind.TENSOR, "x.device", None),
    ],
)
def test_values(source: str, kind: Kind, device: str, rank: int | None) -> None:
    value, _ = probed(source)
    assert (value.kind, value.device.name or value.device.place, value.rank) == (kind, device, rank)


def test_attributes_of_modules() -> None:
    source = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.plain = torch.ones(3)
        self.register_buffer("kept", torch.ones(3))
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        probe(self.{name})
"""
    plain, _ = probed(source.format(name="plain"))
    assert plain.is_fresh_cpu and plain.attribute == "plain"
    for name in ("kept", "weight"):
        value, _ = probed(source.format(name=name))
        assert value.device.name == "self" and not value.is_fresh_cpu


@pytest.mark.parametrize(
    ("source", "guard"),
    [
        ("if torch.cuda.is_available():\n    probe(1)", "cuda"),
        ("if not torch.cuda.is_available():\n    pass\nelse:\n    probe(1)", "cuda"),
        ("ok = torch.cuda.is_available()\nif ok and other:\n    probe(1)", "cuda"),
        ("def f():\n    if not torch.cuda.is_available():\n        return\n    probe(1)", "cuda"),
        ("assert torch.cuda.is_available()\nprobe(1)", "cuda"),
        ("y = probe(1) if torch.cuda.is_available() else 2", "cuda"),
        ("if args.cuda:\n    probe(1)", "flag"),
        ("if args.no_cuda:\n    pass\nelse:\n    probe(1)", "flag"),
        ("if device.type == 'cuda':\n    probe(1)", "cuda"),
        ("if args.gpu is not None:\n    probe(1)", "flag"),
        ("if torch.cuda.device_count() > 1:\n    probe(1)", "cuda"),
    ],
)
def test_guards(source: str, guard: str) -> None:
    assert guard in probed(source)[1]


@pytest.mark.parametrize(
    "source",
    [
        "probe(1)",
        "if torch.cuda.is_available():\n    pass\nprobe(1)",
        "if torch.cuda.is_available():\n    pass\nelse:\n    probe(1)",
        "if torch.cuda.is_available() or other:\n    probe(1)",
        "if args.cuda:\n    pass\nelse:\n    probe(1)",
        "def f(**options):\n    if options['gpu_index'] == 0:\n        probe(1)",
        "def f(gpu):\n    if gpu < 0:\n        probe(1)",
    ],
)
def test_no_guard(source: str) -> None:
    assert not probed(source)[1] - {ABSENT}


@pytest.mark.parametrize("test", ["torch.cuda.is_available()", "args.cuda", "use_gpu"])
def test_where_there_is_no_accelerator_a_cpu_tensor_is_right(test: str) -> None:
    value, guards = probed(f"if {test}:\n    pass\nelse:\n    probe(torch.zeros(2))")
    assert ABSENT in guards and not value.is_fresh_cpu
    value, guards = probed(f"if {test}:\n    pass\nprobe(torch.zeros(2))")
    assert ABSENT not in guards and value.is_fresh_cpu


def test_loops_come_to_an_end() -> None:
    """Values that grow with every turn are bounded."""
    value, _ = probed(
        "x = torch.zeros(1)\nwhile True:\n    x = x[None]\n    y = [x, x]\n    if cond:\n        break\nprobe(x)"
    )
    assert value.kind is Kind.TENSOR


def test_recursion_comes_to_an_end() -> None:
    value, _ = probed("def f(n):\n    return f(n - 1) if n else torch.zeros(2)\nprobe(f(3))")
    assert value.kind in (Kind.TENSOR, Kind.UNKNOWN)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("f = torch.load", "torch.load"),
        ("f = F.relu", "torch.nn.functional.relu"),
        ("f = len", "builtins.len"),
        ("def g(torch):\n    f = torch.load", ""),
        ("torch = make()\nf = torch.load", None),
        ("load = torch.load\nf = load", None),
    ],
    ids=["imported", "by another name", "a builtin", "a parameter", "bound anew", "by a name of its own"],
)
def test_what_is_imported_is_named_without_a_run(source: str, name: str | None) -> None:
    program = lower(cst.parse_module(IMPORTS + source))
    analysis = FileFacts(program)
    found = [
        named(analysis, body, op.value)
        for body in program.bodies
        for op in Lookup.of(body).kind(ir.Store)
        if op.name == "f"
    ]
    assert found == [name]


def test_a_value_that_is_moved_twice_knows_the_last_move() -> None:
    value, _ = probed("def f(x: Tensor, first, second):\n    x = x.to(first)\n    x = x.to(second)\n    probe(x)")
    assert value.device.name == "second" and value.moved is not None


def test_a_device_that_a_constructor_kept_is_that_of_the_attribute() -> None:
    source = "class Net(nn.Module):\n    def __init__(self, device):\n        super().__init__()\n        self.device = device\n"
    value, _ = probed(source + "    def forward(self, x):\n        probe(x.to(self.device))")
    assert value.device.name == "self.device"
