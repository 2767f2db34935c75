"""The entries that are kept from whoever works on the analysis: do not open this file for that.

They are left out unless `--kept` asks for them, and the figure with them is told at the end. An entry that was read for mending moves to tables.py,
and another takes its place here: at least a quarter of each table is kept.
"""

from __future__ import annotations

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = (
    Maker("logspace", "vec", "torch.logspace(0.0, 1.0, 4$dv)", kept=True),
    Maker("multinomial", "idx", "torch.multinomial(torch.ones(4$dv), 3)", kept=True),
    Maker("bernoulli", "F", "torch.bernoulli(torch.full($size, 0.5$dv))", kept=True),
    Maker("cartesian", "mat", "torch.cartesian_prod(torch.ones(3$dv), torch.ones(2$dv))[:3].repeat(1, 2)", kept=True),
    Maker("meshgrid", "mat", 'torch.meshgrid(torch.rand(3$dv), torch.rand(4$dv), indexing="ij")[0]', kept=True),
    Maker("frombuffer", "vec", "torch.frombuffer(bytearray(16), dtype=torch.float32)", kept=True),
    Maker("nonzero", "idx", "torch.tensor([1, 2, 3]$dv).nonzero().flatten()", kept=True),
    Maker("topk-indices", "idx", "torch.rand(4$dv).topk(3).indices", kept=True),
    Maker("unique", "idx", "torch.unique(torch.tensor([0, 1, 2, 2]$dv))", kept=True),
    Maker("bool-of-loop", "mask", "torch.tensor([row % 2 == 0 for row in range(3)]$dv)", kept=True),
    Maker("distribution-sample", "F", "torch.distributions.Normal(0.0, 1.0).sample($size)", kept=True),
    Maker(
        "module-buffer",
        "FNIB",
        "Statistics().mean",
        top='class Statistics(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer("mean", $plain)',
        kept=True,
    ),
    Maker(
        "saved-and-loaded",
        "FIB",
        'torch.load(path, map_location=torch.device("cpu"))["table"]',
        pre='path = os.path.join(tempfile.mkdtemp(), "table.pt")\ntorch.save({"table": $plain}, path)',
        kept=True,
    ),
    Maker(
        "iterable-class",
        "FNIB",
        "next(iter(Stream()))",
        top="class Stream:\n    def __iter__(self):\n        for _ in range(3):\n            yield $plain",
        kept=True,
    ),
    Maker(
        "classmethod",
        "FNIB",
        "Table.build().value",
        top="class Table:\n    def __init__(self, value):\n        self.value = value\n\n    @classmethod\n    def build(cls):\n        return cls($plain)",
        kept=True,
    ),
    Maker(
        "mapping-class",
        "FNIB",
        'Registry()["table"]',
        top='class Registry:\n    def __init__(self):\n        self.entries = {"table": $plain}\n\n    def __getitem__(self, name):\n        return self.entries[name]',
        kept=True,
    ),
)

