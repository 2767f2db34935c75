"""Thirty-two more kept entries, written by the author of the analysis after its last change: it was not tuned to them. See kept.py for the others."""

from __future__ import annotations

from differential.rows import Carrier, Maker, Meeting

MAKERS = (
    Maker("cartesian_prod", "vec", "torch.cartesian_prod(torch.arange(4.0$dv), torch.arange(1.0$dv))[:, 0]", kept=True),
    Maker("logspace-flip", "vec", "torch.logspace(0, 1, 4$dv).flip(0)", kept=True),
    Maker("tensordot", "mat", "torch.tensordot(torch.ones(3, 2$dv), torch.ones(2, 4$dv), dims=1)", kept=True),
    Maker("fft-real", "F", "torch.fft.fft($rand).real", kept=True),
    Maker(
        "linalg-norm-scaled", "mat", "torch.ones(3, 4$dv) / torch.linalg.vector_norm(torch.ones(3, 4$dv))", kept=True
    ),
    Maker("complex-abs", "F", "torch.view_as_real(torch.complex($rand, $rand)).sum(-1)", kept=True),
    Maker("sparse-to-dense", "mat", "torch.ones(3, 4$dv).to_sparse().to_dense()", kept=True),
    Maker("special-expit", "F", "torch.special.expit($rand)", kept=True),
    Maker("gamma-sample", "vec", "torch.distributions.Gamma(torch.ones(4$dv), torch.ones(4$dv)).sample()", kept=True),
    Maker("quantile-of-random", "vec", "torch.quantile(torch.rand(5, 4$dv), 0.5, dim=0)", kept=True),
    Maker("vmap-of-rows", "mat", "torch.vmap(lambda row: row + 1)(torch.ones(3, 4$dv))", kept=True),
    Maker(
        "sampler-order",
        "idx",
        "torch.tensor(list(torch.utils.data.SequentialSampler(range(3)))$dv)",
        kept=True,
    ),
    Maker(
        "parametrized-weight",
        "mat",
        "normed.weight.detach()",
        pre="normed = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3))",
        kept=True,
    ),
)

CARRIERS = (
    Carrier("list-reverse-then-index", "items = [1, $t]\nitems.reverse()\n$o = items[0]", kept=True),
    Carrier(
        "iterator-with-default",
        "$o = next((item for item in [$t] if item is not None), None)",
        kept=True,
    ),
    Carrier(
        "callback-list",
        "seen = []\nlisteners = [seen.append]\nfor listener in listeners:\n    listener($t)\n$o = seen[0]",
        kept=True,
    ),
    Carrier(
        "exception-from-helper",
        "try:\n    refuse($t)\nexcept Refused as refused:\n    $o = refused.value",
        "class Refused(Exception):\n    def __init__(self, value):\n        super().__init__()\n        self.value = value\n\n\n"
        "def refuse(value):\n    raise Refused(value)",
        kept=True,
    ),
    Carrier(
        "delegated-result",
        "$o = list(outer_steps($t))[-1]",
        "def inner_steps(value):\n    yield 0\n    return value\n\n\n"
        "def outer_steps(value):\n    result = yield from inner_steps(value)\n    yield result",
        kept=True,
    ),
    Carrier(
        "cached-method",
        "$o = Memo().get($t)",
        "class Memo:\n    def __init__(self):\n        self.known = {}\n\n    def get(self, value):\n"
        '        if "one" not in self.known:\n            self.known["one"] = value\n'
        '        return self.known["one"]',
        kept=True,
    ),
    Carrier(
        "builder-chain",
        "$o = Builder().add($t).add(1).build()[0]",
        "class Builder:\n    def __init__(self):\n        self.parts = []\n\n    def add(self, value):\n"
        "        self.parts.append(value)\n        return self\n\n    def build(self):\n"
        "        return self.parts",
        kept=True,
    ),
    Carrier(
        "visitor-by-name",
        '$o = Visitor().visit("tensor", $t)',
        "class Visitor:\n    def visit(self, kind, value):\n"
        '        return getattr(self, "visit_" + kind)(value)\n\n    def visit_tensor(self, value):\n'
        "        return value",
        kept=True,
    ),
)

MEETINGS = (
    Meeting("addcdiv", "mat", "mat", "out = torch.addcdiv($x, $t, $t.abs() + 1)", kept=True),
    Meeting("nextafter", "mat", "mat", "out = torch.nextafter($x, $t)", kept=True),
    Meeting(
        "linalg.solve",
        "sq",
        "sq",
        "out = torch.linalg.solve(torch.eye(5, device=$x.device) + $x @ $x.t(), $t)",
        kept=True,
    ),
    Meeting("kron", "vec", "vec", "out = torch.kron($x, $t)", kept=True),
    Meeting("hypot", "mat", "vec", "out = torch.hypot($x, $t)", kept=True),
    Meeting("heaviside", "mat", "vec", "out = torch.heaviside($x, $t)", kept=True),
    Meeting("fft-product", "mat", "mat", "out = torch.fft.ifft(torch.fft.fft($x) * torch.fft.fft($t)).real", kept=True),
    Meeting("lstsq", "mat", "mat", "out = torch.linalg.lstsq($x.t(), $t.t()).solution", kept=True),
    Meeting("normal-log_prob", "mat", "vec", "out = torch.distributions.Normal($t, 1.0).log_prob($x)", kept=True),
    Meeting("bilinear", "mat", "mat", "out = $m($x, $t)", module="nn.Bilinear(4, 4, 2)", kept=True),
    Meeting("cov-weights", "mat", "vec", "out = torch.cov($x, aweights=$t.abs() + 1)", kept=True),
)
