"""Ways that tensors take between functions, objects and files, and what a file shows of where its arguments are."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.facts import Facts
from torchdevlint.infer.analysis import analyse
from torchdevlint.infer.relevance import is_worth_telling
from torchdevlint.program import from_ast
from torchdevlint.program.project import member
from torchdevlint.rules.policy import row_of, severity_of

HEAD = "import torch\nfrom torch import nn\n"

Told = list[tuple[int, str, str]]


def told(text: str) -> Told:
    """Line, code and verdict of what is told of a text that stands alone, by whatever ways it is reached."""
    faults = [fault for fault in analyse(from_ast.lower(ast.parse(HEAD + text))).decided() if is_worth_telling(fault)]
    ways = {fault.key: (fault.told_at.op.node.lineno, row_of(fault).code, fault.verdict) for fault in faults}
    return list(ways.values())


def told_of(tmp_path: Path, files: dict[str, str], name: str) -> Told:
    """The same of a file of a project."""
    (tmp_path / ".git").mkdir(exist_ok=True)
    for path, text in files.items():
        (tmp_path / path).write_text(HEAD + text, encoding="utf-8")
    asked = member(str(tmp_path / name))
    assert asked is not None
    analysis = analyse(from_ast.lower(ast.parse(HEAD + files[name])), asked.path, asked.project)
    return [
        (fault.told_at.op.node.lineno, row_of(fault).code, fault.verdict)
        for fault in analysis.decided()
        if is_worth_telling(fault)
    ]


# ---------------------------------------------------------------------------------------------------- other files

PENALTY = """
class Penalty:
    def __init__(self, rate):
        self.rate = rate
        self.steps = torch.linspace(0, 1, 8)

    def cost(self, y):
        return y.mul(self.rate) * self.steps
