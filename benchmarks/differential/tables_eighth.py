"""The open half of the eighth batch of entries, written on 2026-11-26 from what PyTorch projects do by an author who knew nothing of the analysis.

Detection, text, reinforcement learning, diffusion, graphs, speech, time series, metrics, servers. Every second row of each table is in kept_eighth.py.
"""

from __future__ import annotations

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = (
    Maker(
        "tokenizer-return-tensors",
        "ids",
        'ToyTokenizer_(["pad", "a", "b"])(["a b a", "b"], return_tensors="pt")["input_ids"]',
        top="class ToyTokenizer_:\n    def __init__(self, words):\n        self.ids = {word: at for at, word in enumerate(words)}\n\n"
        "    def __call__(self, texts, max_length=5, return_tensors=None):\n"
        "        rows = [[self.ids.get(word, 0) for word in text.split()] for text in texts]\n"
        "        rows = [row + [0] * (max_length - len(row)) for row in rows]\n"
        '        encoded = {"input_ids": rows, "attention_mask": [[int(number > 0) for number in row] for row in rows]}\n'
        '        if return_tensors == "pt":\n            encoded = {name: torch.tensor(value) for name, value in encoded.items()}\n'
        "        return encoded",
    ),
    Maker(
        "stft-magnitude",
        "mat",
        "torch.stft(torch.rand(16$dv), n_fft=8, hop_length=4, window=torch.hann_window(8$dv), return_complex=True).abs()[:3, :4]",
    ),
    Maker(
        "knn-neighbours",
        "idx",
        "torch.cdist(points_, points_).topk(1, largest=False).indices[:, 0]",
        pre="points_ = torch.rand(3, 2$dv)",
    ),
    Maker(
        "importance-weights",
        "vec",
        "importance_([0.5, 1.0, 2.0, 4.0])",
        top="def importance_(priorities, beta=0.4):\n    chances = np.asarray(priorities) / sum(priorities)\n"
        "    weights = (len(priorities) * chances) ** -beta\n    return torch.as_tensor(weights / weights.max(), dtype=torch.float32)",
    ),
    Maker(
        "observation-of-environment",
        "vec",
        "torch.from_numpy(observation_)",
        pre="observation_, _ = GridEnvironment_().reset(seed=1)",
        top="class GridEnvironment_:\n    def reset(self, seed=None):\n        self.position = np.zeros(4, dtype=np.float32)\n"
        '        return self.position, {"seed": seed}',
    ),
    Maker(
        "scheduler-timesteps",
        "idx",
        "scheduler_.timesteps",
        pre="scheduler_ = StepScheduler_()\nscheduler_.set_timesteps(3)",
        top="class StepScheduler_:\n    def __init__(self, train_steps=3):\n        self.train_steps, self.timesteps = train_steps, None\n\n"
        "    def set_timesteps(self, count):\n        steps = (np.arange(0, count) * (self.train_steps // count))[::-1]\n"
        "        self.timesteps = torch.from_numpy(steps.copy().astype(np.int64))",
    ),
    Maker("unfolded-windows", "mat", "torch.arange(8.0$dv).unfold(0, 4, 1)[:3]"),
    Maker(
        "loadtxt-table",
        "mat",
        'torch.from_numpy(np.loadtxt(io.StringIO("1 2 3 4\\n5 6 7 8\\n9 8 7 6"), dtype=np.float32))',
    ),
    Maker("unpickled", "FNIB", "pickle.loads(pickle.dumps($plain))"),
    Maker(
        "gradient-norm-of-cpu-net",
        "num",
        "nn.utils.clip_grad_norm_(net_.parameters(), 1.0)",
        pre="net_ = nn.Linear(2, 1)\nnet_(torch.ones(1, 2)).sum().backward()",
    ),
    Maker("swa-averaged-weight", "mat", "torch.optim.swa_utils.AveragedModel(nn.Linear(4, 3)).module.weight.detach()"),
    Maker(
        "fisher-of-shapes",
        "mat",
        'fisher_["weight"]',
        pre="net_ = nn.Linear(4, 3).to($dev)\nfisher_ = {name_: torch.zeros(part_.shape) for name_, part_ in net_.named_parameters()}",
    ),
    Maker(
        "language-model-batch",
        "ids",
        'next(text_batches_("a b c a b c b a c a", 2, 5))',
        top="def text_batches_(text, rows, steps):\n    words = {}\n"
        "    ids = torch.LongTensor([words.setdefault(word, len(words)) for word in text.split()])\n"
        "    ids = ids.narrow(0, 0, len(ids) // rows * rows).view(rows, -1)\n"
        "    for start in range(0, ids.size(1), steps):\n        yield ids[:, start : start + steps]",
    ),
    Maker(
        "camera-rays",
        "mat",
        "camera_rays_(3, 4, 2.0)[..., 0]",
        top="def camera_rays_(height, width, focal):\n"
        '    rows, columns = torch.meshgrid(torch.arange(height).float(), torch.arange(width).float(), indexing="ij")\n'
        "    return torch.stack([(columns - width / 2) / focal, (height / 2 - rows) / focal, -torch.ones_like(rows)], dim=-1)",
    ),
    Maker(
        "rbf-kernel",
        "mat sq",
        "rbf_(torch.linspace(0.0, 1.0, $first$dv)[:, None], torch.linspace(0.0, 1.0, $rest$dv)[:, None])",
        top="def rbf_(one, other, width=1.0):\n    return torch.exp(-torch.cdist(one, other).pow(2) / (2 * width**2))",
    ),
    Maker(
        "polar-rotations",
        "mat",
        "torch.view_as_real(rotations_(4, 3)).flatten(1)",
        top="def rotations_(width, length):\n    rates = 1.0 / 10000.0 ** (torch.arange(0, width, 2).float() / width)\n"
        "    angles = torch.outer(torch.arange(length).float(), rates)\n    return torch.polar(torch.ones_like(angles), angles)",
    ),
    Maker(
        "padded-lengths",
        "idx",
        "lengths_",
        pre="packed_ = nn.utils.rnn.pack_sequence([torch.ones(2, 4, device=$dev)] * 3)\n"
        "padded_, lengths_ = nn.utils.rnn.pad_packed_sequence(packed_, batch_first=True)",
    ),
    Maker("pinned-not-moved", "FIB", "($plain).pin_memory()"),
    Maker(
        "loop-variable-moved",
        "FNIB",
        "parts_[0]",
        pre="parts_ = [$plain, torch.ones(1)]\nfor part_ in parts_:\n    part_ = part_.to($dev)",
    ),
    Maker(
        "moved-module-holder-object",
        "FNIB",
        "WithMemory_().to($dev).memory.slots",
        top="class Memory_:\n    def __init__(self):\n        self.slots = $plain\n\n\nclass WithMemory_(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.head, self.memory = nn.Linear(2, 2), Memory_()",
    ),
    Maker(
        "frames-of-video",
        "img seq",
        "torch.stack([torch.from_numpy(frame_).float() / 255 for frame_ in frames_])",
        pre="frames_ = [np.full(($rest), 128, dtype=np.uint8) for _ in range($first)]",
    ),
    Maker(
        "cutmix-mask",
        "mat",
        "cutmix_mask_(3, 4, 0.5)",
        top="def cutmix_mask_(height, width, share):\n    mask, cut = torch.ones(height, width), int(width * math.sqrt(1.0 - share))\n"
        "    centre = np.random.randint(width)\n    mask[:, max(centre - cut // 2, 0) : centre + cut // 2] = 0.0\n    return mask",
    ),
    Maker("gumbel-noise", "F", "-torch.log(-torch.log(torch.rand($shape$dv).clamp(0.01, 0.99)))"),
    Maker(
        "gathered-predictions",
        "FIB",
        "torch.stack(collected_)",
        pre="collected_ = []\nfor row_ in $on:\n    collected_.append(row_.detach().cpu())",
    ),
    Maker("histogram-counts", "vec", "torch.histogram(torch.rand(9), bins=4).hist"),
    Maker(
        "hidden-of-own-parameters",
        "F",
        "next(cell_.parameters()).new_zeros($shape)",
        pre="cell_ = nn.GRU(4, 4).to($dev)",
    ),
    Maker("rand_like-of-placed", "F", "torch.rand_like($on)"),
    Maker(
        "array-helper-that-moves",
        "FIB",
        "place_array_($array, $dev)",
        top="def place_array_(array, device):\n    return torch.from_numpy(array).to(device, non_blocking=True)",
    ),
    Maker("number-times-placed", "F", "torch.tensor(2.0) * $on"),
    Maker(
        "embedding-of-moved-module", "mat", "nn.Embedding(3, 4).to($dev)(torch.tensor([2, 0, 1], device=$dev)).detach()"
    ),
    Maker("where-of-two-numbers", "F", "torch.where(torch.rand($shape, device=$dev) > 0.5, 1.0, 0.0)"),
    Maker(
        "optimizer-state-loaded",
        "F",
        'sgd_.state[new_]["momentum_buffer"]',
        pre="old_ = nn.Parameter($plain)\nsaved_ = torch.optim.SGD([old_], lr=0.1, momentum=0.9)\nold_.sum().backward()\nsaved_.step()\n"
        "new_ = nn.Parameter($on)\nsgd_ = torch.optim.SGD([new_], lr=0.1, momentum=0.9)\nsgd_.load_state_dict(saved_.state_dict())",
    ),
    Maker(
        "returned-early-without-gpu",
        "FNIB",
        "to_gpu_if_any_($plain)",
        top="def to_gpu_if_any_(value):\n    if not torch.cuda.is_available():\n        return value\n    return value.cuda(non_blocking=True)",
    ),
    Maker(
        "data-reassigned", "FN", "held_.detach()", pre="held_ = nn.Parameter($plain)\nheld_.data = held_.data.to($dev)"
    ),
    Maker(
        "actions-of-placed-logits",
        "idx",
        "torch.distributions.Categorical(logits=torch.zeros(3, 3, device=$dev)).sample()",
    ),
    Maker("compared-with-number", "mask", "torch.rand(3, device=$dev) > torch.tensor(0.5)"),
    Maker("output-of-moved-layer", "seq", "nn.Linear(4, 4).to($dev)(torch.rand(2, 5, 4, device=$dev)).detach()"),
)

