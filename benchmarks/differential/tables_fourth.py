"""The open half of the fourth batch of entries, written on 2026-11-23 from what PyTorch programs do by an author who knew nothing of the analysis.

A coin chose the other half, in kept_fourth.py.
"""

from __future__ import annotations

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = (
    Maker(
        "rotary-angles",
        "mat",
        "rotary_angles(4, 3)",
        top="def rotary_angles(width, length, base=10000.0):\n    inverse = 1.0 / (base ** (torch.arange(0, width, 2).float() / width))\n"
        "    angles = torch.outer(torch.arange(length).float(), inverse)\n    return torch.cat([angles.cos(), angles.sin()], dim=-1)",
    ),
    Maker(
        "affine-grid", "mat", "F.affine_grid(torch.eye(2, 3$dv)[None], [1, 1, 3, 2], align_corners=False).reshape(3, 4)"
    ),
    Maker(
        "key-value-cache",
        "seq",
        "KeyValueCache($size).read(5)",
        top="class KeyValueCache:\n    def __init__(self, size):\n        self.keys = torch.zeros(size)\n        self.used = 0\n\n"
        "    def read(self, count):\n        self.used = max(self.used, count)\n        return self.keys[:, : self.used]",
    ),
    Maker(
        "low-rank-delta",
        "mat",
        "LowRank(3, 4).delta()",
        top="class LowRank:\n    def __init__(self, rows, columns, rank=2):\n        self.down = torch.randn(rank, columns) * 0.02\n"
        "        self.up = torch.ones(rows, rank)\n        self.scaling = 1.0 / rank\n\n    def delta(self):\n"
        "        return (self.up @ self.down) * self.scaling",
    ),
    Maker("embedding-output", "mat", "nn.Embedding(5, 4)(torch.tensor([0, 3, 1])).detach()"),
    Maker(
        "partial-of-ones",
        "FNIB",
        "make_default_()",
        pre="make_default_ = functools.partial(torch.ones, $size$dtype$dv)",
    ),
    Maker(
        "lambda-in-dict", "FNIB", 'INITIALISERS["table"]()', top='INITIALISERS = {"table": lambda: $plain, "rate": 0.1}'
    ),
    Maker(
        "attribute-dict-config",
        "FNIB",
        "build_config().model.table",
        top="class AttrDict(dict):\n    def __getattr__(self, name):\n        return self[name]\n\n\ndef build_config():\n"
        "    return AttrDict(model=AttrDict(table=$plain, depth=2), seed=1)",
    ),
    Maker("getattr-of-torch", "FNIB", 'getattr(torch, "ones")($size$dtype$dv)'),
    Maker("balanced-labels", "idx", "torch.cat([torch.full((1,), label$dv) for label in range(3)])"),
    Maker(
        "padded-lists",
        "ids",
        "torch.tensor([row + [0] * (5 - len(row)) for row in sentences]$dv)",
        pre="sentences = [[1, 2, 0, 1], [2, 1]]",
    ),
    Maker("padding-of-ids", "mask", "torch.tensor([4, 0, 2]$dv).ne(0)"),
    Maker("upsampled-sequence", "seq", "F.interpolate(torch.rand(2, 5, 2$dv), size=4)"),
    Maker("channel-means", "mat", "torch.tensor([0.485, 0.456, 0.406]$dv).view(3, 1).repeat(1, 4)"),
    Maker(
        "rollout-rewards",
        "vec",
        "Rollout().play(4).rewards_tensor()",
        top="class Rollout:\n    def __init__(self):\n        self.rewards = []\n\n    def play(self, steps):\n        for step in range(steps):\n"
        "            self.rewards.append(1.0 / (step + 1))\n        return self\n\n    def rewards_tensor(self):\n"
        "        return torch.tensor(self.rewards, dtype=torch.float32)",
    ),
    Maker("mean-of-losses", "num", "torch.tensor([0.2, 0.3]$dv).mean()"),
    Maker(
        "split-by-name",
        "FNIB",
        'TableSet().split("train")',
        top="class TableSet:\n    def __init__(self):\n        self.train_table = $plain\n        self.valid_table = None\n\n"
        '    def split(self, name):\n        return getattr(self, f"{name}_table")',
    ),
)

