"""Repairs from the text of a line."""

from __future__ import annotations

import pytest

from torchdevlint.explain.evidence import Value
from torchdevlint.explain.suggestion import suggest


@pytest.mark.parametrize(
    ("cause", "line", "made"),
    [
        ("numpy", "y = x.numpy()", "y = x.cpu().numpy()"),
        ("numpy", "for row in x.detach().numpy():", "for row in x.detach().cpu().numpy():"),
        ("numpy", "y = x.cpu().numpy()", None),
        ("numpy", "return np.array(targets)", None),
        ("numpy", "y = f(a.numpy(), b.numpy())", None),
        ("load-location", "state = torch.load(path)", 'state = torch.load(path, map_location="cpu")'),
        ("load-location", "net.load_state_dict(torch.load(f(a), weights_only=True,))", 'net.load_state_dict(torch.load(f(a), weights_only=True, map_location="cpu"))'),
        ("load-location", "state = torch.load(path, map_location=device)", None),
        ("load-location", "state = torch.load(path, device)", None),
        ("load-location", "state = torch.load(path, **options)", None),
        ("load-location", "state = load(path)", None),
        ("load-location", "state = torch.load(", None),
        ("cpu-argument", "p = pack_padded_sequence(x, lengths, True)", "p = pack_padded_sequence(x, lengths.cpu(), True)"),
        ("cpu-argument", "p = nn.utils.rnn.pack_padded_sequence(x, lengths=n)", "p = nn.utils.rnn.pack_padded_sequence(x, lengths=n.cpu())"),
        ("cpu-argument", "p = pack_padded_sequence(*args)", None),
        ("module-left-behind", "y = model(x)", None),
    ],
)  # fmt: skip
def test_by_text(cause: str, line: str, made: str | None) -> None:
    assert suggest(cause, line) == made


def test_the_operand_that_is_known_to_be_on_the_cpu_is_moved() -> None:
    cpu, gpu = Value("mask", "cpu", "tensor"), Value("x", "cuda:0", "tensor")
    assert suggest("tensor-left-behind", "return x * mask", (gpu, cpu)) == "return x * mask.to(x.device)"
    assert suggest("tensor-left-behind", "return x * mask + mask", (gpu, cpu)) is None
    assert suggest("tensor-left-behind", "return x * mask", (cpu,)) is None
    assert suggest("tensor-left-behind", "return x * other.mask", (gpu, cpu)) is None
