"""What an edit takes the device of is proven to be a tensor."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchdevlint import check_paths, check_source, fix_source
from torchdevlint.findings import Finding

HEAD = "import torch\nfrom torch import nn\nfrom layers import Layer\n"


def in_forward(parameters: str, uses: str, rest: str = "") -> str:
    """A module of which `forward` makes a tensor on CUDA, behind some uses of its parameters."""
    return (
        HEAD
        + textwrap.dedent(f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = Layer()
                self.linear = nn.Linear(3, 3)

            def helped(self, a, b):
                return a.view(-1), b

            def forward(self, {parameters}):
                made = torch.zeros(3).cuda()
                {uses}
                return self.layer(made)
        """)
        + textwrap.dedent(rest)
    )


def advised(text: str) -> str:
    """What the finding says to use, and "" where it names nothing; the message and the edit name the same."""
    found: Finding = next(one for one in check_source(text, level="info") if one.code == "TDL605")
    named = found.message.rpartition("use `")[2].rstrip("`") if "use `" in found.message else ""
    repaired = fix_source(text, unsafe=True, level="info", select=["TDL605"])[0]
    assert (f".to({named})" in repaired) if named else (".to(" not in repaired)
    return named


PROVEN = {
    "a method of tensors": ("x", "self.layer(x.unsqueeze(0))"),
    "a function of torch": ("x", "self.layer(torch.relu(x))"),
    "a layer of torch": ("x", "self.layer(self.linear(x))"),
    "an index of several dimensions": ("x", "self.layer(x, x[:, 0])"),
    "a method that proves it": ("x", "self.helped(x, 1)"),
    "an annotation": ("x: torch.Tensor", "self.layer(x)"),
    "all that forward computes with": ("x", "return x + made"),
}
UNPROVEN = {
    "given to a layer of another file": ("x, flag", "self.layer(x, flag)"),
    "given to a method that does nothing with it": ("x", "self.helped(made, x)"),
    "counted": ("x", "self.layer(made, len(x))"),
    "read by a key": ("x", "self.layer(x['a'], torch.relu(x))"),
    "read like a dict": ("x", "self.layer(x, x.keys())"),
    "indexed by a number": ("x", "self.layer(x[0])"),
    "computed with, beside another": ("x, scale", "self.layer(x, scale * 2)"),
    "bound anew": ("x", "x = torch.stack([made, made]); self.layer(x.view(-1))"),
    "asked whether it is a list": ("x", "self.layer(torch.relu(x) if not isinstance(x, list) else x)"),
}


@pytest.mark.parametrize("case", PROVEN)
def test_a_proven_tensor_is_named(case: str) -> None:
    assert advised(in_forward(*PROVEN[case])) == "x.device"


@pytest.mark.parametrize("case", UNPROVEN)
def test_what_may_be_anything_is_not_named(case: str) -> None:
    assert advised(in_forward(*UNPROVEN[case])) == ""


def test_a_proven_tensor_is_named_before_one_that_is_not() -> None:
    assert advised(in_forward("flag, x", "self.layer(torch.relu(x), flag)")) == "x.device"


CALLER = """
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, y):
        {before}
        return self.net({given})
"""


@pytest.mark.parametrize(
    "before, given", [("flag = False", "flag"), ("pass", "True"), ("pass", "[y, y]"), ("n = len(y)", "n")]
)
def test_a_call_that_gives_something_else_contradicts(before: str, given: str) -> None:
    assert advised(in_forward("x", "self.layer(torch.relu(x))", CALLER.format(before=before, given=given))) == ""


def test_a_call_that_gives_a_tensor_does_not() -> None:
    assert advised(in_forward("x", "self.layer(torch.relu(x))", CALLER.format(before="pass", given="y"))) == "x.device"


@pytest.mark.parametrize("given, named", [("3.0", ""), ("{}", ""), ("y", "use `x.device`")])
def test_a_call_in_another_file_contradicts(tmp_path: Path, given: str, named: str) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "net.py").write_text(in_forward("x", "self.layer(torch.relu(x))"))
    caller = CALLER.format(before="pass", given=given)
    (tmp_path / "outer.py").write_text(f"from torch import nn\nfrom net import Net\n{caller}")
    found = [one for one in check_paths([tmp_path], isolated=True) if one.code == "TDL605"]
    assert [named in one.message if named else "use `" not in one.message for one in found] == [True]


def test_a_tensor_like_another_needs_no_move() -> None:
    text = in_forward("x", "return torch.randn_like(x).cuda() + self.linear(x)")
    text = text.replace("torch.zeros(3).cuda()", "torch.zeros(3)")
    found = [one for one in check_source(text, level="info") if one.code == "TDL605"]
    assert [one.message for one in found] == [
        "`.cuda()` ties this module to the current `cuda` device; delete it: `randn_like` is where its argument is"
    ]
    assert "return torch.randn_like(x) + self.linear(x)" in fix_source(text, unsafe=True, select=["TDL605"])[0]


SIZES = {
    "torch.cuda.FloatTensor(b, c, 1, 1)": 'torch.empty(b, c, 1, 1, dtype=torch.float32, device="cuda")',
    "torch.cuda.LongTensor([b, c])": 'torch.tensor([b, c], dtype=torch.int64, device="cuda")',
}


@pytest.mark.parametrize("old", SIZES)
def test_a_legacy_constructor_becomes_what_it_does(old: str) -> None:
    text = f"import torch\n\ndef make(b, c):\n    return {old}.fill_(0)\n"
    assert fix_source(text)[0] == text.replace(old, SIZES[old])


@pytest.mark.parametrize(
    "given, told",
    [
        ("b, c", "write `torch.empty(..., dtype=torch.float32, device=...)`"),
        ("3", "write `torch.empty(..., dtype=torch.float32, device=...)`"),
        ("x.size()", "write `torch.empty(..., dtype=torch.float32, device=...)`"),
        ("[b, c]", "write `torch.tensor(..., dtype=torch.float32, device=...)`"),
        ("b", "write `torch.tensor` (`torch.empty` for a size) with `device=...`"),
    ],
)
def test_a_legacy_constructor_of_sizes_is_told_apart(given: str, told: str) -> None:
    text = f"import torch\n\ndef make(b, c, x: torch.Tensor):\n    return torch.cuda.FloatTensor({given})\n"
    assert [one.message for one in check_source(text)] == [f"`torch.cuda.FloatTensor(...)` needs CUDA; {told}"]
