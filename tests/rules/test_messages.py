"""What a finding says: at most 110 characters, what is wrong and then what to do; PyTorch's own words are in the detail."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from test_fixtures import FAULTY, SILENT, found, named

from torchdevlint import check_source
from torchdevlint.rules.message import MOST_CHARACTERS, bounded, shortened_name

# What a reader is told to do.
ACTIONS = (
    "add ask assign bind bring build call choose compare convert create default do drop follow give keep leave load make move name pass pin "
    "put register remove return save set start store take test use write"
).split()
ACTION = re.compile(rf"; (?:{'|'.join(ACTIONS)})\b[^;]*\Z")
RAISED = re.compile(r"\braises?\b|Error\b|\"Expected ")


@pytest.mark.parametrize("path", [*FAULTY, *SILENT], ids=named)
def test_a_message_is_short_and_ends_with_what_to_do(path: Path) -> None:
    for finding in found(path.read_text(encoding="utf-8"), path, "info"):
        if finding.code == "TDL000":  # the parser says what is wrong, and where
            assert len(finding.message) <= MOST_CHARACTERS
            continue
        message = finding.message
        assert len(message) <= MOST_CHARACTERS and message == message.strip() and "\n" not in message, message
        assert ACTION.search(message), message
        assert not message.endswith((".", "...")), message
        assert not RAISED.search(message), f"what PyTorch raises belongs into the detail: {message}"
        assert message.count("`") % 2 == 0, message
        if finding.detail:
            assert finding.detail.endswith((".", '."')) and not finding.detail[0].islower(), finding.detail


def test_names_are_cut_in_the_middle() -> None:
    assert shortened_name("abcdefghijklmnop", 16) == "abcdefghijklmnop"
    assert shortened_name("abcdefghijklmnopq", 10) == "abcd...opq"
    assert len(shortened_name("x" * 400, 9)) == 9


def test_a_name_of_torch_loses_its_modules() -> None:
    assert shortened_name("torch.set_default_device", 23) == "set_default_device"
    mask = "torch.nn.Transformer.generate_square_subsequent_mask(...)"
    assert shortened_name(mask, 55) == "nn.Transformer.generate_square_subsequent_mask(...)"
    assert shortened_name(mask, 40) == "generate_square_subsequent_mask(...)"
    assert shortened_name(mask, 20) == "torch.nn....ask(...)"
    assert shortened_name("torch.zeros(3).to(device).view(2)", 20) == "torch.zer....view(2)"


def test_a_long_name_leaves_the_advice_whole() -> None:
    name = "self.encoder.layers[0].attention.projections['query'].normalisation.running_mean"
    message = bounded(f"`{name}` stays on the CPU when the module moves; register it as a buffer")
    assert len(message) == MOST_CHARACTERS
    assert message.startswith("`self.encoder.") and "..." in message
    assert message.endswith("running_mean` stays on the CPU when the module moves; register it as a buffer")


def test_the_longest_name_of_the_fault_is_cut_first() -> None:
    message = bounded(f"`{'a' * 30}` meets `{'b' * 80}`; use `{'c' * 20}`")
    assert "`" + "a" * 30 + "`" in message and "`" + "c" * 20 + "`" in message and "b...b" in message
    assert len(message) == MOST_CHARACTERS


def test_what_has_no_name_to_cut_is_cut_at_the_end() -> None:
    assert bounded("x" * 200) == "x" * (MOST_CHARACTERS - 3) + "..."
    assert bounded("short") == "short"


def test_an_expression_as_long_as_a_file_is_a_short_message() -> None:
    receiver = "batch" + "".join(f"['key_{number}']" for number in range(60))
    text = f"import torch\ndef f(batch, device):\n    x = torch.ones(3)\n    {receiver}.to(device)\n    x.to(device)\n"
    findings = check_source(text, level="info")
    assert findings and all(len(finding.message) <= MOST_CHARACTERS for finding in findings)


def test_the_detail_tells_what_pytorch_raises() -> None:
    (finding,) = check_source("import torch\nstate = torch.load('model.pt')\n")
    assert finding.message.endswith('pass `map_location="cpu"` or a device')
    assert finding.detail.startswith(
        "A checkpoint that was saved from a GPU fails to load on a machine without that GPU"
    )


CLAIMS = """\
import torch
from torch import nn


def accumulate(model: nn.Module, batches, device):
    model.to(device)
    start = torch.zeros(4)
    return model(start)


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 4)

    def forward(self, x: torch.Tensor):
        positions = torch.arange(x.size(1))
        return self.table(positions)


def read(device):
    scores = torch.ones(3, device=device)
    return scores.numpy()
"""


def test_what_claims_tell_names_the_users_tensors_and_devices() -> None:
    told = {finding.span.start.row: finding.message for finding in check_source(CLAIMS, level="info")}
    assert told == {
        7: "the CPU tensor `start` meets a model on `device` on line 8; create it with `device=device`",
        17: "the CPU tensor `positions` meets a model on the module's device on line 18; create it with `device=x.device`",
        23: "`scores` may be on `device`, and NumPy reads host memory; call `.cpu()` first",
    }


def test_a_device_that_is_named_already_is_there() -> None:
    told = "the CPU tensor `positions` meets a tensor on the device of `modalities` on line 9; create it with `device=modalities.device`"
    assert bounded(told).endswith("on the device of `modalities` on line 9; create it there")
    short = "the CPU tensor `a` meets a tensor on the device of `x` on line 9; create it with `device=x.device`"
    assert bounded(short) == short


@pytest.mark.parametrize(
    ("made", "said"),
    [("given.grown(3).rate", "the device of `rate`"), ("given.grown(3)", "the device that it was given")],
)
def test_what_a_method_gives_is_no_option_of_a_program(made: str, said: str) -> None:
    text = f"import torch\n\ndef f(given):\n    there = torch.ones(3, device={made}.device)\n    return there + torch.ones(3)\n"
    assert any(said in found.message for found in check_source(text, "f.py", level="info") if found.code == "TDL504")


def test_what_was_computed_from_a_parameter_before_its_module_moved_is_no_module() -> None:
    text = """
    import torch
    from torch import nn
    model = nn.Linear(2, 2)
    mask = torch.ones_like(model.weight)
    model.cuda()
    print(model.weight * mask)
    """
    (finding,) = check_source(textwrap.dedent(text), ignore=["TDL8"])
    assert (finding.code, finding.span.start.row) == ("TDL505", 7)
    assert "module" not in finding.message
