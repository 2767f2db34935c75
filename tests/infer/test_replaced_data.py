"""`x.data = value`: the tensor is where its new values are, for all who hold it."""

from __future__ import annotations

import ast
import textwrap

import pytest

from torchdevlint.infer.analysis import analyse
from torchdevlint.program import from_ast

HEAD = "import torch\nfrom torch import nn\n\nx = torch.ones(3, device='cuda')\n"

RIGHT = {
    "a name": "a = torch.ones(3)\na.data = a.data.cuda()\nx + a\n",
    "the rows of a list": "rows = [torch.ones(3), torch.ones(3)]\nfor row in rows:\n    row.data = row.data.to('cuda')\nx + rows[0]\n",
    "what a function makes": """
        def moved(given, device):
            made = given.detach().clone()
            made.data = made.data.to(device)
            return made

        x + moved(torch.ones(3), x.device)
        """,
    "what a function is given": """
        def move(given):
            given.data = given.data.cuda()

        a = torch.ones(3)
        move(a)
        x + a
        """,
    "the parameters of a layer": "layer = nn.Linear(3, 3)\nfor p in layer.parameters():\n    p.data = p.data.cuda()\nlayer(x)\n",
    "the parameters of a layer, by a function": """
        def place(module, device):
            for p in module.parameters():
                p.data = p.data.to(device)
                if p.grad is not None:
                    p.grad.data = p.grad.data.to(device)

        layer = nn.Linear(3, 3)
        place(layer, "cuda")
        layer(x)
        """,
    "a parameter of a layer that is moved later": """
        class Mix(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv1d(3, 3, 1)
                self.conv.weight.data = torch.eye(3).view(3, 3, 1)

            def infer(self):
                audio = torch.zeros(1, 3, 3, device="cuda")
                return torch.conv1d(audio, self.conv.weight.squeeze().inverse()[..., None])

        Mix().cuda().infer()
        """,
    "a parameter that an object keeps": """
        class Metric:
            def __init__(self, device=None):
                held = nn.Parameter(torch.randn(3))
                held.data = held.data.to(device)
                self.offset = held.detach()

            def update(self, scores):
                return torch.relu(scores) + self.offset

        Metric("cuda").update(x)
        """,
}
FAULTY = {
    "a name that goes back": "b = torch.ones(3, device='cuda')\nb.data = torch.ones(3)\nx + b\n",
    "a name that meets what stayed": "c = torch.ones(3)\nc.data = c.data.cuda()\nc + torch.ones(3)\n",
    "a layer that goes back": "layer = nn.Linear(3, 3).cuda()\nfor p in layer.parameters():\n    p.data = p.data.cpu()\nlayer(x)\n",
    "another tensor": "a, b = torch.ones(3), torch.zeros(3)\na.data = a.data.cuda()\nx + b\n",
}


def verdicts(text: str) -> list[str]:
    return [fault.verdict for fault in analyse(from_ast.lower(ast.parse(HEAD + textwrap.dedent(text)))).decided()]


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_a_tensor_is_where_its_new_data_is(text: str) -> None:
    assert verdicts(text) == []


@pytest.mark.parametrize("text", FAULTY.values(), ids=FAULTY)
def test_it_meets_what_is_elsewhere(text: str) -> None:
    assert verdicts(text) == ["broken"]


TWO_OF_A_LINE = """
def conv():
    return nn.Linear(3, 3)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([conv()])

    def forward(self, x):
        return self.layers[0](x)

def halve(layer):
    if isinstance(layer, nn.Linear):
        layer.weight.data = layer.weight.data.half()

first = Net()
first.to("cuda")
second = Net()
second.apply(halve)
first(torch.zeros(3, device="cuda"))
"""


def test_a_layer_that_another_object_made_on_the_same_line_stays_where_it_is() -> None:
    assert verdicts(TWO_OF_A_LINE) == []