CARRIERS = (
    Carrier("pickled-and-back", "$o = pickle.loads(pickle.dumps($t))"),
    Carrier(
        "pruned-parameter",
        'pruned_ = nn.Module()\npruned_.gain = nn.Parameter($t)\nprune.identity(pruned_, "gain")\n$o = pruned_.gain.detach()',
        kinds="FN",
    ),
    Carrier(
        "averaged-model-copy",
        "$o = torch.optim.swa_utils.AveragedModel(Keeps_($t)).module.table",
        'class Keeps_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n        self.register_buffer("table", value)',
    ),
    Carrier(
        "metric-update-compute",
        "metric_ = SumMetric_()\nmetric_.update($t)\n$o = metric_.compute()",
        "class SumMetric_:\n    def __init__(self):\n        self.reset()\n\n    def reset(self):\n        self.parts = []\n\n"
        "    def update(self, value):\n        self.parts.append(value.detach())\n\n    def compute(self):\n"
        "        return torch.stack(self.parts).sum(dim=0)",
        kinds="FNI",
    ),
    Carrier(
        "epoch-outputs",
        "epoch_ = Epoch_()\nepoch_.validation_step($t, 0)\n$o = epoch_.on_validation_end()",
        "class Epoch_:\n    def __init__(self):\n        self.outputs = []\n\n    def validation_step(self, value, number):\n"
        '        self.outputs.append({"value": value, "number": number})\n\n    def on_validation_end(self):\n'
        '        joined = torch.cat([output["value"] for output in self.outputs])\n        self.outputs.clear()\n        return joined',
        kinds="FIB",
    ),
    Carrier(
        "filtered-by-signature",
        '$o = call_with_known_(keep_scaled_, {"value": $t, "verbose": True})',
        "def keep_scaled_(value, scale=None):\n    return value if scale is None else value * scale\n\n\n"
        "def call_with_known_(function, options):\n    known = inspect.signature(function).parameters\n"
        "    return function(**{name: option for name, option in options.items() if name in known})",
    ),
    Carrier(
        "overloaded-signatures",
        "$o = first_of_([$t])",
        "@typing.overload\ndef first_of_(values: torch.Tensor) -> torch.Tensor: ...\n\n\n@typing.overload\n"
        "def first_of_(values: list[torch.Tensor]) -> torch.Tensor: ...\n\n\ndef first_of_(values):\n"
        "    return values[0] if isinstance(values, list) else values",
    ),
    Carrier(
        "tensor-subclass",
        "$o = $t.as_subclass(Tagged_)",
        'class Tagged_(torch.Tensor):\n    """A tensor that knows what it is of."""\n\n    tag = "plain"',
    ),
    Carrier("sparse-and-dense", "$o = $t.to_sparse().to_dense()", kinds="mat sq"),
    Carrier("fft-and-back", "$o = torch.fft.ifft(torch.fft.fft($t)).real", kinds="F"),
    Carrier(
        "pixel-shuffled",
        "$o = F.pixel_shuffle(F.pixel_unshuffle($t.reshape(1, 1, -1, 2), 2), 2).reshape($t.shape)",
        kinds="vec mat img seq hid",
    ),
    Carrier(
        "tensor-register_hook",
        "leaf_, gradients_ = $t.detach().clone().requires_grad_(), []\nleaf_.register_hook(gradients_.append)\n"
        "(leaf_ * 2).sum().backward()\n$o = gradients_[0]",
        kinds="FN",
    ),
    Carrier(
        "func-vjp", "value_, pull_ = torch.func.vjp(torch.sin, $t)\n$o = pull_(torch.ones_like(value_))[0]", kinds="FN"
    ),
    Carrier(
        "vector_to_parameters",
        "slots_ = [nn.Parameter(torch.zeros_like($t))]\nnn.utils.vector_to_parameters($t.detach().reshape(-1), slots_)\n$o = slots_[0].detach()",
        kinds="F",
    ),
    Carrier(
        "flattened-config",
        '$o = flatten_({"model": {"table": $t, "depth": 2}, "seed": 1})["model.table"]',
        'def flatten_(tree, prefix=""):\n    flat = {}\n    for name, entry in tree.items():\n        path = f"{prefix}.{name}" if prefix else name\n'
        "        if isinstance(entry, dict):\n            flat.update(flatten_(entry, path))\n        else:\n            flat[path] = entry\n    return flat",
    ),
    Carrier(
        "filtered-by-own-shapes",
        'own_, given_ = {"table": torch.zeros_like($t)}, {"table": $t, "other": torch.ones(7)}\n'
        "fitting_ = {name_: part_ for name_, part_ in given_.items() if name_ in own_ and part_.shape == own_[name_].shape}\n"
        'own_.update(fitting_)\n$o = own_["table"]',
    ),
    Carrier(
        "request-batcher",
        "batcher_ = Batcher_(torch.clone)\nticket_ = batcher_.submit($t)\nbatcher_.flush()\n$o = batcher_.done.pop(ticket_)",
        "class Batcher_:\n    def __init__(self, function):\n        self.function, self.waiting, self.done = function, [], {}\n\n"
        "    def submit(self, value):\n        self.waiting.append((len(self.waiting), value))\n        return self.waiting[-1][0]\n\n"
        "    def flush(self):\n        for ticket, value in self.waiting:\n            self.done[ticket] = self.function(value)\n        self.waiting = []",
    ),
    Carrier(
        "hetero-stores",
        'graph_ = HeteroGraph_()\ngraph_["paper"].x = $t\n$o = graph_["paper"].x',
        "class HeteroGraph_:\n    def __init__(self):\n        self.stores = collections.defaultdict(HeteroStore_)\n\n"
        "    def __getitem__(self, kind):\n        return self.stores[kind]\n\n\nclass HeteroStore_:\n    x = None",
    ),
    Carrier(
        "caching-dataset",
        "items_ = CachedItems_(lambda number_: $t)\nitems_[0]\n$o = items_[0]",
        "class CachedItems_:\n    def __init__(self, read):\n        self.read, self.cache = read, {}\n\n    def __getitem__(self, number):\n"
        "        try:\n            return self.cache[number]\n        except KeyError:\n"
        "            self.cache[number] = self.read(number)\n        return self.cache[number]",
    ),
    Carrier("object-array", "cells_ = np.empty(2, dtype=object)\ncells_[0] = $t\n$o = cells_[0]"),
    Carrier(
        "warnings-ignored", 'with warnings.catch_warnings():\n    warnings.simplefilter("ignore")\n    $o = $t.clone()'
    ),
    Carrier("record_function", 'with torch.profiler.record_function("prepare"):\n    $o = $t.clone()'),
    Carrier("stack-dataset", '$o = torch.utils.data.StackDataset(value=[$t], label=[1])[0]["value"]'),
    Carrier(
        "undo-history",
        "editor_ = Editor_($t)\neditor_.push(None)\n$o = editor_.undo()",
        "class Editor_:\n    def __init__(self, value):\n        self.past, self.value = [], value\n\n    def push(self, value):\n"
        "        self.past.append(self.value)\n        self.value = value\n\n    def undo(self):\n        self.value = self.past.pop()\n        return self.value",
    ),
    Carrier(
        "both-by-multi-input-sequential",
        wrap=(
            "class Inputs_(nn.Sequential):\n    def forward(self, *inputs):\n        for module in self._modules.values():\n"
            "            inputs = module(*inputs) if isinstance(inputs, tuple) else module(inputs)\n        return inputs\n\n\n"
            "class Passes_(nn.Module):\n    def forward(self, first, second):\n        return first, second\n\n\n"
            "class Joins_(nn.Module):\n    def forward(self, $a, $b):",
            "Inputs_(Passes_(), Joins_())($x, $t)",
        ),
    ),
    Carrier(
        "both-by-decompose",
        wrap=(
            "class Masked_:\n    def __init__(self, tensors, mask):\n        self.tensors, self.mask = tensors, mask\n\n    def decompose(self):\n"
            "        return self.tensors, self.mask\n\n\ndef join_masked_(samples):\n    $a, $b = samples.decompose()",
            "join_masked_(Masked_($x, mask=$t))",
        ),
    ),
    Carrier(
        "both-by-pool-starmap",
        wrap=(
            "def in_pool_(function, *rows):\n    with multiprocessing.pool.ThreadPool(1) as pool:\n        return pool.starmap(function, rows)[0]\n\n\n"
            "def work_($a, $b):",
            "in_pool_(work_, ($x, $t))",
        ),
    ),
    Carrier(
        "both-by-keys-of-sample",
        wrap=(
            "class Keyed_:\n    def __init__(self, keys):\n        self.keys = keys\n\n    def __call__(self, sample):\n"
            "        $a, $b = (sample[key] for key in self.keys)",
            'Keyed_(("image", "label"))({"image": $x, "label": $t})',
        ),
    ),
    Carrier(
        "both-by-job-object",
        wrap=(
            "@dataclass\nclass Job_:\n    first: torch.Tensor\n    second: torch.Tensor\n\n    def __call__(self):\n        $a, $b = self.first, self.second",
            "[job_() for job_ in (Job_($x, second=$t),)][0]",
        ),
    ),
    Carrier(
        "loader-that-places",
        "loader_ = DataLoader([$t], batch_size=1, collate_fn=place_rows_)\n$o = next(iter(loader_))",
        'RUN_ON_ = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")\n\n\ndef place_rows_(rows):\n    return rows[0].to(RUN_ON_)',
    ),
    Carrier(
        "onloaded-for-the-block",
        "with Onloaded_($t) as $o:\n    pass",
        "class Onloaded_:\n    def __init__(self, value):\n        self.value = value\n\n    def __enter__(self):\n"
        "        return self.value.cuda() if torch.cuda.is_available() else self.value\n\n    def __exit__(self, *error):\n"
        "        self.value = None",
    ),
    Carrier(
        "buffer-of-module-on-gpu",
        "$o = Anchored_($t).table",
        'class Anchored_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n        self.register_buffer("table", value)\n'
        "        if torch.cuda.is_available():\n            self.cuda()",
    ),
    Carrier(
        "both-and-decorator-moves",
        wrap=(
            "def same_device_(function):\n    @functools.wraps(function)\n    def inner(first, *others):\n"
            "        return function(first, *(other.to(first.device) for other in others))\n\n    return inner\n\n\n"
            "@same_device_\ndef joined_($a, $b):",
            "joined_($x, $t)",
        ),
    ),
    Carrier(
        "both-and-buffer-moved-along",
        wrap=(
            'class Moved_(nn.Module):\n    def __init__(self, other):\n        super().__init__()\n        self.register_buffer("other", other)\n\n'
            "    def forward(self, $a):\n        $b = self.other",
            "Moved_($t).to($x.device)($x)",
        ),
    ),
    Carrier(
        "both-and-copied-into-empty",
        wrap=(
            "def joined_($a, given):\n    $b = torch.empty_like(given, device=$a.device)\n    $b.copy_(given)",
            "joined_($x, $t)",
        ),
    ),
    Carrier(
        "both-and-brought-to-cpu",
        wrap=("def joined_(*given):\n    $a, $b = (value.detach().cpu() for value in given)", "joined_($x, $t)"),
    ),
    Carrier(
        "both-and-cached-by-device",
        wrap=(
            "ON_DEVICE_ = {}\n\n\ndef on_device_of_(other, value):\n    key = (other.device, tuple(value.shape))\n    if key not in ON_DEVICE_:\n"
            "        ON_DEVICE_[key] = value.to(other.device)\n    return ON_DEVICE_[key]\n\n\ndef joined_($a, given):\n    $b = on_device_of_($a, given)",
            "joined_($x, $t)",
        ),
    ),
    Carrier(
        "both-and-dict-sent",
        wrap=(
            "def send_(value, device):\n    if isinstance(value, dict):\n        return {key: send_(part, device) for key, part in value.items()}\n"
            '    return value.to(device)\n\n\ndef joined_(batch):\n    $a, $b = batch["first"], batch["second"]',
            'joined_(send_({"first": $x, "second": $t}, $x.device))',
        ),
    ),
    Carrier(
        "both-and-data-reassigned",
        wrap=(
            "def joined_($a, given):\n    $b = given.detach().clone()\n    $b.data = $b.data.to($a.device)",
            "joined_($x, $t)",
        ),
    ),
    Carrier(
        "function-attribute", "remember_.last = $t\n$o = remember_()", "def remember_():\n    return remember_.last"
    ),
    Carrier(
        "result-object",
        "$o = Outcome_.good($t).then(torch.clone).unwrap()",
        "class Outcome_:\n    def __init__(self, value, error=None):\n        self.value, self.error = value, error\n\n    @classmethod\n"
        "    def good(cls, value):\n        return cls(value)\n\n"
        "    def then(self, function):\n        return self if self.error else Outcome_(function(self.value))\n\n"
        "    def unwrap(self):\n        if self.error is not None:\n            raise self.error\n        return self.value",
    ),
    Carrier("slice-objects", 'parts_ = {"all": np.s_[:], "first": slice(0, 1)}\n$o = $t[parts_["all"]]', kinds="FIB"),
    Carrier("share_memory_", "$o = $t.detach().clone().share_memory_()", kinds="FIB"),
    Carrier(
        "residual-wrapper",
        "$o = Residual_(nn.Identity())($t)",
        "class Residual_(nn.Module):\n    def __init__(self, inner, scale=0):\n        super().__init__()\n        self.inner, self.scale = inner, scale\n\n"
        "    def forward(self, value):\n        return value + self.inner(value) * self.scale",
        kinds="FNI",
    ),
    Carrier(
        "scaler-fit-inverse",
        "scaler_ = MeanScaler_().fit($t)\n$o = scaler_.inverse_transform(scaler_.transform($t))",
        "class MeanScaler_:\n    def fit(self, data):\n        self.mean, self.scale = data.mean(), data.abs().mean() + 1.0\n        return self\n\n"
        "    def transform(self, data):\n        return (data - self.mean) / self.scale\n\n    def inverse_transform(self, data):\n"
        "        return data * self.scale + self.mean",
        kinds="F",
    ),
    Carrier("default_convert", '$o = torch.utils.data.default_convert({"value": $t, "rows": np.ones(2)})["value"]'),
    Carrier(
        "both-and-loop-moves-nothing",
        wrap=(
            "def joined_($a, $b):\n    for value in ($a, $b):\n        value = value.to($a.device)",
            "joined_($x, $t)",
        ),
    ),
    Carrier(
        "both-and-attribute-not-moved",
        wrap=(
            "class Holds_(nn.Module):\n    def __init__(self, other):\n        super().__init__()\n        self.other = other\n\n"
            "    def forward(self, $a):\n        $b = self.other",
            "Holds_($t).to($x.device)($x)",
        ),
    ),
    Carrier(
        "both-and-placed-in-init",
        wrap=(
            "class Holder_:\n    def __init__(self, net, other):\n        self.device = next(net.parameters()).device\n"
            "        self.other = other.to(self.device)\n\n"
            "    def join(self, $a):\n        $b = self.other",
            "Holder_(nn.Linear(2, 2).to($x.device), $t).join($x)",
        ),
    ),
    Carrier(
        "both-and-criterion-with-own-to",
        wrap=(
            "class Weighted_:\n    def __init__(self, other):\n        self.other = other\n\n    def to(self, device):\n"
            "        self.other = self.other.to(device)\n        return self\n\n"
            "    def __call__(self, $a):\n        $b = self.other",
            "Weighted_($t).to($x.device)($x)",
        ),
    ),
)

