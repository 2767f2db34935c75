"""The open half of the third batch of entries, written on 2026-11-23 from what PyTorch programs do by an author who knew nothing of the analysis.

A coin chose the other half, in kept_third.py.
"""

from __future__ import annotations

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = (
    Maker(
        "mask-of-lengths",
        "mask",
        "sequence_mask(torch.tensor([2, 3]), 3)[0]",
        top="def sequence_mask(lengths, longest=None):\n    longest = longest or int(lengths.max())\n"
        "    return torch.arange(longest)[None, :] < lengths[:, None]",
    ),
    Maker(
        "class-weights-of-counts",
        "vec",
        "counts.sum() / (len(counts) * counts)",
        pre="counts = torch.tensor([8.0, 4.0, 2.0, 2.0]$dv)",
    ),
    Maker(
        "latent-noise",
        "mat seq img",
        "LatentNoise($rest).sample($first)",
        top="class LatentNoise:\n    def __init__(self, *size):\n        self.size = size\n\n    def sample(self, count):\n"
        "        return torch.randn(count, *self.size)",
    ),
    Maker(
        "collate_fn",
        "idx",
        "next(iter(DataLoader(range(3), batch_size=3, collate_fn=collate_labels)))",
        top="def collate_labels(items):\n    return torch.tensor([item % 3 for item in items])",
    ),
    Maker(
        "pad_sequence",
        "mat",
        "nn.utils.rnn.pad_sequence([torch.ones(4$dv), torch.ones(2$dv), torch.ones(3$dv)], batch_first=True)",
    ),
    Maker("one-hot-by-scatter_", "mat", "torch.zeros(3, 4$dv).scatter_(1, torch.tensor([[0], [1], [3]]$dv), 1.0)"),
    Maker(
        "json-values",
        "vec",
        'torch.tensor(settings_["weights"]$dv)',
        pre="settings_ = json.loads('{\"weights\": [0.5, 1.0, 2.0, 4.0]}')",
    ),
    Maker(
        "lazy-attribute",
        "FNIB",
        "MaskCache().get()",
        top="class MaskCache:\n    def __init__(self):\n        self._mask = None\n\n    def get(self):\n        if self._mask is None:\n"
        "            self._mask = $plain\n        return self._mask",
    ),
    Maker("cumprod-schedule", "vec", "torch.cumprod(1.0 - torch.linspace(0.1, 0.5, 4$dv), dim=0)"),
    Maker(
        "discounted-returns",
        "vec",
        "torch.tensor(returns$dv)",
        pre="returns, running = [], 0.0\nfor reward in reversed([1.0, 0.0, 2.0, 1.0]):\n    running = reward + 0.9 * running\n"
        "    returns.insert(0, running)",
    ),
    Maker("seeded-generator", "F", "torch.rand($shape, generator=torch.Generator().manual_seed(0))"),
    Maker("where-of-numbers", "idx", "torch.where(torch.arange(3$dv) > 0, 1, 0)"),
    Maker("position-ids", "ids", "torch.arange(5$dv).remainder(3).unsqueeze(0).repeat(2, 1)"),
    Maker(
        "typed-dict-of-function",
        "FNIB",
        'default_features()["table"]',
        top="class Features(TypedDict):\n    table: torch.Tensor\n    names: list\n\n\ndef default_features() -> Features:\n"
        '    return {"table": $plain, "names": []}',
    ),
)