CARRIERS = (
    Carrier("attrgetter", '$o = operator.attrgetter("value")(SimpleNamespace(value=$t))'),
    Carrier("methodcaller", '$o = operator.methodcaller("clone")($t)'),
    Carrier(
        "attribute-dict",
        "config_ = ConfigDict()\nconfig_.value = $t\n$o = config_.value",
        "class ConfigDict(dict):\n    __getattr__ = dict.__getitem__\n    __setattr__ = dict.__setitem__",
    ),
    Carrier(
        "user-dict",
        'found_ = FeatureDict(value=$t)\n$o = found_["value"]',
        "class FeatureDict(collections.UserDict):\n    def __missing__(self, name):\n        return None",
    ),
    Carrier(
        "mixin-method",
        "$o = ClonedItem($t).cloned()",
        "class CloneMixin:\n    def cloned(self):\n        return self.value.clone()\n\n\nclass ClonedItem(CloneMixin):\n"
        "    def __init__(self, value):\n        self.value = value",
    ),
    Carrier(
        "super-method",
        "$o = SteadyEncode().encode($t)",
        "class PlainEncode:\n    def encode(self, value):\n        return value.clone()\n\n\nclass SteadyEncode(PlainEncode):\n"
        "    def encode(self, value):\n        value = super().encode(value)\n        return value.contiguous()",
    ),
    Carrier(
        "trainer-callbacks",
        "keeper_ = KeepLast()\nfor callback_ in (keeper_, BatchCallback()):\n    callback_.on_batch_end(0, $t)\n$o = keeper_.value",
        "class BatchCallback:\n    def on_batch_end(self, step, value):\n        pass\n\n\nclass KeepLast(BatchCallback):\n"
        "    def __init__(self):\n        self.value = None\n\n    def on_batch_end(self, step, value):\n        self.value = value",
    ),
    Carrier(
        "generator-send",
        "relay_ = relay_values()\nnext(relay_)\n$o = relay_.send($t)",
        "def relay_values():\n    received = None\n    while True:\n        received = yield received",
    ),
    Carrier("coroutine", "$o = asyncio.run(fetch_item($t))", "async def fetch_item(value):\n    return value"),
    Carrier(
        "cache-by-key",
        'key_ = (4, "plain")\nif key_ not in TABLES_BY_KEY:\n    TABLES_BY_KEY[key_] = $t\n$o = TABLES_BY_KEY[key_]',
        "TABLES_BY_KEY = {}",
    ),
    Carrier("nullcontext", "with contextlib.nullcontext($t) as $o:\n    pass"),
    Carrier("tree_map", '$o = torch.utils._pytree.tree_map(lambda leaf: leaf.clone(), {"value": $t})["value"]'),
    Carrier("pad_sequence", "$o = nn.utils.rnn.pad_sequence([$t], batch_first=True)[0]", kinds="FIB"),
    Carrier("vmap-of-rows", "$o = torch.func.vmap(lambda row: row * 1.0)($t)", kinds="F"),
    Carrier("roll-and-back", "$o = torch.roll(torch.roll($t, 1, 0), -1, 0)", kinds="FIB"),
    Carrier("shuffled-rows", "$o = $t[torch.arange($first - 1, -1, -1)]", kinds="FIB"),
    Carrier(
        "dict-of-lists-turned",
        'columns_ = {"value": [$t], "done": [False]}\nrows_of = [dict(zip(columns_, row)) for row in zip(*columns_.values())]\n'
        '$o = rows_of[0]["value"]',
    ),
    Carrier(
        "batch-of-transitions",
        "batch_of = Transition(*zip(*[Transition($t, 1), Transition($t, 2)]))\n$o = batch_of.state[0]",
        'Transition = namedtuple("Transition", ("state", "action"))',
    ),
    Carrier("match-guard", "match [$t, 2]:\n    case [$o, int(count_)] if count_ > 1:\n        pass"),
    Carrier("walrus-in-while", "pending_ = [$t]\nwhile pending_ and ($o := pending_.pop()) is not None:\n    break"),
    Carrier("accumulate", "$o = list(itertools.accumulate([$t, $t], torch.maximum))[-1]", kinds="FNI"),
    Carrier(
        "dict-of-self",
        "$o = HyperParameters(value=$t, rate=0.1).value",
        "class HyperParameters:\n    def __init__(self, **entries):\n        self.__dict__.update(entries)",
    ),
    Carrier(
        "kwargs-pop",
        "$o = take_value(value=$t)",
        'def take_value(**kwargs):\n    value = kwargs.pop("value", None)\n    if kwargs:\n        raise TypeError(sorted(kwargs))\n    return value',
    ),
    Carrier("unbound-method", "$o = torch.Tensor.clone($t)"),
    Carrier(
        "retrying-decorator",
        "$o = read_once($t)",
        "def retry(times):\n    def decorate(function):\n        @functools.wraps(function)\n        def wrapper(*args, **kwargs):\n"
        "            for attempt in range(times):\n                try:\n                    return function(*args, **kwargs)\n"
        "                except OSError:\n                    if attempt == times - 1:\n                        raise\n\n"
        "        return wrapper\n\n    return decorate\n\n\n@retry(times=3)\ndef read_once(value):\n    return value",
    ),
    Carrier(
        "post-init",
        "$o = Normalised($t).value",
        "@dataclass\nclass Normalised:\n    value: torch.Tensor\n    count: int = field(init=False)\n\n    def __post_init__(self):\n"
        "        self.value = self.value.clone()\n        self.count = self.value.numel()",
    ),
    Carrier(
        "dataclass-inheritance",
        "$o = LabeledRow($t, label=2).value",
        "@dataclass\nclass BaseRow:\n    value: torch.Tensor\n\n\n@dataclass\nclass LabeledRow(BaseRow):\n    label: int = 0",
    ),
    Carrier(
        "handlers-by-enum",
        "$o = HANDLERS[Phase.TRAIN]($t)",
        'class Phase(Enum):\n    TRAIN = "train"\n    TEST = "test"\n\n\nHANDLERS = {Phase.TRAIN: lambda value: value.clone(), Phase.TEST: torch.zeros_like}',
    ),
    Carrier(
        "generic-class",
        "stack_ = TypedStack()\nstack_.push($t)\n$o = stack_.pop()",
        'Item = TypeVar("Item")\n\n\nclass TypedStack(Generic[Item]):\n    def __init__(self) -> None:\n        self.items: list[Item] = []\n\n'
        "    def push(self, item: Item) -> None:\n        self.items.append(item)\n\n    def pop(self) -> Item:\n        return self.items.pop()",
    ),
    Carrier(
        "forward-pre-hook",
        "gate_ = nn.Identity()\ngate_.register_forward_pre_hook(lambda module, given: (given[0].clone(),))\n$o = gate_($t)",
    ),
    Carrier("loader-of-list", "for batch_ in DataLoader([$t], batch_size=1):\n    $o = batch_[0]"),
    Carrier(
        "leaves-of-tree",
        '$o = next(leaves({"a": {"b": $t}}))',
        "def leaves(tree):\n    if isinstance(tree, dict):\n        for branch in tree.values():\n            yield from leaves(branch)\n"
        "    else:\n        yield tree",
    ),
    Carrier(
        "both-by-namespace",
        wrap=(
            "def combine(args):\n    $a, $b = args.first, args.second",
            "combine(argparse.Namespace(first=$x, second=$t))",
        ),
    ),
    Carrier(
        "both-by-fields-loop",
        wrap=(
            "class Runner_:\n    def __init__(self, **fields):\n        for name, value in fields.items():\n            setattr(self, name, value)\n\n"
            "    def combine(self):\n        $a, $b = self.first, self.second",
            "Runner_(first=$x, second=$t).combine()",
        ),
    ),
    Carrier(
        "both-by-own-buffer",
        wrap=(
            "class Blend(nn.Module):\n    def __init__(self, other):\n        super().__init__()\n"
            '        self.register_buffer("other", other, persistent=False)\n\n    def forward(self, $a):\n        $b = self.other',
            "Blend($t)($x)",
        ),
    ),
    Carrier(
        "both-by-hook",
        wrap=(
            "class FirstOnly(nn.Module):\n    def forward(self, first, second):\n        return first\n\n\n"
            "def run_hooked(hook, *tensors):\n    module = FirstOnly()\n    module.register_forward_hook(hook)\n    return module(*tensors)\n\n\n"
            "def combine(module, given, $a):\n    $b = given[1]",
            "run_hooked(combine, $x, $t)",
        ),
    ),
    Carrier(
        "both-by-property",
        wrap=(
            "class Joined:\n    def __init__(self, first, second):\n        self.first, self.second = first, second\n\n    @property\n"
            "    def combined(self):\n        $a, $b = self.first, self.second",
            "Joined($x, $t).combined",
        ),
    ),
    Carrier(
        "both-by-module-kwargs",
        wrap=(
            "class CrossBlock(nn.Module):\n    def forward(self, $a, context=None, **kwargs):\n        $b = context",
            "CrossBlock()($x, context=$t, scale=1.0)",
        ),
    ),
)

