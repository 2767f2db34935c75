"""The open half of the ninth batch of entries, written on 2026-11-26 from what PyTorch projects do by an author who knew nothing of the analysis.

Detection, contrastive and meta-learning, radiance fields, optimal transport, federated learning, recommenders, speech.

Every second row of each table is in kept_ninth.py.
"""

from __future__ import annotations

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = (
    Maker(
        "base-anchors",
        "mat",
        "base_anchors_(8.0, (0.5, 1.0, 2.0))",
        top=(
            "def base_anchors_(size, ratios):\n    anchors = []\n    for ratio in ratios:\n"
            "        width, height = size * math.sqrt(ratio), size / math.sqrt(ratio)\n"
            "        anchors.append([-width / 2, -height / 2, width / 2, height / 2])\n    return torch.tensor(anchors)"
        ),
    ),
    Maker("noise-with-size-and-dtype", "FN", "torch.randn(mean_.size(), dtype=mean_.dtype$dv)", pre="mean_ = $on"),
    Maker("power-iteration-start", "vec", "F.normalize(torch.randn(4$dv), dim=0)"),
    Maker(
        "bytes-of-text", "ids", '(torch.tensor([list(text_.encode("utf-8")) for text_ in ("abcab", "bcabc")]$dv) % 3)'
    ),
    Maker(
        "degrees-to-the-minus-half",
        "vec",
        "torch.bincount(torch.tensor([0, 1, 1, 2, 3]$dv), minlength=4).float().pow(-0.5)",
    ),
    Maker(
        "gaussian-kernel-2d",
        "mat sq",
        "gaussian_kernel_($first, $rest, 1.5)",
        top=(
            "def gaussian_line_(size, sigma):\n"
            "    line = torch.tensor([math.exp(-((at - size // 2) ** 2) / (2 * sigma**2)) for at in range(size)])\n"
            "    return line / line.sum()\n\n\ndef gaussian_kernel_(height, width, sigma):\n"
            "    return gaussian_line_(height, sigma).unsqueeze(1).mm(gaussian_line_(width, sigma).unsqueeze(0))"
        ),
    ),
    Maker("sampled-negatives", "idx", "torch.from_numpy(np.random.choice(3, size=3)).long()"),
    Maker("mixing-weight-of-beta", "num", "torch.tensor(np.random.beta(0.4, 0.4), dtype=torch.float32$dv)"),
    Maker(
        "prototypes-of-support",
        "mat",
        "prototypes_(torch.rand(6, 4$dv), torch.tensor([0, 1, 2, 0, 1, 2]$dv), 3)",
        top=(
            "def prototypes_(features, labels, count):\n"
            "    return torch.stack([features[labels == label].mean(dim=0) for label in range(count)])"
        ),
    ),
    Maker(
        "boxes-of-annotations",
        "mat",
        'torch.as_tensor([one_["bbox"] for one_ in annotations_], dtype=torch.float32)',
        pre='annotations_ = [{"bbox": [0, 0, 4, 2 + number_], "category_id": number_} for number_ in range(3)]',
    ),
    Maker("locked-dropout-mask", "F", "torch.empty($shape$dv).bernoulli_(0.7) / 0.7"),
    Maker(
        "stratified-depths",
        "mat",
        "depths_(2.0, 6.0, 3, 4)",
        top=(
            "def depths_(near, far, rays, samples):\n    steps = torch.linspace(0.0, 1.0, samples)\n"
            "    depths = (near * (1.0 - steps) + far * steps).expand(rays, samples)\n"
            "    middle = 0.5 * (depths[..., 1:] + depths[..., :-1])\n    upper = torch.cat([middle, depths[..., -1:]], dim=-1)\n"
            "    lower = torch.cat([depths[..., :1], middle], dim=-1)\n"
            "    return lower + (upper - lower) * torch.rand(rays, samples)"
        ),
    ),
    Maker("quantile-fractions", "vec", "(torch.arange(4$dv) + 0.5) / 4"),
    Maker(
        "dones-of-episode",
        "mask",
        'torch.tensor([step_["done"] for step_ in episode_]$dv)',
        pre='episode_ = []\nfor number_ in range(3):\n    episode_.append({"reward": 1.0, "done": number_ == 2})',
    ),
    Maker(
        "weights-of-sampler", "vec", "torch.utils.data.WeightedRandomSampler([0.1, 0.2, 0.3, 0.4], 4).weights.float()"
    ),
    Maker("item-of-subset", "FIB", "torch.utils.data.Subset(TensorDataset(torch.stack([$plain, $plain])), [1])[0][0]"),
    Maker(
        "best-state-on-cpu",
        "mat",
        'best_["weight"]',
        pre="net_ = nn.Linear(4, 3).to($dev)\nbest_ = {name_: part_.cpu().clone() for name_, part_ in net_.state_dict().items()}",
    ),
    Maker(
        "counted-classes",
        "vec",
        "torch.tensor([counts_[label_] for label_ in range(4)], dtype=torch.float32$dv)",
        pre="counts_ = collections.Counter([0, 1, 1, 3, 2])",
    ),
    Maker(
        "relative-distances", "mat sq", "(torch.arange($rest$dv)[None, :] - torch.arange($first$dv)[:, None]).float()"
    ),
    Maker(
        "lagged-windows",
        "mat",
        "torch.stack([series_[start_ : start_ + 4] for start_ in range(3)])",
        pre="series_ = torch.from_numpy(np.sin(np.arange(8.0)).astype(np.float32))",
    ),
    Maker(
        "accumulators-before-move",
        "mat",
        "totals_[0]",
        pre="net_ = nn.Linear(4, 3)\ntotals_ = [torch.zeros_like(part_) for part_ in net_.parameters()]\nnet_.to($dev)",
    ),
    Maker(
        "user-and-item-ids",
        "idx",
        'torch.LongTensor([users_.setdefault(name_, len(users_)) for name_ in ("ann", "bob", "ann")])',
        pre="users_ = {}",
    ),
    Maker(
        "shadow-after-move",
        "mat",
        'ema_.shadow["weight"]',
        pre="net_ = nn.Linear(4, 3).to($dev)\nema_ = ShadowLater_(net_)",
        top=(
            "class ShadowLater_:\n    def __init__(self, net):\n        self.shadow = {}\n"
            "        for name, part in net.named_parameters():\n            if part.requires_grad:\n"
            "                self.shadow[name] = part.data.clone()"
        ),
    ),
    Maker(
        "rsample-of-placed-normal", "FN", "torch.distributions.Normal(torch.zeros($shape, device=$dev), 1.0).rsample()"
    ),
    Maker(
        "factory-keywords-of-other",
        "FN",
        "torch.ones($shape, **factory_)",
        pre='anchor_ = torch.zeros(1, device=$dev)\nfactory_ = {"device": anchor_.device, "dtype": anchor_.dtype}',
    ),
    Maker(
        "boxes-converted",
        "mat",
        "torch.stack([left_, top_, right_ - left_, bottom_ - top_], dim=-1)",
        pre="left_, top_, right_, bottom_ = torch.rand(3, 4, device=$dev).unbind(-1)",
    ),
    Maker("lengths-of-placed-mask", "idx", "(torch.rand(3, 2, device=$dev) > 0.5).sum(dim=1)"),
    Maker(
        "loaded-where-it-belongs",
        "FNIB",
        'torch.load(file_, map_location=torch.device($dev))["table"]',
        pre='file_ = io.BytesIO()\ntorch.save({"table": $plain, "epoch": 3}, file_)\nfile_.seek(0)',
    ),
    Maker("module-made-on-device", "mat", "nn.Linear(4, 3, device=$dev).weight.detach()"),
    Maker(
        "list-moved-by-comprehension",
        "FNIB",
        "parts_[0]",
        pre="parts_ = [part_.to($dev) for part_ in ($plain, torch.ones(1))]",
    ),
    Maker(
        "device-of-dummy-parameter",
        "FNIB",
        "WithDummy_().to($dev).blank()",
        top=(
            "class WithDummy_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.dummy = nn.Parameter(torch.empty(0))\n\n    @property\n    def device(self):\n"
            "        return self.dummy.device\n\n    def blank(self):\n        return torch.zeros($shape$dtype, device=self.device)"
        ),
    ),
)

