"""Open ends of the analysis: unknown callees, recursion, widening, bounds, functions that nobody calls."""

from __future__ import annotations

import ast
import textwrap

import pytest

from torchdevlint.infer.analysis import Analysis, analyse
from torchdevlint.program import from_ast


def analysed(text: str) -> Analysis:
    return analyse(from_ast.lower(ast.parse("import torch\nfrom torch import nn\n" + textwrap.dedent(text))))


def told(text: str) -> list[tuple[str, str]]:
    """Verdict and spelling of the place of each fault, by whatever ways it is reached."""
    faults = [
        fault for fault in analysed(text).decided() if not fault.is_shown
    ]  # this is no package that is offered to others
    return list(dict.fromkeys((fault.verdict, ast.unparse(fault.place.op.node)) for fault in faults))


def test_a_callee_that_nobody_knows_stays_silent() -> None:
    assert told("import other\nx = other.make()\nprint(other.use(x, torch.zeros(3)))\n") == []


def test_a_call_of_itself_is_followed_to_what_it_returns() -> None:
    text = """
    def descend(value, depth):
        if depth == 0:
            return value
        return descend(value, depth - 1)

    print(torch.zeros(3).cuda() + descend(torch.ones(3), 2))
    """
    assert told(text) == [("broken", "torch.ones(3)")]


def test_functions_that_call_each_other_end_and_are_counted() -> None:
    text = """
    def ping(x, y, depth):
        if depth > 3:
            return x + y
        return pong(x, y, depth + 1)

    def pong(x, y, depth):
        return ping(x, y, depth)

    ping(torch.zeros(3).cuda(), torch.ones(3), 0)
    """
    found = analysed(text)
    assert [fault.verdict for fault in found.decided()] == ["broken"]
    assert found.bounds["depth of calls"] > 0


def test_recursion_over_containers_moves_what_is_in_them() -> None:
    text = """
    def to_device(value, device):
        if isinstance(value, (list, tuple)):
            return [to_device(item, device) for item in value]
        return value.to(device)

    moved = to_device([torch.zeros(3)], "cuda")[0]
    print(moved + torch.ones(3).cuda())
    print(moved + torch.ones(3))
    """
    assert told(text) == [("broken", "torch.ones(3)")]


def test_a_loop_that_rebinds_is_widened() -> None:
    text = """
    x = torch.zeros(3)
    while x.sum() < 10:
        x = x.to("cuda") + torch.ones(3).to("cuda")
    print(x)
    """
    assert told(text) == []


def test_what_a_caller_gives_breaks_a_claim_of_the_callee() -> None:
    text = """
    def shift(a):
        return a + torch.zeros(4)

    shift(torch.ones(4).cuda())
    """
    assert told(text) == [("broken", "torch.zeros(4)")]


def test_a_caller_on_the_host_meets_the_claim() -> None:
    text = """
    def shift(a):
        return torch.matmul(a, torch.zeros(4))

    shift(torch.ones(4))
    """
    assert told(text) == []


def test_a_function_that_nobody_calls_is_open_for_others() -> None:
    text = """
    def shift(a):
        return torch.matmul(a, torch.zeros(4))
    """
    assert told(text) == [("open", "torch.zeros(4)")]


def test_use_that_an_array_survives_proves_no_tensor() -> None:
    assert told("def shift(a):\n    return a * torch.zeros(4)\n") == []


def test_what_a_submodule_gives_is_where_the_module_is() -> None:
    text = """
    class Coder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def drawn(self, mu, logvar):
            return mu + torch.randn(mu.size()) * torch.exp(0.5 * logvar)

        def forward(self, x):
            h = self.layer(x)
            return self.drawn(h, h)
    """
    assert told(text) == [("open", "torch.randn(mu.size())")]


@pytest.mark.parametrize(
    "guard",
    ["not x.is_cuda", "x.device.type == 'cpu'", "x.device == torch.device('cpu')"],
)
def test_a_branch_for_the_host_claims_nothing(guard: str) -> None:
    text = f"""
    def table(x: torch.Tensor):
        if {guard}:
            return torch.matmul(x, torch.eye(3))
        return x
    """
    assert told(text) == []