CARRIERS = (
    Carrier(
        "typed-dict",
        'features_ = Inputs(value=$t, size=1)\n$o = features_["value"]',
        "class Inputs(TypedDict):\n    value: torch.Tensor\n    size: int",
    ),
    Carrier(
        "ring-buffer",
        "memory_ = RingBuffer(2)\nmemory_.push($t)\n$o = memory_.latest()",
        "class RingBuffer:\n    def __init__(self, capacity):\n        self.capacity = capacity\n"
        "        self.items = [None] * capacity\n        self.position = 0\n\n    def push(self, value):\n"
        "        self.items[self.position] = value\n        self.position = (self.position + 1) % self.capacity\n\n"
        "    def latest(self):\n        return self.items[self.position - 1]",
    ),
    Carrier(
        "average-meter",
        "meter = AverageMeter()\nmeter.update($t)\n$o = meter.last",
        "class AverageMeter:\n    def __init__(self):\n        self.reset()\n\n    def reset(self):\n        self.last = None\n"
        "        self.count = 0\n\n    def update(self, value, count=1):\n        self.last = value\n        self.count += count",
    ),
    Carrier("log-of-dicts", 'log = []\nlog.append({"step": 1, "value": $t})\n$o = log[-1]["value"]'),
    Carrier(
        "beam",
        "beams = [(0.5, $t), (0.1, $t.clone())]\nbeams = sorted(beams, key=lambda beam: beam[0], reverse=True)[:1]\n"
        "score, $o = beams[0]",
    ),
    Carrier(
        "state_dict-of-own-module",
        'bank = Bank($t)\n$o = bank.state_dict()["value"]',
        "class Bank(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
        '        self.register_buffer("value", value)',
    ),
    Carrier(
        "autograd-function",
        "$o = PassThrough.apply($t)",
        "class PassThrough(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, value):\n        return value.clone()\n\n"
        "    @staticmethod\n    def backward(ctx, gradient):\n        return gradient",
    ),
    Carrier(
        "checkpointed",
        "$o = checkpoint(repeat_once, $t, use_reentrant=False)",
        "def repeat_once(value):\n    return value * 1",
        kinds="FNI",
    ),
    Carrier(
        "overloaded-operator",
        "$o = (Quantity($t) * 2).value",
        "class Quantity:\n    def __init__(self, value):\n        self.value = value\n\n    def __mul__(self, factor):\n"
        "        return Quantity(self.value * factor)",
        kinds="FN",
    ),
    Carrier(
        "setitem-and-getitem",
        'store_ = FeatureStore()\nstore_["value"] = $t\n$o = store_["value"]',
        "class FeatureStore:\n    def __init__(self):\n        self.entries = {}\n\n    def __setitem__(self, name, value):\n"
        "        self.entries[name] = value\n\n    def __getitem__(self, name):\n        return self.entries[name]",
    ),
    Carrier(
        "iterable-of-own",
        "for $o in Batches([$t]):\n    break",
        "class Batches:\n    def __init__(self, items):\n        self.items = items\n\n    def __len__(self):\n"
        "        return len(self.items)\n\n    def __iter__(self):\n        return iter(self.items)",
    ),
    Carrier(
        "exit-stack",
        "with ExitStack() as stack:\n    $o = stack.enter_context(Lease($t))",
        "class Lease:\n    def __init__(self, value):\n        self.value = value\n\n    def __enter__(self):\n"
        "        return self.value\n\n    def __exit__(self, *error):\n        return None",
    ),
    Carrier(
        "cooperative-init",
        '$o = NamedItem($t, name="a").value',
        "class ValueMixin:\n    def __init__(self, value, **others):\n        super().__init__(**others)\n"
        '        self.value = value\n\n\nclass WithName:\n    def __init__(self, name=""):\n        self.name = name\n\n\n'
        "class NamedItem(ValueMixin, WithName):\n    pass",
    ),
    Carrier(
        "registering-decorator",
        '$o = TRANSFORMS["plain"]($t)',
        "TRANSFORMS = {}\n\n\ndef register(name):\n    def add(function):\n        TRANSFORMS[name] = function\n"
        '        return function\n\n    return add\n\n\n@register("plain")\ndef plain_transform(value):\n    return value.clone()',
    ),
    Carrier(
        "module-dict-head",
        'heads = nn.ModuleDict({"plain": nn.Identity(), "other": nn.Tanh()})\n$o = heads["plain"]($t)',
    ),
    Carrier("sequential-of-two", "$o = nn.Sequential(nn.ReLU(), nn.Dropout(0.1))($t)", kinds="F"),
    Carrier(
        "filtered-dict-comprehension",
        'parts_ = {"a": None, "b": $t}\nparts_ = {name: item for name, item in parts_.items() if item is not None}\n'
        '$o = parts_["b"]',
    ),
    Carrier(
        "nested-state",
        'state_ = {"model": {"layers": [{"value": $t}]}, "step": 3}\n$o = state_["model"]["layers"][0]["value"]',
    ),
    Carrier(
        "nested-apply",
        '$o = apply_nested({"a": [$t], "b": 1}, lambda item: item.clone())["a"][0]',
        "def apply_nested(value, function):\n    if isinstance(value, dict):\n"
        "        return {name: apply_nested(item, function) for name, item in value.items()}\n"
        "    if isinstance(value, (list, tuple)):\n        return type(value)(apply_nested(item, function) for item in value)\n"
        "    return function(value) if torch.is_tensor(value) else value",
    ),
    Carrier("zip-star", "pairs = [($t, 0), ($t.clone(), 1)]\nvalues, numbers = zip(*pairs)\n$o = values[0]"),
    Carrier(
        "alternative-constructor",
        "$o = Example.of($t).value",
        "class Example:\n    def __init__(self, value, label=None):\n        self.value, self.label = value, label\n\n"
        "    @classmethod\n    def of(cls, value):\n        return cls(value.clone(), label=0)",
    ),
    Carrier(
        "unpacked-keywords-of-dict",
        'call_ = dict(value=$t, rate=0.5)\nrate_ = call_.pop("rate")\n$o = scaled(**call_)',
        "def scaled(value, rate=1.0):\n    return value.clone()",
    ),
    Carrier(
        "both-by-batch-dict",
        wrap=(
            'def training_step(batch):\n    $a = batch["inputs"]\n    $b = batch["targets"]',
            'training_step({"inputs": $x, "targets": $t})',
        ),
    ),
    Carrier("both-under-no_grad", wrap=("@torch.no_grad()\ndef evaluate_pair($a, $b):", "evaluate_pair($x, $t)")),
    Carrier(
        "both-by-dataclass-method",
        wrap=(
            "@dataclass\nclass TrainPair:\n    inputs: torch.Tensor\n    targets: torch.Tensor\n\n    def combine(self):\n"
            "        $a, $b = self.inputs, self.targets",
            "TrainPair($x, $t).combine()",
        ),
    ),
    Carrier(
        "both-by-module-call",
        wrap=("class CombineLayer(nn.Module):\n    def forward(self, $a, $b):", "CombineLayer()($x, $t)"),
    ),
    Carrier("both-by-starmap", wrap=("def combine($a, $b):", "next(itertools.starmap(combine, [($x, $t)]))")),
    Carrier(
        "both-by-zipped-lists",
        wrap=(
            "def combine(lefts, rights):\n    for $a, $b in zip(lefts, rights):\n        break",
            "combine([$x], [$t])",
        ),
    ),
    Carrier(
        "both-by-name-of-method",
        wrap=(
            "class Methods:\n    def combine_plain(self, $a, $b):",
            'getattr(Methods(), "combine_" + "plain")($x, $t)',
        ),
    ),
)