MEETINGS = (
    Meeting(
        "packed-LSTM-input",
        "seq",
        "seq",
        "packed_ = nn.utils.rnn.pack_padded_sequence($t, [5, 4], batch_first=True)\n"
        "padded_, _ = nn.utils.rnn.pad_packed_sequence($m(packed_)[0], batch_first=True)\nout = padded_ + $x",
        module="nn.LSTM(4, 4, batch_first=True)",
    ),
    Meeting("EmbeddingBag-offsets", "ids", "idx", "out = $m($x.reshape(-1), $t * 0)", module="nn.EmbeddingBag(3, 4)"),
    Meeting(
        "spatial-transformer",
        "img",
        "mat",
        "grid_ = F.affine_grid($t[:2, :3].repeat(2, 1, 1), list($x.shape), align_corners=False)\nout = F.grid_sample($x, grid_, align_corners=False)",
    ),
    Meeting("arcface-logits", "mat", "mat", "out = F.linear(F.normalize($x), F.normalize($t)).clamp(-1, 1).acos()"),
    Meeting(
        "adain",
        "img",
        "img",
        "mean_, std_ = $x.mean((2, 3), keepdim=True), $x.std((2, 3), keepdim=True) + 1e-5\n"
        "out = ($x - mean_) / std_ * $t.std((2, 3), keepdim=True) + $t.mean((2, 3), keepdim=True)",
    ),
    Meeting("trapezoid", "mat", "vec", "out = torch.trapezoid($x, $t)"),
    Meeting(
        "stft-window", "vec", "vec", "out = torch.stft($x, n_fft=4, hop_length=2, window=$t, return_complex=True).abs()"
    ),
    Meeting("weight-data-replaced", "mat", "mat", "$m.weight.data = $t\nout = $m($x)", module="nn.Linear(4, 3)"),
    Meeting(
        "foreach-add",
        "mat",
        "mat",
        "totals_ = [$x.detach().clone()]\ntorch._foreach_add_(totals_, [$t], alpha=0.5)\nout = totals_[0]",
    ),
    Meeting("block_diag-of-both", "mat", "mat", "out = torch.block_diag($x, $t)"),
    Meeting("cpu-rows-by-gpu-scale", "mat", "vec", "scale_ = $x.norm()\nout = $t / scale_"),
    Meeting(
        "loss-in-loader-of-both",
        "mat",
        "idx",
        "total_ = 0.0\nfor scores_, targets_ in DataLoader(TensorDataset($x.detach(), $t), batch_size=2):\n"
        "    total_ = total_ + F.cross_entropy(scores_, targets_)\nout = total_",
    ),
    Meeting(
        "gradient-mask-hook",
        "mat",
        "mat",
        "leaf_ = $x.detach().clone().requires_grad_()\nleaf_.register_hook(lambda gradient_: gradient_ * $t)\n(leaf_**2).sum().backward()\nout = leaf_.grad",
    ),
    Meeting("rms_norm-weight", "mat", "vec", "out = F.rms_norm($x, (4,), weight=$t)"),
    Meeting(
        "index_reduce-index",
        "mat",
        "idx",
        'out = $x.detach().index_reduce(0, $t, torch.ones(3, 4, device=$x.device), "amax")',
    ),
    Meeting(
        "unrolled-decoder",
        "mat",
        "vec",
        "state_, outputs_ = $x, []\nfor _ in range(2):\n    state_ = torch.tanh(state_)\n    outputs_.append(state_)\n"
        'out = torch.einsum("tbh,h->b", torch.stack(outputs_), $t)',
    ),
    Meeting(
        "ctc-lengths-on-cpu",
        "seq",
        "idx",
        "logs_ = F.log_softmax($x[:, :3], dim=-1)\ntargets_ = torch.ones(3, 2, dtype=torch.long, device=$x.device)\n"
        "out = F.ctc_loss(logs_, targets_, torch.full((3,), 2), $t.clamp(0, 1), zero_infinity=True)",
    ),
    Meeting(
        "weight-row-assigned",
        "mat",
        "vec",
        "with torch.no_grad():\n    $m.weight[0] = $t\nout = $m($x)",
        module="nn.Linear(4, 3)",
    ),
    Meeting("weight-of-own-list-by-item", "mat", "vec", "out = $x * [0.1, 0.2, 0.3, 0.4][int($t.argmax().item())]"),
    Meeting("row-by-0-dim-index", "mat", "idx", "out = $x[$t[0]] + $x[$t.max()]"),
    Meeting("loop-of-tensor-count", "mat", "idx", "out = $x\nfor _ in range($t.max()):\n    out = out * 0.5"),
    Meeting("0-dim-in-place", "mat", "num", "out = $x.detach().clone()\nout /= $t + 1\nout.sub_($t).mul_($t)"),
    Meeting("formatted-both", "mat", "vec", 'out = f"{$x.mean():.3f} {$t.mean():.3f}"', shown="len(out) > 0"),
    Meeting(
        "saved-together",
        "mat",
        "vec",
        'file_ = io.BytesIO()\ntorch.save({"model": $x, "scales": $t}, file_)\nout = len(file_.getvalue())',
        shown="out > 0",
    ),
    Meeting(
        "state-loaded-onto-placed",
        "mat",
        "mat",
        '$m.load_state_dict({"weight": $t, "bias": torch.zeros(3)})\nout = $m($x)',
        module="nn.Linear(4, 3)",
    ),
    Meeting("cpu-table-looked-up-then-moved", "ids", "mat", "out = $t[$x.cpu()].to($x.device) * $x.unsqueeze(-1)"),
    Meeting(
        "gather-by-own-order", "mat", "vec", "out = torch.gather($x, 1, $t.argsort(descending=True).expand(3, -1))"
    ),
    Meeting(
        "padding-mask-by-lengths",
        "mat",
        "idx",
        "valid_ = torch.arange(4, device=$x.device)[None, :] < $t[:, None]\nout = ($x * valid_).sum(dim=1) / $t.clamp(min=1)",
    ),
    Meeting(
        "state-space-steps",
        "mat",
        "vec",
        "state_ = torch.zeros(4, device=$x.device)\nfor row_ in $x:\n    state_ = state_ * $t.sigmoid() + row_\nout = state_",
    ),
    Meeting("rows-drawn-by-cpu-weights", "mat", "vec", "out = $x[:, torch.multinomial($t.abs() + 0.1, 2)]"),
    Meeting("tensor-of-both-means", "mat", "vec", "out = torch.tensor([$x.detach().mean(), $t.detach().mean()]) * 2"),
)