"""


def test_a_caller_breaks_a_claim_about_an_attribute(tmp_path: Path) -> None:
    main = "from penalty import Penalty\np = Penalty(0.5)\nprint(p.cost(torch.rand(8).cuda()))\n"
    assert told_of(tmp_path, {"penalty.py": PENALTY, "main.py": main}, "penalty.py") == [(7, "TDL603", "broken")]


def test_a_caller_that_gives_a_tensor_on_the_cpu_breaks_nothing(tmp_path: Path) -> None:
    main = "from penalty import Penalty\np = Penalty(0.5)\nprint(p.cost(torch.rand(8)))\n"
    assert [
        row for row in told_of(tmp_path, {"penalty.py": PENALTY, "main.py": main}, "penalty.py") if row[2] == "broken"
    ] == []


def test_a_dict_of_another_file_is_read(tmp_path: Path) -> None:
    tables = 'NORMS = {"mean": torch.zeros(3), "scale": 2.0}\nSTEPS = [torch.ones(3)]\n'
    main = "import tables\nfrom tables import STEPS\nz = torch.rand(3).cuda()\nprint(z - tables.NORMS['mean'])\nprint(z - STEPS[0])\n"
    files = {"tables.py": tables, "main.py": main}
    assert [row[2] for row in told_of(tmp_path, files, "main.py") + told_of(tmp_path, files, "tables.py")] == [
        "broken"
    ] * 2


def test_an_object_of_another_file_is_changed_where_it_is_read(tmp_path: Path) -> None:
    tables = 'NORMS = {"mean": torch.zeros(3)}\n'
    main = "import tables\ntables.NORMS['mean'] = tables.NORMS['mean'].cuda()\nz = torch.rand(3).cuda()\nprint(z - tables.NORMS['mean'])\n"
    files = {"tables.py": tables, "main.py": main}
    assert told_of(tmp_path, files, "main.py") == told_of(tmp_path, files, "tables.py") == []


def test_a_flag_of_another_file_proves_nothing(tmp_path: Path) -> None:
    options = 'SETTINGS = {"gpu": False}\n'
    main = (
        "import options\nx = torch.rand(3)\nif options.SETTINGS['gpu']:\n    x = x.cuda()\nprint(x + torch.ones(3))\n"
    )
    assert told_of(tmp_path, {"options.py": options, "main.py": main}, "main.py") == [(7, "TDL505", "broken")]


def test_a_decorated_function_of_another_file_is_called(tmp_path: Path) -> None:
    helpers = "from contextlib import contextmanager\n\n@contextmanager\ndef lending(one):\n    yield one\n"
    main = "from helpers import lending\nwith lending(torch.ones(2)) as held:\n    print(torch.rand(2).cuda() + held)\n"
    assert told_of(tmp_path, {"helpers.py": helpers, "main.py": main}, "main.py") == [(4, "TDL505", "broken")]


# ---------------------------------------------------------------------------------------------------- arguments that are tensors


def test_what_a_function_takes_no_number_for_is_a_tensor() -> None:
    assert told("\ndef f(a):\n    return torch.minimum(a, torch.zeros(3))\n") == [(5, "TDL504", "open")]
    assert told("\ndef f(a):\n    return torch.atan2(torch.ones(3), a)\n") == [(5, "TDL504", "open")]


def test_what_a_function_takes_a_number_for_may_be_one() -> None:
    assert told("\ndef f(a):\n    return torch.mul(torch.zeros(3), a)\n") == []
    assert told("\ndef f(a):\n    return torch.lt(torch.zeros(3), a)\n") == []


def test_an_argument_of_forward_that_meets_a_tensor_is_one() -> None:
    head = "\nclass Shift(nn.Module):\n    def forward(self, a, b=2.0, *, c: float = 1.0):\n        return "
    assert told(head + "a - [torch.ones(3)][0]\n") == [(6, "TDL504", "open")]
    assert told(head + "[torch.ones(3, 3)][0][a]\n") == [(6, "TDL506", "open")]
    assert told(head + "b - [torch.ones(3)][0] * c\n") == []


def test_operands_of_einsum_are_tensors_also_where_one_of_two_is_given() -> None:
    text = "\ndef f(a, flag):\n    return g(2 * a if flag else a)\n\ndef g(b):\n    return torch.einsum('i,i->', b, torch.ones(3))\n"
    assert told(text) == [(8, "TDL504", "open")]


# ---------------------------------------------------------------------------------------------------- where arguments may be


def test_an_object_that_is_called_is_no_data_code_where_it_says_where_tensors_are() -> None:
    loss = "\nclass Cost:\n    def __init__(self{}):\n        self.base = torch.ones(3)\n\n    def __call__(self, a):\n        return torch.sigmoid(a) - self.base\n"
    assert told(loss.format(", device")) == [(6, "TDL603", "open")]
    assert told(loss.format("")) == []


def test_what_is_on_the_cpu_by_choice_is_told_where_the_function_asks_for_a_device() -> None:
    assert told("\ndef f(a):\n    b = torch.rand(3, device=a.device).cpu()\n    return torch.relu(a) + b\n") == [
        (5, "TDL505", "open")
    ]
    assert told("\ndef f(a, model):\n    b = model(a).cpu()\n    return torch.relu(a) + b\n") == []


def test_a_parameter_that_no_module_keeps_stays_where_it_is() -> None:
    assert told("\ndef f(a):\n    w = nn.Parameter(torch.ones(3))\n    return torch.relu(a) * w\n") == [
        (5, "TDL504", "open")
    ]
    init = "\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = nn.Parameter(torch.ones(3))\n"
    kept = init + "\n    def forward(self, a):\n        return torch.relu(a) * self.w\n"
    assert told(kept) == []


def test_weights_of_a_loss_that_is_made_in_the_function() -> None:
    text = (
        "\ndef f(a, b):\n    loss = nn.NLLLoss(weight=torch.ones(4))\n    return loss(torch.log_softmax(a, 1), b{})\n"
    )
    assert told(text.format(".to(a.device)")) == [(5, "TDL301", "open")]
    assert told(text.format("")) == []


def test_a_model_under_distributed_data_parallel_is_called() -> None:
    text = """
class Net(nn.Module):
    def forward(self, a):
        return torch.relu(a) + torch.ones(3, device="cpu")

net = torch.nn.parallel.DistributedDataParallel(Net().cuda(), device_ids=[0])
net(torch.rand(3).cuda())
"""
    assert told(text) == [(6, "TDL505", "broken")]


# ---------------------------------------------------------------------------------------------------- the default device


def test_what_is_put_where_a_tensor_of_the_default_device_is_goes_there_with_it() -> None:
    text = """
def meet(a):
    return torch.relu(a) + torch.ones(3).to(a.device)

def run():
    return meet(torch.rand(3))

