"""The kept half of the fourth batch of entries, written on 2026-11-23 from what PyTorch programs do by an author who knew nothing of the analysis.

See kept.py: do not open it to mend the analysis.
"""

from __future__ import annotations

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = (
    Maker(
        "noise-schedule-object",
        "vec",
        "NoiseSchedule(4).alphas_cumprod",
        top="class NoiseSchedule:\n    def __init__(self, steps, start=1e-4, end=0.02):\n        self.betas = torch.linspace(start, end, steps)\n"
        "        self.alphas = 1.0 - self.betas\n        self.alphas_cumprod = torch.cumprod(self.alphas, dim=0)",
        kept=True,
    ),
    Maker("alibi-slopes", "vec", "torch.tensor([2 ** (-8 * (head + 1) / 4) for head in range(4)]$dv)", kept=True),
    Maker(
        "relative-positions",
        "ids",
        "(torch.arange(2$dv)[:, None] - torch.arange(5$dv)[None, :]).abs().remainder(3)",
        kept=True,
    ),
    Maker(
        "gaussian-window",
        "vec",
        "gaussian_window(4)",
        top="def gaussian_window(size, sigma=1.5):\n    places = torch.arange(size, dtype=torch.float32) - size // 2\n"
        "    window = torch.exp(-(places**2) / (2 * sigma**2))\n    return window / window.sum()",
        kept=True,
    ),
    Maker("parameter-dict-entry", "F", 'nn.ParameterDict({"table": nn.Parameter($rand)})["table"]', kept=True),
    Maker("argmax-of-table", "idx", "torch.eye(3$dv).argmax(dim=1)", kept=True),
    Maker(
        "metaclass-registry",
        "FNIB",
        'TableMeta.known["FlatTable"]().values()',
        top="class TableMeta(type):\n    known = {}\n\n    def __new__(mcs, name, bases, body):\n        made = super().__new__(mcs, name, bases, body)\n"
        "        mcs.known[name] = made\n        return made\n\n\nclass FlatTable(metaclass=TableMeta):\n    def values(self):\n        return $plain",
        kept=True,
    ),
    Maker(
        "init_subclass-registry",
        "FNIB",
        'Prior_.build("flat").draw()',
        top="class Prior_:\n    known = {}\n\n    def __init_subclass__(cls, kind, **others):\n        super().__init_subclass__(**others)\n"
        "        cls.known[kind] = cls\n\n    @classmethod\n    def build(cls, kind):\n        return cls.known[kind]()\n\n\n"
        'class FlatPrior(Prior_, kind="flat"):\n    def draw(self):\n        return $plain',
        kept=True,
    ),
    Maker(
        "descriptor",
        "FNIB",
        "TableOwner().table",
        top="class LazyTable:\n    def __set_name__(self, owner, name):\n        self.name = name\n\n    def __get__(self, instance, owner=None):\n"
        "        if instance is None:\n            return self\n        return $plain\n\n\nclass TableOwner:\n    table = LazyTable()",
        kept=True,
    ),
    Maker(
        "factory-by-name",
        "FN",
        'make_by_name("ones", $size)',
        top='FACTORIES = {"ones": torch.ones, "zeros": torch.zeros}\n\n\ndef make_by_name(name, size):\n    return FACTORIES[name](size)',
        kept=True,
    ),
    Maker(
        "masked-tokens",
        "ids",
        "tokens_.masked_fill(torch.rand(2, 5$dv) > 0.5, 2)",
        pre="tokens_ = torch.ones(2, 5, dtype=torch.long$dv)",
        kept=True,
    ),
    Maker("einsum-of-vectors", "mat", 'torch.einsum("i,j->ij", torch.ones(3$dv), torch.ones(4$dv))', kept=True),
    Maker(
        "normalized-adjacency",
        "mat",
        "normalized_adjacency([(0, 1), (1, 2), (2, 3)], 4)[:3]",
        top="def normalized_adjacency(edges, count):\n    adjacency = torch.eye(count)\n    for source, target in edges:\n"
        "        adjacency[source, target] = adjacency[target, source] = 1.0\n    degrees = adjacency.sum(dim=1).pow(-0.5)\n"
        "    return degrees[:, None] * adjacency * degrees[None, :]",
        kept=True,
    ),
    Maker("sobol-points", "mat", "torch.quasirandom.SobolEngine(4).draw(3)", kept=True),
    Maker(
        "arrays-of-dict",
        "FIB",
        'torch.from_numpy(arrays_["table"])',
        pre='arrays_ = {"table": $array, "size": 3}',
        kept=True,
    ),
    Maker(
        "initial-hidden-state",
        "hid seq",
        "init_hidden(*$size)",
        top="def init_hidden(layers, batch, width):\n    return torch.zeros(layers, batch, width)",
        kept=True,
    ),
    Maker("learned-temperature", "num", "nn.Parameter(torch.tensor(0.5$dv))", kept=True),
)