CARRIERS = (
    Carrier(
        "sample-dataclass-iterated",
        "number_, $o = LabelledSample_($t, 1)",
        top=(
            "@dataclass\nclass LabelledSample_:\n    value: torch.Tensor\n    label: int\n\n    def __iter__(self):\n"
            "        return iter((self.label, self.value))"
        ),
    ),
    Carrier(
        "transition-memory",
        "memory_ = TransitionMemory_(8)\nmemory_.push($t, 1.0)\nstate_, reward_ = memory_.sample(1)[0]\n$o = state_",
        top=(
            "class TransitionMemory_:\n    def __init__(self, capacity):\n"
            "        self.capacity, self.memory, self.position = capacity, [], 0\n\n    def push(self, *transition):\n"
            "        if len(self.memory) < self.capacity:\n            self.memory.append(None)\n"
            "        self.memory[self.position] = transition\n        self.position = (self.position + 1) % self.capacity\n\n"
            "    def sample(self, count):\n        return random.sample(self.memory, count)\n\n    def __len__(self):\n"
            "        return len(self.memory)"
        ),
    ),
    Carrier(
        "smoothed-value-window",
        "window_ = SmoothedWindow_()\nwindow_.update($t)\n$o = window_.value",
        top=(
            "class SmoothedWindow_:\n    def __init__(self, size=20):\n        self.recent, self.count = deque(maxlen=size), 0\n\n"
            "    def update(self, value, count=1):\n        self.recent.append(value)\n        self.count += count\n\n    @property\n"
            "    def value(self):\n        return self.recent[-1]"
        ),
    ),
    Carrier(
        "built-from-type-key",
        '$o = build_block_({"type": "PassBlock", "depth": 1})($t)',
        top=(
            "BLOCKS_ = {}\n\n\ndef register_block_(cls):\n    BLOCKS_[cls.__name__] = cls\n    return cls\n\n\n@register_block_\n"
            "class PassBlock:\n    def __init__(self, depth):\n        self.depth = depth\n\n    def __call__(self, value):\n"
            "        return value\n\n\ndef build_block_(config):\n    config = config.copy()\n"
            '    return BLOCKS_[config.pop("type")](**config)'
        ),
    ),
    Carrier("rows-by-numpy-order", "$o = $t[np.arange(len($t))]", kinds="FIB"),
    Carrier("resized-to-own-size", '$o = F.interpolate($t, size=$t.shape[2:], mode="nearest")', kinds="img seq hid"),
    Carrier("flattened-view_as", "$o = $t.flatten().view_as($t)"),
    Carrier("einsum-of-one", '$o = torch.einsum("...i->...i", $t)', kinds="F"),
    Carrier(
        "parameter-of-group",
        '$o = torch.optim.SGD([nn.Parameter($t)], lr=0.1).param_groups[0]["params"][0].detach()',
        kinds="FN",
    ),
    Carrier(
        "modules-walked",
        "for module_ in nn.Sequential(nn.Identity(), ValueSlot_($t)).modules():\n    if isinstance(module_, ValueSlot_):\n"
        "        $o = module_.value",
        top="class ValueSlot_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n        self.value = value",
    ),
    Carrier(
        "frozen-dataclass-set-in-init",
        "$o = FrozenStats_($t).first",
        top=(
            "@dataclass(frozen=True)\nclass FrozenStats_:\n    values: torch.Tensor\n    first: torch.Tensor = None\n\n"
            '    def __post_init__(self):\n        object.__setattr__(self, "first", self.values)'
        ),
    ),
    Carrier(
        "hooks-of-runner",
        '$o = HookRunner_([KeepHook_()]).call("after_step", $t)',
        top=(
            "class KeepHook_:\n    def before_step(self, value):\n        return None\n\n    def after_step(self, value):\n"
            "        return value\n\n\nclass HookRunner_:\n    def __init__(self, hooks):\n        self.hooks = hooks\n\n"
            "    def call(self, name, value):\n        result = None\n        for hook in self.hooks:\n"
            "            result = getattr(hook, name)(value)\n        return result"
        ),
    ),
    Carrier(
        "checked-dimensions",
        "$o = checked_($t, $t.dim())",
        top=(
            'def checked_(value, dims):\n    assert value.dim() == dims, f"expected {dims} dimensions, got {value.shape}"\n'
            "    return value"
        ),
    ),
    Carrier(
        "run-in-chunks",
        "$o = in_chunks_(torch.clone, $t, 2)",
        top="def in_chunks_(function, value, size):\n    return torch.cat([function(part) for part in value.split(size)])",
        kinds="FIB",
    ),
    Carrier("set_grad_enabled-off", "with torch.set_grad_enabled(False):\n    $o = $t + 0", kinds="FNI"),
    Carrier("standardised", "$o = ($t - $t.mean()) / ($t.std() + 1e-5)", kinds="F"),
    Carrier(
        "pair-from-module",
        "$o, count_ = ReturnsPair_()($t)",
        top="class ReturnsPair_(nn.Module):\n    def forward(self, value):\n        return value, value.dim()",
    ),
    Carrier(
        "tensor-fields-mapped",
        '$o = TensorFields_({"table": $t}).map(torch.clone)["table"]',
        top=(
            "class TensorFields_:\n    def __init__(self, fields):\n        self.fields = fields\n\n    def map(self, function):\n"
            "        return TensorFields_({name: function(value) for name, value in self.fields.items()})\n\n"
            "    def __getitem__(self, name):\n        return self.fields[name]"
        ),
    ),
    Carrier(
        "cache-of-layers",
        "$o = LayersCache_().update($t, 0)",
        top=(
            "class LayersCache_:\n    def __init__(self):\n        self.values = []\n\n    def update(self, value, layer):\n"
            "        if len(self.values) <= layer:\n            self.values.append(value)\n        else:\n"
            "            self.values[layer] = torch.cat([self.values[layer], value], dim=0)\n        return self.values[layer]"
        ),
    ),
    Carrier(
        "setting-for-a-while",
        'settings_ = SimpleNamespace(table=None)\nwith using_setting_(settings_, "table", $t):\n    $o = settings_.table',
        top=(
            "@contextmanager\ndef using_setting_(settings, name, value):\n    before = getattr(settings, name)\n"
            "    setattr(settings, name, value)\n    try:\n        yield settings\n    finally:\n"
            "        setattr(settings, name, before)"
        ),
    ),
    Carrier(
        "template-of-base",
        "$o = CloneStep_().run($t)",
        top=(
            "class BaseStep_(ABC):\n    def run(self, value):\n        return self.finish(self.compute(value))\n\n    @abstractmethod\n"
            "    def compute(self, value): ...\n\n    def finish(self, value):\n        return value\n\n\nclass CloneStep_(BaseStep_):\n"
            "    def compute(self, value):\n        return value.clone()"
        ),
    ),
    Carrier(
        "target-updated-softly",
        "targets_ = [$t.detach().clone()]\nfor target_, online_ in zip(targets_, [$t]):\n"
        "    target_.data.copy_(0.99 * target_.data + 0.01 * online_.data)\n$o = targets_[0]",
        kinds="FN",
    ),
    Carrier(
        "states-of-clients-averaged",
        '$o = average_states_([{"table": $t}, {"table": $t}])["table"]',
        top=(
            "def average_states_(states):\n    average = copy.deepcopy(states[0])\n    for name in average:\n"
            "        for state in states[1:]:\n            average[name] = average[name] + state[name]\n"
            "        average[name] = torch.div(average[name], len(states))\n    return average"
        ),
        kinds="FN",
    ),
    Carrier("absolute-by-where", "$o = torch.where($t > 0, $t, -$t)", kinds="FNI"),
    Carrier(
        "value-made-when-asked",
        "$o = WhenAsked_(lambda: $t).value",
        top=(
            "class WhenAsked_:\n    def __init__(self, make):\n        self._make, self._value = make, None\n\n    @property\n"
            "    def value(self):\n        if self._value is None:\n            self._value = self._make()\n        return self._value"
        ),
    ),
    Carrier(
        "both-by-dicts-of-loss",
        wrap=(
            "class DictLoss_(nn.Module):\n    def forward(self, outputs, targets):\n"
            '        $a, $b = outputs["value"], targets["value"]',
            'DictLoss_()({"value": $x}, {"value": $t})',
        ),
    ),
    Carrier(
        "both-by-training_step",
        wrap=(
            "class PlainTask_:\n    def training_step(self, batch, batch_idx):\n        $a, $b = batch",
            "PlainTask_().training_step(($x, $t), 0)",
        ),
    ),
    Carrier(
        "both-by-columns-of-memory",
        wrap=(
            "def learn_from_(memory):\n    $a, $b = (column[0] for column in zip(*memory))",
            "learn_from_([($x, $t)])",
        ),
    ),
    Carrier(
        "both-by-steps-of-mixin",
        wrap=(
            "class RunsSteps_:\n    def run(self, first, second):\n        return self.compute(first, second=second)\n\n\n"
            "class PairSteps_(RunsSteps_):\n    def compute(self, first, second):\n        $a, $b = first, second",
            "PairSteps_().run($x, $t)",
        ),
    ),
    Carrier(
        "both-by-update-and-compute",
        wrap=(
            "class KeepsTwo_:\n    def __init__(self):\n        self.values = []\n\n    def update(self, value):\n"
            "        self.values.append(value)\n        return self\n\n    def compute(self):\n        $a, $b = self.values",
            "KeepsTwo_().update($x).update($t).compute()",
        ),
    ),
    Carrier(
        "both-by-pair-dataset",
        wrap=(
            "class PairsOfLists_(Dataset):\n    def __init__(self, first, second):\n        self.first, self.second = first, second\n\n"
            "    def __len__(self):\n        return len(self.first)\n\n    def __getitem__(self, number):\n"
            "        return self.first[number], self.second[number]\n\n\ndef first_pair_(dataset):\n    $a, $b = dataset[0]",
            "first_pair_(PairsOfLists_([$x], [$t]))",
        ),
    ),
    Carrier(
        "both-by-observed-and-applied",
        wrap=(
            "class Observer_:\n    seen = None\n\n    def observe(self, value):\n        self.seen = value\n        return self\n\n"
            "    def apply(self, $a):\n        $b = self.seen",
            "Observer_().observe($t).apply($x)",
        ),
    ),
    Carrier(
        "both-and-moved-copy-thrown-away",
        wrap=("def moved_nowhere_($a, $b):\n    $b.to($a.device)", "moved_nowhere_($x, $t)"),
    ),
    Carrier(
        "both-and-list-of-batch-not-reached",
        wrap=(
            "def tensors_to_(batch, device):\n"
            "    return {key: value.to(device) if torch.is_tensor(value) else value for key, value in batch.items()}\n\n\n"
            'def from_batch_(batch):\n    $a, $b = batch["inputs"], batch["targets"][0]',
            'from_batch_(tensors_to_({"inputs": $x, "targets": [$t]}, $x.device))',
        ),
    ),
    Carrier(
        "both-and-moved-in-other-branch",
        wrap=("def by_rank_($a, $b):\n    if $b.dim() > 8:\n        $b = $b.to($a.device)", "by_rank_($x, $t)"),
    ),
    Carrier(
        "list-sent-recursively",
        '$o = send_all_([$t, {"rate": 1.0}], TARGET_)[0]',
        top=(
            'TARGET_ = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n\n\ndef send_all_(value, device):\n'
            "    if isinstance(value, (list, tuple)):\n        return [send_all_(part, device) for part in value]\n"
            "    if isinstance(value, dict):\n        return {key: send_all_(part, device) for key, part in value.items()}\n"
            '    return value.to(device) if hasattr(value, "to") else value'
        ),
    ),
    Carrier(
        "state-loaded-into-placed",
        'slot_ = EmptyTable_($t.shape, $t.dtype).cuda()\nslot_.load_state_dict({"table": $t})\n$o = slot_.table',
        top=(
            "class EmptyTable_(nn.Module):\n    def __init__(self, shape, dtype):\n        super().__init__()\n"
            '        self.register_buffer("table", torch.zeros(shape, dtype=dtype))'
        ),
    ),
    Carrier("parameter-list-moved", "$o = nn.ParameterList([nn.Parameter($t)]).cuda()[0].detach()", kinds="FN"),
    Carrier("number-made-on-gpu", '$o = torch.tensor($t.item(), device="cuda")', kinds="N"),
    Carrier("array-put-on-gpu", "$o = torch.from_numpy($t.detach().cpu().numpy()).cuda()", kinds="FIB"),
    Carrier(
        "buffer-of-child-moved",
        '$o = ParentOfTable_($t).to("cuda").child.table',
        top=(
            "class ChildTable_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            '        self.register_buffer("table", value)\n\n\nclass ParentOfTable_(nn.Module):\n    def __init__(self, value):\n'
            "        super().__init__()\n        self.child = ChildTable_(value)"
        ),
    ),
    Carrier(
        "both-and-moved-to-own-parameter",
        wrap=(
            "class ScaledPair_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.scale = nn.Parameter(torch.ones(1))\n\n    def forward(self, $a, $b):\n        $b = $b.to(self.scale.device)",
            "ScaledPair_().to($x.device)($x, $t)",
        ),
    ),
    Carrier(
        "both-and-all-to-first",
        wrap=(
            "def all_to_first_(*values):\n    $a, $b = [value.to(values[0].device) for value in values]",
            "all_to_first_($x, $t)",
        ),
    ),
    Carrier(
        "both-and-frozen-parameter-moved",
        wrap=(
            "class FrozenOther_(nn.Module):\n    def __init__(self, other):\n        super().__init__()\n"
            "        self.other = nn.Parameter(other, requires_grad=False)\n\n    def forward(self, $a):\n        $b = self.other",
            "FrozenOther_($t).to($x.device)($x)",
        ),
    ),
    Carrier(
        "both-and-items-moved-in-loop",
        wrap=(
            "def items_moved_(batch, device):\n    for number, value in enumerate(batch):\n        batch[number] = value.to(device)\n"
            "    $a, $b = batch",
            "items_moved_([$x, $t], $x.device)",
        ),
    ),
    Carrier(
        "both-and-set-up-when-first-used",
        wrap=(
            "class SetUpLater_:\n    def __init__(self, other):\n        self.other, self.ready = other, False\n\n"
            "    def setup(self, device):\n        self.other = self.other.to(device)\n        self.ready = True\n\n"
            "    def run(self, $a):\n        if not self.ready:\n            self.setup($a.device)\n        $b = self.other",
            "SetUpLater_($t).run($x)",
        ),
    ),
    Carrier(
        "both-and-moved-where-they-differ",
        wrap=(
            "def where_they_differ_($a, $b):\n    if $b.device != $a.device:\n        $b = $b.to($a.device)",
            "where_they_differ_($x, $t)",
        ),
    ),
)

