"""What rules tell of claims: how severe, in which words, beside what other rules have said."""

from __future__ import annotations

import textwrap

import pytest

from torchdevlint import check_source
from torchdevlint.findings import Finding, Severity
from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.registry import own_rules


def found(text: str, code: str, level: str = "warning") -> list[Finding]:
    source = "import torch\nfrom torch import nn\n" + textwrap.dedent(text)
    return [finding for finding in check_source(source, level=level) if finding.code == code]


HELPER = """
class Mask(nn.Module):
    def forward(self, x):
        if x.shape[-1] == 2:
            x = x * torch.ones(2)
        return x
"""


def test_a_finding_is_raised_where_a_caller_breaks_its_claim() -> None:
    (open_finding,) = found(HELPER, "TDL504")
    assert open_finding.severity is Severity.WARNING
    (broken,) = found(HELPER + '\nmask = Mask()\nprint(mask(torch.rand(3, 2, device="cuda")))\n', "TDL504")
    assert broken.severity is Severity.ERROR
    assert broken.related[-1].span.start.row == 11  # the call that leads there


@pytest.mark.parametrize(
    ("test", "code", "severity"),
    [("other.gpu", "TDL504", Severity.WARNING), ("True", "TDL505", Severity.ERROR)],
    ids=["a branch", "every path"],
)
def test_what_is_broken_on_some_paths_alone_is_no_error(test: str, code: str, severity: Severity) -> None:
    text = f"""
    def run(other):
        bias = torch.zeros(3)
        if {test}:
            x = torch.ones(3, device="cuda")
        else:
            x = torch.ones(3)
        return bias + x

    run(2)
    """
    (finding,) = found(text, code, "info")
    assert finding.severity is severity


def test_an_attribute_is_not_told_of_where_it_is_none_yet() -> None:
    text = """
    class Means(nn.Module):
        def __init__(self, count):
            super().__init__()
            self.count = count
            self.centroids = None

        def begin(self, x):
            if x.shape[0] > 3:
                self.centroids = torch.rand(self.count, 3)
            else:
                self.centroids = torch.zeros(self.count, 3)

        def forward(self, x: torch.Tensor):
            self.begin(x)
            return x @ self.centroids.T
    """
    rows = [finding.span.start.row for finding in found(text, "TDL603")]
    assert set(rows) == {12, 14}


def test_what_made_a_tensor_is_told_of_once() -> None:
    text = """
    class Head(nn.Module):
        def __init__(self, device="cpu"):
            super().__init__()
            self.norm = nn.LayerNorm(3)
            self.scale = nn.Parameter(torch.ones(3)).to(device)

        def forward(self, x):
            return self.norm(x) * self.scale
    """
    text = textwrap.dedent(text)
    called = text + '\nhead = Head().to("cuda:1")\nprint(head(torch.rand(2, 3, device="cuda:1")))\n'
    codes = [finding.code for finding in check_source("import torch\nfrom torch import nn\n" + called)]
    assert "TDL601" in codes and "TDL603" not in codes


def test_a_proof_keeps_the_repair_of_the_note_that_it_raises() -> None:
    text = "import torch\n\ndef test_values():\n    x = torch.ones(2).cuda()\n    assert x.numpy().sum() == 2\n"
    (broken,) = [finding for finding in check_source(text, "test_net.py") if finding.code == "TDL509"]
    assert broken.severity is Severity.ERROR and broken.fix is not None


ANEW = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)
        {0}

    def _reset(self):
        self.renew()

    def renew(self):
        start = torch.arange(2, dtype=torch.float32)
        for i in range(2):
            start[i] *= i + 1
        with torch.no_grad():
            self.layer.bias = nn.Parameter(start.view(-1))

    def forward(self, x: torch.Tensor):
        y = self.layer(x)
        return y