CARRIERS = (
    Carrier(
        "model-output-dict",
        "output_ = ModelOutput(value=$t, loss=None)\n$o = output_.value",
        "class ModelOutput(OrderedDict):\n    def __init__(self, **entries):\n        super().__init__(**entries)\n"
        "        for name, entry in entries.items():\n            setattr(self, name, entry)",
        kept=True,
    ),
    Carrier(
        "slots",
        "$o = Slotted($t).value",
        'class Slotted:\n    __slots__ = ("value", "step")\n\n    def __init__(self, value, step=0):\n        self.value = value\n'
        "        self.step = step",
        kept=True,
    ),
    Carrier(
        "data-descriptor",
        "checked_ = CheckedItem()\nchecked_.value = $t\n$o = checked_.value",
        "class Checked:\n    def __set_name__(self, owner, name):\n        self.name = name\n\n    def __get__(self, instance, owner=None):\n"
        "        return instance.__dict__[self.name]\n\n    def __set__(self, instance, value):\n        if value is None:\n"
        "            raise ValueError(self.name)\n        instance.__dict__[self.name] = value\n\n\nclass CheckedItem:\n    value = Checked()",
        kept=True,
    ),
    Carrier(
        "singleton-metaclass",
        "GlobalState().value = $t\n$o = GlobalState().value",
        "class Singleton(type):\n    instances = {}\n\n    def __call__(cls, *args, **kwargs):\n        if cls not in cls.instances:\n"
        "            cls.instances[cls] = super().__call__(*args, **kwargs)\n        return cls.instances[cls]\n\n\n"
        "class GlobalState(metaclass=Singleton):\n    def __init__(self):\n        self.value = None",
        kept=True,
    ),
    Carrier("set_grad_enabled", "with torch.set_grad_enabled(False):\n    $o = $t.clone()", kept=True),
    Carrier("autocast-off", 'with torch.autocast("cuda", enabled=False):\n    $o = $t.clone()', kept=True),
    Carrier("parameters_to_vector", "$o = nn.utils.parameters_to_vector([$t]).view_as($t)", kinds="FN", kept=True),
    Carrier(
        "packed-and-unpacked",
        "packed_ = nn.utils.rnn.pack_padded_sequence($t, [5, 5], batch_first=True)\n"
        "$o, lengths_ = nn.utils.rnn.pad_packed_sequence(packed_, batch_first=True)",
        kinds="seq",
        kept=True,
    ),
    Carrier("sorted-values", "$o, order_ = $t.sort(dim=0)", kinds="FI", kept=True),
    Carrier("finite-part", "$o = torch.where(torch.isfinite($t), $t, torch.zeros_like($t))", kinds="FN", kept=True),
    Carrier("precision-round-trip", "$o = $t.to(torch.float64).float()", kinds="FN", kept=True),
    Carrier("chained-assignment", "$o = previous_ = $t", kept=True),
    Carrier("items-unpacked-twice", 'for name_, ($o, size_) in {"value": ($t, 4)}.items():\n    pass', kept=True),
    Carrier("set-pop", "$o = {$t}.pop()", kept=True),
    Carrier("product-loop", "for $o, rate_ in itertools.product([$t], [0.1, 0.2]):\n    pass", kept=True),
    Carrier("islice", "$o = next(itertools.islice([0, $t, 1], 1, None))", kept=True),
    Carrier(
        "getattr-setattr-loop",
        "source_, goal_ = SimpleNamespace(value=$t, step=1), SimpleNamespace()\n"
        'for name_ in ("value", "step"):\n    setattr(goal_, name_, getattr(source_, name_))\n$o = goal_.value',
        kept=True,
    ),
    Carrier(
        "compose-transforms",
        "$o = ComposeSteps([torch.clone, lambda item: item.contiguous()])($t)",
        "class ComposeSteps:\n    def __init__(self, steps):\n        self.steps = steps\n\n    def __call__(self, value):\n"
        "        for step in self.steps:\n            value = step(value)\n        return value",
        kept=True,
    ),
    Carrier(
        "composed-by-reduce",
        "$o = chain_calls(torch.clone, torch.Tensor.contiguous)($t)",
        "def chain_calls(*functions):\n    return functools.reduce(lambda first, second: lambda value: second(first(value)), functions)",
        kept=True,
    ),
    Carrier(
        "class-decorator",
        "$o = LabeledItem($t).value",
        "def with_label(cls):\n    cls.label = cls.__name__.lower()\n    return cls\n\n\n@with_label\nclass LabeledItem:\n"
        "    def __init__(self, value):\n        self.value = value",
        kept=True,
    ),
    Carrier(
        "dataclass-fields-loop",
        "row_ = FieldRow($t)\nparts_of = {entry.name: getattr(row_, entry.name) for entry in dataclasses.fields(row_)}\n"
        '$o = parts_of["value"]',
        "@dataclass\nclass FieldRow:\n    value: torch.Tensor\n    label: int = 0",
        kept=True,
    ),
    Carrier(
        "cached-property-of-value",
        "$o = Encoded($t).normalized",
        "class Encoded:\n    def __init__(self, raw):\n        self.raw = raw\n\n    @functools.cached_property\n    def normalized(self):\n"
        "        return self.raw.clone()",
        kept=True,
    ),
    Carrier(
        "averages-of-values",
        'averages_ = Averages({"value": $t})\naverages_.apply()\n$o = averages_.current["value"]',
        "class Averages:\n    def __init__(self, values):\n        self.shadow = {name: value.detach().clone() for name, value in values.items()}\n"
        "        self.current = {}\n\n    def apply(self):\n        for name in self.shadow:\n            self.current[name] = self.shadow[name]",
        kept=True,
    ),
    Carrier(
        "first-of-buffers",
        "$o = next(HeldBuffer($t).buffers())",
        "class HeldBuffer(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
        '        self.register_buffer("value", value, persistent=False)',
        kept=True,
    ),
    Carrier(
        "parameter-list", "$o = nn.ParameterList([nn.Parameter($t, requires_grad=False)])[0]", kinds="FN", kept=True
    ),
    Carrier(
        "recorder-of-hook",
        "probe_of = nn.Identity()\nrecorder_ = Recorder(probe_of)\nprobe_of($t)\nrecorder_.handle.remove()\n$o = recorder_.value",
        "class Recorder:\n    def __init__(self, module):\n        self.value = None\n        self.handle = module.register_forward_hook(self.record)\n\n"
        "    def record(self, module, given, result):\n        self.value = result.detach()",
        kept=True,
    ),
    Carrier("tensor-dataset", "data_of = TensorDataset($t.unsqueeze(0))\n$o, = data_of[0]", kept=True),
    Carrier(
        "saved-and-loaded",
        'stored_ = io.BytesIO()\ntorch.save({"value": $t}, stored_)\nstored_.seek(0)\n$o = torch.load(stored_)["value"]',
        kept=True,
    ),
    Carrier("shallow-copy", '$o = copy.copy({"value": $t})["value"]', kept=True),
    Carrier("flattened-lists", "$o = [item for row in [[$t], []] for item in row][0]", kept=True),
    Carrier("missing-method", "try:\n    $o = $t.to_frame()\nexcept AttributeError:\n    $o = $t.clone()", kept=True),
    Carrier(
        "deep-attribute",
        "run_ = SimpleNamespace(state=SimpleNamespace(value=$t))\nrun_.state.step = 1\n$o = run_.state.value",
        kept=True,
    ),
    Carrier(
        "both-by-call-of-object",
        wrap=(
            "class PairLoss:\n    def __init__(self, other, reduction='mean'):\n        self.other, self.reduction = other, reduction\n\n"
            "    def __call__(self, $a):\n        $b = self.other",
            "PairLoss($t)($x)",
        ),
        kept=True,
    ),
    Carrier(
        "both-by-dispatchmethod",
        wrap=(
            "class Merger:\n    @functools.singledispatchmethod\n    def merge(self, first, second):\n        raise TypeError(type(first))\n\n"
            "    @merge.register\n    def _(self, $a: torch.Tensor, $b):",
            "Merger().merge($x, $t)",
        ),
        kept=True,
    ),
    Carrier(
        "both-by-match",
        wrap=(
            'def combine(batch):\n    match batch:\n        case {"inputs": $a, "targets": $b}:\n            pass',
            'combine({"inputs": $x, "targets": $t, "name": "a"})',
        ),
        kept=True,
    ),
    Carrier(
        "both-by-classmethod",
        wrap=("class Pairing:\n    @classmethod\n    def combine(cls, $a, $b):", "Pairing.combine($x, $t)"),
        kept=True,
    ),
    Carrier("both-by-keyword-only", wrap=("def combine($a, /, *, $b):", "combine($x, $b=$t)"), kept=True),
    Carrier(
        "both-by-nested-recursion",
        wrap=(
            "def combine($a, $b):\n    if isinstance($a, (list, tuple)):\n        return [combine(*pair) for pair in zip($a, $b)]",
            "combine([$x], [$t])[0]",
        ),
        kept=True,
    ),
)