torch.set_default_device("cuda")
run()
"""
    assert told(text) == []


def test_what_a_class_body_makes_is_made_at_the_import() -> None:
    text = """
class Table:
    rows = torch.ones(3)

def run():
    return torch.rand(3) + Table.rows

torch.set_default_device("cuda")
run()
"""
    assert [row[2] for row in told(text)] == ["broken"]


# ---------------------------------------------------------------------------------------------------- several accelerators


def test_two_accelerators_are_not_one() -> None:
    assert told("a = torch.rand(3).cuda()\nb = torch.rand(3, device='cuda:1')\nprint(a * b)\n") == [
        (5, "TDL505", "broken")
    ]
    assert told("a = torch.rand(3).cuda(1)\nb = torch.rand(3, device=torch.device('cuda', 0))\nprint(a * b)\n") == [
        (5, "TDL505", "broken")
    ]
    net = "net = nn.Linear(3, 3).to('cuda:2')\nprint(net(torch.rand(3, device='cuda:1')))\n"
    assert told(net) == [(4, "TDL505", "broken")]


def test_what_may_be_the_same_accelerator_is_not_told() -> None:
    assert told("a = torch.rand(3).cuda(0)\nb = torch.rand(3, device='cuda')\nprint(a * b)\n") == []
    assert told("a = torch.rand(3).cuda(1)\nb = torch.rand(3).to(1)\nprint(a * b)\n") == []
    assert told("torch.cuda.set_device(1)\na = torch.rand(3).cuda()\nprint(a * torch.rand(3, device='cuda:1'))\n") == []
    assert told("with torch.cuda.device(1):\n    a = torch.rand(3).cuda()\nprint(a * torch.rand(3).cuda(1))\n") == []
    assert told("import rank\na = torch.rand(3).cuda(rank.own)\nprint(a * torch.rand(3, device='cuda:1'))\n") == []
    assert told("i = input()\na = torch.rand(3, device=f'cuda:{i}')\nprint(a * torch.rand(3).cuda(1))\n") == []
    either = "d = 'cuda:1' if torch.cuda.device_count() > 1 else 'cuda'\na = torch.rand(3).to(d)\nprint(a * torch.rand(3).cuda())\n"
    assert told(either) == []
    chosen = "d = 'cuda:1' if torch.cuda.is_available() else 'cpu'\nprint(torch.rand(3).to(d) * torch.rand(3, device='cuda:1'))\n"
    assert told(chosen) == []


def test_an_accelerator_with_an_index_is_one() -> None:
    assert told("a = torch.rand(3, device='cuda:1')\nprint(a * torch.rand(3))\n") == [(4, "TDL505", "broken")]
    assert told("import rank\na = torch.rand(3).cuda(rank.own)\nprint(a * torch.rand(3))\n") == [
        (5, "TDL505", "broken")
    ]


def test_two_accelerators_are_told_where_they_are_brought_together(tmp_path: Path) -> None:
    ops = "def scaled(a, b):\n    return torch.relu(a) * b\n"
    main = "from ops import scaled\nprint(scaled(torch.rand(3).cuda(), torch.rand(3).to('cuda:3')))\n"
    assert told_of(tmp_path, {"ops.py": ops, "main.py": main}, "main.py") == [(4, "TDL505", "broken")]
    assert told_of(tmp_path, {"ops.py": ops, "main.py": main}, "ops.py") == []


# ---------------------------------------------------------------------------------------------------- callers

SHAPED = """
def turn(poses: torch.Tensor, method="pca"):
    if method == "pca":
        return torch.eye(4) @ poses
    return poses
