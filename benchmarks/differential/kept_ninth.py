"""The kept half of the ninth batch of entries: see tables_ninth.py. Do not read it to mend the linter."""

from __future__ import annotations

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = (
    Maker(
        "shadow-before-move",
        "mat",
        'shadow_.shadow["weight"]',
        pre="net_ = nn.Linear(4, 3)\nshadow_ = ShadowOf_(net_)\nnet_.to($dev)",
        top=(
            "class ShadowOf_:\n    def __init__(self, net, decay=0.99):\n        self.decay = decay\n"
            "        self.shadow = {name: part.detach().clone() for name, part in net.named_parameters()}"
        ),
        kept=True,
    ),
    Maker(
        "sinusoid-table-of-numpy",
        "mat",
        "sinusoid_table_(3, 4)",
        top=(
            "def sinusoid_table_(length, width):\n    def angles(position):\n"
            "        return [position / np.power(10000, 2 * (at // 2) / width) for at in range(width)]\n\n"
            "    table = np.array([angles(position) for position in range(length)])\n    table[:, 0::2] = np.sin(table[:, 0::2])\n"
            "    table[:, 1::2] = np.cos(table[:, 1::2])\n    return torch.FloatTensor(table)"
        ),
        kept=True,
    ),
    Maker(
        "smoothed-targets",
        "mat",
        "torch.full((3, 4), 0.1 / 3$dv).scatter_(1, torch.tensor([[0], [1], [3]]$dv), 0.9)",
        kept=True,
    ),
    Maker(
        "rows-of-csv",
        "mat",
        'torch.tensor(read_rows_(io.StringIO("a,b,c,d\\n1,2,3,4\\n5,6,7,8\\n0,1,0,1")))',
        top=(
            "def read_rows_(file):\n    reader = csv.reader(file)\n    next(reader)\n"
            "    return [[float(cell) for cell in row] for row in reader]"
        ),
        kept=True,
    ),
    Maker(
        "alphas-of-numpy-betas",
        "vec",
        "torch.from_numpy(np.cumprod(1.0 - np.linspace(1e-4, 0.02, 4))).float()",
        kept=True,
    ),
    Maker(
        "matched-by-cost",
        "idx",
        "torch.as_tensor(np.argmin(costs_, axis=1) % 3, dtype=torch.int64)",
        pre="costs_ = torch.rand(3, 4, device=$dev).cpu().numpy()",
        kept=True,
    ),
    Maker("annealed-temperature", "num", "torch.tensor(max(0.5, math.exp(-0.01 * 3))$dv)", kept=True),
    Maker(
        "running-stats-of-arrays",
        "vec",
        "torch.as_tensor(stats_.mean, dtype=torch.float32)",
        pre="stats_ = ArrayStats_(4)\nstats_.update(np.ones((3, 4)))",
        top=(
            "class ArrayStats_:\n    def __init__(self, width):\n        self.mean, self.count = np.zeros(width), 1e-4\n\n"
            "    def update(self, rows):\n        total = self.count + len(rows)\n"
            "        self.mean = self.mean + (rows.mean(axis=0) - self.mean) * len(rows) / total\n        self.count = total"
        ),
        kept=True,
    ),
    Maker(
        "gradient-of-cpu-loss",
        "FN",
        "torch.autograd.grad((leaf_**2).sum(), leaf_)[0]",
        pre="leaf_ = $plain\nleaf_.requires_grad_()",
        kept=True,
    ),
    Maker(
        "labels-of-annotations",
        "idx",
        'torch.tensor([one_["category_id"] for one_ in annotations_], dtype=torch.int64$dv)',
        pre=(
            'annotations_ = [{"bbox": [0, 0, 4, 2], "category_id": number_, "iscrowd": 0} for number_ in (1, 0, 2)]\n'
            'annotations_ = [one_ for one_ in annotations_ if not one_["iscrowd"]]'
        ),
        kept=True,
    ),
    Maker(
        "span-mask-of-numpy",
        "mask",
        "torch.from_numpy(span_mask_(3, 1))",
        top=(
            "def span_mask_(length, width):\n    mask = np.full(length, False)\n    start = np.random.randint(0, length - width)\n"
            "    mask[start : start + width] = True\n    return mask"
        ),
        kept=True,
    ),
    Maker("uniform-marginal", "vec", "torch.ones(4$dv).div_(4)", kept=True),
    Maker(
        "legal-moves",
        "mask",
        "legal_",
        pre="legal_ = torch.zeros(3, dtype=torch.bool$dv)\nlegal_[[0, 2]] = True",
        kept=True,
    ),
    Maker("scales-of-parameter-list", "FN", "nn.ParameterList([nn.Parameter($plain)])[0].detach()", kept=True),
    Maker("order-of-sampler", "idx", "torch.tensor(list(torch.utils.data.RandomSampler(range(3)))$dv)", kept=True),
    Maker(
        "rows-of-permuted-array",
        "mat",
        "torch.from_numpy(table_[np.random.permutation(len(table_))[:3]])",
        pre="table_ = np.ones((6, 4), dtype=np.float32)",
        kept=True,
    ),
    Maker("fake-quantised", "F", "torch.fake_quantize_per_tensor_affine($rand, 0.1, 0, 0, 255)", kept=True),
    Maker("sigmas-of-score-model", "vec", "torch.exp(torch.linspace(math.log(1.0), math.log(0.01), 4$dv))", kept=True),
    Maker("padded-audio", "vec", "F.pad(torch.rand(3$dv), (0, 1))", kept=True),
    Maker(
        "target-copied-before-move",
        "mat",
        "target_.weight.detach()",
        pre="online_ = nn.Linear(4, 3)\ntarget_ = copy.deepcopy(online_)\nonline_ = online_.to($dev)",
        kept=True,
    ),
    Maker(
        "metric-state-as-attribute",
        "FNIB",
        "AttributeMetric_().to($dev).total",
        top=(
            "class AttributeMetric_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            '        self.add_state("total", $plain)\n\n    def add_state(self, name, default):\n'
            "        setattr(self, name, default.clone())"
        ),
        kept=True,
    ),
    Maker(
        "metric-state-as-buffer",
        "FNIB",
        "BufferMetric_().to($dev).total",
        top=(
            "class BufferMetric_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            '        self.add_state("total", $plain)\n\n    def add_state(self, name, default):\n'
            "        self.register_buffer(name, default.clone(), persistent=False)"
        ),
        kept=True,
    ),
    Maker(
        "new_empty-normal_",
        "FN",
        "anchor_.new_empty($size).normal_()",
        pre="anchor_ = torch.zeros(1, device=$dev)",
        kept=True,
    ),
    Maker(
        "gradient-of-moved-net",
        "mat",
        "net_.weight.grad",
        pre="net_ = nn.Linear(4, 3).to($dev)\nnet_(torch.ones(2, 4, device=$dev)).sum().backward()",
        kept=True,
    ),
    Maker(
        "nearest-of-placed-codes",
        "idx",
        "torch.cdist(codes_, codes_).min(dim=1).indices",
        pre="codes_ = torch.rand(3, 4, device=$dev)",
        kept=True,
    ),
    Maker("not-padding", "mask", "torch.randint(0, 3, (3,), device=$dev).ne(0)", kept=True),
    Maker("state-of-moved-module", "mat", 'nn.Linear(4, 3).to($dev).state_dict()["weight"].clone()', kept=True),
    Maker(
        "made-under-default-device", "FNIB", "table_", pre="with torch.device($dev):\n    table_ = $plain", kept=True
    ),
    Maker("eye-type_as-placed", "mat sq", "torch.eye($first, $rest).type_as(torch.ones(1, device=$dev))", kept=True),
    Maker(
        "numbers-where-weights-are",
        "vec",
        "torch.tensor([0.1, 0.2, 0.3, 0.4], device=net_.weight.device)",
        pre="net_ = nn.Linear(2, 2).to($dev)",
        kept=True,
    ),
)