MEETINGS = (
    Meeting(
        "forward-diffusion",
        "mat",
        "vec",
        "share_ = $t[:3].abs().clamp(0, 1).view(-1, 1)\nout = share_.sqrt() * $x + (1 - share_).sqrt() * torch.ones_like($x)",
        kept=True,
    ),
    Meeting(
        "cache-written-then-read",
        "seq",
        "seq",
        "cache_ = $t.clone()\ncache_[:, 1:3] = $x[:, :2]\nout = $x + cache_",
        kept=True,
    ),
    Meeting(
        "cache-concatenated",
        "seq",
        "seq",
        "keys_ = torch.cat([$t, $x], dim=1)\nout = $x @ keys_.transpose(1, 2)",
        kept=True,
    ),
    Meeting(
        "0-dim-steps-of-rollout",
        "vec",
        "vec",
        "running_, found_ = 0.0, []\nfor step_ in reversed(range($x.size(0))):\n    running_ = $x[step_] + 0.9 * running_ - $t[step_]\n"
        "    found_.insert(0, running_)\nout = torch.stack(found_)",
        kept=True,
    ),
    Meeting(
        "zeroed-where-done",
        "mat",
        "mask",
        "values_ = $x.max(dim=1).values.clone()\nvalues_[$t] = 0.0\nout = values_",
        kept=True,
    ),
    Meeting(
        "soft-update-loop",
        "mat",
        "mat",
        "with torch.no_grad():\n    for goal_, source_ in zip([$t], [$x]):\n        goal_.data.copy_(0.9 * goal_.data + 0.1 * source_.data)\nout = $t",
        kept=True,
    ),
    Meeting("soft-update-lerp_", "mat", "mat", "out = $t.detach().clone().lerp_($x.detach(), 0.1)", kept=True),
    Meeting("graph-convolution", "seq", "sq", 'out = torch.relu(torch.einsum("ij,bjk->bik", $t, $x))', kept=True),
    Meeting(
        "edge-index",
        "mat",
        "ids",
        "source_, target_ = $t\nmessages_ = $x[source_]\nout = torch.zeros_like($x).index_add_(0, target_, messages_)",
        kept=True,
    ),
    Meeting(
        "skip-connection",
        "img",
        "img",
        "out = $m(torch.cat([$x, $t], dim=1))",
        "nn.Conv2d(6, 2, 3, padding=1)",
        kept=True,
    ),
    Meeting(
        "per-channel-mean",
        "img",
        "img",
        "mean_ = $t.mean(dim=(0, 2, 3), keepdim=True)\nout = ($x - mean_) / 0.5",
        kept=True,
    ),
    Meeting(
        "focal-loss",
        "mat",
        "vec",
        "chance_ = torch.sigmoid($x)\nout = ($t * (1 - chance_) ** 2 * -torch.log(chance_ + 1e-6)).mean()",
        kept=True,
    ),
    Meeting("F.huber_loss", "mat", "mat", "out = F.huber_loss($x, $t, delta=0.5)", kept=True),
    Meeting(
        "reordered-cache",
        "mat",
        "idx",
        "past_ = tuple(part_.index_select(0, $t) for part_ in ($x, $x * 2))\nout = past_[1]",
        kept=True,
    ),
    Meeting(
        "repetition-penalty",
        "mat",
        "ids",
        "chosen_ = torch.gather($x, 1, $t)\nout = $x.scatter(1, $t, torch.where(chosen_ < 0, chosen_ * 1.2, chosen_ / 1.2))",
        kept=True,
    ),
    Meeting(
        "0-dim-top-p",
        "mat",
        "num",
        "ordered_, order_ = torch.sort($x, descending=True)\nkeep_ = ordered_.softmax(dim=-1).cumsum(dim=-1) <= $t\n"
        "out = ordered_.masked_fill(~keep_, 0.0)",
        kept=True,
    ),
    Meeting(
        "finished-sequences",
        "idx",
        "idx",
        "finished_ = torch.zeros(3, dtype=torch.bool, device=$x.device)\nfinished_ = finished_ | ($x == $t)\nout = finished_",
        kept=True,
    ),
    Meeting(
        "unfinished-mul",
        "idx",
        "idx",
        "running_ = torch.ones_like($x)\nrunning_ = running_.mul(($t != 0).long())\nout = running_",
        kept=True,
    ),
    Meeting("pre-norm-residual", "mat", "mat", "out = $x + $m($x + $t)", "nn.LayerNorm(4)", kept=True),
    Meeting(
        "ConvTranspose2d-input", "img", "img", "out = $m($t) + $x.mean()", "nn.ConvTranspose2d(3, 2, 2)", kept=True
    ),
    Meeting("GroupNorm-input", "img", "img", "out = $m($t) * 2", "nn.GroupNorm(1, 3)", kept=True),
    Meeting("RNN-state", "seq", "hid", "out, last_ = $m($x, $t)", "nn.RNN(4, 4, batch_first=True)", kept=True),
    Meeting(
        "nearest-codes",
        "mat",
        "mat",
        "apart_ = $x.pow(2).sum(1, keepdim=True) + $t.pow(2).sum(1) - 2 * $x @ $t.t()\nout = F.embedding(apart_.argmin(dim=1), $t)",
        kept=True,
    ),
    Meeting(
        "bernoulli-log_prob",
        "mat",
        "mat",
        "coin_ = torch.distributions.Bernoulli(logits=$x)\nout = coin_.log_prob(($t > 0).float()).sum()",
        kept=True,
    ),
    Meeting(
        "clip-of-own-gradients",
        "mat",
        "mat",
        "first_, second_ = $x.detach().clone().requires_grad_(), $t.detach().clone().requires_grad_()\nfirst_.sum().backward()\n"
        "second_.sum().backward()\nout = nn.utils.clip_grad_norm_([first_, second_], 1.0)",
        kept=True,
    ),
    Meeting(
        "adam-by-hand",
        "mat",
        "mat",
        "second_ = torch.zeros_like($t).mul_(0.99)\nsecond_.addcmul_($x.detach(), $x.detach(), value=0.01)\nout = $x / (second_.sqrt() + 1e-8)",
        kept=True,
    ),
    Meeting(
        "triangle-of-scores",
        "sq",
        "sq",
        'hidden_ = torch.triu(torch.ones_like($t), diagonal=1).bool()\nout = $x.masked_fill(hidden_, float("-inf")).softmax(dim=-1)',
        kept=True,
    ),
    Meeting(
        "np.sqrt",
        "mat",
        "mat",
        "out = np.sqrt($x.detach().abs())",
        good="out = np.sqrt($x.detach().abs().cpu().numpy())",
        shown="float(out.sum())",
        kept=True,
    ),
    Meeting("zip-of-rows", "mat", "mat", "out = sum((one_ * two_).sum() for one_, two_ in zip($x, $t))", kept=True),
    Meeting(
        "baddbmm",
        "seq",
        "seq",
        "out = torch.baddbmm(torch.zeros(2, 5, 5, device=$x.device), $x, $t.transpose(1, 2))",
        kept=True,
    ),
    Meeting("reduce-to-first", "vec", "vec", "dist.reduce($t, dst=0)\nout = $t * $x", group=True, kept=True),
)

