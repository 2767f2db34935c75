"""The kept half of the third batch of entries, written on 2026-11-23 from what PyTorch programs do by an author who knew nothing of the analysis.

See kept.py: do not open it to mend the analysis.
"""

from __future__ import annotations

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = (
    Maker("causal-mask", "mat", "nn.Transformer.generate_square_subsequent_mask(4$dv)[:3]", kept=True),
    Maker(
        "sinusoid-table",
        "mat",
        "sinusoid_table(3, 4)",
        top="def sinusoid_table(length, width):\n    position = torch.arange(length, dtype=torch.float).unsqueeze(1)\n"
        "    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))\n    table = torch.zeros(length, width)\n"
        "    table[:, 0::2] = torch.sin(position * rates)\n    table[:, 1::2] = torch.cos(position * rates)\n    return table",
        kept=True,
    ),
    Maker(
        "detection-anchors",
        "mat",
        "AnchorGenerator((1.0, 2.0, 4.0)).grid()",
        top="class AnchorGenerator:\n    def __init__(self, scales):\n        self.scales = scales\n\n    def grid(self):\n"
        "        boxes = []\n        for scale in self.scales:\n            half = scale / 2\n"
        "            boxes.append([-half, -half, half, half])\n        return torch.tensor(boxes)",
        kept=True,
    ),
    Maker(
        "replay-buffer-sample",
        "mat seq img",
        "filled_replay().sample($first)",
        top="class ReplayBuffer:\n    def __init__(self, capacity):\n        self.memory = deque(maxlen=capacity)\n\n"
        "    def push(self, state):\n        self.memory.append(state)\n\n    def sample(self, count):\n"
        "        chosen_states = random.sample(list(self.memory), count)\n        return torch.stack(chosen_states)\n\n\n"
        "def filled_replay():\n    replay = ReplayBuffer(8)\n    for _ in range(4):\n        replay.push(torch.randn($rest))\n"
        "    return replay",
        kept=True,
    ),
    Maker(
        "default-collate-of-dicts",
        "idx",
        'next(iter(DataLoader(rows_, batch_size=3)))["label"]',
        pre='rows_ = [{"label": number % 3, "text": "a"} for number in range(3)]',
        kept=True,
    ),
    Maker(
        "cached_property",
        "FNIB",
        "Grid().points",
        top="class Grid:\n    @functools.cached_property\n    def points(self):\n        return $plain",
        kept=True,
    ),
    Maker(
        "schedule-of-registry",
        "FNIB",
        'SCHEDULES["constant"]().table()',
        top="class BaseSchedule(ABC):\n    @abstractmethod\n    def table(self):\n        raise NotImplementedError\n\n\n"
        "class ConstantSchedule(BaseSchedule):\n    def table(self):\n        return $plain\n\n\n"
        'SCHEDULES = {"constant": ConstantSchedule}',
        kept=True,
    ),
    Maker(
        "getattr-config",
        "FNIB",
        "Namespace_().table",
        top='class Namespace_:\n    def __init__(self):\n        self.__dict__["_values"] = {"table": $plain}\n\n'
        "    def __getattr__(self, name):\n        return self._values[name]",
        kept=True,
    ),
    Maker(
        "shadow-of-parameters",
        "mat",
        'shadow["weight"]',
        pre="network = nn.Linear(4, 3)\nshadow = {name: weight.detach().clone() for name, weight in network.named_parameters()}",
        kept=True,
    ),
    Maker(
        "numpy-generator",
        "F",
        "torch.tensor(np.random.default_rng(0).normal(size=$size), dtype=torch.float32$dv)",
        kept=True,
    ),
    Maker(
        "rows-of-subset",
        "mat",
        "torch.stack([row for row in torch.utils.data.Subset(torch.eye(4$dv), [0, 2, 3])])",
        kept=True,
    ),
    Maker("uniform_", "F", "torch.empty($shape$dv).uniform_(-1.0, 1.0)", kept=True),
    Maker("pretrained-embedding", "mat", "nn.Embedding.from_pretrained(torch.ones(3, 4$dv)).weight.data", kept=True),
    Maker(
        "enum-member-method",
        "FNIB",
        "Prior.FLAT.table()",
        top='class Prior(Enum):\n    FLAT = "flat"\n    SHARP = "sharp"\n\n    def table(self):\n'
        "        scale = 1 if self is Prior.FLAT else 2\n        assert scale\n        return $plain",
        kept=True,
    ),
)