MEETINGS = (
    Meeting(
        "overlap-of-boxes",
        "mat",
        "mat",
        "corner_, other_ = torch.max($x[:, :2], $t[:, :2]), torch.min($x[:, 2:], $t[:, 2:])\n"
        "out = (other_ - corner_).clamp(min=0).prod(dim=1)",
    ),
    Meeting(
        "distances-to-codes",
        "mat",
        "mat",
        "distances_ = $x.pow(2).sum(1, keepdim=True) - 2 * $x @ $t.t() + $t.pow(2).sum(1)\nout = distances_.argmin(dim=1)",
    ),
    Meeting("td-target-of-dones", "mat", "mask", "out = 1.0 + 0.99 * $x.max(dim=1).values * (~$t)"),
    Meeting(
        "weighted-elementwise-loss",
        "mat",
        "vec",
        'out = (F.mse_loss($x, torch.zeros_like($x), reduction="none") * $t).mean()',
    ),
    Meeting(
        "kl_div-of-two-logits",
        "mat",
        "mat",
        'out = F.kl_div($x.log_softmax(-1), $t.softmax(-1), reduction="batchmean")',
    ),
    Meeting(
        "one_hot-of-labels-times-log", "mat", "idx", "out = -($x.log_softmax(-1) * F.one_hot($t, 4)).sum(dim=1).mean()"
    ),
    Meeting("sparse-adjacency-product", "sq", "sq", "out = torch.sparse.mm($t.to_sparse(), $x)"),
    Meeting("fixed-blur", "img", "sq", "out = F.conv2d($x, $t.expand(3, 1, 5, 5), groups=3, padding=2)"),
    Meeting("from_pretrained-vectors", "ids", "mat", "out = nn.Embedding.from_pretrained($t)($x)"),
    Meeting(
        "MultiheadAttention-attn_mask",
        "seq",
        "sq",
        "out, _ = $m($x, $x, $x, attn_mask=$t)",
        module="nn.MultiheadAttention(4, 2, batch_first=True)",
    ),
    Meeting(
        "Conv1d-of-channels-last",
        "seq",
        "seq",
        "out = $m($t.transpose(1, 2)).transpose(1, 2) + $x",
        module="nn.Conv1d(4, 4, 3, padding=1)",
    ),
    Meeting("InstanceNorm2d-input", "img", "img", "out = $x + $m($t)", module="nn.InstanceNorm2d(3, affine=True)"),
    Meeting(
        "weights-stepped-by-hand",
        "mat",
        "mat",
        "with torch.no_grad():\n    $m.weight.sub_($t, alpha=0.1)\nout = $m($x)",
        module="nn.Linear(4, 3)",
    ),
    Meeting(
        "sum-over-zipped", "mat", "mat", "out = sum((first_ * second_).sum() for first_, second_ in zip([$x], [$t]))"
    ),
    Meeting(
        "advantage-of-returns",
        "vec",
        "vec",
        "advantage_ = $t - $x.detach()\nout = (advantage_ - advantage_.mean()) / (advantage_.std() + 1e-8)",
    ),
    Meeting(
        "transport-plan-cost",
        "sq",
        "sq",
        "kernel_, scaling_ = torch.exp(-$x), torch.ones(5, device=$x.device)\nfor _ in range(2):\n"
        "    scaling_ = 1.0 / (kernel_ @ (1.0 / (kernel_.T @ scaling_ + 1e-8)) + 1e-8)\n"
        "out = (scaling_.unsqueeze(1) * kernel_ * $t).sum()",
    ),
    Meeting(
        "pooled-by-query",
        "seq",
        "vec",
        "weights_ = ($x @ $t).softmax(dim=-1)\nout = (weights_.unsqueeze(-1) * $x).sum(dim=1)",
    ),
    Meeting(
        "quantile-errors",
        "vec",
        "vec",
        "errors_ = $t.unsqueeze(0) - $x.unsqueeze(1)\nout = (0.5 - (errors_.detach() < 0).float()).abs() * errors_.abs()",
    ),
    Meeting("cross-product", "mat", "mat", "out = torch.linalg.cross($x, $t, dim=0)"),
    Meeting(
        "shadow-lerp_", "mat", "mat", "shadow_ = $t.detach().clone()\nshadow_.lerp_($x.detach(), 0.1)\nout = shadow_"
    ),
    Meeting("label-embedding-added", "mat", "idx", "out = $x + $m($t)", module="nn.Embedding(3, 4)"),
    Meeting("embedding-rows-by-cpu-ids", "mat", "idx", "out = $x + $m.weight[$t]", module="nn.Embedding(3, 4)"),
    Meeting("columns-by-cpu-order", "mat", "vec", "out = $x[:, $t.argsort()]"),
    Meeting("above-threshold-number", "mat", "num", "out = ($x > $t).float()"),
    Meeting("split-by-cpu-sizes", "mat", "idx", "out = torch.cat($x.split(($t * 0 + 1).tolist()))"),
    Meeting(
        "error-of-arrays",
        "mat",
        "mat",
        "out = np.abs($x.detach().cpu().numpy() - $t.detach().cpu().numpy()).mean()",
        shown="float(out)",
    ),
    Meeting(
        "weights-copied-in",
        "mat",
        "mat",
        "with torch.no_grad():\n    $m.weight.copy_($t)\nout = $m($x)",
        module="nn.Linear(4, 3)",
    ),
    Meeting("like-cpu-but-placed", "mat", "mat", "out = torch.zeros_like($t, device=$x.device) + $x"),
    Meeting("rows-by-numpy-index", "mat", "idx", "out = $x[$t.cpu().numpy()]"),
)