def test_conditions_that_belong_together_are_kept_together() -> None:
    text = """
    def run(x: torch.Tensor, moves):
        other = torch.ones(3)
        if moves:
            x = x.cuda()
            other = other.cuda()
        return torch.matmul(x.cpu() if not moves else x, other)
    """
    assert told(text) == []


@pytest.mark.parametrize(
    ("passed", "reached"),
    [
        ("a < b", "a > b"),
        ("a == b", "a > b"),
        ("a < b", "a == b"),
        ("a > b", "a != b"),
        ("a <= b", "b < a"),
        ("a == b", "a != b"),
    ],
)
def test_a_comparison_that_failed_rules_no_other_one_out(passed: str, reached: str) -> None:
    body = f"    if {passed}:\n        raise ValueError\n    if {reached}:\n        return x + torch.zeros(4)\n    return x\n"
    assert told(f"def f(x: torch.Tensor, a, b):\n{body}") == [("open", "torch.zeros(4)")]


@pytest.mark.parametrize(
    ("passed", "dead"), [("a < b", "a < b"), ("a < b", "b > a"), ("a == b", "not a != b"), ("a >= b", "not a < b")]
)
def test_a_comparison_that_failed_rules_its_like_out(passed: str, dead: str) -> None:
    body = (
        f"    if {passed}:\n        raise ValueError\n    if {dead}:\n        return x + torch.zeros(4)\n    return x\n"
    )
    assert told(f"def f(x: torch.Tensor, a, b):\n{body}") == []


def test_a_branch_that_is_never_taken_is_not_told() -> None:
    assert told("DEBUG = False\nif DEBUG:\n    print(torch.zeros(3).cuda() + torch.ones(3))\n") == []


def test_a_default_device_is_the_one_at_the_call() -> None:
    text = """
    def shift(a):
        return a.cuda() + torch.zeros(4)

    torch.set_default_device("cuda")
    shift(torch.ones(4))
    """
    assert told(text) == []


def test_zero_dimensional_tensors_are_let_through_by_pointwise_operators_alone() -> None:
    assert told("x = torch.zeros(3).cuda()\nprint(x * torch.tensor(0.5))\n") == []
    assert told("x = torch.zeros(3).cuda()\nprint(torch.stack([x.sum(), torch.tensor(0.5)]))\n") == [
        ("broken", "torch.tensor(0.5)")
    ]


def test_what_is_meant_to_fail_is_not_told() -> None:
    text = """
    import pytest
    with pytest.raises(RuntimeError):
        torch.zeros(3).cuda() + torch.ones(3)
    """
    assert told(text) == []


def test_the_same_is_told_without_nodes() -> None:
    text = "import torch\nprint(torch.zeros(3).cuda() + torch.ones(3))\n"
    program = from_ast.read(text)
    assert program is not None
    assert [fault.verdict for fault in analyse(program).decided()] == ["broken"]


def test_an_empty_tensor_is_a_placeholder_and_a_draw_from_zero_is_none() -> None:
    text = "x = torch.zeros(3).cuda()\nall = torch.empty(0)\n{}all = torch.cat([all, x])\n"
    assert told(text.format("")) == [("broken", "torch.empty(0)")]
    assert told(text.format("if len(all) == 0:\n    all = x\n")) == []
    assert told("x = torch.zeros(3).cuda()\nprint(torch.cat([x, torch.randint(0, 3, (3,))]))\n") == [
        ("broken", "torch.randint(0, 3, (3,))")
    ]


def test_what_a_loop_moves_is_moved_behind_a_second_loop() -> None:
    text = """
    batch = {"data": torch.zeros(3)}
    for name in batch:
        batch[name] = batch[name].to("cuda")
    for other in [torch.ones(3).cuda()]:
        print(batch["data"] + other)
    print(torch.matmul(batch["data"], next(item for item in [other])))
    """
    assert told(text) == []