PLACERS = (
    Placer(
        "setattr-loop",
        "pack_ = SimpleNamespace(data=$plain)\nfor name_, item_ in list(vars(pack_).items()):\n    setattr(pack_, name_, item_.to($dev))\n$x = pack_.data",
        kept=True,
    ),
    Placer("cuda-of-index", "$x = $moved.cuda(0)", kept=True),
    Placer("randn_like-of-placed", "$x = torch.randn_like($on)", kinds="F", kept=True),
    Placer("partial-of-to", "onto_ = functools.partial(torch.Tensor.to, device=$dev)\n$x = onto_($plain)", kept=True),
    Placer(
        "map_location",
        "file_ = io.BytesIO()\ntorch.save($plain, file_)\nfile_.seek(0)\n$x = torch.load(file_, map_location=$dev)",
        kept=True,
    ),
    Placer(
        "prefetcher",
        "$x = Prefetcher([$plain], $dev).next()",
        "class Prefetcher:\n    def __init__(self, loader, device):\n        self.items, self.device = iter(loader), device\n        self.preload()\n\n"
        "    def preload(self):\n        try:\n            self.item = next(self.items).to(self.device, non_blocking=True)\n"
        "        except StopIteration:\n            self.item = None\n\n    def next(self):\n        item = self.item\n        self.preload()\n        return item",
        kept=True,
    ),
    Placer(
        "mover-closure",
        "move_ = mover($dev)\n$x = move_($plain)",
        "def mover(device):\n    def move(value):\n        return value.to(device)\n\n    return move",
        kept=True,
    ),
    Placer(
        "matched-tree",
        '$x = place_tree({"data": [$plain]}, $dev)["data"][0]',
        "def place_tree(tree, device):\n    match tree:\n        case torch.Tensor():\n            return tree.to(device)\n"
        "        case dict():\n            return {name: place_tree(branch, device) for name, branch in tree.items()}\n"
        "        case list():\n            return [place_tree(branch, device) for branch in tree]\n    return tree",
        kept=True,
    ),
)

DEVICES = (
    Device("device-count", 'torch.device("cuda" if torch.cuda.device_count() > 0 else "cpu")', kept=True),
    Device(
        "namespace-config",
        "CFG.runtime.device",
        'CFG = SimpleNamespace(runtime=SimpleNamespace(device="cuda", workers=0))',
        kept=True,
    ),
    Device(
        "probed",
        "probed_device()",
        'def probed_device():\n    try:\n        torch.zeros(1).cuda()\n        return torch.device("cuda")\n'
        '    except (RuntimeError, AssertionError):\n        return torch.device("cpu")',
        kept=True,
    ),
    Device("enum-value", "Backend.CUDA.value", 'class Backend(Enum):\n    CPU = "cpu"\n    CUDA = "cuda"', kept=True),
)
