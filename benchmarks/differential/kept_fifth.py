"""The kept half of the fifth batch of entries, written on 2026-11-23 from what PyTorch programs do by an author who knew nothing of the analysis.

A coin chose it; the other half is in tables_fifth.py.
"""

from __future__ import annotations

from dataclasses import replace

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = tuple(
    replace(row, kept=True)
    for row in (
        Maker(
            "anchors-of-numpy",
            "mat",
            "torch.from_numpy(generate_anchors()).float()",
            top="def generate_anchors(base=16, ratios=(0.5, 1.0, 2.0)):\n    boxes = []\n    for ratio in ratios:\n"
            "        width, height = base * ratio**0.5, base / ratio**0.5\n"
            "        boxes.append([-width / 2, -height / 2, width / 2, height / 2])\n    return np.array(boxes) / base",
        ),
        Maker(
            "diffusion-coefficients",
            "vec",
            "Diffusion_(4).sqrt_alphas",
            top="class Diffusion_:\n    def __init__(self, steps):\n        betas = np.linspace(1e-4, 0.02, steps, dtype=np.float32)\n"
            "        self.steps = steps\n        self.sqrt_alphas = torch.from_numpy(np.sqrt(np.cumprod(1.0 - betas)))",
        ),
        Maker(
            "images-of-bytes",
            "mat seq img",
            "images_to_tensor([np.full(($rest), 128, dtype=np.uint8)] * $first)",
            top="def images_to_tensor(images):\n    images = np.stack(images, axis=0)\n"
            "    return torch.from_numpy(np.ascontiguousarray(images)).float().div(255)",
        ),
        Maker("clamped-normal", "F", "torch.empty($shape$dv).normal_(std=0.02).clamp_(-0.04, 0.04)"),
        Maker("random-choice-of-numpy", "idx", "torch.LongTensor(np.random.choice(3, 3))"),
        Maker("categorical-sample", "idx", "torch.distributions.Categorical(logits=torch.zeros(3, 3$dv)).sample()"),
        Maker(
            "vectors-of-text",
            "mat",
            "read_vectors(GLOVE_TEXT)",
            top='GLOVE_TEXT = "the 0.1 0.2 0.3 0.4\\nof 0.5 0.6 0.7 0.8\\nto 0.9 1.0 1.1 1.2"\n\n\ndef read_vectors(text):\n    lines = text.splitlines()\n'
            "    weights = torch.zeros(len(lines), 4)\n    for row, line in enumerate(lines):\n        word, *numbers = line.split()\n"
            "        weights[row] = torch.tensor([float(number) for number in numbers])\n    return weights",
        ),
        Maker(
            "slots-object",
            "FNIB",
            "PriorSlots().table",
            top='class PriorSlots:\n    __slots__ = ("table", "count")\n\n    def __init__(self):\n        self.table = $plain\n        self.count = 0',
        ),
        Maker("getattr-default", "FNIB", 'getattr(SimpleNamespace(rate=0.1), "table", $plain)'),
        Maker(
            "default-argument",
            "FNIB",
            "table_or_default()",
            top="def table_or_default(table=$plain):\n    return table",
        ),
        Maker(
            "shadow-of-average",
            "mat",
            'Shadow(nn.Linear(4, 3)).shadow["weight"]',
            top="class Shadow:\n    def __init__(self, model, decay=0.99):\n        self.decay = decay\n        self.shadow = {}\n"
            "        for name, parameter in model.named_parameters():\n            if parameter.requires_grad:\n"
            "                self.shadow[name] = parameter.data.clone()",
        ),
    )
)