"""


def severities(tmp_path: Path, files: dict[str, str], name: str) -> list[str]:
    """What the policy makes of what is told of a file of a project."""
    (tmp_path / ".git").mkdir(exist_ok=True, parents=True)
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / path).write_text(HEAD + text, encoding="utf-8")
    asked = member(str(tmp_path / name))
    assert asked is not None
    program = from_ast.lower(ast.parse(HEAD + files[name]))
    found = analyse(program, asked.path, asked.project).decided()
    facts = Facts(FileFacts(program, member=asked), None, None)
    return [severity_of(fault, facts).label for fault in found if is_worth_telling(fault)]


def test_a_claim_that_the_callers_in_other_files_do_not_break_is_a_note(tmp_path: Path) -> None:
    used = "from shape import turn\nprint(turn(load(), method='up'))\n"
    assert severities(tmp_path / "alone", {"shape.py": SHAPED}, "shape.py") == ["warning"]
    assert severities(tmp_path / "used", {"shape.py": SHAPED, "main.py": used}, "shape.py") == ["info"]


def test_a_claim_that_a_caller_leaves_to_its_own_callers_stays_a_note(tmp_path: Path) -> None:
    used = "from shape import turn\ndef place(poses: torch.Tensor):\n    return turn(poses)\n"
    assert severities(tmp_path / "unplaced", {"shape.py": SHAPED, "main.py": used}, "shape.py") == ["info"]
    placed = "from shape import turn\ndef place(poses: torch.Tensor, device):\n    return turn(poses.to(device))\n"
    assert severities(tmp_path / "placed", {"shape.py": SHAPED, "main.py": placed}, "shape.py") == ["warning"]


def test_what_the_calls_of_a_package_meet_is_a_note_to_its_other_callers(tmp_path: Path) -> None:
    used = "from pack.shape import turn\nprint(turn(load(), method='up'))\n"
    files = {"pyproject.toml": "", "pack/__init__.py": "", "pack/shape.py": SHAPED, "pack/main.py": used}
    files = {path: text for path, text in files.items() if path != "pyproject.toml"}
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'pack'\n", encoding="utf-8")
    assert severities(tmp_path, files, "pack/shape.py") == ["info"]


def test_a_file_of_a_package_that_is_also_run_is_a_program_unless_the_package_imports_it(tmp_path: Path) -> None:
    run = SHAPED + "\nif __name__ == '__main__':\n    print('tested')\n"
    for name, init, severity in (("alone", "", "info"), ("imported", "from pack.shape import turn\n", "warning")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text("[project]\nname = 'pack'\n", encoding="utf-8")
        files = {"pack/__init__.py": init, "pack/shape.py": run, "pack/other.py": ""}
        assert severities(tmp_path / name, files, "pack/shape.py") == [severity]


@pytest.mark.parametrize("hook", ["raise NotImplementedError", "pass", "...", "'''What to make.'''"])
def test_a_method_that_is_there_to_be_overridden_is_that_of_the_object(hook: str, tmp_path: Path) -> None:
    base = f"class Base:\n    def __init__(self):\n        self.build()\n    def build(self):\n        {hook}\n"
    base += "    def fit(self, batches):\n        return [self.step(batch) for batch in batches]\n"
    own = "from base import Base\nclass Own(Base):\n    def build(self):\n        self.bias = torch.zeros(3)\n"
    own += "    def step(self, x):\n        return x * self.bias\n"
    main = "from own import Own\nprint(Own().fit([torch.ones(3).cuda()]))\n"
    files = {"base.py": base, "own.py": own, "main.py": main}
    assert told_of(tmp_path, files, "own.py") == [(6, "TDL603", "broken")]


def test_a_module_that_is_one_of_two_is_the_one_that_was_imported() -> None:
    either = (
        "try:\n    import cupy as xp\n    has = True\nexcept ImportError:\n    import numpy as xp\n    has = False\n"
    )
    body = "def f(x):\n    if has:\n        return xp.asarray(x)\nf(torch.zeros(3).cuda())\n"
    assert told(either + body) == []
    assert told("import numpy as xp\n" + body.replace("has", "True")) == [(6, "TDL509", "broken")]


def test_callers_at_hand_make_notes_of_what_an_argument_may_break(tmp_path: Path) -> None:
    """Where programs are there, their calls are all; a method of a module, and who asks where a tensor is, shows that it is meant for tensors anywhere."""
    program = "import shape\nif __name__ == '__main__':\n    print(pick(shape)(load()))\n"
    plain = "\ndef turn(poses: torch.Tensor):\n    return torch.eye(4) @ poses\n"
    asks = "\ndef turn(poses: torch.Tensor):\n    print(poses.device)\n    return torch.eye(4) @ poses\n"
    method = "\nclass Turn(nn.Module):\n    def turn(self, poses: torch.Tensor):\n        return torch.eye(4) @ poses\n"
    array = "\ndef turn(poses: torch.Tensor):\n    return poses.numpy()\n"
    placed = "\ndef turn(poses: torch.Tensor):\n    return poses.device, poses.numpy()\n"
    for number, (text, alone, beside) in enumerate(
        (
            (plain, "warning", "info"),
            (asks, "warning", "warning"),
            (method, "warning", "warning"),
            (array, "info", "info"),
            (placed, "info", "info"),
        )
    ):
        here, several = tmp_path / str(number), {"shape.py": text, "main.py": program, "third.py": ""}
        assert severities(here / "alone", {"shape.py": text}, "shape.py") == [alone]
        assert severities(here / "beside", several, "shape.py") == [beside]


def test_a_tensor_of_one_number_is_no_probe() -> None:
    made = "def f(x: torch.Tensor, net):\n    y = torch.{}\n    z = net(y * x)\n    return z, z.shape[0]\n"
    assert told(made.format("ones(1)")) == [(4, "TDL504", "open")]
    assert told(made.format("ones(1, 3, 32, 32)")) == []


@pytest.mark.parametrize("text", ["x.cuda() if flag else x", "torch.zeros(3).cuda() if flag else torch.zeros(3)"])
def test_the_other_side_of_a_move_is_for_the_cpu(text: str) -> None:
    made = "torch.zeros(3)" if text.startswith("x") else "torch.ones(3)"
    assert told(f"def f(x: torch.Tensor, flag):\n    y = {text}\n    return y * x\n") == []
    assert told(f"def f(x: torch.Tensor, flag):\n    return {made} * x\n") == [(4, "TDL504", "open")]


def test_a_device_that_another_file_chooses_is_chosen(tmp_path: Path) -> None:
    env = "import os\nif torch.cuda.is_available():\n    PLACE = torch.device('cuda')\nelse:\n    PLACE = torch.device('cpu')\n"
    main = "from env import PLACE\ndef f(a):\n    return torch.ones(3) + torch.from_numpy(a).to({})\n"
    assert told_of(tmp_path, {"env.py": env, "main.py": main.format("PLACE")}, "main.py") == [(5, "TDL505", "broken")]
    assert told_of(tmp_path, {"env.py": env, "main.py": main.format("torch.float64")}, "main.py") == []


SHIFT = """
def shift(net, small):
    {}
        net.{}()
