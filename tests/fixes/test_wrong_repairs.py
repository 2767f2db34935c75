"""Repairs that were wrong once, each with what is right: another edit, an unsafe one, or none."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchdevlint import check_source, fix_source
from torchdevlint.findings import Finding
from torchdevlint.linter import Repair, lint
from torchdevlint.settings import Resolver, Selection, Settings, parse_level

HEAD = "import torch\nimport numpy as np\nfrom torch import nn\n"


def repaired(text: str, *, unsafe: bool = False, **options: object) -> str:
    whole = HEAD + textwrap.dedent(text)
    return fix_source(whole, unsafe=unsafe, level="info", **options)[0].removeprefix(HEAD)  # type: ignore[arg-type]


def found(text: str, code: str) -> Finding:
    return next(finding for finding in check_source(HEAD + textwrap.dedent(text), level="info") if finding.code == code)


UNTOUCHED = {
    "TDL505 of a tensor that is saved and read to the CPU": """
        import io

        def main():
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            stored = io.BytesIO()
            torch.save(torch.randn(3, 4), stored)
            stored.seek(0)
            prior = torch.load(stored, map_location="cpu")
            return torch.cat([torch.randn(3, 4, device=device), prior])
        """,
    "TDL301 above the device": """
        def main(batches):
            model = nn.Linear(3, 2)
            criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0]))
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            model.to(device)
            for x, y in batches:
                criterion(model(x.to(device)), y.to(device)).backward()
        """,
    "TDL401 above the device": """
        model = nn.Linear(3, 2)
        x = torch.zeros(2, 3)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model.to(device)
        out = model(x)
        """,
    "a Parameter that is updated in place": """
        class Net(nn.Module):
            def __init__(self, device):
                super().__init__()
                self.w = nn.Parameter(torch.zeros(3)).to(device)

            def forward(self, x):
                self.w += 1
                return x * self.w
        """,
    "a local Parameter that is updated in place": """
        def f(device):
            w = nn.Parameter(torch.zeros(3)).to(device)
            w.mul_(2)
            return w
        """,
    "the device of an argument that only the other branch uses": """
        class Prior(nn.Module):
            def __init__(self, primed):
                super().__init__()
                self.primed = primed
                self.out = nn.Linear(3, 3)

            def forward(self, kept, target):
                if self.primed:
                    kept = kept.float()
                    loss = nn.functional.cross_entropy(self.out(kept), target)
                else:
                    loss = torch.tensor(0.0, device="cuda")
                return loss
        """,
    "a number that NumPy makes of a number": """
        def weight(p):
            classes = int(p.shape[1])
            entropy = -torch.sum(p * torch.log(p), dim=1, keepdim=True)
            return torch.exp(entropy / torch.tensor(np.log(classes)))
        """,
    "a list whose layers a container holds among others": """
        class Net(nn.Module):
            def __init__(self, sizes):
                super().__init__()
                self.layers = [nn.Linear(3, 3)]
                for _ in sizes:
                    self.layers.append(nn.Linear(3, 3))
                units = [nn.ELU() for _ in self.layers]
                both = sum(zip(self.layers, units), ())[:-1]
                self.residual = nn.Sequential(*both)

            def forward(self, x):
                return self.residual(x)
        """,
    "a leaf that wants a gradient": """
        class Head(nn.Module):
            def __init__(self):
                super().__init__()
                self.out = nn.Linear(3, 3)
                self.dummy = torch.ones(1, 3, requires_grad=True)

            def forward(self, x):
                return self.out(x) + self.dummy
        """,
    "a tuple of sizes": """
        def f(batch):
            return torch.cuda.FloatTensor((batch, 1, 1, 1)).uniform_()
        """,
    "a tuple of sizes, with a device": """
        def f(batch, device):
            return torch.FloatTensor((batch, 1), device=device).uniform_()
        """,
    "assigned to a module that was made on the GPU": """
        def f(path):
            with torch.device("cuda"):
                net = nn.Linear(3, 2)
            state = torch.load(path)
            net.load_state_dict(state, assign=True)
            return net
        """,
    "assigned by position": """
        def f(path):
            with torch.device("cuda"):
                net = nn.Linear(3, 2)
            net.load_state_dict(torch.load(path), True, True)
            return net
        """,
    "a 0-dim tensor that a model adds": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 3)

            def forward(self, x, offset):
                return self.layer(x) + offset

        def f(x):
            net = Net().cuda()
            offset = torch.tensor(1.0, requires_grad=True)
            return net(x.cuda(), offset)
        """,
    "a module that a method of the class is given": """
        class Averages(nn.Module):
            def pairs(self, model):
                return list(model.named_parameters())

            def update(self, average, current, device):
                average.to(device)
                return zip(self.pairs(average), self.pairs(current))
        """,
    "assigned on a condition": """
        def f(path, flag):
            with torch.device("meta"):
                net = nn.Linear(3, 2)
            net.load_state_dict(torch.load(path), assign=flag)
            return net
        """,
}