CARRIERS = (
    Carrier(
        "collate-dicts-by-key",
        '$o = collate_dicts_([{"value": $t, "id": 0}, {"value": $t, "id": 1}])["value"][0]',
        top=(
            "def collate_dicts_(samples):\n    batch = {}\n    for key in samples[0]:\n"
            "        values = [sample[key] for sample in samples]\n"
            "        batch[key] = torch.stack(values) if isinstance(values[0], torch.Tensor) else values\n    return batch"
        ),
        kept=True,
    ),
    Carrier(
        "preloading-iterator",
        "for $o in PreloadedBatches_([$t, $t]):\n    break",
        top=(
            "class PreloadedBatches_:\n    def __init__(self, loader):\n        self.loader = loader\n\n    def __iter__(self):\n"
            "        batches = iter(self.loader)\n        self.batch = next(batches)\n        while self.batch is not None:\n"
            "            batch, self.batch = self.batch, next(batches, None)\n            yield batch"
        ),
        kept=True,
    ),
    Carrier(
        "published-event",
        'bus_, received_ = EventBus_(), []\nbus_.on("step", received_.append)\nbus_.emit("step", $t)\n$o = received_[0]',
        top=(
            "class EventBus_:\n    def __init__(self):\n        self.listeners = {}\n\n    def on(self, event, listener):\n"
            "        self.listeners.setdefault(event, []).append(listener)\n\n    def emit(self, event, value):\n"
            "        for listener in self.listeners.get(event, ()):\n            listener(value)"
        ),
        kept=True,
    ),
    Carrier(
        "split-and-joined-again",
        "first_, second_ = $t[:1], $t[1:]\n$o = torch.cat([first_, second_], dim=0)",
        kinds="FIB",
        kept=True,
    ),
    Carrier("padded-and-cut", "$o = F.pad($t, (1, 1))[..., 1:-1]", kinds="FI", kept=True),
    Carrier("dropout-of-eval", "drop_ = nn.Dropout(0.5)\ndrop_.eval()\n$o = drop_($t)", kinds="FN", kept=True),
    Carrier("movedim-there-and-back", "$o = $t.movedim(0, -1).movedim(-1, 0)", kinds="FIB", kept=True),
    Carrier(
        "sorted-and-unsorted",
        "values_, order_ = $t.sort(dim=-1)\n$o = torch.empty_like(values_).scatter_(-1, order_, values_)",
        kinds="FI",
        kept=True,
    ),
    Carrier(
        "named-parameter-looked-up",
        '$o = dict(OneGain_($t).named_parameters())["gain"].detach()',
        top=(
            "class OneGain_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            "        self.gain = nn.Parameter(value.detach().clone())"
        ),
        kinds="FN",
        kept=True,
    ),
    Carrier(
        "arguments-updated",
        'arguments_ = argparse.Namespace(seed=1)\nvars(arguments_).update({"table": $t})\n$o = arguments_.table',
        kept=True,
    ),
    Carrier(
        "cache-of-class",
        '$o = TableCache_.get("table", lambda: $t)',
        top=(
            "class TableCache_:\n    _tables = {}\n\n    @classmethod\n    def get(cls, name, make):\n"
            "        if name not in cls._tables:\n            cls._tables[name] = make()\n        return cls._tables[name]"
        ),
        kept=True,
    ),
    Carrier(
        "tried-until-done",
        "for attempt_ in range(3):\n    try:\n        $o = $t.clone()\n        break\n    except RuntimeError:\n        continue",
        kept=True,
    ),
    Carrier(
        "batch-dimension-added-and-taken",
        "$o = without_batch_(with_batch_($t, 5), 5)",
        top=(
            "def with_batch_(value, dims):\n    if value.dim() >= dims:\n        return value\n    return value[None]\n\n\n"
            "def without_batch_(value, dims):\n    return value.squeeze(0) if value.dim() < dims else value"
        ),
        kinds="vec mat seq idx mask",
        kept=True,
    ),
    Carrier(
        "moved-average-of-two",
        "average_ = $t.clone()\naverage_.mul_(0.9).add_($t, alpha=0.1)\n$o = average_",
        kinds="FN",
        kept=True,
    ),
    Carrier("rounded-straight-through", "$o = $t + ($t.round() - $t).detach()", kinds="FN", kept=True),
    Carrier("log-probabilities", "$o = $t.log_softmax(dim=-1)", kinds="F", kept=True),
    Carrier(
        "model-output-class",
        "$o = HeadOutput_(logits=$t).logits",
        top=(
            "class HeadOutput_(OrderedDict):\n    def __getattr__(self, name):\n        if name in self:\n"
            "            return self[name]\n        raise AttributeError(name)"
        ),
        kept=True,
    ),
    Carrier("mean-of-stacked-scales", "$o = torch.stack([$t, $t]).mean(dim=0)", kinds="FN", kept=True),
    Carrier(
        "root-of-search-tree",
        "$o = SearchNode_(None, parent=SearchNode_($t)).root().state",
        top=(
            "class SearchNode_:\n    def __init__(self, state, parent=None):\n"
            "        self.state, self.parent, self.children = state, parent, {}\n\n    def root(self):\n        node = self\n"
            "        while node.parent is not None:\n            node = node.parent\n        return node"
        ),
        kept=True,
    ),
    Carrier(
        "options-of-keywords",
        "$o = KeywordOptions_(table=$t, depth=2).table",
        top=(
            "class KeywordOptions_:\n    def __init__(self, **options):\n        for name, value in options.items():\n"
            "            setattr(self, name, value)"
        ),
        kept=True,
    ),
    Carrier(
        "checkpoint-in-folder",
        "with tempfile.TemporaryDirectory() as folder_:\n"
        '    torch.save({"table": $t, "epoch": 1}, os.path.join(folder_, "last.pt"))\n'
        '    $o = torch.load(os.path.join(folder_, "last.pt"))["table"]',
        kept=True,
    ),
    Carrier(
        "inner-step-of-weights",
        'weights_ = {"gain": $t.detach().clone().requires_grad_()}\n'
        'gradients_ = torch.autograd.grad((weights_["gain"] ** 2).sum(), list(weights_.values()))\n'
        "weights_ = {name_: part_ - 0.1 * gradient_ for (name_, part_), gradient_ in zip(weights_.items(), gradients_)}\n"
        '$o = weights_["gain"].detach()',
        kinds="FN",
        kept=True,
    ),
    Carrier("repeated-rows-thinned", "$o = $t.repeat_interleave(2, dim=0)[::2]", kinds="FIB", kept=True),
    Carrier(
        "nested-flattened",
        "$o = next(flatten_nested_([[($t,)], 1]))",
        top=(
            "def flatten_nested_(nested):\n    for item in nested:\n        if isinstance(item, (list, tuple)):\n"
            "            yield from flatten_nested_(item)\n        else:\n            yield item"
        ),
        kept=True,
    ),
    Carrier(
        "path-into-tree",
        '$o = at_path_({"model": {"table": $t, "depth": 2}}, "model.table")',
        top='def at_path_(tree, path):\n    return functools.reduce(lambda node, name: node[name], path.split("."), tree)',
        kept=True,
    ),
    Carrier(
        "both-by-shared-keys",
        wrap=(
            "def by_keys_(first, second):\n    for key in first:\n        $a, $b = first[key], second[key]",
            'by_keys_({"value": $x}, {"value": $t})',
        ),
        kept=True,
    ),
    Carrier(
        "both-by-lambda-closure", wrap=("def under_closure_($a, $b):", "(lambda: under_closure_($x, $t))()"), kept=True
    ),
    Carrier(
        "both-by-getattr-of-class",
        wrap=(
            "class PairLosses_:\n    @staticmethod\n    def compare($a, $b):",
            'getattr(PairLosses_, "compare")($x, $t)',
        ),
        kept=True,
    ),
    Carrier(
        "both-by-loss-of-table",
        wrap=(
            "LOSS_TABLE_ = {}\n\n\ndef in_loss_table_(name):\n    def enter(function):\n        LOSS_TABLE_[name] = function\n"
            '        return function\n\n    return enter\n\n\n@in_loss_table_("pair")\ndef pair_loss_($a, $b):',
            'LOSS_TABLE_["pair"]($x, $t)',
        ),
        kept=True,
    ),
    Carrier(
        "both-by-map-of-lists", wrap=("def mapped_pair_($a, $b):", "list(map(mapped_pair_, [$x], [$t]))[0]"), kept=True
    ),
    Carrier(
        "both-by-pairs-generator",
        wrap=(
            "def pairs_of_(first, second, turns=2):\n    for _ in range(turns):\n        yield first, second\n\n\n"
            "def over_pairs_(pairs):\n    for $a, $b in pairs:\n        break",
            "over_pairs_(pairs_of_($x, $t))",
        ),
        kept=True,
    ),
    Carrier(
        "both-and-move-left-off",
        wrap=(
            "def with_option_($a, $b, move=False):\n    if move:\n        $b = $b.to($a.device)",
            "with_option_($x, $t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-and-first-key-moved",
        wrap=(
            "def one_key_(batch, device):\n"
            '    batch = {key: value.to(device) if key == "inputs" else value for key, value in batch.items()}\n'
            '    $a, $b = batch["inputs"], batch["labels"]',
            'one_key_({"inputs": $x, "labels": $t}, $x.device)',
        ),
        kept=True,
    ),
    Carrier(
        "both-and-list-of-module-not-moved",
        wrap=(
            "class PlainBank_(nn.Module):\n    def __init__(self, parts):\n        super().__init__()\n        self.parts = parts\n\n"
            "    def forward(self, $a):\n        $b = self.parts[0]",
            "PlainBank_([$t]).to($x.device)($x)",
        ),
        kept=True,
    ),
    Carrier(
        "helper-with-default-gpu",
        "$o = to_default_gpu_($t)",
        top=(
            "def to_default_gpu_(value, device=None):\n    if device is None:\n"
            '        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n    return value.to(device)'
        ),
        kept=True,
    ),
    Carrier(
        "batch-object-with-to",
        '$o = MovableBatch_(value=$t).to("cuda").value',
        top=(
            "class MovableBatch_:\n    def __init__(self, **fields):\n        self.__dict__.update(fields)\n\n"
            "    def to(self, device):\n"
            "        return MovableBatch_(**{name: value.to(device) for name, value in self.__dict__.items()})"
        ),
        kept=True,
    ),
    Carrier(
        "static-input-filled",
        "$o = StaticInput_($t).fill($t)",
        top=(
            'class StaticInput_:\n    def __init__(self, example):\n        self.input = torch.zeros_like(example, device="cuda")\n\n'
            "    def fill(self, value):\n        self.input.copy_(value)\n        return self.input"
        ),
        kept=True,
    ),
    Carrier(
        "preloader-that-moves",
        "for $o in MovingPreloader_([$t]):\n    break",
        top=(
            "class MovingPreloader_:\n    def __init__(self, loader):\n        self.loader = loader\n"
            '        self.device = torch.device("cuda", 0)\n\n    def __iter__(self):\n        for batch in self.loader:\n'
            "            yield batch.to(self.device, non_blocking=True)"
        ),
        kept=True,
    ),
    Carrier("list-made-on-gpu", '$o = torch.tensor($t.tolist(), device="cuda")', kept=True),
    Carrier("moved-unless-on-gpu", "$o = $t if $t.is_cuda else $t.cuda()", kept=True),
    Carrier(
        "batch-transferred-by-trainer",
        '$o = TransferTrainer_("cuda").transfer({"value": $t, "id": 3})["value"]',
        top=(
            'class TransferTrainer_:\n    def __init__(self, accelerator="cpu"):\n        self.device = torch.device(accelerator)\n\n'
            "    def transfer(self, batch):\n        for name, value in batch.items():\n"
            "            if isinstance(value, torch.Tensor):\n                batch[name] = value.to(self.device)\n"
            "        return batch"
        ),
        kept=True,
    ),
    Carrier(
        "both-and-device-of-parameters",
        wrap=(
            "class KnowsDevice_(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.head = nn.Linear(2, 2)\n"
            "\n    @property\n    def device(self):\n        return next(self.parameters()).device\n\n    def forward(self, $a, $b):\n"
            "        $b = $b.to(self.device)",
            "KnowsDevice_().to($x.device)($x, $t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-and-by-get_device",
        wrap=(
            "def by_get_device_($a, $b):\n    if $a.is_cuda:\n        $b = $b.cuda($a.get_device())",
            "by_get_device_($x, $t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-and-list-made-beside",
        wrap=(
            "def made_beside_($a, given):\n    $b = torch.tensor(given.tolist(), device=$a.device)",
            "made_beside_($x, $t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-and-cuda-tried",
        wrap=(
            "def cuda_tried_($a, $b):\n    try:\n        $b = $b.cuda()\n    except (AssertionError, RuntimeError):\n        pass",
            "cuda_tried_($x, $t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-and-apply-overridden",
        wrap=(
            "class AppliesToOther_(nn.Module):\n    def __init__(self, other):\n        super().__init__()\n"
            "        self.other = other\n\n    def _apply(self, fn):\n        super()._apply(fn)\n        self.other = fn(self.other)\n"
            "        return self\n\n    def forward(self, $a):\n        $b = self.other",
            "AppliesToOther_($t).to($x.device)($x)",
        ),
        kept=True,
    ),
    Carrier(
        "both-and-first-brought-to-second",
        wrap=("def brought_to_second_(first, $b):\n    $a = first.to($b.device)", "brought_to_second_($x, $t)"),
        kept=True,
    ),
)

MEETINGS = (
    Meeting(
        "contrastive-logits",
        "mat",
        "mat",
        "logits_ = F.normalize($x, dim=1) @ F.normalize($t, dim=1).T / 0.07\n"
        "out = F.cross_entropy(logits_, torch.arange(3, device=$x.device))",
        kept=True,
    ),
    Meeting("scale-and-shift", "seq", "vec", "out = $x * (1 + $t) + $t", kept=True),
    Meeting("noised-sample", "img", "img", "out = math.sqrt(0.9) * $x + math.sqrt(1 - 0.9) * $t", kept=True),
    Meeting("bias-before-softmax", "sq", "sq", "out = F.softmax($x / math.sqrt(5) + $t.tril(), dim=-1)", kept=True),
    Meeting(
        "margin-ranking",
        "vec",
        "vec",
        "out = F.margin_ranking_loss($x, $t, torch.ones(4, device=$x.device), margin=0.1)",
        kept=True,
    ),
    Meeting(
        "degrees-by-scatter_add_",
        "mat",
        "idx",
        "degrees_ = torch.zeros(3, device=$x.device).scatter_add_(0, $t, torch.ones(3, device=$x.device))\n"
        "out = $x / degrees_.clamp(min=1).unsqueeze(1)",
        kept=True,
    ),
    Meeting(
        "halves-rotated",
        "seq",
        "vec",
        "first_, second_ = $x.chunk(2, dim=-1)\nout = torch.cat([-second_, first_], dim=-1) * $t + $x",
        kept=True,
    ),
    Meeting(
        "F.batch_norm-moments",
        "mat",
        "vec",
        "out = F.batch_norm($x, $t, torch.ones_like($t), training=False)",
        kept=True,
    ),
    Meeting("Bilinear-second-input", "mat", "mat", "out = $m($x, $t)", module="nn.Bilinear(4, 4, 2)", kept=True),
    Meeting("GRUCell-hidden", "mat", "mat", "out = $m($x, $t)", module="nn.GRUCell(4, 4)", kept=True),
    Meeting("BatchNorm2d-input", "img", "img", "out = $m($t) + $x", module="nn.BatchNorm2d(3)", kept=True),
    Meeting(
        "noise-added-to-gradient",
        "mat",
        "mat",
        "$m($x).sum().backward()\n$m.weight.grad.add_($t, alpha=0.1)\nout = $m.weight.grad",
        module="nn.Linear(4, 3)",
        kept=True,
    ),
    Meeting(
        "penalty-to-old-weights",
        "mat",
        "mat",
        "penalty_ = (($m.weight - $t) ** 2).sum()\nout = $m($x).mean() + 0.5 * penalty_",
        module="nn.Linear(4, 3)",
        kept=True,
    ),
    Meeting("causal-mask-filled", "sq", "sq", "out = $x.masked_fill($t.triu(1) > 0, -1e9).softmax(dim=-1)", kept=True),
    Meeting(
        "rendered-by-density",
        "mat",
        "mat",
        "alphas_ = 1.0 - torch.exp(-F.relu($x) * $t.abs())\n"
        "shifted_ = torch.cat([torch.ones(3, 1, device=$x.device), 1.0 - alphas_[:, :-1]], dim=1)\n"
        "out = alphas_ * torch.cumprod(shifted_, dim=1)",
        kept=True,
    ),
    Meeting(
        "rounded-to-scale",
        "mat",
        "vec",
        "scale_ = $t.abs() + 0.1\nout = torch.clamp(torch.round($x / scale_), -128, 127) * scale_",
        kept=True,
    ),
    Meeting(
        "transitions-of-crf",
        "sq",
        "sq",
        "score_ = $x[0]\nfor emission_ in $x[1:]:\n    score_ = torch.logsumexp(score_.unsqueeze(1) + $t, dim=0) + emission_\n"
        "out = score_",
        kept=True,
    ),
    Meeting(
        "linalg.solve-right-side",
        "sq",
        "sq",
        "out = torch.linalg.solve($x + 9 * torch.eye(5, device=$x.device), $t)",
        kept=True,
    ),
    Meeting("addcmul-of-other", "mat", "mat", "out = torch.addcmul($x, $t, $t, value=0.1)", kept=True),
    Meeting(
        "condition-by-channels",
        "img",
        "img",
        "out = $m(torch.cat([$x, $t], dim=1))",
        module="nn.Conv2d(6, 3, 1)",
        kept=True,
    ),
    Meeting(
        "logged-numbers",
        "mat",
        "mat",
        'out = {"inputs": $x.mean().item(), "others": float($t.mean())}',
        shown="len(out) > 0",
        kept=True,
    ),
    Meeting("rows-kept-by-cpu-mask", "mat", "mask", "out = $x[$t].sum() + $x[~$t].sum()", kept=True),
    Meeting("logit-scale-of-number", "mat", "num", "out = $x * $t.exp()", kept=True),
    Meeting(
        "as-many-as-cpu-max",
        "mat",
        "idx",
        "out = torch.zeros(int($t.max()) + 1, 4, device=$x.device) + $x[:1]",
        kept=True,
    ),
    Meeting(
        "moved-to-where-weights-are",
        "mat",
        "mat",
        "out = $m($x) + $m($t.to($m.weight.device))",
        module="nn.Linear(4, 3)",
        kept=True,
    ),
    Meeting(
        "row-copied-over", "mat", "vec", "table_ = $x.detach().clone()\ntable_[0].copy_($t)\nout = table_", kept=True
    ),
    Meeting("zeros-of-cpu-size", "mat", "mat", "out = $x + torch.zeros($t.size(), device=$x.device)", kept=True),
    Meeting("rows-by-numbers-of-list", "mat", "idx", "out = sum($x[number_] for number_ in $t.tolist())", kept=True),
    Meeting(
        "clipped-at-number",
        "mat",
        "num",
        "$m($x).sum().backward()\nout = nn.utils.clip_grad_norm_($m.parameters(), float($t) + 0.1)",
        module="nn.Linear(4, 3)",
        kept=True,
    ),
)

PLACERS = (
    Placer("to-with-keywords", "$x = ($moved).to(device=$dev, non_blocking=True)", kinds="FNIB", kept=True),
    Placer("array-brought-to-device", "$x = torch.from_numpy(($moved).numpy()).to($dev)", kept=True),
    Placer(
        "helper-with-optional-device",
        "$x = moved_or_not_($moved, device=$dev)",
        top="def moved_or_not_(value, device=None):\n    return value if device is None else value.to(device)",
        kinds="FNIB",
        kept=True,
    ),
    Placer(
        "module-prepares-input",
        "$x = PreparesInput_().to($dev).prepare($moved)",
        top=(
            "class PreparesInput_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            '        self.register_buffer("mean", torch.zeros(1))\n\n    @property\n    def device(self):\n'
            "        return self.mean.device\n\n    def prepare(self, value):\n        return value.to(self.device)"
        ),
        kinds="FNIB",
        kept=True,
    ),
    Placer(
        "field-of-namespace-moved",
        "sample_ = SimpleNamespace(data=$moved, label=1)\nsample_.data = sample_.data.to($dev)\n$x = sample_.data",
        kinds="FNIB",
        kept=True,
    ),
    Placer(
        "appended-as-moved",
        "moved_ = []\nfor part_ in ($moved, torch.ones(1)):\n    moved_.append(part_.to($dev))\n$x = moved_[0]",
        kinds="FNIB",
        kept=True,
    ),
    Placer("detached-clone-to", "$x = ($moved).detach().clone().to($dev)", kinds="FNIB", kept=True),
)

DEVICES = (
    Device(
        "device-of-local-rank",
        "local_device_()",
        top='def local_device_():\n    rank = int(os.environ.get("LOCAL_RANK", "0"))\n    return torch.device(f"cuda:{rank}")',
        kept=True,
    ),
    Device(
        "device-of-enum-value",
        "Hardware_.GPU.value",
        top='class Hardware_(Enum):\n    CPU = "cpu"\n    GPU = "cuda"',
        kept=True,
    ),
    Device(
        "device-of-class-setup",
        "Hub_.setup(use_gpu=True).device",
        top=(
            'class Hub_:\n    device = torch.device("cpu")\n\n    @classmethod\n    def setup(cls, use_gpu=False):\n'
            '        if use_gpu and torch.cuda.is_available():\n            cls.device = torch.device("cuda")\n        return cls'
        ),
        kept=True,
    ),
    Device("device-of-split-text", 'torch.device("cuda:0,cuda:1".split(",")[0])', kept=True),
    Device("device-type-keyword", 'torch.device(type="cuda", index=0)', kept=True),
)

RIGHT = frozenset(
    (
        "metric-state-as-buffer",
        "new_empty-normal_",
        "gradient-of-moved-net",
        "nearest-of-placed-codes",
        "not-padding",
        "state-of-moved-module",
        "made-under-default-device",
        "eye-type_as-placed",
        "numbers-where-weights-are",
        "helper-with-default-gpu",
        "batch-object-with-to",
        "static-input-filled",
        "preloader-that-moves",
        "list-made-on-gpu",
        "moved-unless-on-gpu",
        "batch-transferred-by-trainer",
        "both-and-device-of-parameters",
        "both-and-by-get_device",
        "both-and-list-made-beside",
        "both-and-cuda-tried",
        "both-and-apply-overridden",
        "both-and-first-brought-to-second",
        "logged-numbers",
        "rows-kept-by-cpu-mask",
        "logit-scale-of-number",
        "as-many-as-cpu-max",
        "moved-to-where-weights-are",
        "row-copied-over",
        "zeros-of-cpu-size",
        "rows-by-numbers-of-list",
        "clipped-at-number",
    )
)
"""As in tables_ninth.py."""