MEETINGS = (
    Meeting("table-by-index_select", "idx", "vec", "out = $t.index_select(0, $x).view(-1, 1, 1)"),
    Meeting("low-rank-update", "mat", "mat", "out = $m($x) + ($x @ $t.t()) * 0.5", "nn.Linear(4, 3)"),
    Meeting("repeat_interleave-counts", "mat", "idx", "out = torch.repeat_interleave($x, $t, dim=0)"),
    Meeting(
        "advantages",
        "vec",
        "vec",
        "advantages_ = $x - $t\nout = (advantages_ - advantages_.mean()) / (advantages_.std() + 1e-8)",
    ),
    Meeting(
        "policy-gradient",
        "mat",
        "idx",
        "logs_ = F.log_softmax($x, dim=-1)\nout = -logs_.gather(1, $t.unsqueeze(-1)).squeeze(-1).mean()",
    ),
    Meeting(
        "cluster-means",
        "mat",
        "idx",
        "sums_ = torch.zeros(3, 4, device=$x.device).scatter_add(0, $t[:, None].expand_as($x), $x)\n"
        "counts_ = torch.bincount($t, minlength=3)\nout = sums_ / counts_.clamp(min=1)[:, None]",
    ),
    Meeting(
        "two-scales", "img", "img", "small_ = F.interpolate($x, scale_factor=0.5)\nout = small_ + F.avg_pool2d($t, 2)"
    ),
    Meeting(
        "dice-loss",
        "img",
        "img",
        "shared_ = (torch.sigmoid($x) * $t.abs()).sum(dim=(1, 2, 3))\nout = 1 - (2 * shared_ + 1).mean()",
    ),
    Meeting("0-dim-loss-weight", "mat", "num", "out = $t * $x.pow(2).mean() + 0.5 * $x.abs().mean()"),
    Meeting("cosine-embedding-loss", "mat", "idx", "out = F.cosine_embedding_loss($x, $x * 2, $t.sign() * 2 - 1)"),
    Meeting(
        "where-mask-of-sums",
        "mat",
        "mask",
        "sums_ = $x.sum(dim=1)\nout = torch.where($t, sums_, torch.full_like(sums_, -1e4)).softmax(dim=0)",
    ),
    Meeting(
        "beam-step",
        "mat",
        "vec",
        "totals_ = $x + $t[:3].unsqueeze(1)\nbest_, places_ = totals_.view(-1).topk(2)\nout = best_ + places_ // 4",
    ),
    Meeting(
        "key_padding_mask",
        "seq",
        "ids",
        "out, weights_ = $m($x, $x, $x, key_padding_mask=$t == 3)",
        "nn.MultiheadAttention(4, 2, batch_first=True)",
    ),
    Meeting("straight-through", "mat", "mat", "out = $x + ($t - $x).detach()"),
    Meeting(
        "gradient-penalty",
        "mat",
        "mat",
        "mixed_ = (0.3 * $x + 0.7 * $t).detach().requires_grad_(True)\n(slope_,) = torch.autograd.grad(mixed_.pow(2).sum(), mixed_)\n"
        "out = (slope_.norm(2, dim=1) - 1).pow(2).mean()",
    ),
    Meeting("func.grad", "mat", "mat", "out = torch.func.grad(lambda value: ((value - $t) ** 2).sum())($x)"),
    Meeting("vmap-of-dot", "mat", "mat", "out = torch.func.vmap(torch.dot)($x, $t)"),
    Meeting(
        "normal-scale",
        "mat",
        "mat",
        "policy_ = torch.distributions.Normal($x, $t.abs() + 1)\nout = policy_.log_prob($x).sum()",
    ),
    Meeting("sgd-step", "mat", "mat", "updated_ = $x.detach().clone()\nupdated_.add_($t, alpha=-0.1)\nout = updated_"),
    Meeting(
        "0-dim-slope",
        "seq",
        "vec",
        "distance_ = torch.arange(5, device=$x.device).float()\nout = $x @ $x.transpose(1, 2) - $t[0] * distance_",
    ),
    Meeting("rows-by-int", "mat", "idx", "out = torch.stack([$x[int(number_)] for number_ in $t])"),
    Meeting(
        "np.concatenate-of-both",
        "mat",
        "mat",
        "out = np.concatenate([$x.detach().cpu().numpy(), $t.detach().cpu().numpy()])",
        shown="float(out.sum())",
    ),
    Meeting(
        "numpy-of-rows",
        "mat",
        "mat",
        "out = np.stack([row_.numpy() for row_ in $x.detach()])",
        good="out = np.stack([row_.cpu().numpy() for row_ in $x.detach()])",
        shown="float(out.sum())",
    ),
    Meeting(
        "predictions-on-cpu",
        "mat",
        "idx",
        "guessed_ = $x.argmax(dim=1).cpu()\nout = (guessed_ == $t.cpu()).float().mean()",
    ),
    Meeting("concatenate-axis", "mat", "mat", "out = torch.concatenate(($x, $t * 2), axis=1)"),
    Meeting("pick-by-pair-of-indices", "mat", "idx", "out = $x[torch.arange(3, device=$x.device), $t]"),
    Meeting("cpu-indexed-by-condition", "mat", "mat", "out = $t[$x > 0]"),
    Meeting("new_zeros-of-cpu", "mat", "mat", "room_ = $t.new_zeros(3, 4)\nout = $x + room_"),
    Meeting("full_like-of-cpu", "mat", "mat", "out = torch.where($x > 0, $x, torch.full_like($t, -1.0))"),
    Meeting(
        "0-dim-means-compared", "mat", "mat", "out = 1.0 if $t.mean() > $x.mean() else 0.0", shown="out in (0.0, 1.0)"
    ),
    Meeting("pairwise_distance", "mat", "mat", "out = F.pairwise_distance($x, $t)"),
)