@pytest.mark.parametrize("case", UNTOUCHED)
def test_what_no_repair_may_touch(case: str) -> None:
    text = textwrap.dedent(UNTOUCHED[case])
    assert repaired(text, unsafe=True, ignore=["TDL801"]) == text


OF_A_FOREIGN_MODEL = """
    from sentence_transformers import SentenceTransformer

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = SentenceTransformer("x")
            self.head = nn.Linear(3, 2)

        def forward(self, x):
            ids = torch.zeros(x.size(0), 4).long()
            return self.head(self.encoder(ids) + x)
    """


def test_the_input_of_another_librarys_object_is_never_moved_unasked() -> None:
    assert repaired(OF_A_FOREIGN_MODEL) == textwrap.dedent(OF_A_FOREIGN_MODEL)


def test_a_classmethod_has_no_device_of_an_object() -> None:
    text = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 2)

            @property
            def device(self):
                return self.fc.weight.device

            @classmethod
            def load(cls, path):
                return cls(), torch.load(path)
        """
    assert 'torch.load(path, map_location="cpu")' in repaired(text, unsafe=True)


def test_an_attribute_that_is_asked_for_below_is_not_named_above() -> None:
    text = """
        def run(model, x):
            mask = torch.ones(x.size(0), 1)
            if hasattr(model, "device"):
                x = x.to(model.device)
            return model(x) * mask, torch.load("mask.pt")
        """
    assert "device=model.device" not in repaired(text, unsafe=True)
    assert "map_location=model.device" not in repaired(text, unsafe=True)


CAST = """
    scaler = torch.cuda.amp.GradScaler()
    """


def _with_requirements(folder: Path, requirement: str) -> str:
    (folder / "pyproject.toml").write_text(f'[project]\nname = "a"\ndependencies = ["{requirement}"]\n')
    (folder / "a.py").write_text(HEAD + textwrap.dedent(CAST))
    resolver = Resolver(Selection(None, (), ()), overrides={"level": parse_level("info")})
    path = str(folder / "a.py")
    outcome = lint(path, Path(path).read_bytes(), resolver.for_file(path), Repair.UNSAFE)
    assert not outcome.problems
    return outcome.text or HEAD + textwrap.dedent(CAST)


def test_a_project_that_pins_an_old_torch_keeps_the_old_names(tmp_path: Path) -> None:
    assert "torch.amp.GradScaler" not in _with_requirements(tmp_path, "torch==2.1.*")


def test_a_project_without_an_upper_bound_is_offered_the_new_ones(tmp_path: Path) -> None:
    assert "torch.amp.GradScaler" in _with_requirements(tmp_path, "torch>=2.1")


@pytest.mark.parametrize(("target", "is_safe"), [((2, 1), False), ((2, 2), False), ((2, 3), True), ((2, 4), True)])
def test_a_new_name_is_safe_where_every_torch_has_it(target: tuple[int, int], is_safe: bool) -> None:
    assert ("torch.amp.GradScaler" in repaired(CAST, target_torch=target)) is is_safe


def test_what_takes_no_device_is_moved() -> None:
    text = """
        class Net(nn.Module):
            def forward(self, x):
                w = torch.from_numpy(np.ones((3, 3), dtype=np.float32))
                return x @ w
        """
    assert "w = torch.from_numpy(np.ones((3, 3), dtype=np.float32)).to(x.device)" in repaired(text)
    assert ".to(x.device)" in found(text, "TDL504").message
    assert "device=" not in found(text, "TDL504").message


def test_no_tensor_is_moved_to_a_module() -> None:
    text = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 2)

            def act(self, state):
                return self.fc(torch.FloatTensor(state))

        net = Net().cuda()
        net(torch.zeros(1, 3))
        """
    assert ".to(self)" not in repaired(text, unsafe=True)