CARRIERS = (
    Carrier("list-slice", "items = [0, $t, 1]\n$o = items[1:2][0]", kept=True),
    Carrier("list-concatenation", "items = [0] + [$t]\n$o = items[1]", kept=True),
    Carrier("list-extend-pop", "items = []\nitems.extend([$t])\n$o = items.pop()", kept=True),
    Carrier("reversed", "$o = next(reversed([0, $t]))", kept=True),
    Carrier("zip-loop", "for name, $o in zip(['table'], [$t]):\n    pass", kept=True),
    Carrier("sorted-with-key", "$o = sorted([$t], key=lambda item: item.numel())[0]", kept=True),
    Carrier("dict-comprehension", '$o = {name: $t for name in ("a", "b")}["b"]', kept=True),
    Carrier("dict-values", '$o = list({"value": $t}.values())[0]', kept=True),
    Carrier("dict-get", 'parts = {"value": $t}\n$o = parts.get("value", None)', kept=True),
    Carrier("dict-union", 'parts = {"rate": 0.1} | {"value": $t}\n$o = parts["value"]', kept=True),
    Carrier("ordered-dict", "parts = OrderedDict(value=$t)\nname, $o = parts.popitem()", kept=True),
    Carrier("chain-map", '$o = ChainMap({}, {"value": $t})["value"]', kept=True),
    Carrier("itertools-chain", "$o = list(itertools.chain([0], [$t]))[-1]", kept=True),
    Carrier("queue", "waiting = queue.Queue()\nwaiting.put($t)\n$o = waiting.get()", kept=True),
    Carrier("thread-pool", "with ThreadPoolExecutor(1) as pool:\n    $o = pool.submit(lambda: $t).result()", kept=True),
    Carrier("functools-reduce", "$o = functools.reduce(lambda left, right: right, [0, $t])", kept=True),
    Carrier("itemgetter", '$o = operator.itemgetter("value")({"value": $t})', kept=True),
    Carrier("setattr", 'state = SimpleNamespace()\nsetattr(state, "value", $t)\n$o = state.value', kept=True),
    Carrier("vars", 'state = SimpleNamespace(value=$t)\n$o = vars(state)["value"]', kept=True),
    Carrier(
        "dataclass",
        "batch_ = Batch($t)\n$o = batch_.value",
        "@dataclass\nclass Batch:\n    value: torch.Tensor\n    size: int = 1",
        kept=True,
    ),
    Carrier(
        "dataclass-method",
        "$o = Box($t).doubled().value",
        "@dataclass\nclass Box:\n    value: torch.Tensor\n\n    def doubled(self):\n        return Box(self.value.clone())",
        kept=True,
    ),
    Carrier(
        "property",
        "$o = Lazy($t).value",
        "class Lazy:\n    def __init__(self, value):\n        self._value = value\n\n    @property\n    def value(self):\n        return self._value",
        kept=True,
    ),
    Carrier(
        "callable-object",
        "$o = Scale()($t)",
        "class Scale:\n    def __call__(self, value):\n        return value.clone()",
        kept=True,
    ),
    Carrier(
        "inherited-attribute",
        "$o = Child($t).value",
        "class Parent:\n    def __init__(self, value):\n        self.value = value\n\n\nclass Child(Parent):\n    pass",
        kept=True,
    ),
    Carrier(
        "early-return",
        "$o = choose($t)",
        "def choose(value=None):\n    if value is None:\n        return 0\n    return value",
        kept=True,
    ),
    Carrier(
        "try-except-else",
        "try:\n    count = int('3')\nexcept ValueError:\n    count = 0\nelse:\n    $o = $t",
        kept=True,
    ),
    Carrier("view-chain", "$o = $t.flatten().view_as($t)", kept=True),
    Carrier("chunk", "$o = torch.cat($t.chunk(2))", kinds="FIB", kept=True),
    Carrier("module-call", "$o = nn.Flatten(0)($t).reshape($t.shape)", kinds="FIB", kept=True),
    Carrier(
        "both-by-lambda", wrap=("def combine($a, $b):", "(lambda left, right: combine(left, right))($x, $t)"), kept=True
    ),
    Carrier("both-by-dict-call", wrap=("def combine($a, $b):", 'combine(**{"left": $x, "right": $t})'), kept=True),
    Carrier(
        "both-by-registry",
        wrap=("def combine($a, $b):", '{"combine": combine}["combine"]($x, $t)'),
        kept=True,
    ),
    Carrier(
        "both-by-staticmethod",
        wrap=("class Ops:\n    @staticmethod\n    def combine($a, $b):", "Ops.combine($x, $t)"),
        kept=True,
    ),
)