CARRIERS = (
    Carrier(
        "dataclass-replace",
        "sample_ = dataclasses.replace(Sample(None), value=$t)\n$o = sample_.value",
        "@dataclass(frozen=True)\nclass Sample:\n    value: torch.Tensor | None\n    weight: float = 1.0",
        kept=True,
    ),
    Carrier("heap", "heap = []\nheapq.heappush(heap, (1.0, $t))\npriority, $o = heapq.heappop(heap)", kept=True),
    Carrier(
        "load_state_dict",
        "source = Slots($t)\ntwin = Slots(torch.zeros_like($t))\ntwin.load_state_dict(source.state_dict())\n$o = twin.value",
        "class Slots(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
        '        self.register_buffer("value", value)',
        kept=True,
    ),
    Carrier(
        "delegating-wrapper",
        "$o = Wrapped(SimpleNamespace(value=$t)).value",
        "class Wrapped:\n    def __init__(self, inner):\n        self.inner = inner\n\n    def __getattr__(self, name):\n"
        "        return getattr(self.inner, name)",
        kept=True,
    ),
    Carrier(
        "shared-class-attribute", "Shared.value = $t\n$o = Shared().value", "class Shared:\n    value = None", kept=True
    ),
    Carrier(
        "abstract-source",
        "$o = TensorSource($t).read()",
        "class Source(ABC):\n    @abstractmethod\n    def load(self):\n        ...\n\n    def read(self):\n        return self.load()\n\n\n"
        "class TensorSource(Source):\n    def __init__(self, value):\n        self.value = value\n\n    def load(self):\n"
        "        return self.value",
        kept=True,
    ),
    Carrier(
        "singledispatch",
        "$o = convert($t)",
        "@functools.singledispatch\ndef convert(value):\n    return value\n\n\n@convert.register\ndef _(value: torch.Tensor):\n"
        "    return value.clone()",
        kept=True,
    ),
    Carrier(
        "captured-by-hook",
        "captured = {}\nprobe = nn.Identity()\n"
        "probe.register_forward_hook(lambda module, given, result: captured.update(value=result))\nprobe($t)\n"
        '$o = captured["value"]',
        kept=True,
    ),
    Carrier("functional_call", "$o = torch.func.functional_call(nn.Identity(), {}, ($t,))", kept=True),
    Carrier(
        "match-mapping",
        'match {"kind": "plain", "value": $t}:\n    case {"kind": "plain", "value": $o}:\n        pass',
        kept=True,
    ),
    Carrier(
        "match-class",
        "match Token($t):\n    case Token(value=$o):\n        pass",
        "class Token:\n    def __init__(self, value):\n        self.value = value",
        kept=True,
    ),
    Carrier("default_collate", '$o = torch.utils.data.default_collate([{"value": $t}])["value"][0]', kept=True),
    Carrier("cycle", "endless = itertools.cycle([$t])\n$o = next(endless)", kept=True),
    Carrier("sum-of-list", "$o = sum([$t, $t])", kinds="FN", kept=True),
    Carrier(
        "mean-of-list",
        "runs = [$t * scale for scale in (1, 2)]\n$o = torch.stack(runs).mean(dim=0)",
        kinds="FN",
        kept=True,
    ),
    Carrier("or-default", "given = None\n$o = given or $t", kept=True),
    Carrier("lambda-default", "pick_ = lambda value=$t: value\n$o = pick_()", kept=True),
    Carrier(
        "property-setter",
        "slot = Slot()\nslot.value = $t\n$o = slot.value",
        "class Slot:\n    def __init__(self):\n        self._value = None\n\n    @property\n    def value(self):\n"
        "        return self._value\n\n    @value.setter\n    def value(self, new):\n        self._value = new.detach()",
        kept=True,
    ),
    Carrier(
        "both-by-autograd-function",
        wrap=(
            "class Combine(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, $a, $b):",
            "Combine.apply($x, $t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-by-template-method",
        wrap=(
            "class Combiner:\n    def __call__(self, *tensors):\n        return self.combine(*tensors)\n\n\nclass OwnCombiner(Combiner):\n"
            "    def combine(self, $a, $b):",
            "OwnCombiner()($x, $t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-by-decorated",
        wrap=(
            "def logged_call(function):\n    @functools.wraps(function)\n    def wrapper(*args, **kwargs):\n"
            "        return function(*args, **kwargs)\n\n    return wrapper\n\n\n@logged_call\ndef combine($a, $b):",
            "combine($x, $b=$t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-by-typed-namedtuple",
        wrap=(
            "class PairOf(NamedTuple):\n    inputs: torch.Tensor\n    targets: torch.Tensor\n\n\ndef combine(pair):\n"
            "    $a, $b = pair.inputs, pair.targets",
            "combine(PairOf($x, targets=$t))",
        ),
        kept=True,
    ),
    Carrier(
        "both-by-operator-method",
        wrap=(
            "class Signal:\n    def __init__(self, value):\n        self.value = value\n\n    def __add__(self, other):\n"
            "        $a, $b = self.value, other.value",
            "Signal($x) + Signal($t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-by-criterion",
        wrap=(
            "class Criterion_(nn.Module):\n    def __init__(self, weight):\n        super().__init__()\n        self.weight = weight\n\n"
            "    def forward(self, $a):\n        $b = self.weight",
            "Criterion_($t)($x)",
        ),
        kept=True,
    ),
    Carrier("both-by-reduce", wrap=("def combine($a, $b):", "functools.reduce(combine, [$x, $t])"), kept=True),
    Carrier(
        "both-forwarded",
        wrap=(
            "def forward_all(*args, **kwargs):\n    return combine(*args, **kwargs)\n\n\ndef combine($a, $b):",
            "forward_all($x, $b=$t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-checkpointed",
        wrap=("def combine($a, $b):", "checkpoint(combine, $x, $t, use_reentrant=False)"),
        kept=True,
    ),
    Carrier(
        "both-with-fallback",
        wrap=("def combine($a, $b=None):\n    if $b is None:\n        $b = torch.zeros_like($a)", "combine($x, $t)"),
        kept=True,
    ),
)

MEETINGS = (
    Meeting("mixup", "mat", "mat", "share = 0.3\nout = share * $x + (1 - share) * $t", kept=True),
    Meeting(
        "attention-by-hand",
        "seq",
        "seq",
        "weights_ = torch.softmax($x @ $t.transpose(-2, -1) / math.sqrt($x.size(-1)), dim=-1)\nout = weights_ @ $x",
        kept=True,
    ),
    Meeting(
        "soft-targets",
        "mat",
        "mat",
        "out = -(F.softmax($t / 2.0, dim=1) * F.log_softmax($x / 2.0, dim=1)).sum(dim=1).mean()",
        kept=True,
    ),
    Meeting("standardize-by-dim", "mat", "mat", "out = ($x - $t.mean(dim=0)) / ($t.std(dim=0) + 1e-6)", kept=True),
    Meeting("standardize-by-number", "mat", "mat", "out = ($x - $t.mean()) / ($t.std() + 1e-6)", kept=True),
    Meeting(
        "box-overlap",
        "mat",
        "mat",
        "corner = torch.max($x[:, None, :2], $t[None, :, :2])\nopposite = torch.min($x[:, None, 2:], $t[None, :, 2:])\n"
        "out = (opposite - corner).clamp(min=0).prod(dim=2)",
        kept=True,
    ),
    Meeting(
        "rotary",
        "seq",
        "vec",
        "half = torch.cat([-$x[..., 2:], $x[..., :2]], dim=-1)\nout = $x * $t.cos() + half * $t.sin()",
        kept=True,
    ),
    Meeting("schedule-gather", "idx", "vec", "out = $t.gather(-1, $x).sqrt().view(-1, 1)", kept=True),
    Meeting(
        "td-target",
        "mat",
        "vec",
        "goal = 1.0 + 0.99 * $t * (1 - 0.0)\nout = F.smooth_l1_loss($x.max(dim=0).values, goal)",
        kept=True,
    ),
    Meeting(
        "clipped-ratio",
        "mat",
        "mat",
        "ratio = torch.exp($x - $t)\nout = -torch.min(ratio, torch.clamp(ratio, 0.8, 1.2)).mean()",
        kept=True,
    ),
    Meeting(
        "contrastive-labels",
        "mat",
        "idx",
        "normed = F.normalize($x, dim=1)\nout = F.cross_entropy(normed @ normed.t() / 0.1, $t)",
        kept=True,
    ),
    Meeting(
        "confusion-matrix", "idx", "idx", "out = torch.bincount($t * 3 + $x, minlength=9).reshape(3, 3)", kept=True
    ),
    Meeting(
        "masked-mean-pool",
        "mat",
        "mask",
        "keep_ = $t.unsqueeze(-1).to($x.dtype)\nout = ($x * keep_).sum(dim=0) / keep_.sum(dim=0)",
        kept=True,
    ),
    Meeting("norm-of-difference", "mat", "mat", "out = torch.linalg.norm($x - $t, dim=1)", kept=True),
    Meeting(
        "scatter_reduce",
        "mat",
        "idx",
        'out = torch.zeros_like($x).scatter_reduce(0, $t[:, None].expand(-1, 4), $x, reduce="amax")',
        kept=True,
    ),
    Meeting("EmbeddingBag-input", "mat", "ids", "out = $m($t) + $x.sum()", "nn.EmbeddingBag(3, 4)", kept=True),
    Meeting(
        "one_hot-selects",
        "mat",
        "idx",
        "chosen_ = F.one_hot($t, num_classes=4).float()\nout = ($x * chosen_).sum(dim=1)",
        kept=True,
    ),
    Meeting(
        "np.mean-of-losses",
        "mat",
        "mat",
        "losses = [F.mse_loss($x, $x * scale).detach() for scale in (1, 2)]\nout = np.mean(losses)",
        good="losses = [F.mse_loss($x, $x * scale).item() for scale in (1, 2)]\nout = np.mean(losses)",
        shown="round(float(out), 3)",
        kept=True,
    ),
    Meeting("where-of-tensors", "mat", "mat", "out = torch.where($x > 0, $x, $t)", kept=True),
    Meeting("0-dim-comparison", "mat", "num", "out = ($x > $t).float().mean()", kept=True),
    Meeting("0-dim-running-total", "mat", "num", "total_ = $t.clone()\ntotal_ += $x.sum()\nout = total_", kept=True),
    Meeting(
        "0-dim-running-best",
        "mat",
        "num",
        "best_ = $t\nif $x.max() > best_:\n    best_ = $x.max()\nout = best_",
        kept=True,
    ),
    Meeting("Conv1d-input", "seq", "seq", "out = $m($t) + $x.mean()", "nn.Conv1d(5, 2, 3)", kept=True),
    Meeting(
        "encoder-layer-mask",
        "seq",
        "sq",
        "out = $m($x, src_mask=$t)",
        "nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)",
        kept=True,
    ),
    Meeting("Linear-of-cat", "mat", "mat", "out = $m(torch.cat([$x, $t], dim=1))", "nn.Linear(8, 2)", kept=True),
    Meeting(
        "ModuleDict-head", "mat", "mat", 'out = $m["main"]($t)', 'nn.ModuleDict({"main": nn.Linear(4, 2)})', kept=True
    ),
    Meeting(
        "ranking-loss",
        "mat",
        "idx",
        "out = F.margin_ranking_loss($x.sum(dim=1), $x.mean(dim=1), $t * 2.0 - 1.0)",
        kept=True,
    ),
    Meeting(
        "categorical-log_prob",
        "mat",
        "idx",
        "policy = torch.distributions.Categorical(logits=$x)\nout = -policy.log_prob($t).mean()",
        kept=True,
    ),
    Meeting(
        "kl-of-normals",
        "mat",
        "mat",
        "near = torch.distributions.Normal($x, 1.0)\nfar = torch.distributions.Normal($t, 1.0)\n"
        "out = torch.distributions.kl_divergence(near, far)",
        kept=True,
    ),
    Meeting("branch-on-other", "mat", "vec", "out = $x * 2 if torch.isfinite($t).all() else $x", kept=True),
)

PLACERS = (
    Placer("to-keywords", 'options_ = {"device": $dev, "non_blocking": True}\n$x = $moved.to(**options_)', kept=True),
    Placer("generator-unpacked", "$x, spare = (item.to($dev) for item in ($plain, torch.zeros(1)))", kept=True),
    Placer("map-lambda", "$x, spare = map(lambda item: item.to($dev), ($plain, torch.zeros(1)))", kept=True),
    Placer(
        "batch-of-dict-helper",
        '$x = move_batch({"data": $plain, "name": "a"}, $dev)["data"]',
        "def move_batch(batch, device):\n"
        "    return {name: item.to(device) if torch.is_tensor(item) else item for name, item in batch.items()}",
        kept=True,
    ),
    Placer(
        "device-of-parameters",
        "probe_ = nn.Linear(2, 2).to($dev)\n$x = $moved.to(next(probe_.parameters()).device)",
        kept=True,
    ),
    Placer(
        "device-property",
        "net_ = Net_().to($dev)\n$x = $moved.to(net_.device)",
        "class Net_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.scale = nn.Parameter(torch.ones(1))\n\n    @property\n    def device(self):\n        return self.scale.device",
        kept=True,
    ),
)

DEVICES = (
    Device(
        "class-constant",
        "Runtime.DEVICE",
        'class Runtime:\n    DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n    SEED = 1',
        kept=True,
    ),
    Device("environment", 'torch.device(os.environ.get("TRAIN_DEVICE", "cuda"))', kept=True),
    Device(
        "three-way",
        "best_device()",
        'def best_device():\n    if torch.cuda.is_available():\n        return "cuda"\n    elif torch.backends.mps.is_available():\n'
        '        return "mps"\n    return "cpu"',
        kept=True,
    ),
)