PLACERS = (
    Placer(
        "batch-class-to",
        '$x = EncodedBatch_({"inputs": $moved}).to($dev)["inputs"]',
        top=(
            "class EncodedBatch_:\n    def __init__(self, data):\n        self.data = data\n\n    def __getitem__(self, name):\n"
            "        return self.data[name]\n\n    def to(self, device):\n"
            "        self.data = {name: value.to(device=device) for name, value in self.data.items()}\n        return self"
        ),
        kinds="FNIB",
    ),
    Placer(
        "loader-collates-onto-device",
        "$x = next(iter(DataLoader([$moved], collate_fn=lambda rows_: rows_[0].to($dev))))",
        kinds="FNIB",
    ),
    Placer("moved-of-generator", "first_, $x = (part_.to($dev) for part_ in (torch.ones(1), $moved))", kinds="FNIB"),
    Placer(
        "copied-on-a-stream",
        "with torch.cuda.stream(torch.cuda.Stream()):\n    $x = ($moved).cuda(non_blocking=True)",
        kinds="FNIB",
    ),
    Placer(
        "generator-of-moved",
        "for $x in moved_batches_([$moved], $dev):\n    break",
        top="def moved_batches_(loader, device):\n    for batch in loader:\n        yield batch.to(device)",
        kinds="FNIB",
    ),
    Placer(
        "environment-gives-placed",
        "$x = PlacingEnvironment_($dev).reset($moved)",
        top=(
            "class PlacingEnvironment_:\n    def __init__(self, device):\n        self.device = torch.device(device)\n\n"
            "    def reset(self, start):\n        self.state = start.to(self.device)\n        return self.state"
        ),
        kinds="FNIB",
    ),
    Placer(
        "zipped-names-of-moved",
        'batch_ = dict(zip(("inputs", "ones"), [part_.to($dev) for part_ in ($moved, torch.ones(1))]))\n$x = batch_["inputs"]',
        kinds="FNIB",
    ),
)