MEETINGS = (
    Meeting("addcmul", "mat", "vec", "out = torch.addcmul($x, $x, $t, value=0.5)", kept=True),
    Meeting("0-dim-right", "mat", "num", "out = $x / $t", kept=True),
    Meeting(
        "0-dim-index_fill", "mat", "num", "out = $x.index_fill(0, torch.tensor([0], device=$x.device), $t)", kept=True
    ),
    Meeting("0-dim-clamp", "mat", "num", "out = torch.clamp($x, max=$t)", kept=True),
    Meeting("0-dim-linear-bias", "mat", "num", "out = F.linear($x, $x, None) + $t", kept=True),
    Meeting("vstack", "mat", "vec", "out = torch.vstack([$x, $t])", kept=True),
    Meeting("dot", "vec", "vec", "out = $x.dot($t)", kept=True),
    Meeting("logaddexp", "mat", "vec", "out = torch.logaddexp($x, $t)", kept=True),
    Meeting("logical", "mat", "mask", "out = ($x > 0) & $t[:, None]", kept=True),
    Meeting("isin", "idx", "idx", "out = torch.isin($x, $t)", kept=True),
    Meeting("bucketize", "mat", "vec", "out = torch.bucketize($x, $t)", kept=True),
    Meeting("searchsorted", "vec", "vec", "out = torch.searchsorted($t, $x)", kept=True),
    Meeting("bincount-weights", "idx", "idx", "out = torch.bincount($x, weights=$t.float())", kept=True),
    Meeting("scatter_add_", "mat", "idx", "out = torch.zeros_like($x).scatter_add_(0, $t[:, None], $x)", kept=True),
    Meeting("index_copy", "mat", "idx", "out = $x.index_copy(0, $t, $x)", kept=True),
    Meeting(
        "grid_sample",
        "img",
        "img",
        "out = F.grid_sample($x, $t.permute(0, 2, 3, 1)[..., :2], align_corners=False)",
        kept=True,
    ),
    Meeting("conv2d-weight", "img", "img", "out = F.conv2d($x, $t[:, :, :3, :3])", kept=True),
    Meeting("batch_norm-statistics", "img", "num", "out = F.batch_norm($x, $t.expand(3), $t.expand(3))", kept=True),
    Meeting(
        "kl_div",
        "mat",
        "mat",
        "out = F.kl_div(F.log_softmax($x, dim=1), F.softmax($t, dim=1), reduction='batchmean')",
        kept=True,
    ),
    Meeting(
        "nll_loss-weight",
        "mat",
        "vec",
        "out = F.nll_loss(F.log_softmax($x, dim=1), $x.argmax(dim=1), weight=$t)",
        kept=True,
    ),
    Meeting("triplet", "mat", "mat", "out = nn.TripletMarginLoss()($x, $x + 1, $t)", kept=True),
    Meeting("comparison-any", "mat", "vec", "out = bool(($x > $t).any())", shown="out", kept=True),
    Meeting("in-place-mul", "mat", "vec", "out = $x.clone()\nout.mul_($t)", kept=True),
    Meeting(
        "numpy-by-asarray",
        "mat",
        "mat",
        "out = np.asarray($x.detach()) + 1",
        good="out = np.asarray($x.detach().cpu()) + 1",
        shown="float(out.sum())",
        kept=True,
    ),
    Meeting(
        "numpy-of-loss",
        "mat",
        "mat",
        "out = F.mse_loss($x, $x).detach().numpy()",
        good="out = F.mse_loss($x, $x).detach().cpu().numpy()",
        shown="float(out)",
        kept=True,
    ),
    Meeting("dtype-only", "mat", "vec", "out = $x.to($t.dtype)", kept=True),
    Meeting("index-by-list", "mat", "idx", "out = $x[$t.tolist()]", kept=True),
    Meeting("expand_as", "mat", "vec", "out = $x + torch.zeros_like($x).copy_($t.expand(3, 4))", kept=True),
    Meeting("Conv2d-input", "img", "img", "out = $m($t)", "nn.Conv2d(3, 4, 3)", kept=True),
    Meeting("LayerNorm-input", "mat", "mat", "out = $m($t) * 2", "nn.LayerNorm(4)", kept=True),
    Meeting("Bilinear", "mat", "mat", "out = $m($x, $t)", "nn.Bilinear(4, 4, 2)", kept=True),
    Meeting(
        "all_gather",
        "vec",
        "vec",
        "parts = [torch.empty_like($x)]\ndist.all_gather(parts, $t)\nout = parts[0]",
        group=True,
        kept=True,
    ),
)

PLACERS = (
    Placer("empty_like-copy_", "$x = torch.empty_like($on)\n$x.copy_($plain)", kept=True),
    Placer("with-device", "with torch.device($dev):\n    $x = $plain", kept=True),
    Placer("non_blocking", "$x = $moved.to($dev, non_blocking=True)", kept=True),
    Placer("to-other-tensor", "anchor = torch.zeros(1$dtype, device=$dev)\n$x = $moved.to(anchor)", kept=True),
    Placer(
        "method-then-rename",
        "moved = $plain\nmoved = moved.contiguous()\nmoved = moved.to(device=$dev)\n$x = moved",
        kept=True,
    ),
    Placer(
        "attribute-moved",
        "pack_ = SimpleNamespace(data=$plain)\npack_.data = pack_.data.to($dev)\n$x = pack_.data",
        kept=True,
    ),
    Placer(
        "dict-comprehension",
        'batch = {name: item.to($dev) for name, item in {"data": $plain}.items()}\n$x = batch["data"]',
        kept=True,
    ),
    Placer(
        "method-of-batch",
        "$x = Moving($plain).to($dev).data",
        "class Moving:\n    def __init__(self, data):\n        self.data = data\n\n"
        "    def to(self, device):\n        self.data = self.data.to(device)\n        return self",
        kept=True,
    ),
)

DEVICES = (
    Device(
        "argparse",
        "options().device",
        'def options():\n    parser = argparse.ArgumentParser()\n    parser.add_argument("--device", default="cuda")\n    return parser.parse_args([])',
        kept=True,
    ),
    Device("f-string", 'torch.device(f"cuda:{torch.cuda.current_device()}")', kept=True),
    Device("cpu", 'torch.device("cpu")', kept=True, closed=True),
)