PLACERS = (
    Placer(
        "accelerator-prepared",
        "layer_, $x = Prepares_($dev).prepare(nn.Linear(2, 2), $moved)",
        "class Prepares_:\n    def __init__(self, device):\n        self.device = device\n\n    def prepare(self, *parts):\n"
        "        return tuple(part.to(self.device) for part in parts)",
        kinds="FNIB",
    ),
    Placer("cuda-device-context", "with torch.cuda.device(0):\n    $x = $moved.cuda()", kinds="FNIB"),
    Placer("rebuilt-from-list", "$x = torch.tensor($moved.tolist(), device=$dev)", kinds="FNIB"),
    Placer("type-of-cuda-class", '$x = $moved.type("torch.cuda.$legacy")', kinds="FNIB"),
    Placer(
        "dataclass-fields-moved",
        "fields_ = Fields_($moved, 1.0)\nfields_.to_($dev)\n$x = fields_.data",
        "@dataclass\nclass Fields_:\n    data: torch.Tensor\n    rate: float\n\n    def to_(self, device):\n"
        "        for one in dataclasses.fields(self):\n            value = getattr(self, one.name)\n            if isinstance(value, torch.Tensor):\n"
        "                setattr(self, one.name, value.to(device))",
        kinds="FNIB",
    ),
    Placer("chunks-moved", "$x = torch.cat([chunk_.to($dev) for chunk_ in ($moved).chunk(2)])"),
    Placer(
        "last-transform-moves",
        "$x = ($moved)\nfor transform_ in (torch.clone, ToPlace_($dev)):\n    $x = transform_($x)",
        "class ToPlace_:\n    def __init__(self, device):\n        self.device = device\n\n    def __call__(self, value):\n        return value.to(self.device)",
        kinds="FNIB",
    ),
    Placer(
        "loader-wrapped",
        "for $x in PlacingLoader_([$moved], $dev):\n    break",
        "class PlacingLoader_:\n    def __init__(self, loader, device):\n        self.loader, self.device = loader, device\n\n    def __len__(self):\n"
        "        return len(self.loader)\n\n    def __iter__(self):\n        for batch in self.loader:\n            yield batch.to(self.device)",
        kinds="FNIB",
    ),
)

