"""When `map_location="cpu"` is a safe fix: only where nothing but `load_state_dict` or a move ever sees the tensors."""

from __future__ import annotations

import textwrap

import pytest

from torchdevlint import check_source

SAFE = [
    "model.load_state_dict(torch.load(p))",
    "model.load_state_dict(torch.load(p)['model'], strict=False)",
    "model.load_state_dict(state_dict=torch.load(p))",
    "model.load_state_dict(torch.load(p), assign=False)",
    "c = torch.load(p)\nmodel.load_state_dict(c['model'])\noptimizer.load_state_dict(c['optimizer'])\nstart = c['epoch'] + 1",
    "c = torch.load(p)\nif 'model' in c:\n    c = c['model']\nmodel.load_state_dict(c)",
    "c = torch.load(p)\nmodel.load_state_dict({k.replace('module.', ''): v for k, v in c.items()})",
    "c = torch.load(p)\nprint(len(c))\nmodel.load_state_dict(c.get('model', c))",
    "t = torch.load(p).to(device)\nreturn t + 1",
    "return torch.load(p)['weights'].cuda()",
    "torch.load(p)",
]
UNSAFE = [
    "return torch.load(p)",
    "t = torch.load(p)\nreturn t + 1",
    "self.table = torch.load(p)",
    "model.load_state_dict(torch.load(p), assign=True)",
    "model.load_state_dict(torch.load(p), assign=flag)",
    "c = torch.load(p)\nmodel.load_state_dict(c['model'])\nreturn c['best']",
    "c = torch.load(p)\nmodel.load_state_dict(c)\nprint(c)",
    "m = torch.load(p)\nm = m.to(device)\nreturn m(x)",
    "m = torch.load(p)\nreturn m(x)",
    "c = torch.load(p)\nout['weights'] = c['weights']",
    "c = torch.load(p)\nreturn [v.mean() for v in c.values()]",
    "c = torch.load(p)\ndef later():\n    return c\nmodel.load_state_dict(c)",
    "global c\nc = torch.load(p)\nmodel.load_state_dict(c)",
    "c = torch.load(p)\nkeep(c)\nmodel.load_state_dict(c)",
    "yield torch.load(p)",
]


def applicability(body: str) -> str:
    text = (
        "import torch\n\n\ndef f(self, model, optimizer, p, x, device, out, keep, flag):\n"
        + textwrap.indent(body, "    ")
        + "\n"
    )
    (finding,) = check_source(text, select=["TDL101"])
    assert finding.fix is not None
    return finding.fix.applicability.value


@pytest.mark.parametrize("body", SAFE)
def test_copied_or_moved_is_safe(body: str) -> None:
    assert applicability(body) == "safe"


@pytest.mark.parametrize("body", UNSAFE)
def test_seen_where_it_lives_is_unsafe(body: str) -> None:
    assert applicability(body) == "unsafe"


def test_a_module_name_that_a_function_reads_is_unsafe() -> None:
    text = "import torch\nstate = torch.load('a.pt')\nmodel.load_state_dict(state)\n\n\ndef f():\n    return state\n"
    (finding,) = check_source(text, select=["TDL101"])
    assert finding.fix is not None
    assert finding.fix.applicability.value == "unsafe"