PLACERS = (
    Placer(
        "dataclass-to",
        "$x = DeviceBatch($plain).to($dev).data",
        '@dataclass\nclass DeviceBatch:\n    data: torch.Tensor\n    name: str = ""\n\n    def to(self, device):\n'
        "        return dataclasses.replace(self, data=self.data.to(device))",
    ),
    Placer("tree_map-to", '$x = torch.utils._pytree.tree_map(lambda leaf: leaf.to($dev), {"data": $plain})["data"]'),
    Placer(
        "state-of-moved-module",
        'held_ = Held_().to($dev)\n$x = held_.state_dict()["table"]',
        'class Held_(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer("table", $plain)',
    ),
    Placer(
        "non-persistent-buffer",
        "scratch_ = Scratch()\nscratch_ = scratch_.to($dev)\n$x = scratch_.table",
        "class Scratch(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        '        self.register_buffer("table", $plain, persistent=False)',
    ),
    Placer("pinned", "$x = $moved.pin_memory().to($dev, non_blocking=True)"),
    Placer(
        "list-items-replaced",
        "items_ = [$plain, torch.zeros(1)]\nfor number_, item_ in enumerate(items_):\n    items_[number_] = item_.to($dev)\n$x = items_[0]",
    ),
    Placer(
        "parameter-dict",
        'slots_ = nn.ParameterDict({"table": nn.Parameter($plain)}).to($dev)\n$x = slots_["table"].detach()',
        kinds="F",
    ),
    Placer(
        "generator-on-device",
        "seeded_ = torch.Generator(device=$dev).manual_seed(0)\n$x = torch.randn($shape, generator=seeded_, device=$dev)",
        kinds="F",
    ),
)

DEVICES = (
    Device("type-and-index", 'torch.device("cuda", 0)'),
    Device(
        "cached-function",
        "default_device()",
        '@functools.lru_cache(maxsize=1)\ndef default_device():\n    return torch.device("cuda" if torch.cuda.is_available() else "cpu")',
    ),
    Device(
        "gpu-number",
        "device_of(0)",
        'def device_of(gpu=-1):\n    if gpu >= 0 and torch.cuda.is_available():\n        return torch.device(f"cuda:{gpu}")\n    return torch.device("cpu")',
    ),
    Device(
        "runtime-property",
        "RunContext().device",
        "class RunContext:\n    def __init__(self, use_gpu=True):\n        self.use_gpu = use_gpu\n\n    @property\n    def device(self):\n"
        '        return torch.device("cuda") if self.use_gpu else torch.device("cpu")',
    ),
)