"""


def test_a_parameter_that_the_constructor_makes_moves_with_its_module() -> None:
    """Also where the method that makes it could be called again: who does so after the move is not seen."""
    assert not found(ANEW.format("self._reset()"), "TDL603")
    (of_a_method,) = found(ANEW.format("self.size = 2"), "TDL603", "info")
    assert of_a_method.severity is Severity.INFO


LATER = """
class Net(nn.Module):
    def build(self):
        self.layer = nn.Linear(4, 2)

    def forward(self, image):
        {0}
        x = torch.from_numpy(image).cuda()
        return self.layer(x)
"""


def test_layers_that_another_method_makes_may_move_with_their_module() -> None:
    assert not found(LATER.format(""), "TDL401")
    assert found(LATER.format("self.layer = nn.Linear(4, 2)"), "TDL401")


def test_layers_of_a_class_of_the_file_in_a_plain_list_are_told_of_once() -> None:
    text = """
    class Cell(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.gate = nn.Linear(n, n)

        def forward(self, x):
            return torch.tanh(self.gate(x))

    class Tower(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(3, 3)
            self.cells = [Cell(3) for _ in range(2)]
            self.last = nn.Linear(3, 1)

        def forward(self, x):
            x = self.first(x)
            for cell in self.cells:
                x = cell(x)
            return self.last(x)
    """
    assert found(text, "TDL504") == []
    assert [finding.span.start.row for finding in found(text, "TDL602")] == [16]


BESIDE = """
class Curve:
    def __init__(self, event: torch.Tensor):
        self.event = event

    def hazard(self):
        censoring = ~self.event
        return censoring / torch.arange(len(self.event), 0, -1)

    def table(self):
        rows = self.event * 2
        return torch.cat((torch.full((3,), 1.0), rows))

    def unnamed(self):
        return ~self.event / torch.arange(len(self.event), 0, -1)

    def three(self):
        rows, more = self.event * 2, self.event * 3
        return torch.cat((torch.full((3,), 1.0), rows, more))

    def later(self, flag):
        if flag:
            rows = self.event * 2
        return torch.full((3,), 1.0) + rows
"""


def test_a_tensor_is_made_where_the_variable_beside_it_is() -> None:
    fixes = {finding.span.start.row: finding.fix for finding in found(BESIDE, "TDL504", "info")}
    contents = {row: fix and [edit.content for edit in fix.edits] for row, fix in fixes.items()}
    assert contents == {
        10: [", device=censoring.device"],
        14: [", device=rows.device"],
        17: None,  # no variable
        21: None,  # two of them may be on two devices
        26: None,  # not bound on every path
    }


OWN = """
class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(1, 2))
        self.register_buffer("shift", torch.zeros(2))
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        return {result}

net = Shift()
z = torch.zeros(4, 2, device="cuda")
print(net(z))
"""


@pytest.mark.parametrize("result", ["x * self.scale.exp()", "x + self.shift", "torch.mm(x, self.linear.weight.t())"])
def test_a_module_that_was_never_moved_is_told_of_where_it_is_called(result: str) -> None:
    (finding,) = found(OWN.format(result=result), "TDL401")
    assert finding.span.start.row == 16
    assert "this module is on the CPU" in finding.message
    assert finding.fix is None  # where a parameter is made says nothing of where it belongs
    assert not found(OWN.format(result=result), "TDL504")


def test_a_parameter_that_is_made_anew_is_told_of_where_it_is_made() -> None:
    text = OWN.format(result="x * self.scale").replace(
        "    def forward",
        "    def reset(self):\n        self.scale = nn.Parameter(torch.randn(1, 2))\n\n    def forward",
    )
    text = text.replace("net = Shift()", "net = Shift().cuda()\nnet.reset()")
    (finding,) = found(text, "TDL504")
    assert finding.span.start.row == 12


@pytest.mark.parametrize(
    ("made", "code", "severity"),
    [
        ("self.scale = nn.Parameter(1e-3 * torch.randn(4, 2))", "TDL504", Severity.INFO),
        ("self.scale = nn.Parameter(torch.randn(4, 2))", "TDL504", Severity.INFO),
        ("self.scale = torch.randn(4, 2)", "TDL603", Severity.WARNING),
    ],
)
@pytest.mark.parametrize("used", ["self.scale[-1]", "self.scale[-1].softmax(-1)"])
def test_what_is_computed_from_a_parameter_moves_with_the_module(
    made: str, code: str, severity: Severity, used: str
) -> None:
    text = f"""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def prepare(self):
            {made}

        def forward(self, x):
            return self.linear(x) * {used}
    """
    (finding,) = found(text, code, "info")
    assert finding.severity is severity


def test_a_parameter_of_no_module_is_told_of_where_it_is_made() -> None:
    text = """
    w = nn.Parameter(torch.randn(3))
    x = torch.zeros(3, device="cuda")
    print(x * w)
    """
    assert not found(text, "TDL401")
    assert len(found(text, "TDL505")) == 1


def test_layers_beside_a_spread_list_are_layers_of_a_sequence() -> None:
    text = """
    layers = [nn.Linear(2, 2) for _ in range(3)]
    net = nn.Sequential(nn.Linear(2, 2), *layers).cuda()
    print(net(torch.zeros(4, 2)))
    """
    assert len(found(text, "TDL401")) == 1


def test_a_buffer_that_may_be_one_of_several_keeps_what_is_known_of_each() -> None:
    text = """
    class Bank(nn.Module):
        def __init__(self, value):
            super().__init__()
            self.register_buffer("value", value)

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.cache = {}

        def forward(self, x):
            if "scale" not in self.cache:
                self.cache["scale"] = torch.rand(())
            kept = Bank(self.cache["scale"]).state_dict()["value"]
            return x.exp() / kept.exp()
    """
    assert not found(text, "TDL504")


CACHED = """
class Offset(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {{}}

    def forward(self, x):
        if "offset" not in self.cache:
            self.cache["offset"] = torch.linspace(0.1, 0.5, 4)
        offset = {offset}
        return torch.mv(x, offset)
"""


@pytest.mark.parametrize(
    "offset",
    [
        'self.cache["offset"]',
        'self.cache["offset"].clone()',
        'sorted([(2, self.cache["offset"]), (1, self.cache["offset"].clone())])[0][1]',
    ],
)
def test_a_cache_holds_what_the_first_call_puts_there(offset: str) -> None:
    (finding,) = found(CACHED.format(offset=offset), "TDL504")
    assert finding.span.start.row == 11


@pytest.mark.parametrize("call", ["Pairs.weigh(x.exp())", "Pairs.weigh_all(x.exp())"])
def test_a_static_method_is_called_by_anybody(call: str) -> None:
    text = """
    class Pairs:
        @staticmethod
        def weigh(x):
            return x.exp() * torch.ones(4)

        @classmethod
        def weigh_all(cls, x):
            return x.exp() * torch.arange(4)
    """
    assert [finding.span.start.row for finding in found(text, "TDL504")] == [7, 11]
    assert not found(text + f"\n    x = torch.ones(4)\n    print({call})\n", "TDL504")[1:]


def test_what_a_class_method_makes_is_an_object_of_its_class() -> None:
    text = """
    class Example:
        def __init__(self, value):
            self.value = value

        @classmethod
        def of(cls, value):
            return cls(value.clone())

    bias = torch.ones(4)
    print(torch.ones(3, 4, device="cuda") @ Example.of(bias).value)
    """
    assert [finding.span.start.row for finding in found(text, "TDL505")] == [12]


@pytest.mark.parametrize("given", ["[bias]", "(bias, 1)", '{"a": [bias]}', "Pair(bias, bias)"])
def test_a_function_that_is_mapped_over_containers_gives_the_same_containers(given: str) -> None:
    read = '["a"][0]' if "{" in given else "[0]"
    text = f"""
    from collections import namedtuple

    Pair = namedtuple("Pair", "first second")

    def mapped(value, function):
        if isinstance(value, dict):
            return {{name: mapped(item, function) for name, item in value.items()}}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(mapped(item, function) for item in value))
        if isinstance(value, (list, tuple)):
            return type(value)(mapped(item, function) for item in value)
        return function(value) if torch.is_tensor(value) else value

    bias = torch.ones(4)
    print(torch.ones(3, 4, device="cuda") + mapped({given}, lambda item: item.clone()){read})
    """
    assert [finding.span.start.row for finding in found(text, "TDL505", "info")] == [17]


def test_a_cast_gives_back_what_it_is_given() -> None:
    text = """
    from typing import cast

    bias = torch.ones(4)
    print(torch.ones(4, device="cuda") + cast(torch.Tensor, bias))
    """
    assert len(found(text, "TDL505")) == 1


def test_an_index_that_nobody_knows_is_a_move_and_a_dtype_is_none() -> None:
    text = """
    import os

    rank = int(os.environ["LOCAL_RANK"])
    y = torch.zeros(3, 4).cuda()
    print(y + torch.ones(4).to(rank))
    print(y + torch.ones(4).to(y.get_device()))
    print(y + torch.ones(4).to(y.dtype))
    """
    assert [finding.span.start.row for finding in found(text, "TDL505")] == [10]


def test_something_unknown_may_hold_and_move_the_modules_that_it_is_made_with() -> None:
    text = """
    from somewhere import Wrapper

    inner, other = nn.Linear(4, 2), nn.Linear(4, 2)
    model = Wrapper(inner, [nn.Linear(4, 2)])
    model.to("cuda")
    x = torch.zeros(3, 4, device="cuda")
    print(inner(x))
    print(other(x))
    """
    assert [finding.span.start.row for finding in found(text, "TDL401")] == [11]


def test_a_class_method_that_constructors_alone_call_is_called_by_nobody_else() -> None:
    text = """
    class Masked(nn.Linear):
        def __init__(self, degrees):
            super().__init__(4, 4)
            self.register_buffer("mask", self._mask(degrees))

        @classmethod
        def _mask(cls, degrees):
            return (torch.arange(4)[:, None] >= degrees.unsqueeze(0)).float()
    """
    assert not found(text, "TDL504")


LOOP_OF_CALLER = """
def main(head, rows):
    net = Net(head).cuda()
    for batch in torch.utils.data.DataLoader(rows):
        net(batch)
"""


@pytest.mark.parametrize(
    ("base", "caller", "told"),
    [
        ("object", "", ["TDL518"]),
        ("nn.Module", "", []),
        ("nn.Module", LOOP_OF_CALLER, ["TDL401"]),
    ],
    ids=["a function", "what a module is given", "what a loop gives to a module"],
)
def test_a_move_in_forward_tells_nothing_of_the_other_inputs(base: str, caller: str, told: list[str]) -> None:
    use = "self.head(x, y)" if caller else "torch.maximum(x, y)"
    text = f"""
    class Net({base}):
        def __init__(self, head):
            super().__init__()
            self.head = head.cuda()
        def forward(self, batch):
            x = batch["x"].cuda()
            y = batch["y"]
            return {use}
    """
    source = "import torch\nfrom torch import nn\n" + textwrap.dedent(text) + caller
    assert [finding.code for finding in check_source(source) if finding.code in ("TDL518", "TDL401")] == told


@pytest.mark.parametrize(
    ("taken", "use", "told"),
    [
        ("text: str", "self.layer(image)", False),
        ("text: list[float]", "self.layer(image) + sum(text)", True),
        ("text", "self.layer(image), text.lower()", False),
        ("text", "self.layer(image) + text", True),
    ],
    ids=["annotated as a text", "annotated as more", "used as a text", "used as a tensor"],
)
def test_what_a_model_takes_as_a_text_is_no_sibling(taken: str, use: str, told: bool) -> None:
    text = f"""
    class Editor(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)
        def forward(self, image, {taken}):
            return {use}
    def main(rows):
        editor = Editor().cuda()
        sample = rows[3]
        editor(sample["image"].cuda(), sample["edit"])
    """
    assert bool(found(text, "TDL518")) is told


OF_TEXTS = """
from models import build

class Rows(torch.utils.data.Dataset):
    def __getitem__(self, at):
        return {{"text": "a", "label": torch.zeros(1)}}

def collate(rows):
    return {{"texts": {0}, "labels": torch.stack([row["label"] for row in rows])}}

def epoch(model, loader, device):
    for batch in loader:
        texts = batch["texts"]
        labels = batch["labels"].to(device)
        model(texts), labels

def main():
    device = torch.device("cuda")
    model = build().to(device)
    epoch(model, torch.utils.data.DataLoader(Rows(), collate_fn=collate), device)

if __name__ == "__main__":
    main()
"""


def test_texts_that_a_caller_gives_are_no_sibling() -> None:
    assert not found(OF_TEXTS.format('[row["text"] for row in rows]'), "TDL518")
    assert found(OF_TEXTS.format('torch.stack([row["label"] for row in rows])'), "TDL401")


def test_a_tensor_that_meets_in_several_ways_is_told_of_once() -> None:
    source = """import torch

def nearest(z: torch.Tensor, n):
    rows = torch.arange(n)
    index = torch.argmin(z.abs() - rows, dim=-1)
    return rows[index]
"""
    (finding,) = check_source(source)
    assert (finding.code, finding.span.start.row) == ("TDL504", 4)
    only = check_source(source.replace("z.abs() - rows", "z.abs()"))
    assert [one.code for one in only] == ["TDL506"]


def test_a_parameter_is_where_its_module_was_moved_to_whichever_way_was_taken() -> None:
    text = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)
            self.register_parameter("eps", nn.Parameter(torch.tensor([0.1]), requires_grad=False))

        def forward(self, x):
            return self.layer(x) + self.eps

    def restored(path):
        net = Net()
        is_new = False
        try:
            state = torch.load(path, map_location="cpu")
        except FileNotFoundError:
            is_new = True
            net.to("cuda")
        if not is_new:
            try:
                net.load_state_dict(state)
                net.to("cuda")
            except:
                try:
                    net.load_state_dict({key: value for key, value in state.items() if key in net.state_dict()})
                    net.to("cuda")
                except KeyError:
                    print("other keys")
        return net(torch.rand(2, 3, device="cuda"))

    restored("model.pt")
    """
    assert not found(text, "TDL401") + found(text, "TDL505") + found(text, "TDL603")


def test_a_move_of_what_a_flag_chooses_is_done_where_the_flag_chose_it() -> None:
    text = """
    from torch.utils.data import DataLoader, Dataset

    class Rows(Dataset):
        def __len__(self):
            return 3

        def __getitem__(self, at):
            return torch.ones(4), torch.ones(4).long()

    def measured(output, labels):
        kept = (labels != -1).squeeze()
        found = labels.squeeze()[kept]
        return found.cpu().numpy() if found.is_cuda else found.numpy()

    def measure(net, loader, on_gpu):
        for x, labels in loader:
            if on_gpu:
                x = x.cuda()
                labels = labels.cuda()
            measured(net(x), labels)

    def main():
        on_gpu = torch.cuda.is_available()
        net = nn.Linear(4, 4)
        if on_gpu:
            net.cuda()
        measure(net, DataLoader(Rows()), on_gpu)

    main()
    """
    assert not found(text, "TDL506")


def test_an_optimizer_whose_state_somebody_sets_has_a_state_dict() -> None:
    text = """
    from collections import defaultdict
    class Planes:
        def __init__(self):
            self.optimizer = None
        def load(self, params, states):
            if self.optimizer is None:
                self.optimizer = torch.optim.Adam(params, lr=0.1)
            else:
                self.optimizer.param_groups[0]["params"] = params
            self.optimizer.state = defaultdict(dict, [(params[at], one) for at, one in enumerate(states)])
        def saved(self):
            return self.optimizer.state_dict()["state"]
    """
    assert not found(text, "TDL202")


@pytest.mark.parametrize(("name", "is_told"), [("attention_mask", True), ("image_flags", False)])
def test_an_unknown_model_computes_with_what_it_is_given_by_the_names_of_inputs(name: str, is_told: bool) -> None:
    text = f"""
    from somewhere import build
    def main(loader):
        model = build().cuda()
        for x in loader:
            model(input_ids=x.cuda(), {name}=torch.ones(3, 4))
    main(load())
    """
    assert bool(found(text, "TDL401") + found(text, "TDL504")) is is_told


def test_an_encoding_gives_its_parts_as_attributes_too() -> None:
    text = """
    class Captions(nn.Module):
        def __init__(self, tokenizer, language):
            super().__init__()
            self.tokenizer, self.language = tokenizer, language

        def forward(self, prompt):
            device = next(self.language.parameters()).device
            encoded = self.tokenizer([prompt], return_tensors="pt", padding=True).to(device)
            return self.language(input_ids=encoded.input_ids, attention_mask=torch.ones_like(encoded.input_ids))

    def main(tokenizer, language):
        model = Captions(tokenizer, language).cuda()
        model.language.cuda()
        return model("a cat")
    """
    assert not found(text, "TDL401") + found(text, "TDL504")


def test_a_matrix_of_another_library_is_no_tensor() -> None:
    text = """
    import numpy as np
    def adjacency(x):
        rows = x.tocoo().astype(np.float32)
        return torch.sparse_coo_tensor(torch.tensor([rows.row, rows.col]), rows.data, rows.shape)
    """
    assert not found(text, "TDL504")


SIBLINGS = """
from torch.utils.data import DataLoader, Dataset
from shop import transform

class Photos(Dataset):
    def __init__(self, files):
        self.files = files

    def __getitem__(self, at):
        return transform(self.files[at]), torch.tensor(at)

def train(model, loader, device):
    for {}:
        labels = labels.to(device)
        print(model(images), labels)

train(nn.Linear(2, 2).to("cuda"), {}, "cuda")
"""


@pytest.mark.parametrize(
    "loop",
    [
        "images, labels in loader",
        "step, (images, labels) in enumerate(loader)",
        "(images, labels), name in zip(loader, ['a', 'b'])",
    ],
)
@pytest.mark.parametrize("given", ["DataLoader(Photos(['a']))", "DataLoader(something)"])
def test_a_sibling_is_told_through_enumerate_and_of_a_data_set_that_is_seen(loop: str, given: str) -> None:
    text = SIBLINGS.format(loop, given)
    (left,) = found(text, "TDL518")
    assert left.message.startswith("`images` stays on the CPU")
    assert not found(text.replace("model(images)", "model(images.to(device))"), "TDL518")


KEPT = """
def spread(shape):
    made = torch.empty(shape)
    nn.init.kaiming_uniform_(made)
    return made

def same(x):
    return x

class Codes(nn.Module):
    def __init__(self, size, width=None, is_learned=False, change=same):
        super().__init__()
        width = width if width is not None else size
        codes = {}
        self.layer = nn.Linear(2, 2)
        if is_learned:
            self.codes = nn.Parameter(codes)
        else:
            self.codes = codes

class Quantizer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.book = Codes(size)

    def forward(self, x, index: torch.Tensor):
        return {}
"""


@pytest.mark.parametrize("made", ["spread((size, 2))", "change(torch.randn(size, 2) * width ** -0.5)"])
@pytest.mark.parametrize(
    "met", ["torch.relu(x) @ self.book.codes", "self.book.codes[index]", "self.book.layer(self.book.codes)"]
)
def test_an_attribute_is_told_of_where_the_module_keeps_it_and_once(made: str, met: str) -> None:
    text = KEPT.format(made, met)
    (kept,) = check_source("import torch\nfrom torch import nn\n" + text)
    assert (kept.code, kept.message) == (
        "TDL603",
        "`self.codes` stays on the CPU when the module moves; register it as a buffer",
    )
    assert kept.span.start.row == 1 + text[: text.index("            self.codes = codes")].count("\n") + 2


def test_the_rules_of_claims_are_asked_in_every_file() -> None:
    """What a file brings together may be named in two others alone: no word of its own is needed."""
    assert [rule.code for rule in own_rules() if issubclass(rule, Inferred) and rule.needs] == []