def main(small):
    net = nn.Linear(3, 3){}
    shift(net, small)
    print(net(torch.zeros(3)))
    print(net(torch.zeros(3).cuda()))
"""


@pytest.mark.parametrize(
    ("test", "move", "made", "expected"),
    [
        ("if small:", "cpu", ".cuda()", [(10, "TDL401", "broken")]),  # it may still be on the GPU
        ("if small:", "cuda", "", [(10, "TDL401", "broken")]),
        ("if True:", "cpu", ".cuda()", [(11, "TDL401", "broken")]),
        ("if small: raise ValueError\n    if True:", "cpu", ".cuda()", [(12, "TDL401", "broken")]),
    ],
)
def test_a_helper_that_moves_a_module_on_a_condition_may_have_moved_it(
    test: str, move: str, made: str, expected: Told
) -> None:
    assert told(SHIFT.format(test, move, made)) == expected


def test_a_caller_breaks_a_claim_between_two_other_files(tmp_path: Path) -> None:
    files = {
        "tables.py": "def steps():\n    return torch.linspace(0, 1, 8)\n",
        "engine.py": "import tables\ndef epoch(batches, device):\n    for x in batches:\n        y = x.to(device) @ tables.steps()\n    return y\n",
        "main.py": "import engine\nprint(engine.epoch([torch.rand(8)], torch.device('cuda')))\n",
    }
    assert told_of(tmp_path, files, "engine.py") == [(6, "TDL504", "broken")]
    assert told_of(tmp_path, files, "main.py") == []


def test_a_module_of_another_file_leaves_a_claim_of_a_function_open(tmp_path: Path) -> None:
    layers = "import functional\nclass Layer(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.inner = nn.Linear(8, 8)\n"
    files = {
        "functional.py": "def shifted(x):\n    steps = torch.linspace(0, 1, 8)\n    return x + steps\n",
        "layers.py": layers + "\n    def forward(self, x):\n        return functional.shifted(self.inner(x))\n",
    }
    assert told_of(tmp_path, files, "functional.py") == [(4, "TDL504", "open")]


def test_a_function_that_no_module_calls_says_nothing_of_a_parameter_that_may_be_a_number(tmp_path: Path) -> None:
    files = {"functional.py": "def shifted(x):\n    steps = torch.linspace(0, 1, 8)\n    return x + steps\n"}
    assert told_of(tmp_path, files, "functional.py") == []


MASKED = """
class Layer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.mu = nn.Parameter(torch.Tensor(n, n).uniform_(-1, 1))
        self.p = nn.Parameter(torch.Tensor(n, n).uniform_(-1, 1))