TOGETHER = {
    "in one call": (
        "return x + torch.cat([torch.zeros(2), torch.ones(2)])",
        "return x + torch.cat([torch.zeros(2, device=x.device), torch.ones(2, device=x.device)])",
    ),
    "by names": (
        "a, b = torch.zeros(4), torch.ones(4)\n        return x * (a + b)",
        "a, b = torch.zeros(4, device=x.device), torch.ones(4, device=x.device)\n        return x * (a + b)",
    ),
    "one that takes no device": (
        "return x + torch.cat([torch.zeros(2), torch.from_numpy(np.ones(2))])",
        "return x + torch.cat([torch.zeros(2, device=x.device), torch.from_numpy(np.ones(2)).to(x.device)])",
    ),
}


@pytest.mark.parametrize("case", TOGETHER)
def test_tensors_that_meet_move_together(case: str) -> None:
    before, after = TOGETHER[case]
    head = "class Net(nn.Module):\n    def forward(self, x):\n        "
    assert repaired(head + before + "\n") == head + after + "\n"


def test_the_fix_of_one_of_them_holds_the_edits_of_all() -> None:
    text = "class Net(nn.Module):\n    def forward(self, x):\n        return x + torch.cat([torch.zeros(2), torch.ones(2)])\n"
    fix = found(text, "TDL504").fix
    assert fix is not None
    assert len(fix.edits) == 2


CHAINS = {
    "TDL503": ("x = torch.arange(3).to(device)", "x = (\n    torch.arange(\n        3\n    )\n    .to(device)\n)"),
    "TDL519": ("x = torch.zeros(2).to(device, True)", "x = torch.zeros(2).to(\n    device,\n    True,\n)"),
    "TDL601": ("x = nn.Parameter(y).to(device)", "x = (\n    nn.Parameter(\n        y,\n    )\n    .to(device)\n)"),
    "TDL510": ("x = y.numpy().cpu()", "x = (\n    y\n    .numpy()\n    .cpu()\n)"),
}


@pytest.mark.parametrize("code", CHAINS)
def test_a_formatters_line_breaks_take_no_fix_away(code: str) -> None:
    for text in CHAINS[code]:
        body = textwrap.indent(text, "    ")
        finding = found(f"def f(device: torch.device, y: torch.Tensor):\n{body}\n    return x\n", code)
        assert finding.fix is not None, text


_SIBLING = """
def train(model: nn.Module, loader, criterion, other, device):
    for features, labels in loader:
        {first}
        features = features.to(device)
        out = model(features)
        {test}loss = criterion(out, {labels})
        {last}
        loss.backward()
"""


def _sibling(labels: str = "labels", first: str = "pass", test: str = "", last: str = "pass") -> str:
    return _SIBLING.format(first=first, test=test, labels=labels, last=last)


@pytest.mark.parametrize(
    "given",
    [
        {"first": "print(labels is None)\n        if labels is None:\n            print()"},
        {"first": "other(labels)"},
        {"last": "print(labels.numpy())"},
    ],
    ids=["may be None", "is read before the move", "is read on the CPU as well"],
)
def test_a_sibling_is_not_moved_where_the_move_would_be_wrong_for_one_of_its_uses(given: dict[str, str]) -> None:
    assert repaired(_sibling(**given), unsafe=True) == textwrap.dedent(_sibling(**given))


