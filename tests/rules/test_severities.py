"""The same call is an error, a warning or a note by what the program around it says."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchdevlint import check_paths, check_source
from torchdevlint.findings import Severity

CASES = {
    "samples on a device that is an argument": (
        "TDL701",
        Severity.WARNING,
        """
        from torch.utils.data import DataLoader, Dataset
        class Rows(Dataset):
            def __init__(self, device="cpu"):
                self.device = device
            def __getitem__(self, at):
                return torch.ones(3).to(self.device)
        loader = DataLoader(Rows(), num_workers=4)
        """,
    ),
    "samples on a GPU": (
        "TDL701",
        Severity.ERROR,
        """
        from torch.utils.data import DataLoader, Dataset
        class Rows(Dataset):
            def __getitem__(self, at):
                return torch.ones(3).cuda()
        loader = DataLoader(Rows(), num_workers=4)
        """,
    ),
    "a pinned copy that is thrown away": (
        "TDL501",
        Severity.WARNING,
        """
        x = torch.zeros(3)
        x.pin_memory()
        print(x)
        """,
    ),
    "a tensor that is on the CPU already": (
        "TDL501",
        Severity.INFO,
        """
        x = torch.zeros(3)
        x.to("cpu")
        """,
    ),
    "a submodule that lives on the CPU between calls": (
        "TDL606",
        Severity.INFO,
        """
        class Members(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.core = torch.nn.Linear(3, 3)

            def evaluate(self, x):
                out = self.core.to(x.device)(x)
                self.core.cpu()
                return out

            def forward(self, x):
                return self.evaluate(x)
        """,
    ),
    "what a method gives NumPy": (
        "TDL509",
        Severity.INFO,
        """
        class Predictions:
            def __init__(self, means: torch.Tensor, H: torch.Tensor):
                self.means = H.matmul(means)

            def plot(self):
                return self.means.detach().numpy()
        """,
    ),
    "pinned memory behind a move": (
        "TDL702",
        Severity.WARNING,
        """
        def stage(x, device):
            return x.to(device).pin_memory()
        """,
    ),
    "a move of what is there already, dropped": (
        "TDL501",
        Severity.INFO,
        """
        device = torch.device("cuda")
        x = torch.zeros(3, device=device)
        high = x > 0
        high.to(device)
        """,
    ),
    "a tensor that another function has brought there": (
        "TDL501",
        Severity.INFO,
        """
        def masks(x, options):
            return (x > 0).to(options.device)

        def train(x, options):
            mask = masks(x, options)
            mask.to(options.device)
            return x * mask
        """,
    ),
    "a part of a buffer, which the module moves": (
        "TDL501",
        Severity.WARNING,
        """
        class Encoder(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("pe", torch.zeros(1, 9, 3))

            def forward(self, x):
                pe = self.pe[:, : x.size(1)]
                if x.is_cuda:
                    pe.cuda()
                return x + pe
        """,
    ),
    "a load in a method of an object that needs CUDA": (
        "TDL101",
        Severity.INFO,
        """
        class Trainer:
            def __init__(self):
                self.build()

            def build(self):
                self.net = torch.nn.Linear(3, 3).cuda()

            def resume(self, path):
                self.net.load_state_dict(torch.load(path))
        """,
    ),
    "a load in a method of an object that CUDA may make": (
        "TDL101",
        Severity.WARNING,
        """
        class Trainer:
            def __init__(self, gpu):
                self.net = torch.nn.Linear(3, 3)
                if gpu:
                    self.net.cuda()

            def resume(self, path):
                self.net.load_state_dict(torch.load(path))
        """,
    ),
    "a load behind a function of the function that needs CUDA": (
        "TDL101",
        Severity.INFO,
        """
        def main(path):
            def create():
                return torch.nn.Linear(3, 3).cuda()

            net = create()
            checkpoint = torch.load(path)
            net.load_state_dict(checkpoint["net"])
        """,
    ),
    "a tensor for inputs of one shape": (
        "TDL504",
        Severity.WARNING,
        """
        class Net(nn.Module):
            def forward(self, x):
                if x.shape[-1] == 2:
                    x = x * torch.ones(2)
                return x
        """,
    ),
    "a tensor in a mode of training": (
        "TDL504",
        Severity.WARNING,
        """
        class Net(nn.Module):
            def forward(self, x):
                if self.training:
                    x = x * torch.ones(2)
                return x
        """,
    ),
    "an attribute that another method replaces": (
        "TDL603",
        Severity.WARNING,
        """
        class Gram(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.target = torch.zeros(n, n)

            def set_target(self, target):
                self.target = target

            def forward(self, x: torch.Tensor):
                return torch.bmm(self.target, x)
        """,
    ),
    "an attribute that the forward alone reads": (
        "TDL603",
        Severity.WARNING,
        """
        class Gram(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.target = torch.zeros(n, n)

            def forward(self, x: torch.Tensor):
                return torch.bmm(self.target, x)
        """,
    ),
    "an accelerator or the CPU": (
        "TDL804",
        Severity.ERROR,
        """
        device = torch.accelerator.current_accelerator() or torch.device("cpu")
        """,
    ),
    "an accelerator alone": (
        "TDL804",
        Severity.WARNING,
        """
        device = torch.accelerator.current_accelerator().type
        """,
    ),
    "a stream": (
        "TDL807",
        Severity.WARNING,
        """
        def warm(model, x, device):
            stream = torch.cuda.Stream()
            model(x.to(device))
        """,
    ),
    "a stream for a graph": (
        "TDL807",
        Severity.INFO,
        """
        def capture(model, x, device):
            stream = torch.cuda.Stream()
            graph = torch.cuda.CUDAGraph()
            model(x.to(device))
        """,
    ),
    "a trace that is saved": (
        "TDL610",
        Severity.WARNING,
        """
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                return x + torch.zeros(3, device=x.device)

        def write(x, path):
            traced = torch.jit.trace(Net(), x)
            traced.save(path)
        """,
    ),
    "a trace that is given away": (
        "TDL610",
        Severity.WARNING,
        """
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                return x + torch.zeros(3, device=x.device)

        def traced(x):
            net = torch.jit.trace(Net(), x)
            return net
        """,
    ),
    "a trace that runs where it was made": (
        "TDL610",
        Severity.INFO,
        """
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                return x + torch.zeros(3, device=x.device)

        def measure(x):
            net = torch.jit.trace(Net().to(x.device), x)
            return net(x).sum()
        """,
    ),
    "a tensor beside an argument": (
        "TDL504",
        Severity.WARNING,
        """
        def normalised(image: torch.Tensor):
            return image * torch.ones(3)
        """,
    ),
    "a tensor beside an argument, for a figure": (
        "TDL504",
        Severity.WARNING,
        """
        import matplotlib.pyplot as plt

        def normalised(image: torch.Tensor):
            return image * torch.ones(3)

        def show(image: torch.Tensor):
            plt.imshow(normalised(image))
        """,
    ),
    "a device left out": (
        "TDL517",
        Severity.WARNING,
        """
        def basis(n, device="cpu"):
            return torch.eye(n, device=device)

        def matrix(n, device="cpu"):
            return torch.zeros(n, n, device=device) @ basis(n)
        """,
    ),
    "a device left out beside others on the CPU": (
        "TDL517",
        Severity.INFO,
        """
        def basis(n, device="cpu"):
            return torch.eye(n, device=device)

        def matrix(n, device="cpu"):
            block = torch.zeros(2 * n, 2 * n, device=device)
            block[:, :] = torch.kron(basis(n), torch.eye(2))
            return block
        """,
    ),
    "a device that may be left out": (
        "TDL608",
        Severity.INFO,
        """
        class Net(torch.nn.Module):
            def __init__(self, device=None):
                super().__init__()
                if device is None:
                    device = torch.device("cpu")
                self.device = device

            def forward(self, x):
                return x.to(self.device)
        """,
    ),
    "the device of an argument": (
        "TDL608",
        Severity.INFO,
        """
        class Net(torch.nn.Module):
            def __init__(self, graph):
                super().__init__()
                self.device = graph.device

            def forward(self, x):
                return x.to(self.device)
        """,
    ),
    "a CUDA type in a function": (
        "TDL511",
        Severity.WARNING,
        """
        def nearest(points):
            return torch.cuda.FloatTensor(len(points), 3)
        """,
    ),
    "a CUDA type in the frame of a kernel": (
        "TDL511",
        Severity.INFO,
        """
        class Nearest(torch.autograd.Function):
            @staticmethod
            def forward(ctx, points):
                found = torch.cuda.FloatTensor(points.size(0), 3)
                extension.nearest(points, found)
                return found
        """,
    ),
}


@pytest.mark.parametrize(("code", "severity", "text"), CASES.values(), ids=CASES)
def test_severity(code: str, severity: Severity, text: str) -> None:
    findings = check_source("import torch\n" + textwrap.dedent(text), level="info", select=[code])
    assert {(finding.code, finding.severity) for finding in findings} == {(code, severity)}


def test_a_program_that_is_called_test_is_no_test() -> None:
    text = """
        import argparse, torch
        def test_agent(args, policy):
            policy.load_state_dict(torch.load(args.resume_path))
        """
    assert [finding.code for finding in check_source(textwrap.dedent(text), select=["TDL101"])] == ["TDL101"]


def test_what_has_attributes_that_no_tensor_has_moves_in_place() -> None:
    text = """
        import torch
        class Trainer:
            def __init__(self, vae):
                self.vae = vae
                self.vae.requires_grad_(False)
            def sizes(self):
                return self.vae.{}
            def place(self, device):
                self.vae.to(device=device)
        """
    assert check_source(textwrap.dedent(text.format("config.sizes")), select=["TDL501"]) == ()


def test_what_is_read_for_more_than_a_tensor_has_is_no_tensor_for_a_method_of_its_name() -> None:
    text = """
    def describe(net, x):
        return net.norm({}).squeeze(0)

    def extract(net, x):
        net.cuda()
        return describe(net, x.cuda())
    """
    assert [one.code for one in check_source(textwrap.dedent(text.format("2, dim=1")), select=["TDL501"])]
    assert check_source(textwrap.dedent(text.format("net.features(x)")), select=["TDL501"]) == ()


def test_modules_of_another_file_that_hold_nothing_may_be_in_a_dict(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    head = "class {}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.{} = {}\n"
    losses = "from torch import nn\n" + head.format("Focal", "loss", "{}")
    kept = "from torch import nn\nfrom losses import Focal\n" + head.format("Head", "parts", "{'focal': Focal()}")
    (tmp_path / "head.py").write_text(kept, encoding="utf-8")
    for loss, codes in (("nn.BCEWithLogitsLoss()", []), ("nn.Linear(3, 3)", ["TDL602"])):
        (tmp_path / "losses.py").write_text(losses.format(loss), encoding="utf-8")
        found = check_paths([tmp_path / "head.py"], select=["TDL602"], processes=1)
        assert [finding.code for finding in found] == codes


DATA_SET = """
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, device):
        self.device = device
    def __getitem__(self, at):
        return torch.ones(3).to(self.device)
"""


@pytest.mark.parametrize(
    ("program", "severity"),
    [
        ("", Severity.WARNING),
        ('print(Rows("cuda")[0])\n', Severity.INFO),
        ('print(len(DataLoader(Rows("cuda"))))\n', Severity.INFO),
    ],
    ids=["no program", "no loader", "a loader without workers"],
)
def test_a_program_that_takes_its_samples_itself_has_no_workers(program: str, severity: Severity) -> None:
    main = f"if __name__ == '__main__':\n    {program}" if program else ""
    (finding,) = check_source(DATA_SET + main, level="info", select=["TDL701"])
    assert finding.severity is severity


def test_what_a_data_set_places_is_told_once() -> None:
    text = """
    from torch.utils.data import Dataset
    class Rows(Dataset):
        def __init__(self, device):
            self.device = device
        def __getitem__(self, at):
            first = torch.ones(2, device=self.device)
            return first, torch.ones(3, device=self.device)
    """
    (finding,) = check_source("import torch\n" + textwrap.dedent(text), level="info", select=["TDL701"])
    assert "(1 more)" in finding.message
    assert [mention.span.start.row for mention in finding.related] == [9]


@pytest.mark.parametrize(
    ("use", "told"), [("F.cross_entropy(self(rows), labels)", ["TDL501"]), ("self.measure(labels)", [])]
)
def test_a_move_is_told_that_is_thrown_away_of_an_operand(use: str, told: list[str]) -> None:
    text = f"""
    import torch.nn.functional as F
    class Replay:
        def penalty(self):
            rows, labels = self.buffer.sample(4)
            labels.to(self.device)
            return {use}
    """
    found = check_source(textwrap.dedent(text), select=["TDL501"])
    assert [one.code for one in found] == told
    assert all(one.severity is Severity.WARNING for one in found)


def test_modules_take_their_parameters_out_of_training_as_tensors_do() -> None:
    text = """
    import torch
    def use(model, device, x):
        model = model.requires_grad_(False)
        model.to(device)
        return model(x)
    """
    assert check_source(textwrap.dedent(text), level="info", select=["TDL501"]) == ()


BROKEN = """\
    model = torch.nn.Linear(3, 3).cuda()
    print(model(torch.zeros(3)))
"""


@pytest.mark.parametrize(
    ("head", "severity"),
    [("", Severity.ERROR), ('import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "-1"\n', Severity.INFO)],
)
def test_what_breaks_on_a_gpu_breaks_in_no_program_that_hides_them(head: str, severity: Severity) -> None:
    text = f"import torch\n{head}if True:\n{BROKEN}"
    (finding,) = check_source(text, level="info", select=["TDL401"])
    assert finding.severity is severity


def test_what_breaks_in_a_function_that_nobody_calls_is_a_note(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    text = f"import torch\n\ndef new():\n    return 1\n\ndef old():\n{BROKEN}"
    (tmp_path / "helpers.py").write_text(text, encoding="utf-8")
    (tmp_path / "more.py").write_text("import helpers\n", encoding="utf-8")
    for asked, severity in (("old", Severity.ERROR), ("new", Severity.INFO)):
        program = f"import helpers\n\nif __name__ == '__main__':\n    print(helpers.{asked}())\n"
        (tmp_path / "run.py").write_text(program, encoding="utf-8")
        found = check_paths([tmp_path], isolated=True, select=["TDL401"])
        assert [one.severity for one in found] == [severity]