MEETINGS = (
    Meeting(
        "F.cross_entropy-weight",
        "mat",
        "vec",
        "out = F.cross_entropy($x, $x.argmax(dim=1), weight=$t, label_smoothing=0.1)",
    ),
    Meeting(
        "label-smoothing",
        "mat",
        "idx",
        "smooth = torch.full_like($x, 0.1).scatter_(1, $t[:, None], 0.7)\n"
        "out = -(smooth * F.log_softmax($x, dim=1)).sum(dim=1).mean()",
    ),
    Meeting(
        "additive-score-mask",
        "seq",
        "sq",
        "scores_ = $x @ $x.transpose(1, 2)\nout = torch.softmax(scores_ + $t, dim=-1)",
    ),
    Meeting("sliced-position-table", "seq", "sq", "out = $x + $t[: $x.size(1), : $x.size(2)]"),
    Meeting(
        "GRUCell-loop",
        "seq",
        "hid",
        "state_ = $t[0]\nfor step in range($x.size(1)):\n    state_ = $m($x[:, step], state_)\nout = state_",
        "nn.GRUCell(4, 4)",
    ),
    Meeting(
        "LSTMCell-state",
        "seq",
        "hid",
        "state_, memory_ = $m($x[:, 0], ($t[0], $t[0]))\nout = state_",
        "nn.LSTMCell(4, 4)",
    ),
    Meeting(
        "box-decoding",
        "mat",
        "mat",
        "centers = $t[:, :2] + $x[:, :2] * $t[:, 2:]\nsizes = torch.exp($x[:, 2:]) * $t[:, 2:]\n"
        "out = torch.cat([centers, sizes], dim=1)",
    ),
    Meeting(
        "same-class-mask",
        "mat",
        "idx",
        "same = $t.unsqueeze(0) == $t.unsqueeze(1)\nout = (torch.softmax($x @ $x.t(), dim=1) * same).sum()",
    ),
    Meeting(
        "topk-accuracy",
        "mat",
        "idx",
        "best = $x.topk(2, dim=1).indices\nout = best.eq($t.view(-1, 1)).any(dim=1).float().mean()",
    ),
    Meeting(
        "masked-loss-mean",
        "mat",
        "mask",
        'losses = F.cross_entropy($x, $x.argmax(dim=1), reduction="none")\nout = (losses * $t).sum() / $t.sum().clamp(min=1)',
    ),
    Meeting("einsum-with-vector", "seq", "vec", 'out = torch.einsum("bld,d->bl", $x, $t)'),
    Meeting("multi_dot", "mat", "mat", "out = torch.linalg.multi_dot([$x, $t.t(), $x])"),
    Meeting("tensordot", "mat", "mat", "out = torch.tensordot($x, $t, dims=([1], [1]))"),
    Meeting(
        "moving-average",
        "mat",
        "mat",
        "average = $t.clone()\naverage.mul_(0.9).add_($x.detach(), alpha=0.1)\nout = average",
    ),
    Meeting(
        "index_put_",
        "mat",
        "mat",
        "out = $x.clone()\nplaces = torch.arange(3, device=$x.device)\nout.index_put_((places,), $t, accumulate=True)",
    ),
    Meeting("message-passing", "mat", "idx", "sums = $x.new_zeros(3, 4)\nsums.index_add_(0, $t, $x[$t])\nout = sums"),
    Meeting(
        "lengths-of-packing",
        "seq",
        "vec",
        "lengths = torch.full((2,), 5, device=$x.device)\n"
        "packed = nn.utils.rnn.pack_padded_sequence($x, lengths, batch_first=True)\nout = packed.data + $t.sum().item()",
        good="lengths = torch.full((2,), 5, device=$x.device)\n"
        "packed = nn.utils.rnn.pack_padded_sequence($x, lengths.cpu(), batch_first=True)\nout = packed.data + $t.sum().item()",
    ),
    Meeting(
        "np.histogram",
        "mat",
        "mat",
        "counts_, edges = np.histogram($x.detach(), bins=3)\nout = counts_",
        good="counts_, edges = np.histogram($x.detach().cpu().numpy(), bins=3)\nout = counts_",
        shown="int(out.sum())",
    ),
    Meeting("0-dim-temperature", "mat", "num", "out = torch.softmax($x / $t.exp(), dim=1)"),
    Meeting("0-dim-element-store", "mat", "num", "out = $x.clone()\nout[0, 0] = $t"),
    Meeting("BatchNorm1d-input", "mat", "mat", "out = $m($t) + $x.sum()", "nn.BatchNorm1d(4)"),
    Meeting(
        "decoder-layer-memory",
        "seq",
        "seq",
        "out = $m($x, $t)",
        "nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0, batch_first=True)",
    ),
    Meeting("token-plus-position", "idx", "mat", "out = $m($x) + $t[: $x.size(0)]", "nn.Embedding(3, 4)"),
    Meeting("gaussian-nll", "mat", "mat", "out = F.gaussian_nll_loss($x, $x * 2, $t.abs() + 1.0)"),
    Meeting("prelu-slopes", "mat", "vec", "out = F.prelu($x, $t)"),
    Meeting(
        "conv1d-kernel", "seq", "seq", "out = F.conv1d($x.transpose(1, 2), $t.transpose(1, 2)[:, :, :3], padding=1)"
    ),
    Meeting("generated-token", "ids", "ids", "next_ = $t[:, -1:]\nout = torch.cat(($x, next_), dim=1)"),
    Meeting(
        "cat-of-history",
        "mat",
        "mat",
        "steps = [$x]\nfor _ in range(2):\n    steps.append($t)\nout = torch.cat(steps, dim=0)",
    ),
    Meeting("new_full-of-shape", "mat", "mat", "out = $x.sum() + $x.new_full($t.shape, 0.5)"),
    Meeting("slice-by-int", "mat", "idx", "out = $x[: int($t.max()) + 1]"),
    Meeting(
        "sorted-by-other",
        "mat",
        "idx",
        "order = torch.argsort($t, descending=True)\nout = torch.gather($x, 0, order[:, None].expand(-1, 4))",
    ),
)

