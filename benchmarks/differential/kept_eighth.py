"""The kept half of the eighth batch of entries: see tables_eighth.py. Do not read it to mend the linter."""

from __future__ import annotations

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = (
    Maker(
        "mel-filterbank",
        "mat",
        "mel_filters_(3, 4)",
        top="def mel_filters_(count, width):\n    centres, bins = np.linspace(0.0, 1.0, count + 2), np.linspace(0.0, 1.0, width)\n"
        "    rising = (bins[None] - centres[:-2, None]) / (centres[1:-1] - centres[:-2])[:, None]\n"
        "    falling = (centres[2:, None] - bins[None]) / (centres[2:] - centres[1:-1])[:, None]\n"
        "    return torch.from_numpy(np.maximum(0.0, np.minimum(rising, falling))).float()",
        kept=True,
    ),
    Maker("signal-window", "vec", "torch.signal.windows.gaussian(4, std=1.0$dv)", kept=True),
    Maker(
        "running-moments",
        "vec",
        "moments_.mean",
        pre="moments_ = RunningMoments_(4)\nmoments_.update(torch.rand(6, 4))",
        top="class RunningMoments_:\n    def __init__(self, shape):\n        self.mean, self.var, self.count = torch.zeros(shape), torch.ones(shape), 1e-4\n\n"
        "    def update(self, batch):\n        share = batch.shape[0] / (self.count + batch.shape[0])\n"
        "        self.mean = self.mean + share * (batch.mean(0) - self.mean)\n        self.count += batch.shape[0]",
        kept=True,
    ),
    Maker(
        "ou-noise",
        "vec",
        "OrnsteinNoise_(4).sample()",
        top="class OrnsteinNoise_:\n    def __init__(self, size, theta=0.15, sigma=0.2):\n        self.theta, self.sigma = theta, sigma\n"
        "        self.state = np.zeros(size)\n\n    def sample(self):\n"
        "        self.state = self.state - self.theta * self.state + self.sigma * np.random.randn(*self.state.shape)\n"
        "        return torch.as_tensor(self.state, dtype=torch.float32)",
        kept=True,
    ),
    Maker(
        "karras-sigmas",
        "vec",
        "karras_sigmas_(3)",
        top="def karras_sigmas_(count, low=0.1, high=10.0, rho=7.0):\n    ramp = torch.linspace(0, 1, count)\n"
        "    sigmas = (high ** (1 / rho) + ramp * (low ** (1 / rho) - high ** (1 / rho))) ** rho\n"
        "    return torch.cat([sigmas, sigmas.new_zeros([1])])",
        kept=True,
    ),
    Maker(
        "nms-keep-of-placed-boxes",
        "idx",
        "keep_boxes_(torch.rand(3, 4, device=$dev), torch.rand(3, device=$dev), 1.1)",
        top="def overlap_(one, other):\n    sides = torch.minimum(one[2:], other[2:]) - torch.maximum(one[:2], other[:2])\n"
        "    return sides.clamp(min=0).prod().item()\n\n\n"
        "def keep_boxes_(boxes, scores, threshold=0.5):\n    order, keep = scores.argsort(descending=True).tolist(), []\n"
        "    while order:\n        best = order.pop(0)\n        keep.append(best)\n"
        "        order = [other for other in order if overlap_(boxes[best], boxes[other]) < threshold]\n"
        "    return torch.tensor(keep, dtype=torch.long)",
        kept=True,
    ),
    Maker(
        "csv-rows",
        "mat",
        "torch.tensor(rows_$dv)",
        pre='reader_ = csv.reader(io.StringIO("1,2,3,4\\n5,6,7,8\\n9,8,7,6"))\nrows_ = [[float(cell_) for cell_ in row_] for row_ in reader_]',
        kept=True,
    ),
    Maker(
        "npz-archive",
        "FIB",
        'torch.from_numpy(np.load(archive_)["table"])',
        pre="archive_ = io.BytesIO()\nnp.savez(archive_, table=$array)\narchive_.seek(0)",
        kept=True,
    ),
    Maker(
        "last-learning-rate",
        "num",
        "torch.tensor(decay_.get_last_lr()[0]$dv)",
        pre="sgd_ = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1)\ndecay_ = torch.optim.lr_scheduler.StepLR(sgd_, 1)",
        kept=True,
    ),
    Maker("flat-parameters", "vec", "nn.utils.parameters_to_vector(nn.Linear(3, 1).parameters()).detach()", kept=True),
    Maker(
        "average-copied-before-move",
        "mat",
        "average_.weight.detach()",
        pre="net_ = nn.Linear(4, 3)\naverage_ = copy.deepcopy(net_)\nnet_.to($dev)",
        kept=True,
    ),
    Maker(
        "class-prototypes",
        "mat",
        "prototypes_(torch.rand(6, 4$dv), torch.tensor([0, 1, 2, 0, 1, 2]$dv), 3)",
        top="def prototypes_(features, labels, ways):\n    return torch.stack([features[labels == way].mean(0) for way in range(ways)])",
        kept=True,
    ),
    Maker(
        "farthest-point-sample",
        "idx",
        "farthest_points_(torch.rand(3, 3, device=$dev), 3)",
        top="def farthest_points_(points, count):\n    chosen = torch.zeros(count, dtype=torch.long)\n"
        "    distance, farthest = torch.full((points.shape[0],), 1e10, device=points.device), 0\n    for at in range(count):\n"
        "        chosen[at] = farthest\n        distance = torch.minimum(distance, ((points - points[farthest]) ** 2).sum(-1))\n"
        "        farthest = int(distance.argmax())\n    return chosen",
        kept=True,
    ),
    Maker("frequency-bands", "vec", "2.0 ** torch.linspace(0.0, 3.0, steps=4$dv)", kept=True),
    Maker(
        "euler-trajectory",
        "mat",
        "euler_(lambda state: -state, torch.ones(4$dv), 3)",
        top="def euler_(field, start, steps, size=0.1):\n    states = [start]\n    for _ in range(steps - 1):\n"
        "        states.append(states[-1] + size * field(states[-1]))\n    return torch.stack(states)",
        kept=True,
    ),
    Maker(
        "packed-batch_sizes", "idx", "nn.utils.rnn.pack_sequence([torch.ones(3, device=$dev)]).batch_sizes", kept=True
    ),
    Maker(
        "adam-step-count",
        "num",
        'adam_.state[weight_]["step"]',
        pre="weight_ = nn.Parameter(torch.ones(2, device=$dev))\nadam_ = torch.optim.Adam([weight_])\nweight_.sum().backward()\nadam_.step()",
        kept=True,
    ),
    Maker("to-result-dropped", "FNIB", "unmoved_", pre="unmoved_ = $plain\nunmoved_.to($dev)", kept=True),
    Maker(
        "moved-copy-of-dict-beside",
        "FNIB",
        'sample_["table"]',
        pre='sample_ = {"table": $plain, "extra": torch.ones(1)}\nplaced_ = {key_: value_.to($dev) for key_, value_ in sample_.items()}',
        kept=True,
    ),
    Maker(
        "counter-frequencies",
        "vec",
        "torch.tensor([counts_[word_] / 4 for word_ in sorted(counts_)]$dv)",
        pre='counts_ = collections.Counter("a b c d a".split())',
        kept=True,
    ),
    Maker(
        "image-transforms",
        "mat img seq",
        "to_image_(np.ones($size, dtype=np.uint8))",
        top="class ImageToTensor_:\n    def __call__(self, image):\n        return torch.from_numpy(image).contiguous().float().div(255)\n\n\n"
        "class Standardize_:\n    def __init__(self, mean, std):\n        self.mean, self.std = mean, std\n\n    def __call__(self, image):\n"
        "        return (image - torch.tensor(self.mean)) / torch.tensor(self.std)\n\n\n"
        "def to_image_(image):\n    for transform in (ImageToTensor_(), Standardize_(0.5, 0.2)):\n"
        "        image = transform(image)\n    return image",
        kept=True,
    ),
    Maker("valid-of-strings", "mask", 'torch.tensor(list(map(str.isalpha, ["a", "1", "b"]))$dv)', kept=True),
    Maker(
        "ssim-window",
        "mat sq",
        "ssim_window_($shape)",
        top="def gaussian_(size, sigma=1.5):\n    row = torch.Tensor([math.exp(-((at - size // 2) ** 2) / (2 * sigma**2)) for at in range(size)])\n"
        "    return row / row.sum()\n\n\ndef ssim_window_(height, width):\n    return gaussian_(height).unsqueeze(1).mm(gaussian_(width).unsqueeze(0))",
        kept=True,
    ),
    Maker(
        "sizes-of-batch",
        "vec",
        "torch.tensor(images_.shape).float()",
        pre="images_ = torch.empty(2, 3, 8, 8, device=$dev)",
        kept=True,
    ),
    Maker(
        "matcher-indices",
        "idx",
        "match_costs_(torch.rand(3, 3, device=$dev))[1]",
        top="def match_costs_(costs):\n    costs = costs.detach().cpu().numpy()\n    rows, columns = np.arange(costs.shape[0]), costs.argmin(axis=1)\n"
        "    return torch.as_tensor(rows, dtype=torch.int64), torch.as_tensor(columns, dtype=torch.int64)",
        kept=True,
    ),
    Maker(
        "legacy-new-of-weight",
        "F",
        "next(cell_.parameters()).data.new($shape).fill_(0.5)",
        pre="cell_ = nn.Linear(2, 2).to($dev)",
        kept=True,
    ),
    Maker("made-in-device-block", "FNIB", "made_", pre="with torch.device($dev):\n    made_ = $plain", kept=True),
    Maker(
        "buffer-of-moved-module",
        "FNIB",
        "Grid_().to($dev).table",
        top="class Grid_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        '        self.register_buffer("table", $plain, persistent=False)',
        kept=True,
    ),
    Maker(
        "arange-on-device-of-other",
        "idx",
        "torch.arange(other_.size(0), device=other_.device)",
        pre="other_ = torch.rand(3, 2, device=$dev)",
        kept=True,
    ),
    Maker(
        "losses-stacked",
        "vec",
        "torch.stack([row_.pow(2).mean() for row_ in torch.rand(4, 2, device=$dev)])",
        kept=True,
    ),
    Maker(
        "adam-exp_avg",
        "mat",
        'adam_.state[net_.weight]["exp_avg"]',
        pre="net_ = nn.Linear(4, 3).to($dev)\nadam_ = torch.optim.Adam(net_.parameters())\n"
        "net_(torch.ones(2, 4, device=$dev)).sum().backward()\nadam_.step()",
        kept=True,
    ),
    Maker(
        "weight-after-load_state_dict",
        "mat",
        "net_.weight.detach()",
        pre="net_ = nn.Linear(4, 3).to($dev)\nnet_.load_state_dict(nn.Linear(4, 3).state_dict())",
        kept=True,
    ),
    Maker(
        "filled-by-slice-assignment",
        "FIB",
        "room_",
        pre="room_ = torch.zeros($size$dtype, device=$dev)\nroom_[:] = $plain",
        kept=True,
    ),
    Maker(
        "permutation-of-placed-generator",
        "idx",
        "torch.randperm(3, generator=seeded_, device=seeded_.device)",
        pre="seeded_ = torch.Generator(device=$dev)",
        kept=True,
    ),
    Maker(
        "collated-onto-device",
        "FIB",
        "next(iter(loader_))",
        pre="loader_ = DataLoader([$plain], batch_size=1, collate_fn=lambda rows: rows[0].to($dev))",
        kept=True,
    ),
    Maker("argmax-of-placed", "ids", "torch.rand(2, 5, 3, device=$dev).argmax(dim=-1)", kept=True),
    Maker(
        "one_hot-of-placed-labels",
        "mat",
        "F.one_hot(torch.tensor([0, 1, 3], device=$dev), num_classes=4).float()",
        kept=True,
    ),
)