def test_a_sibling_that_a_test_tells_from_none_is_moved_there() -> None:
    test = "if labels is not None:\n            "
    assert repaired(_sibling(test=test), unsafe=True) == _sibling("labels.to(device)", test=test)


def test_a_sibling_of_which_only_the_size_is_read_besides_moves_at_its_use() -> None:
    last = "print(len(labels), labels.shape)"
    assert repaired(_sibling(last=last), unsafe=True) == _sibling("labels.to(device)", last=last)


def test_a_sibling_moves_for_all_its_uses_at_once() -> None:
    text = _sibling(last="loss = loss + other(labels, out) / labels.shape[0]")
    moved = text.replace("        loss = criterion", "        labels = labels.to(device)\n        loss = criterion")
    assert repaired(text, unsafe=True) == moved


def test_a_part_of_a_batch_that_may_be_none_is_not_moved_where_it_is_taken_out() -> None:
    text = """
        def classify(model: nn.Module, batch: dict, device):
            ids = batch["ids"].to(device)
            mask = batch["mask"]
            if mask is None:
                print("no mask")
            return model(ids, mask=mask)
        """
    assert repaired(text, unsafe=True) == textwrap.dedent(text)


def test_a_number_out_of_an_array_of_one_dimension_meets_tensors_anywhere() -> None:
    """Its tensor has no dimension, which meets tensors on any device; on MPS one of NumPy's float64 could not even be made."""
    text = """
        def thresholds(values: torch.Tensor):
            low, high = torch.min(values), torch.max(values)
            return [low + torch.tensor(t) * (high - low) for t in np.linspace(0, 1, 21)]

        def scaled(values: torch.Tensor):
            for t in np.arange(3):
                values = values + torch.tensor(t) * values
            return values
        """
    assert repaired(text, unsafe=True) == textwrap.dedent(text)


def test_no_repair_makes_tensors_meet_elsewhere() -> None:
    text = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 4)

            def forward(self, x):
                return self.fc(x).cpu() + self.build(x.device)

            def build(self, device):
                table = torch.zeros(3, 4)
                return table
        """
    assert found(text, "TDL517").fix is not None
    assert repaired(text, unsafe=True) == textwrap.dedent(text)
    (note,) = lint("net.py", (HEAD + textwrap.dedent(text)).encode(), Settings(), Repair.UNSAFE).notes
    assert note.endswith("the fix of TDL517 was not applied: TDL505 would be found instead")


def test_no_repair_names_an_accelerator_that_the_program_has_not_used() -> None:
    text = """
        def on_accelerator(value):
            return value.cuda() if torch.cuda.is_available() else value

        def main():
            device = torch.device("cuda:0")
            bias = torch.ones(1)
            inputs = on_accelerator(torch.randn(3))
            return inputs + bias
        """
    assert found(text, "TDL505").fix is None
    used = text.replace("bias = ", "print(torch.ones(2, device=device))\n            bias = ")
    assert found(used, "TDL505").fix is not None


def test_what_is_pinned_is_meant_for_the_host() -> None:
    pinned = """
        def build(device):
            table = torch.zeros(3, 4){}
            return table
        """
    assert repaired(pinned.format(""), unsafe=True) != textwrap.dedent(pinned.format(""))
    assert check_source(HEAD + textwrap.dedent(pinned.format(".pin_memory()")), level="info") == ()


def test_no_repair_reads_an_attribute_before_it_is_stored() -> None:
    text = """
        class Net:
            def __init__(self, choice):
                self.device = choice(device="cuda")
                self.gains = torch.randn(4, device="cuda")
        """
    after = repaired(text, unsafe=True)
    assert 'choice(device="cuda")' in after
    assert "torch.randn(4, device=self.device)" in after


def test_no_repair_leaves_its_finding() -> None:
    text = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 4)

            def forward(self, x):
                bias = torch.randn(4).type(torch.FloatTensor)
                return self.fc(x) + bias
        """
    assert found(text, "TDL504").fix is not None
    assert repaired(text, unsafe=True) == textwrap.dedent(text)