def test_a_module_that_overrides_its_call_is_called_so() -> None:
    text = """
    class Kernel(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def __call__(self, x, y=None):
            return super().__call__(x, x if y is None else y)

        def forward(self, x, y):
            return self.layer(x) + y

    kernel = Kernel().cuda()
    kernel(torch.ones(3).cuda())
    kernel(torch.ones(3).cuda(), torch.zeros(3))
    """
    assert told(text) == [("broken", "torch.zeros(3)")]


def test_what_a_module_moves_in_its_own_apply_goes_with_it() -> None:
    text = """
    class Model(nn.Module):
        def __init__(self, x):
            super().__init__()
            self.x, self.y = x, x

        def _apply(self, fn):
            self.x = fn(self.x)
            return super()._apply(fn)

        def forward(self, x):
            return x + self.x

        def other(self, x):
            return x + self.y

    model = Model(torch.ones(3)).cuda()
    model(torch.zeros(3).cuda())
    """
    assert told(text) == []
    assert told(text + "\n    model.other(torch.zeros(3).cuda())\n") == [("broken", "torch.ones(3)")]


PLACED_BY_TEST = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)

    def build(self, x):
        if not hasattr(self, "second"):
            self.second = nn.Linear(3, 3)
            if x.is_cuda:
                self.second.cuda()

    def forward(self, x):
        self.build(x)
        device = "cuda" if x.is_cuda else "cpu"
        return self.second(self.first(x) + torch.zeros(3).to(device)) + torch.ones(3{})
"""


def test_a_device_that_is_chosen_by_a_tensor_is_the_tensors() -> None:
    called = "\nnet = Net()\nprint(net(torch.randn(2, 3)))\nnet.cuda()\nprint(net(torch.randn(2, 3).cuda()))\n"
    text = textwrap.dedent(PLACED_BY_TEST)
    assert told(text.format(", device=x.device") + called) == []
    assert ("broken", "torch.ones(3)") in told(text.format("") + called)


def test_a_layer_is_where_the_data_of_its_weights_is() -> None:
    text = """
    cell = nn.GRUCell(3, 4)
    given = nn.GRU(3, 4){}
    cell.weight_hh.data = given.weight_hh_l0.data
    print(cell(torch.zeros(2, 3).cuda()))
    """
    assert told(text.format(".cuda()")) == []
    assert [verdict for verdict, _ in told(text.format(""))] == ["broken"]


def test_what_is_written_to_comes_back() -> None:
    text = """
    def positions(x):
        at = torch.arange(3, out=x.new(3).long())
        return x + at

    print(positions(torch.zeros(3).cuda()))
    """
    assert told(text) == []


def test_a_parameter_changed_in_place_goes_where_its_module_goes() -> None:
    text = """
    def scaled(layer, factor):
        layer.weight.data *= factor
        layer.bias *= 0
        layer.bias += 1
        return layer

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = scaled(nn.Linear(4, 2), 0.5)

        def forward(self, x):
            return self.layer(x)

    print(Net().to("cuda")(torch.ones(2, 4, device="cuda")))
    """
    assert told(text) == []


def test_what_is_changed_in_place_stays_where_it_is() -> None:
    text = """
    def scaled(x):
        x *= 2
        return x

    print(scaled(torch.ones(3)) + torch.ones(3, device="cuda"))
    """
    assert told(text) == [("broken", "torch.ones(3)")]


def test_a_test_for_a_cuda_tensor_type_asks_where_the_tensor_is() -> None:
    text = """
    def pad(x):
        zeros = torch.zeros(1, 2)
        if isinstance(x.data, torch.cuda.FloatTensor):
            zeros = zeros.cuda()
        return torch.cat([x, zeros], dim=1)

    def wrong(x):
        if isinstance(x, (torch.cuda.FloatTensor, torch.cuda.HalfTensor)):
            return torch.cat([x, torch.ones(2, 2)])

    print(pad(torch.ones(1, 2)), pad(torch.ones(1, 2).cuda()))
    print(wrong(torch.ones(1, 2)), wrong(torch.ones(1, 2).cuda()))
    """
    assert told(text) == [("broken", "torch.ones(2, 2)")]


def test_a_copy_of_a_tensor_is_where_that_is() -> None:
    text = "x = torch.zeros(3){}\nprint(torch.tensor(x) + torch.ones(3).cuda())\n"
    assert told(text.format(".cuda()")) == []
    assert told(text.format("")) == [("broken", "torch.zeros(3)")]
    unknown = "def f(x, weight):\n    x = torch.tensor(x.clone())\n    return weight.cuda() * x\n"
    assert told(unknown) == []


def test_what_is_computed_from_a_number_may_have_no_dimension() -> None:
    text = """
    class Scores(nn.Module):
        def forward(self, query, factor):
            scale = torch.sqrt(torch.tensor({}) * factor)
            return query.matmul(query) / scale
    """
    assert told(text.format("query.size(-1)")) == []
    assert told(text.format("[1.0, 2.0]")) == [("open", "torch.tensor([1.0, 2.0])")]


@pytest.mark.parametrize(
    "value",
    [
        "v.cpu().numpy() if hasattr(v, 'cpu') else v",
        "v.cpu() if hasattr(v, 'is_cuda') else v",
        "v if hasattr(v, 'cpu') else 0",
    ],
)
@pytest.mark.parametrize("moved", ["v = v.to(device)", "pass"])
def test_what_lacks_an_attribute_of_tensors_is_none(moved: str, value: str) -> None:
    text = f"""
    import numpy as np

    def collect(v, device):
        {moved}
        w = {value}
        return np.array(w)
    """
    expected = [("open", "np.array(w)")] if value.endswith("else 0") and moved != "pass" else []
    assert told(text) == expected


TRAINED = """
from transformers import Trainer, TrainingArguments


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)