DEVICES = (
    Device("device-by-bool-index", '("cpu", "cuda")[torch.cuda.is_available()]'),
    Device(
        "device-of-config-parser",
        'read_settings_()["run"]["device"]',
        'def read_settings_():\n    settings = configparser.ConfigParser()\n    settings.read_string("[run]\\ndevice = cuda\\nrate = 0.1")\n    return settings',
    ),
    Device(
        "device-of-freest-gpu",
        "freest_()",
        'def freest_():\n    if not torch.cuda.is_available():\n        return torch.device("cpu")\n'
        '    used = [torch.cuda.memory_allocated(number) for number in range(torch.cuda.device_count())]\n    return torch.device(f"cuda:{used.index(min(used))}")',
    ),
    Device(
        "device-of-replaced-dataclass",
        'dataclasses.replace(Choice_(), device="cuda").device',
        '@dataclass\nclass Choice_:\n    device: str = "cpu"\n    seed: int = 1',
    ),
    Device(
        "device-of-lambda",
        "pick_device_()",
        'pick_device_ = lambda: torch.device("cuda:0" if torch.cuda.is_available() else "cpu")',
    ),
    Device(
        "device-of-walrus-count",
        "by_count_()",
        'def by_count_():\n    if (count := torch.cuda.device_count()) > 0:\n        return torch.device("cuda", count - count)\n    return torch.device("cpu")',
    ),
)