CARRIERS = (
    Carrier(
        "stacked-module-state",
        '_, buffers_ = torch.func.stack_module_state([Slot_($t), Slot_($t)])\n$o = buffers_["table"][0]',
        'class Slot_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n        self.register_buffer("table", value)\n'
        "        self.head = nn.Linear(2, 2).to(value.device)",
        kept=True,
    ),
    Carrier(
        "weight-normed",
        'normed_ = nn.Module()\nnormed_.gain = nn.Parameter($t)\nnn.utils.parametrizations.weight_norm(normed_, "gain")\n$o = normed_.gain.detach()',
        kinds="mat img seq sq hid",
        kept=True,
    ),
    Carrier(
        "fluent-pipeline",
        "$o = next(iter(Stream_([$t]).map(torch.clone).batch(1)))[0]",
        "class Stream_:\n    def __init__(self, source):\n        self.source = source\n\n    def map(self, function):\n"
        "        return Stream_(function(item) for item in self.source)\n\n    def batch(self, size):\n"
        "        items = iter(self.source)\n        return Stream_(iter(lambda: list(itertools.islice(items, size)), []))\n\n"
        "    def __iter__(self):\n        return iter(self.source)",
        kept=True,
    ),
    Carrier(
        "metric-add_state",
        'metric_ = StateMetric_()\nmetric_.add_state("total", default=$t)\n$o = metric_.total',
        "class StateMetric_:\n    def __init__(self):\n        self.defaults = {}\n\n    def add_state(self, name, default):\n"
        "        setattr(self, name, default)\n        self.defaults[name] = copy.deepcopy(default)",
        kept=True,
    ),
    Carrier(
        "instantiated-by-target",
        '$o = instantiate_({"_target_": "Payload_", "value": $t, "scale": 2.0}).value',
        "class Payload_:\n    def __init__(self, value, scale=1.0):\n        self.value, self.scale = value, scale\n\n\n"
        'def instantiate_(config):\n    config = dict(config)\n    kind = globals()[config.pop("_target_")]\n    return kind(**config)',
        kept=True,
    ),
    Carrier(
        "dataclass-from-dict",
        '$o = Record_.from_dict({"value": $t, "rate": 0.1, "unknown": 1}).value',
        "@dataclass\nclass Record_:\n    value: torch.Tensor\n    rate: float = 1.0\n\n    @classmethod\n    def from_dict(cls, entries):\n"
        "        names = {one.name for one in dataclasses.fields(cls)}\n"
        "        return cls(**{name: entry for name, entry in entries.items() if name in names})",
        kept=True,
    ),
    Carrier("typing-cast", "$o = typing.cast(torch.Tensor, [$t][0])", kept=True),
    Carrier("nested-tensor", "$o = torch.nested.as_nested_tensor([$t, $t]).unbind()[0]", kinds="F", kept=True),
    Carrier(
        "complex-and-back",
        "$o = torch.view_as_real(torch.complex($t, torch.zeros_like($t)))[..., 0]",
        kinds="F",
        kept=True,
    ),
    Carrier("patches-and-back", "$o = $t.unfold(-1, 2, 2).flatten(-2)", kinds="vec mat img seq hid", kept=True),
    Carrier("mT-twice", "$o = $t.mT.contiguous().mT", kinds="mat img seq sq hid ids", kept=True),
    Carrier(
        "retained-gradient",
        "leaf_ = $t.detach().clone().requires_grad_()\nmiddle_ = leaf_ * 2\nmiddle_.retain_grad()\nmiddle_.sum().backward()\n$o = middle_.grad",
        kinds="FN",
        kept=True,
    ),
    Carrier(
        "lbfgs-closure",
        "weight_ = nn.Parameter($t.detach().clone())\nsearch_ = torch.optim.LBFGS([weight_], max_iter=2)\n\n"
        "def closure_():\n    search_.zero_grad()\n    loss_ = weight_.pow(2).sum()\n    loss_.backward()\n    return loss_\n\n"
        "search_.step(closure_)\n$o = weight_.detach()",
        kinds="F",
        kept=True,
    ),
    Carrier(
        "rgetattr",
        '$o = rgetattr_(SimpleNamespace(model=SimpleNamespace(table=$t)), "model.table")',
        'def rgetattr_(owner, path):\n    return functools.reduce(getattr, path.split("."), owner)',
        kept=True,
    ),
    Carrier(
        "prefix-stripped-state",
        'state_ = {"module.table": $t, "module.step": 1}\n'
        'state_ = {name_.replace("module.", "", 1): part_ for name_, part_ in state_.items()}\n$o = state_["table"]',
        kept=True,
    ),
    Carrier(
        "context-variable",
        "CURRENT_.set($t)\n$o = CURRENT_.get()",
        'CURRENT_ = contextvars.ContextVar("CURRENT_", default=None)',
        kept=True,
    ),
    Carrier(
        "growing-cache",
        "cache_ = GrowingCache_()\n$o = cache_.update($t, layer=0)",
        "class GrowingCache_:\n    def __init__(self):\n        self.keys = []\n\n    def update(self, key, layer):\n"
        "        if len(self.keys) <= layer:\n            self.keys.append(key)\n        else:\n"
        "            self.keys[layer] = torch.cat([self.keys[layer], key], dim=-2)\n        return self.keys[layer]",
        kept=True,
    ),
    Carrier(
        "dataset-with-transforms",
        "$o, label_ = Folder_([($t, 1)], transform=torch.clone, target_transform=float)[0]",
        "class Folder_(Dataset):\n    def __init__(self, samples, transform=None, target_transform=None):\n"
        "        self.samples, self.transform, self.target_transform = samples, transform, target_transform\n\n"
        "    def __len__(self):\n        return len(self.samples)\n\n    def __getitem__(self, number):\n"
        "        sample, target = self.samples[number]\n        if self.transform is not None:\n            sample = self.transform(sample)\n"
        "        if self.target_transform is not None:\n            target = self.target_transform(target)\n        return sample, target",
        kept=True,
    ),
    Carrier(
        "environment-wrappers",
        "$o, reward_, done_, info_ = ScaledReward_(TimeLimit_(OneState_($t))).step(0)",
        "class OneState_:\n    def __init__(self, state):\n        self.state = state\n\n    def step(self, action):\n"
        "        return self.state, 1.0, False, {}\n\n\nclass Wrapper_:\n    def __init__(self, env):\n        self.env = env\n\n"
        "    def step(self, action):\n        return self.env.step(action)\n\n\nclass TimeLimit_(Wrapper_):\n    def step(self, action):\n"
        "        state, reward, done, info = self.env.step(action)\n        return state, reward, True, info\n\n\n"
        "class ScaledReward_(Wrapper_):\n    def step(self, action):\n        state, reward, done, info = super().step(action)\n"
        "        return state, reward * 0.1, done, info",
        kept=True,
    ),
    Carrier("mapping-proxy", '$o = types.MappingProxyType({"value": $t, "rate": 0.1})["value"]', kept=True),
    Carrier(
        "forked-rng",
        "with torch.random.fork_rng(devices=[]):\n    torch.manual_seed(7)\n    $o = $t.clone()",
        kept=True,
    ),
    Carrier(
        "getter-and-setter-closures",
        "put_, get_ = make_slot_()\nput_($t)\n$o = get_()",
        'def make_slot_():\n    kept = {}\n\n    def put(value):\n        kept["value"] = value\n\n    def get():\n'
        '        return kept["value"]\n\n    return put, get',
        kept=True,
    ),
    Carrier(
        "storage-stack",
        'with Storage_() as storage_:\n    current_storage_().put("value", $t)\n    $o = storage_.latest["value"]',
        "STORAGES_ = []\n\n\ndef current_storage_():\n    return STORAGES_[-1]\n\n\nclass Storage_:\n    def __init__(self):\n        self.latest = {}\n\n"
        "    def put(self, name, value):\n        self.latest[name] = value\n\n    def __enter__(self):\n        STORAGES_.append(self)\n        return self\n\n"
        "    def __exit__(self, *error):\n        STORAGES_.pop()",
        kept=True,
    ),
    Carrier(
        "both-by-propagate",
        wrap=(
            "class Propagates_:\n    def propagate(self, **given):\n        names = inspect.signature(self.message).parameters\n"
            "        return self.message(**{name: given[name] for name in names})\n\n\nclass Edges_(Propagates_):\n    def message(self, $a, $b):",
            "Edges_().propagate($a=$x, $b=$t, size=None)",
        ),
        kept=True,
    ),
    Carrier(
        "both-by-skip-stack",
        wrap=("def climb_(value, skips):\n    $a, $b = value, skips.pop()", "climb_($x, [torch.ones(1), $t])"),
        kept=True,
    ),
    Carrier(
        "both-by-patched-forward",
        wrap=(
            "def patched_(module, function):\n    module.forward = types.MethodType(function, module)\n    return module\n\n\n"
            "def new_forward_(self, $a, $b):",
            "patched_(nn.Identity(), new_forward_)($x, $t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-by-engine",
        wrap=(
            "class Engine_:\n    def __init__(self, process):\n        self.process, self.output = process, None\n\n    def run(self, batches):\n"
            "        for batch in batches:\n            self.output = self.process(self, batch)\n        return self.output\n\n\n"
            "def process_(engine, batch):\n    $a, $b = batch",
            "Engine_(process_).run([($x, $t)])",
        ),
        kept=True,
    ),
    Carrier(
        "both-by-compute_loss",
        wrap=(
            "class PlainTrainer_:\n    def training_step(self, inputs):\n        return self.compute_loss(dict(inputs))\n\n\n"
            'class OwnTrainer_(PlainTrainer_):\n    def compute_loss(self, inputs):\n        $b = inputs.pop("labels")\n        $a = inputs["data"]',
            'OwnTrainer_().training_step({"data": $x, "labels": $t})',
        ),
        kept=True,
    ),
    Carrier(
        "accelerator-prepare",
        "$o = OwnAccelerator_().prepare($t)",
        'class OwnAccelerator_:\n    def __init__(self):\n        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n\n'
        "    def prepare(self, *parts):\n        moved = tuple(part.to(self.device) for part in parts)\n        return moved if len(moved) > 1 else moved[0]",
        kept=True,
    ),
    Carrier(
        "to-device-transform",
        '$o = functools.reduce(lambda value_, step_: step_(value_), [torch.clone, ToGpu_("cuda")], $t)',
        "class ToGpu_:\n    def __init__(self, device):\n        self.device = torch.device(device)\n\n    def __call__(self, value):\n"
        "        return value.to(self.device)",
        kept=True,
    ),
    Carrier(
        "moved-unless-no-gpu",
        "$o = onto_gpu_($t)",
        "def onto_gpu_(value):\n    if not torch.cuda.is_available():\n        return value\n"
        "    torch.cuda.synchronize()\n    return value.to(torch.cuda.current_device())",
        kept=True,
    ),
    Carrier(
        "both-and-matched-in-helper",
        wrap=(
            "def match_devices_(*tensors):\n    target = tensors[0].device\n    return [tensor.to(target) for tensor in tensors]\n\n\n"
            "def joined_(one, other):\n    $a, $b = match_devices_(one, other)",
            "joined_($x, $t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-and-pre-hook-moves",
        wrap=(
            "def align_(module, given):\n    return tuple(value.to(module.place.device) for value in given)\n\n\ndef aligned_(module):\n"
            "    module.register_forward_pre_hook(align_)\n    return module\n\n\nclass Aligned_(nn.Module):\n    def __init__(self, place):\n"
            "        super().__init__()\n        self.place = place\n\n    def forward(self, $a, $b):",
            "aligned_(Aligned_($x))($x, $t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-and-loaded-into-buffer",
        wrap=(
            'class Loaded_(nn.Module):\n    def __init__(self, other):\n        super().__init__()\n        self.register_buffer("other", other)\n\n'
            "    def forward(self, $a, state):\n        self.load_state_dict(state)\n        $b = self.other",
            'Loaded_(torch.zeros_like($t, device=$x.device))($x, {"other": $t})',
        ),
        kept=True,
    ),
    Carrier(
        "both-and-rebuilt-from-list",
        wrap=("def joined_($a, given):\n    $b = torch.tensor(given.tolist(), device=$a.device)", "joined_($x, $t)"),
        kept=True,
    ),
    Carrier(
        "both-and-realigned-if-apart",
        wrap=("def joined_($a, $b):\n    if $a.device != $b.device:\n        $b = $b.to($a.device)", "joined_($x, $t)"),
        kept=True,
    ),
    Carrier(
        "both-and-batch-object-moved",
        wrap=(
            "class MovedPair_:\n    def __init__(self, data, target):\n        self.data, self.target = data, target\n\n    def to(self, device):\n"
            "        return MovedPair_(self.data.to(device), self.target.to(device))\n\n    def join(self):\n        $a, $b = self.data, self.target",
            "MovedPair_($x, $t).to($x.device).join()",
        ),
        kept=True,
    ),
    Carrier(
        "both-and-set-into-placed",
        wrap=(
            "def joined_($a, given):\n    $b = torch.zeros_like(given, device=$a.device)\n    $b[...] = given",
            "joined_($x, $t)",
        ),
        kept=True,
    ),
    Carrier(
        "bucketed-by-length",
        "buckets_ = {}\nfor row_ in [$t, $t]:\n    buckets_.setdefault(row_.shape[0], []).append(row_)\n$o = next(iter(buckets_.values()))[-1]",
        kinds="FIB",
        kept=True,
    ),
    Carrier(
        "scanned-state",
        "$o, outputs_ = scan_(lambda state_, item_: (state_, item_ + 1), $t, range(3))",
        "def scan_(step, state, items):\n    outputs = []\n    for item in items:\n        state, output = step(state, item)\n"
        "        outputs.append(output)\n    return state, outputs",
        kept=True,
    ),
    Carrier("grad-scaler-off", '$o = torch.amp.GradScaler("cuda", enabled=False).scale($t)', kinds="FN", kept=True),
    Carrier(
        "copied-record-updated",
        "$o = Settings_(None).with_table($t).table",
        "class Settings_:\n    def __init__(self, table):\n        self.table, self.depth = table, 2\n\n    def with_table(self, table):\n"
        "        updated = copy.copy(self)\n        updated.table = table\n        return updated",
        kept=True,
    ),
    Carrier(
        "lambda-layer",
        "$o = nn.Sequential(Lambda_(torch.clone), nn.Identity())($t)",
        "class Lambda_(nn.Module):\n    def __init__(self, function):\n        super().__init__()\n        self.function = function\n\n"
        "    def forward(self, value):\n        return self.function(value)",
        kept=True,
    ),
    Carrier(
        "stochastic-depth",
        "$o = DropPath_(0.5).eval()($t)",
        "class DropPath_(nn.Module):\n    def __init__(self, rate):\n        super().__init__()\n        self.rate = rate\n\n    def forward(self, value):\n"
        "        if self.rate == 0.0 or not self.training:\n            return value\n        keep = value.new_empty((value.shape[0],)).bernoulli_(1 - self.rate)\n"
        "        return value * keep.view(-1, *[1] * (value.dim() - 1))",
        kept=True,
    ),
    Carrier(
        "embedding-from_pretrained",
        "$o = nn.Embedding.from_pretrained($t, freeze=True).weight",
        kinds="mat sq",
        kept=True,
    ),
    Carrier("both-and-move-dropped", wrap=("def joined_($a, $b):\n    $b.to($a.device)", "joined_($x, $t)"), kept=True),
    Carrier(
        "both-and-mover-without-lists",
        wrap=(
            "def to_place_(batch, device):\n    if isinstance(batch, dict):\n        return {key: to_place_(part, device) for key, part in batch.items()}\n"
            '    return batch.to(device) if isinstance(batch, torch.Tensor) else batch\n\n\ndef joined_(batch):\n    $a, ($b,) = batch["data"], batch["targets"]',
            'joined_(to_place_({"data": $x, "targets": [$t]}, $x.device))',
        ),
        kept=True,
    ),
    Carrier(
        "both-and-cached-by-shape",
        wrap=(
            "BY_SHAPE_ = {}\n\n\ndef of_shape_(value, device):\n    key = tuple(value.shape)\n    if key not in BY_SHAPE_:\n        BY_SHAPE_[key] = value\n"
            "    return BY_SHAPE_[key]\n\n\ndef joined_($a, given):\n    $b = of_shape_(given, $a.device)",
            "joined_($x, $t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-and-base-class-places",
        wrap=(
            "class Places_:\n    def __init__(self, device):\n        self.device = device\n\n    def __call__(self, *values):\n"
            "        return self.join(*[self.put(value) for value in values])\n\n    def put(self, value):\n        return value.to(self.device)\n\n\n"
            "class Joins_(Places_):\n    def join(self, $a, $b):",
            "Joins_($x.device)($x, $t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-and-keywords-moved",
        wrap=(
            "def with_moved_(function, device, **values):\n"
            "    return function(**{name: value.to(device) for name, value in values.items()})\n\n\ndef joined_($a, $b):",
            "with_moved_(joined_, $x.device, $a=$x, $b=$t)",
        ),
        kept=True,
    ),
)

MEETINGS = (
    Meeting(
        "Transformer-target",
        "seq",
        "seq",
        "out = $m($x, $t)",
        module="nn.Transformer(4, 2, 1, 1, 8, batch_first=True)",
        kept=True,
    ),
    Meeting("blur-kernel", "img", "sq", "out = F.conv2d($x, $t.expand(3, 1, 5, 5), padding=2, groups=3)", kept=True),
    Meeting(
        "moco-logits",
        "mat",
        "mat",
        'near_ = ($x * $x).sum(dim=1, keepdim=True)\nfar_ = torch.einsum("nc,kc->nk", $x, $t)\nout = torch.cat([near_, far_], dim=1) / 0.07',
        kept=True,
    ),
    Meeting(
        "crf-transitions",
        "mat",
        "sq",
        "score_ = $x[0]\nfor emission_ in $x[1:]:\n    score_ = torch.logsumexp(score_[:, None] + $t[:4, :4] + emission_[None], dim=0)\n"
        "out = score_.logsumexp(dim=0)",
        kept=True,
    ),
    Meeting("quantile-points", "mat", "vec", "out = torch.quantile($x.flatten(), $t.sigmoid())", kept=True),
    Meeting(
        "cholesky_solve",
        "sq",
        "sq",
        "factor_ = torch.linalg.cholesky($x @ $x.t() + 5 * torch.eye(5, device=$x.device))\nout = torch.cholesky_solve($t, factor_)",
        kept=True,
    ),
    Meeting(
        "gradient-assigned",
        "mat",
        "mat",
        "weight_ = nn.Parameter($x.detach().clone())\nweight_.grad = $t.detach().clone()\nout = weight_.grad",
        kept=True,
    ),
    Meeting(
        "weight-parameter-replaced",
        "mat",
        "mat",
        "$m.weight = nn.Parameter($t)\nout = $m($x)",
        module="nn.Linear(4, 3)",
        kept=True,
    ),
    Meeting(
        "matmul-under-autocast",
        "mat",
        "mat",
        'with torch.autocast("cuda", dtype=torch.bfloat16):\n    out = $x @ $t.t()',
        kept=True,
    ),
    Meeting(
        "meshgrid-of-both",
        "vec",
        "vec",
        'rows_, columns_ = torch.meshgrid($x, $t, indexing="ij")\nout = rows_ + columns_',
        kept=True,
    ),
    Meeting(
        "np.savez-of-moved",
        "mat",
        "vec",
        "file_ = io.BytesIO()\nnp.savez(file_, features=$x.detach(), extra=$t.detach().cpu())\nout = len(file_.getvalue())",
        good="file_ = io.BytesIO()\nnp.savez(file_, features=$x.detach().cpu(), extra=$t.detach().cpu())\nout = len(file_.getvalue())",
        shown="out > 0",
        kept=True,
    ),
    Meeting(
        "buffer-registered-late",
        "mat",
        "vec",
        '$m.register_buffer("scale", $t)\nout = $m($x) * $m.scale',
        module="nn.Linear(4, 4)",
        kept=True,
    ),
    Meeting(
        "chamfer-distance",
        "mat",
        "mat",
        "gaps_ = (($x[:, None] - $t[None]) ** 2).sum(dim=-1)\nout = gaps_.min(dim=0).values.mean() + gaps_.min(dim=1).values.mean()",
        kept=True,
    ),
    Meeting(
        "multilabel-soft-margin", "mat", "mat", "out = F.multilabel_soft_margin_loss($x, ($t > 0).float())", kept=True
    ),
    Meeting(
        "rotary-by-complex",
        "mat",
        "mat",
        "pairs_ = torch.view_as_complex($x.reshape(3, 2, 2).contiguous())\nangles_ = $t[:, :2]\n"
        "out = torch.view_as_real(pairs_ * torch.polar(torch.ones_like(angles_), angles_))",
        kept=True,
    ),
    Meeting(
        "label-counts-weighted",
        "idx",
        "vec",
        "counts_ = torch.bincount($x, minlength=4).float()\nout = (counts_ / counts_.sum() * $t).sum()",
        kept=True,
    ),
    Meeting(
        "pad_sequence-of-both",
        "mat",
        "mat",
        "out = nn.utils.rnn.pad_sequence([$x, $t[:2]], batch_first=True)",
        kept=True,
    ),
    Meeting(
        "broadcast_tensors-of-both",
        "mat",
        "vec",
        "large_, small_ = torch.broadcast_tensors($x, $t)\nout = large_ * small_.shape[0]",
        kept=True,
    ),
    Meeting("full_like-of-number", "mat", "vec", "out = $x + torch.full_like($x, $t.max().item())", kept=True),
    Meeting("sliced-by-tensor-bound", "mat", "idx", "out = $x[: $t.max() + 1]", kept=True),
    Meeting("0-dim-exponent", "mat", "num", "out = ($x.abs() + 0.1) ** $t", kept=True),
    Meeting("0-dim-maximum", "mat", "num", "out = torch.maximum($x, $t)", kept=True),
    Meeting(
        "json-of-both",
        "mat",
        "vec",
        'out = json.dumps({"loss": $x.mean().item(), "scales": $t.tolist()})',
        shown="len(out) > 0",
        kept=True,
    ),
    Meeting(
        "tensor-dataset-of-both",
        "mat",
        "idx",
        "data_ = TensorDataset($x, $t)\nout = data_[0][0] * data_[0][1].item()",
        kept=True,
    ),
    Meeting(
        "one-optimizer-of-both",
        "mat",
        "vec",
        "first_, second_ = nn.Parameter($x.detach().clone()), nn.Parameter($t.detach().clone())\n"
        "sgd_ = torch.optim.SGD([first_, second_], lr=0.1)\nfirst_.sum().backward()\nsecond_.sum().backward()\nsgd_.step()\nout = first_.detach()",
        kept=True,
    ),
    Meeting(
        "averages-written-by-item",
        "mat",
        "vec",
        "out = $x.detach().clone()\nfor column_, number_ in enumerate($t.tolist()):\n    out[:, column_] *= number_",
        kept=True,
    ),
    Meeting("class-token-prepended", "seq", "vec", "out = torch.cat([$t.expand(2, 1, -1), $x], dim=1)", kept=True),
    Meeting("sparse-mm", "mat", "sq", "out = torch.sparse.mm($t[:3, :3].contiguous().to_sparse(), $x)", kept=True),
    Meeting(
        "prototype-distances",
        "mat",
        "mat",
        "out = (-torch.cdist($x, $t) ** 2).softmax(dim=1).max(dim=1).values",
        kept=True,
    ),
    Meeting(
        "columns-by-numpy-order",
        "mat",
        "vec",
        "order_ = np.argsort($t.detach().cpu().numpy())\nout = $x[:, torch.from_numpy(order_)]",
        kept=True,
    ),
    Meeting("copied-onto-placed", "mat", "mat", "out = torch.empty_like($x)\nout.copy_($t)", kept=True),
)

PLACERS = (
    Placer(
        "transfer-batch-hook",
        '$x = OwnModule_().transfer_batch_to_device({"data": $moved, "name": "a"}, $dev)["data"]',
        "class OwnModule_:\n    def transfer_batch_to_device(self, batch, device, number=0):\n"
        '        batch["data"] = batch["data"].to(device)\n        return batch',
        kinds="FNIB",
        kept=True,
    ),
    Placer("assigned-into-placed", "$x = torch.zeros($size$dtype, device=$dev)\n$x[:] = $plain", kept=True),
    Placer(
        "module-moves-itself",
        "$x = Settled_($dev).table",
        "class Settled_(nn.Module):\n    def __init__(self, device):\n        super().__init__()\n"
        '        self.register_buffer("table", $plain)\n        self.to(device)',
        kinds="FNIB",
        kept=True,
    ),
    Placer(
        "namedtuple-replaced",
        "sample_ = Sample_($moved, 1)\nsample_ = sample_._replace(data=sample_.data.to($dev))\n$x = sample_.data",
        'Sample_ = namedtuple("Sample_", ["data", "label"])',
        kinds="FNIB",
        kept=True,
    ),
    Placer(
        "map_location-lambda-cuda",
        "saved_ = io.BytesIO()\ntorch.save($plain, saved_)\nsaved_.seek(0)\n$x = torch.load(saved_, map_location=lambda storage, location: storage.cuda(0))",
        kinds="FNIB",
        kept=True,
    ),
    Placer(
        "moved-in-post-init",
        "$x = Ready_($moved, $dev).data",
        "@dataclass\nclass Ready_:\n    data: torch.Tensor\n    device: object\n\n    def __post_init__(self):\n        self.data = self.data.to(self.device)",
        kinds="FNIB",
        kept=True,
    ),
    Placer(
        "environment-steps-placed",
        "$x, reward_, done_ = PlacedEnvironment_($dev).step(0)",
        "class PlacedEnvironment_:\n    def __init__(self, device):\n        self.device = device\n\n    def observe(self):\n        return $array\n\n"
        "    def step(self, action):\n        return torch.as_tensor(self.observe(), device=self.device), 1.0, False",
        kept=True,
    ),
    Placer(
        "cuda-of-loop-pairs",
        "inputs_, targets_ = $moved, torch.ones(1)\ninputs_, targets_ = inputs_.cuda(), targets_.cuda()\n$x = inputs_",
        kinds="FNIB",
        kept=True,
    ),
)

DEVICES = (
    Device("device-and-or", 'torch.cuda.is_available() and "cuda" or "cpu"', kept=True),
    Device(
        "device-of-text-lines",
        'dict(line_.split(": ") for line_ in SETTINGS_TEXT_.splitlines())["device"]',
        'SETTINGS_TEXT_ = "seed: 1\\ndevice: cuda"',
        kept=True,
    ),
    Device(
        "device-of-visible-devices",
        '"cuda" if os.environ.get("CUDA_VISIBLE_DEVICES", "0") != "" and torch.cuda.is_available() else "cpu"',
        kept=True,
    ),
    Device(
        "device-of-updated-namespace",
        "overridden_().device",
        'def overridden_():\n    args = argparse.Namespace(device="cpu", seed=1)\n    vars(args).update({"device": "cuda"})\n    return args',
        kept=True,
    ),
    Device("device-as-text-again", 'str(torch.device("cuda"))', kept=True),
    Device(
        "device-of-class-method",
        "Hardware_.detect().device",
        "class Hardware_:\n    def __init__(self, device):\n        self.device = device\n\n    @classmethod\n    def detect(cls):\n"
        '        return cls(torch.device("cuda")) if torch.cuda.is_available() else cls(torch.device("cpu"))',
        kept=True,
    ),
)

RIGHT = frozenset(
    (
        "legacy-new-of-weight",
        "made-in-device-block",
        "buffer-of-moved-module",
        "arange-on-device-of-other",
        "losses-stacked",
        "adam-exp_avg",
        "weight-after-load_state_dict",
        "filled-by-slice-assignment",
        "permutation-of-placed-generator",
        "collated-onto-device",
        "argmax-of-placed",
        "one_hot-of-placed-labels",
        "accelerator-prepare",
        "to-device-transform",
        "moved-unless-no-gpu",
        "both-and-matched-in-helper",
        "both-and-pre-hook-moves",
        "both-and-loaded-into-buffer",
        "both-and-rebuilt-from-list",
        "both-and-realigned-if-apart",
        "both-and-batch-object-moved",
        "both-and-set-into-placed",
        "both-and-base-class-places",
        "both-and-keywords-moved",
        "pad_sequence-of-both",
        "broadcast_tensors-of-both",
        "full_like-of-number",
        "sliced-by-tensor-bound",
        "0-dim-exponent",
        "0-dim-maximum",
        "json-of-both",
        "tensor-dataset-of-both",
        "one-optimizer-of-both",
        "averages-written-by-item",
        "columns-by-numpy-order",
        "copied-onto-placed",
    )
)
"""Makers, carriers and meetings with which a program runs though its tensor is not placed."""