class Mine(Trainer):
    def compute_loss(self, model, inputs):
        return model(**inputs).loss


class Own(Trainer):
    def __init__(self, model, rate):
        super().__init__(model=model)
        self.rate = rate


class Passing(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.losses = []


net = Net()
{}
print(net(torch.ones(3).cuda()))
"""


@pytest.mark.parametrize(
    "made", ["Trainer(net, TrainingArguments('out'))", "Mine(model=net)", "Own(net, 0.1)", "Passing(model=net)"]
)
def test_a_trainer_moves_the_model_that_it_is_given(made: str) -> None:
    assert told(TRAINED.format(made)) == []
    assert told(TRAINED.format("print(net)")) == [("broken", "net(torch.ones(3).cuda())")]


FLAGGED = """
def train(args, loader, net):
    for img, target in loader:
        if args.cuda:
            img, target = img.cuda(), target.cuda()
        chosen = (target == net(img).argmax(1)).nonzero().view(-1)
        {}
"""


def test_what_a_flag_moves_stays_together_through_what_is_computed_from_it() -> None:
    text = FLAGGED + "def main(args, net, files):\n    train(args, torch.utils.data.DataLoader(files), net)\n"
    assert told(text.format("use(img[chosen, ...])")) == []
    assert told(text.format("use(torch.zeros(9)[chosen])")) == [("broken", "torch.zeros(9)")]


def test_an_element_of_a_list_keeps_the_condition_under_which_it_was_put_there() -> None:
    text = """
    def encode(texts, is_numpy: bool):
        found = []
        for text in texts:
            part = torch.zeros(3, device="cuda")
            if is_numpy:
                part = part.cpu()
            found.extend(part)
        if {}:
            return [one.numpy() for one in found]
    """
    assert told(text.format("is_numpy")) == []
    assert [verdict for verdict, _ in told(text.format("not is_numpy"))] == ["broken"]


@pytest.mark.parametrize("kind", ["isinstance(v, torch.Tensor)", "type(v) is torch.Tensor", "type(v) == torch.Tensor"])
def test_a_test_of_the_kind_holds_for_the_branch_that_was_taken(kind: str) -> None:
    text = f"""
    import numpy as np
    def plot(data, device):
        data = {{k: v.to(device) if {kind} else v for k, v in data.items()}}
        shown = {{k: v.cpu().numpy() if {kind} else v for k, v in data.items()}}
        return np.array(shown["x"])
    """
    assert told(text) == []


FRAMEWORK = """
import numpy
def resize(input):
    fw = numpy if type(input) is numpy.ndarray else torch
    return rounded(grid(fw, input.device if fw is torch else None), fw)
def grid(fw, device):
    if fw is numpy:
        return fw.arange(4)
    return fw.arange(4, device=device)
def rounded(x, fw):
    if fw is {}:
        return numpy.array(x)
    return x.ceil()
"""


def test_a_module_that_is_a_value_is_known_by_its_identity() -> None:
    assert told(FRAMEWORK.format("numpy")) == []
    assert [verdict for verdict, _ in told(FRAMEWORK.format("torch"))] == ["open"]


def test_a_device_of_none_is_the_default_device() -> None:
    text = """
    def points(n, device=None):
        return torch.linspace(0, 1, n, device=device)
    def main(x):
        x = x.cuda()
        return x + points(4{})
    """
    assert told(text.format("")) == [("broken", "torch.linspace(0, 1, n, device=device)")]
    assert told(text.format(", device=x.device")) == []


def test_what_is_made_on_a_device_of_none_meets_what_is_made_on_none() -> None:
    text = """
    def points(n, device=None):
        return torch.linspace(0, 1, n, device=device)
    def shape(x):
        return torch.max(torch.zeros(1), x.exp())
    print(shape(points(4{})))
    """
    assert told(text.format("")) == []
    assert told(text.format(", 'cuda'")) == [("broken", "torch.zeros(1)")]


def test_a_name_of_an_unknown_file_may_be_a_device() -> None:
    text = """
    from settings import {}
    def f(x: torch.Tensor, a):
        return x + torch.from_numpy(a).to({})
    """
    assert told(text.format("PLACE", "PLACE")) == []
    assert [verdict for verdict, _ in told(text.format("DTYPE", "DTYPE"))] == ["open"]


UNBOUND = """
from config import *
x = torch.zeros(3)
{}
print(x + torch.ones(3).cuda())
"""


@pytest.mark.parametrize(
    ("branch", "expected"),
    [
        ("if FLAG: x = x.cuda()", []),
        ("if FLAG: x = x.cuda()\nif not FLAG: x = x.cuda()", []),
        ("if not FLAG: print(x + torch.ones(3).cuda())\nx = 1", [("broken", "torch.zeros(3)")]),
        ("if print: x = 1", []),
        (
            "from settings import USE\nif not USE: print(x + torch.ones(3).cuda())\nx = 1",
            [("broken", "torch.zeros(3)")],
        ),
        ("import settings\nif settings.use: x = x.cuda()", []),
        ("from layers import Swish\nif Swish: x = x.cuda()\nelse: x = 1", []),
        ("import torch.nn.functional as F\nif not F.relu: x = x.cuda()", [("broken", "torch.zeros(3)")]),
    ],
)
def test_a_name_that_nothing_seen_binds_may_be_any_flag(branch: str, expected: list[tuple[str, str]]) -> None:
    assert told(UNBOUND.format(branch)) == expected


ROWS = """
class Rows:
    def __init__(self, device):
        self.device = device
    def __getitem__(self, at):
        return torch.ones(3, 4, device=self.device), torch.ones(3)

def run(rows, device):
    layer = nn.Linear(4, 3).to(device)
    x, y = rows[0]
    y = y.to(device)
    return layer(x).sum(1) + y
"""


def test_a_caller_shows_where_the_parts_of_a_sample_are() -> None:
    assert [verdict for verdict, _ in told(ROWS)] == ["open"]
    assert told(ROWS + 'run(Rows("cuda"), "cuda")') == []
    assert "broken" in {verdict for verdict, _ in told(ROWS + 'run(Rows("cpu"), "cuda")')}


@pytest.mark.parametrize(
    ("cls", "made"),
    [
        ("    def __init__(self):\n        super().__init__(nn.Linear(4, 4), nn.ReLU())", "Net()"),
        ("    def __init__(self, *layers):\n        super().__init__(*layers)", "Net(nn.Linear(4, 4))"),
        ("    pass", "Net(nn.Linear(4, 4))"),
    ],
)
def test_a_class_of_layers_is_filled_in_a_function_too(cls: str, made: str) -> None:
    text = f"class Net(nn.Sequential):\n{cls}\ndef main():\n    net = {made}.cuda()\n    print(net(torch.zeros(3, 4)))\nmain()\n"
    assert told(text) == [("broken", "torch.zeros(3, 4)")]
    assert told(text.replace(".cuda()", "")) == []


def test_a_name_that_no_other_line_binds_is_one_of_the_module_of_which_all_are_imported() -> None:
    text = "from torch.autograd import *\nx = Variable(torch.zeros(3))\nprint(x + torch.ones(3, device='cuda'))\n"
    assert told(text) == [("broken", "torch.zeros(3)")]
    assert told("from unknown import *\n" + text) == []  # it may be one of that module


def test_parameters_of_a_module_are_no_samples_of_which_one_is_left_behind() -> None:
    text = """
    class Mean(nn.Module):
        def __init__(self, model, device=None, is_fast=True):
            super().__init__()
            self.module, self.device, self.is_fast = model, device, is_fast
        def update(self, model, decay):
            kept, new = tuple(self.module.parameters()), tuple(model.parameters())
            if self.is_fast:
                torch._foreach_lerp_(kept, new, weight=1.0 - decay)
            else:
                for a, b in zip(kept, new):
                    a.lerp_(b.to(device=self.device), weight=1.0 - decay)
    """
    assert told(text) == []


@pytest.mark.parametrize("given", ["torch.float64", "torch.half"])
def test_a_caller_may_give_a_data_type_which_moves_nothing(given: str) -> None:
    text = (
        f"def cast(x, target):\n    return x.to(target) + torch.ones(3)\ncast(torch.ones(3, device='cuda'), {given})\n"
    )
    assert [verdict for verdict, _ in told(text)] == ["broken"]
    assert told(text.replace(given, "'cpu'")) == []
    assert told(text.replace(", device='cuda'", "")) == []


@pytest.mark.parametrize(
    ("parameter", "data"),
    [
        ("levels: list[int]", "levels"),
        ("levels: list[int] | tuple[int, ...] | None", "levels"),
        ("levels", "[1] + levels[:-1]"),
        ("levels", "levels[1:]"),
        ("levels", "sorted(levels)"),
        ("levels: Sequence[int]", "list(levels) if len(levels) > 1 else levels"),
    ],
)
def test_a_tensor_of_a_sequence_has_a_dimension(parameter: str, data: str) -> None:
    assert told(f"def scaled(x: torch.Tensor, {parameter}):\n    return x * torch.tensor({data})\n") != []


@pytest.mark.parametrize("parameter", ["levels", "levels: float", "levels: list[int] | int"])
def test_a_tensor_of_what_may_be_a_number_may_have_none(parameter: str) -> None:
    assert told(f"def scaled(x: torch.Tensor, {parameter}):\n    return x * torch.tensor(levels)\n") == []


@pytest.mark.parametrize("spread", ["**options", "**(options if flag else {})"])
def test_what_is_spread_out_of_one_of_several_dicts_is_known(spread: str) -> None:
    text = f"""
def rows(x: torch.Tensor, flag):
    options = {{"dtype": torch.float64}} if flag else {{}}
    return x * torch.ones(3, {spread})
"""
    assert told(text) != []


def test_where_one_of_several_dicts_names_a_device_nothing_is_certain() -> None:
    text = """
def rows(x: torch.Tensor, flag):
    options = {"device": x.device} if flag else {}
    return x * torch.ones(3, **options)
"""
    assert all(verdict == "open" for verdict, _ in told(text))


def test_what_a_number_decides_is_no_flag_for_a_device() -> None:
    text = """
flags, last = torch.ones(9), torch.ones(1).cuda()
for step in range(9):
    if step == 8:
        end = last
    else:
        end = flags[step:]
    print(torch.ones(1).cuda() * end)
"""
    assert [verdict for verdict, _ in told(text)] == ["broken"]


def test_an_array_as_an_index_gives_its_dimensions() -> None:
    text = """
import numpy as np
def some(x: torch.Tensor, size):
    table = torch.zeros(size).reshape((-1, *size))
    return x.flatten() * table[np.arange(len(size))]
"""
    assert told(text) != []


def test_nothing_is_spread_out_where_a_branch_cannot_be() -> None:
    text = """
    def rows(x: torch.Tensor):
        options = dict(dtype=x.dtype)
        while True:
            options = next(iter([]))
            print(torch.ones(3, **options))
    """
    assert told(text) == []


@pytest.mark.parametrize(
    "moved", ["tuple(one.to(module.place) for one in given)", "[one.to(module.place) for one in given]"]
)
def test_a_hook_that_moves_each_input_has_moved_them(moved: str) -> None:
    text = f"""
    class Pair(nn.Module):
        def __init__(self, place):
            super().__init__()
            self.place = place
        def forward(self, left, right):
            return torch.cat([left, right])

    def align(module, given):
        return {moved}

    pair = Pair(torch.device("cuda"))
    pair.register_forward_pre_hook(align)
    pair(torch.ones(3).cuda(), torch.ones(3))
    """
    assert told(text) == []
    assert told(text.replace("pair.register_forward_pre_hook(align)", "")) != []


def test_what_is_made_a_tensor_of_is_what_a_caller_gives() -> None:
    text = """
    import numpy as np

    def converted(rows):
        return torch.as_tensor(rows, dtype=torch.float32)

    x = torch.ones(3).cuda()
    print(x + converted({}))
    """
    assert told(text.format("np.zeros(3)")) != []
    assert told(text.format("x")) == []


OPTIONS = """
class Net(nn.Module):
    def __init__(self, size, device=None, bias=True):
        super().__init__()
        self.first = nn.Linear(size, 3, device=device)
    def forward(self, x):
        return self.first(x)

def build(**options):
    net = Net(3, **options)
    return net(torch.ones(3))
"""
RUN = "def run(options):\n    return Net(3, **options).cuda()(torch.ones(3))\n\n"


@pytest.mark.parametrize(
    ("call", "is_broken"),
    [
        ("build(device='cuda')", True),
        ("build(device='cpu')", False),
        ("build()", False),
        ("build(bias=False)", False),
        (RUN + "run({'bias': False})", True),
        (RUN + "run(unknown())", True),
    ],
)
def test_a_constructor_with_options_of_a_caller_is_run_with_them(call: str, is_broken: bool) -> None:
    assert [verdict for verdict, _ in told(OPTIONS + call + "\n")][:1] == ["broken"] * is_broken


@pytest.mark.parametrize(("moved", "is_broken"), [("x", True), ("x.to(device)", False)])
def test_a_loader_of_a_data_set_that_a_caller_gives_is_one_of_it(moved: str, is_broken: bool) -> None:
    text = f"""
    from torch.utils.data import DataLoader, TensorDataset

    def fit(model, data, device):
        loader = DataLoader(data, batch_size=4)
        model.to(device)
        for x, y in loader:
            nn.functional.mse_loss(model({moved}), y.to(device))

    fit(nn.Linear(3, 3), TensorDataset(torch.ones(9, 3), torch.ones(9, 3)), "cuda")
    """
    assert [verdict for verdict, _ in told(text)] == ["broken"] * is_broken