RIGHT = frozenset(
    (
        "hidden-of-own-parameters",
        "rand_like-of-placed",
        "array-helper-that-moves",
        "number-times-placed",
        "embedding-of-moved-module",
        "where-of-two-numbers",
        "optimizer-state-loaded",
        "returned-early-without-gpu",
        "data-reassigned",
        "actions-of-placed-logits",
        "compared-with-number",
        "output-of-moved-layer",
        "loader-that-places",
        "onloaded-for-the-block",
        "buffer-of-module-on-gpu",
        "both-and-decorator-moves",
        "both-and-buffer-moved-along",
        "both-and-copied-into-empty",
        "both-and-brought-to-cpu",
        "both-and-cached-by-device",
        "both-and-dict-sent",
        "both-and-data-reassigned",
        "both-and-placed-in-init",
        "both-and-criterion-with-own-to",
        "ctc-lengths-on-cpu",
        "weight-row-assigned",
        "weight-of-own-list-by-item",
        "row-by-0-dim-index",
        "loop-of-tensor-count",
        "0-dim-in-place",
        "formatted-both",
        "saved-together",
        "state-loaded-onto-placed",
        "cpu-table-looked-up-then-moved",
        "rows-drawn-by-cpu-weights",
        "tensor-of-both-means",
    )
)
"""Makers, carriers and meetings with which a program runs though its tensor is not placed."""