class Two(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.one = Layer(n)
        self.two = Layer(n)
class Masking:
    def __init__(self, cuda=True):
        self.cuda = cuda
        self.build()
    def build(self):
        self.model = Two(3)
        if self.cuda:
            self.model.cuda()
    def masks(self, limit):
        state, found = self.model.state_dict(), {}
        for key in state:
            layer = key.split(".")[0]
            found[layer + ".W"] = state[layer + ".mu"].abs() / state[layer + ".p"] > limit
        return found
    def mask(self, limit=0):
        state, masks = self.model.state_dict(), self.masks(limit)
        for key in state:
            layer = key.split(".")[0]
            state[layer + ".mu"][1 - masks[layer + ".W"]] = 0
"""


def test_what_a_helper_moves_on_a_condition_meets_what_is_computed_from_it() -> None:
    assert told(MASKED) == []


def test_a_method_of_another_file_that_returns_stands_in_that_file(tmp_path: Path) -> None:
    base = "class Base(nn.Module):\n    def forward(self, x):\n        return self.one(x)\n"
    part = """from base import Base
class Part(Base):
    def one(self, x):
        return torch.relu(x), torch.zeros(x.shape[0])
"""
    for name, text in (("base.py", base), ("part.py", part)):
        (tmp_path / name).write_text(HEAD + text, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    asked = member(str(tmp_path / "part.py"))
    assert asked is not None
    analysis = analyse(from_ast.lower(ast.parse(HEAD + part)), asked.path, asked.project)
    sites = [fault.site for fault in analysis.faults.values()]
    assert {Path(site.unit.path).name for site in sites} == {"base.py", "part.py"}
    assert all(site.body is not None and analysis.unit_of(site.body) is site.unit for site in sites)


def test_the_index_of_a_copy_is_where_the_tensor_is() -> None:
    text = "x = torch.ones(4, 4).cuda()\nprint(x.index_copy(0, torch.arange(4), x))\n"
    assert told(text) == [(4, "TDL505", "broken")]


# ------------------------------------------------------------------------------------- parameters of inherited layers

ADDED = """
class Added(nn.Linear):
    def forward(self, x):
        out = nn.functional.linear(x, self.weight)
        return {}
"""
KNOWN_LATER = """
class Added(nn.Linear):
    def __init__(self, size, device):
        super().__init__(size, size, device=device)

def scale(size):
    layer = Added(size, torch.device("cuda"))
    return torch.ones(size, device="cuda") * layer.weight
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("self.weight * torch.ones(3)", [(7, "TDL504", "open")]),
        ("out if self.bias is None else self.bias * torch.ones(3)", [(7, "TDL504", "open")]),
        ("out if self.bias is None else out + self.bias", []),
        ("out if self.scale is None else torch.ones(3) * self.scale", []),
    ],
)
def test_a_class_that_inherits_from_a_layer_has_its_parameters(text: str, found: Told) -> None:
    assert told(ADDED.format(text)) == found


def test_a_parameter_that_the_class_binds_itself_is_no_inherited_one() -> None:
    bound = "    def __init__(self):\n        super().__init__(3, 3)\n        self.weight = None\n"
    text = ADDED.format("self.weight * torch.ones(3)").replace("    def forward", bound + "\n    def forward", 1)
    assert told(text) == []


def test_where_the_parameters_of_a_layer_are_made_is_said_by_its_constructor() -> None:
    assert told(KNOWN_LATER) == []


def test_the_parameters_of_a_moved_layer_are_where_it_is() -> None:
    layer = "\nclass Added(nn.Linear):\n    pass\n\nlayer = Added(3, 3)\nlayer.cuda()\nprint(torch.ones(3) * layer.weight)\n"
    assert told(layer) == [(9, "TDL505", "broken")]