DEVICES = (
    Device(
        "device-unless-args-cpu",
        'torch.device("cpu" if ARGUMENTS_.cpu or not torch.cuda.is_available() else "cuda")',
        top="ARGUMENTS_ = argparse.Namespace(cpu=False, seed=1)",
    ),
    Device(
        "device-of-nested-get",
        'RUN_CONFIG_.get("trainer", {}).get("device", "cuda")',
        top='RUN_CONFIG_ = {"trainer": {"epochs": 3}, "seed": 1}',
    ),
    Device(
        "device-of-staticmethod",
        "Machine_.best()",
        top=(
            "class Machine_:\n    @staticmethod\n    def best():\n"
            '        return torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")'
        ),
    ),
    Device(
        "device-of-match",
        'device_named_("gpu")',
        top=(
            'def device_named_(name):\n    match name:\n        case "gpu" | "cuda":\n            return torch.device("cuda")\n'
            '        case _:\n            return torch.device("cpu")'
        ),
    ),
    Device(
        "device-given-or-chosen",
        "given_or_chosen_()",
        top='def given_or_chosen_(device=None):\n    return torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))',
    ),
)

RIGHT = frozenset(
    (
        "shadow-after-move",
        "rsample-of-placed-normal",
        "factory-keywords-of-other",
        "boxes-converted",
        "lengths-of-placed-mask",
        "loaded-where-it-belongs",
        "module-made-on-device",
        "list-moved-by-comprehension",
        "device-of-dummy-parameter",
        "list-sent-recursively",
        "state-loaded-into-placed",
        "parameter-list-moved",
        "number-made-on-gpu",
        "array-put-on-gpu",
        "buffer-of-child-moved",
        "both-and-moved-to-own-parameter",
        "both-and-all-to-first",
        "both-and-frozen-parameter-moved",
        "both-and-items-moved-in-loop",
        "both-and-set-up-when-first-used",
        "both-and-moved-where-they-differ",
        "embedding-rows-by-cpu-ids",
        "columns-by-cpu-order",
        "above-threshold-number",
        "split-by-cpu-sizes",
        "error-of-arrays",
        "weights-copied-in",
        "like-cpu-but-placed",
        "rows-by-numpy-index",
    )
)
"""Makers, carriers and meetings with which a program runs though its tensor is not placed."""