PLACERS = (
    Placer("factory-keywords", 'factory_kwargs = {"device": $dev}\n$x = torch.ones($shape$dtype, **factory_kwargs)'),
    Placer(
        "device-loader",
        "for $x in DeviceLoader([$plain], $dev):\n    break",
        "class DeviceLoader:\n    def __init__(self, loader, device):\n        self.loader, self.device = loader, device\n\n"
        "    def __len__(self):\n        return len(self.loader)\n\n    def __iter__(self):\n        for batch in self.loader:\n"
        "            yield batch.to(self.device)",
    ),
    Placer("partial-of-factory", "make_ones = functools.partial(torch.ones, device=$dev)\n$x = make_ones($size$dtype)"),
    Placer(
        "copy-of-module",
        "base_ = nn.Linear(4, 3)\ntwin_ = copy.deepcopy(base_).to($dev)\n$x = twin_.weight.detach()",
        kinds="mat",
    ),
    Placer("to-device-and-dtype", "$x = $moved.to(device=$dev, dtype=torch.float32)", kinds="F"),
    Placer("as_tensor-with-device", "$x = torch.as_tensor($array, device=$dev)"),
)

DEVICES = (
    Device(
        "select_device",
        "select_device()",
        'def select_device(prefer="auto"):\n    if prefer != "auto":\n        return torch.device(prefer)\n'
        '    return torch.device("cuda" if torch.cuda.is_available() else "cpu")',
    ),
    Device(
        "dataclass-config",
        "torch.device(Settings().device)",
        '@dataclass\nclass Settings:\n    device: str = "cuda"\n    rate: float = 0.1',
    ),
    Device(
        "no-cuda-flag",
        "read_device()",
        "def read_device():\n    parser = argparse.ArgumentParser()\n"
        '    parser.add_argument("--no-cuda", action="store_true", default=False)\n    args = parser.parse_args([])\n'
        '    use_cuda = not args.no_cuda and torch.cuda.is_available()\n    return torch.device("cuda" if use_cuda else "cpu")',
    ),
)