CARRIERS = tuple(
    replace(row, kept=True)
    for row in (
        Carrier(
            "legacy-to_var",
            "$o = to_var($t)",
            "def to_var(value):\n    if torch.cuda.is_available():\n        value = value.cuda()\n    return torch.autograd.Variable(value)",
        ),
        Carrier("data-of-tensor", "$o = $t.data"),
        Carrier(
            "metric-logger",
            "metrics_ = MetricLogger()\nmetrics_.update(value=$t)\n$o = metrics_.value.latest",
            "class SmoothedValue:\n    def __init__(self):\n        self.latest, self.count = None, 0\n\n    def update(self, value):\n"
            "        self.latest = value\n        self.count += 1\n\n\nclass MetricLogger:\n    def __init__(self):\n"
            "        self.meters = defaultdict(SmoothedValue)\n\n    def update(self, **values):\n        for name, value in values.items():\n"
            "            self.meters[name].update(value)\n\n    def __getattr__(self, name):\n        if name in self.meters:\n"
            "            return self.meters[name]\n        raise AttributeError(name)",
        ),
        Carrier(
            "slots-record",
            "$o = TimeStep($t, 0.5).observation",
            'class TimeStep:\n    __slots__ = ("observation", "reward")\n\n    def __init__(self, observation, reward):\n'
            "        self.observation, self.reward = observation, reward",
        ),
        Carrier(
            "registry-object",
            '$o = FILTERS.build(dict(type="Steady", times=1))($t)',
            "class Registry_:\n    def __init__(self):\n        self.classes = {}\n\n    def register_module(self, cls):\n"
            "        self.classes[cls.__name__] = cls\n        return cls\n\n    def build(self, config):\n        options = config.copy()\n"
            '        return self.classes[options.pop("type")](**options)\n\n\nFILTERS = Registry_()\n\n\n@FILTERS.register_module\nclass Steady:\n'
            "    def __init__(self, times):\n        self.times = times\n\n    def __call__(self, value):\n        for _ in range(self.times):\n"
            "            value = value.contiguous()\n        return value",
        ),
        Carrier(
            "compose-of-transforms",
            "$o = ComposeAll([Detached(), torch.clone])($t)",
            "class Detached:\n    def __call__(self, value):\n        return value.detach()\n\n\nclass ComposeAll:\n    def __init__(self, transforms):\n"
            "        self.transforms = transforms\n\n    def __call__(self, value):\n        for transform in self.transforms:\n"
            "            value = transform(value)\n        return value",
        ),
        Carrier(
            "priority-heap",
            "heap_ = []\nheapq.heappush(heap_, (0.5, 0, $t))\nheapq.heappush(heap_, (0.9, 1, None))\n$o = heapq.heappop(heap_)[-1]",
        ),
        Carrier("sorted-by-length", "$o = sorted([$t, $t], key=len, reverse=True)[0]", kinds="FIB"),
        Carrier(
            "early-stopping-best",
            "stopper_ = BestKeeper(patience=3)\nstopper_.step(0.5, $t)\n$o = stopper_.best",
            "class BestKeeper:\n    def __init__(self, patience):\n        self.patience, self.waited = patience, 0\n"
            "        self.score, self.best = None, None\n\n    def step(self, score, value):\n        if self.score is None or score < self.score:\n"
            "            self.score, self.best, self.waited = score, value, 0\n        else:\n            self.waited += 1\n"
            "        return self.waited >= self.patience",
        ),
        Carrier(
            "swapped-within-scope",
            "keeper_ = SimpleNamespace(value=None)\nwith swapped_value(keeper_, $t):\n    $o = keeper_.value",
            "@contextmanager\ndef swapped_value(owner, value):\n    saved = owner.value\n    owner.value = value\n    try:\n        yield owner\n"
            "    finally:\n        owner.value = saved",
        ),
        Carrier(
            "module-list-loop",
            "blocks_ = nn.ModuleList([nn.Identity() for _ in range(2)])\n$o = $t\nfor block_ in blocks_:\n    $o = block_($o)",
        ),
        Carrier("chunks-joined", "$o = torch.cat(torch.chunk($t, 2, dim=0), dim=0)", kinds="FIB"),
        Carrier("dtype-alone", "$o = $t.to(dtype=$t.dtype)"),
        Carrier("copy-for-the-log", "logged_ = []\nlogged_.append($t.detach().cpu().numpy())\n$o = $t"),
        Carrier("finite-check", 'if not torch.isfinite($t).all():\n    raise ValueError("not finite")\n$o = $t'),
        Carrier(
            "collate-without-none",
            "$o = collate_valid([None, $t])[0]",
            "def collate_valid(items):\n    items = [item for item in items if item is not None]\n    return torch.stack(items, dim=0)",
        ),
        Carrier(
            "both-and-is_cuda-for-it",
            wrap=("def combine($a, $b):\n    if $a.is_cuda:\n        $b = $b.cuda()", "combine($x, $t)"),
        ),
        Carrier(
            "both-and-type-decides-device",
            wrap=(
                'def combine($a, $b):\n    place_ = torch.device("cuda") if $a.device.type == "cuda" else torch.device("cpu")\n    $b = $b.to(place_)',
                "combine($x, $t)",
            ),
        ),
        Carrier(
            "both-with-made-default",
            wrap=(
                "def combine($a, $b=None):\n    if $b is None:\n        $b = torch.zeros_like($a)",
                "combine($x, $t)",
            ),
        ),
        Carrier(
            "both-by-typed-batch",
            wrap=(
                "class PairBatch(NamedTuple):\n    inputs: torch.Tensor\n    targets: torch.Tensor\n\n\ndef combine(batch):\n    $a, $b = batch.inputs, batch.targets",
                "combine(PairBatch(inputs=$x, targets=$t))",
            ),
        ),
    )
)

MEETINGS = tuple(
    replace(row, kept=True)
    for row in (
        Meeting(
            "q-learning-target",
            "mat",
            "vec",
            "with torch.no_grad():\n    expected_ = $t + 0.99 * $x.max(dim=0).values\nout = F.smooth_l1_loss($x.mean(dim=0), expected_)",
        ),
        Meeting(
            "polyak-target",
            "mat",
            "mat",
            "for slow_, fast_ in zip([$t], [$x]):\n    slow_.data.copy_(0.995 * slow_.data + 0.005 * fast_.data)\nout = $t.detach()",
        ),
        Meeting(
            "noised-images",
            "img",
            "img",
            "level_ = torch.rand(2, 1, 1, 1, device=$x.device)\nout = level_.sqrt() * $x + (1 - level_).sqrt() * $t",
        ),
        Meeting(
            "noise-level-by-int",
            "mat",
            "vec",
            "out = $x.clone()\nfor step_ in reversed(range(2)):\n    out = out * $t[step_].abs().sqrt()",
        ),
        Meeting("adjacency-product", "seq", "sq", "out = F.relu(torch.matmul($t, $m($x)))", "nn.Linear(4, 4)"),
        Meeting(
            "tril-masked-scores",
            "seq",
            "sq",
            "scores_ = $x @ $x.transpose(-2, -1)\nscores_ = scores_.masked_fill($t.tril() == 0, -1e4)\nout = F.softmax(scores_, dim=-1) @ $x",
        ),
        Meeting(
            "language-model-loss",
            "seq",
            "ids",
            "out = F.cross_entropy($x.reshape(-1, $x.size(-1)), $t.reshape(-1), ignore_index=-100)",
        ),
        Meeting(
            "perceptual-loss",
            "img",
            "img",
            "out = F.l1_loss($m($x), $m($t).detach())",
            "nn.Sequential(nn.Conv2d(3, 2, 3), nn.ReLU())",
        ),
        Meeting("normalised-images", "img", "vec", "out = ($x - $t[:3].view(1, 3, 1, 1)) / 0.5"),
        Meeting("observation-statistics", "mat", "vec", "out = ($x - $t) / torch.sqrt($t.abs() + 1e-8)"),
        Meeting("number-of-first", "mat", "vec", "out = $x * float($t[0])"),
        Meeting(
            "0-dim-running-loss",
            "mat",
            "num",
            "running_ = $t.detach().clone()\nrunning_ += $x.detach().mean()\nout = running_",
        ),
        Meeting(
            "total-norm",
            "mat",
            "mat",
            "norms_ = [part_.detach().norm(2) for part_ in ($x, $t)]\nout = torch.stack(norms_).norm(2)",
        ),
        Meeting("banned-columns", "mat", "idx", "out = $x.clone()\nout[:, $t] = -1e4"),
        Meeting(
            "scatter_reduce-mean",
            "mat",
            "idx",
            'pooled_ = torch.zeros(3, 4, device=$x.device)\nout = pooled_.scatter_reduce(0, $t[:, None].expand_as($x), $x, reduce="mean")',
        ),
        Meeting("Bilinear-two-inputs", "mat", "mat", "out = $m($x, $t)", "nn.Bilinear(4, 4, 2)"),
        Meeting(
            "plot-values",
            "mat",
            "mat",
            "out = [float(value_) for value_ in $x.detach().mean(dim=1).numpy()]",
            good="out = [float(value_) for value_ in $x.detach().mean(dim=1).cpu().numpy()]",
            shown="len(out)",
        ),
    )
)

PLACERS = tuple(
    replace(row, kept=True)
    for row in (
        Placer("variable-cuda", "$x = torch.autograd.Variable($moved).cuda()"),
        Placer(
            "encoding-to",
            '$x = TextEncoding({"data": $plain}).to($dev)["data"]',
            top="class TextEncoding(collections.UserDict):\n    def to(self, device):\n"
            "        self.data = {name: item.to(device) for name, item in self.data.items()}\n        return self",
        ),
        Placer("with-torch-device", "with torch.device($dev):\n    $x = $plain"),
        Placer("observation-row", "$x = torch.as_tensor($array).unsqueeze(0).to($dev)[0]"),
        Placer(
            "prefetching-generator",
            "$x = next(prefetched([$plain], $dev))",
            top="def prefetched(loader, device):\n    for batch in loader:\n        yield batch.to(device, non_blocking=True)",
        ),
        Placer(
            "decorator-that-moves",
            "@moves_arguments($dev)\ndef hand_over(value):\n    return value\n\n$x = hand_over($plain)",
            top="def moves_arguments(device):\n    def decorate(function):\n        @functools.wraps(function)\n        def wrapper(*args):\n"
            "            return function(*[arg.to(device) for arg in args])\n\n        return wrapper\n\n    return decorate",
        ),
    )
)

DEVICES = tuple(
    replace(row, kept=True)
    for row in (
        Device(
            "try_gpu",
            "try_gpu()",
            'def try_gpu(number=0):\n    if torch.cuda.device_count() >= number + 1:\n        return torch.device(f"cuda:{number}")\n    return torch.device("cpu")',
        ),
        Device(
            "gpu-ids-of-options",
            'torch.device("cuda:{}".format(GPU_IDS[0])) if GPU_IDS else torch.device("cpu")',
            'GPU_IDS = [int(number) for number in "0,1".split(",") if int(number) >= 0]',
        ),
        Device("module-flag", 'torch.device("cuda:0" if USE_CUDA else "cpu")', "USE_CUDA = torch.cuda.is_available()"),
        Device(
            "runtime-singleton",
            "RUNTIME.device",
            'class Runtime_:\n    def __init__(self):\n        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
            "        self.seed = 1\n\n\nRUNTIME = Runtime_()",
        ),
    )
)
