"""The open half of the fifth batch of entries, written on 2026-11-23 from what PyTorch programs do by an author who knew nothing of the analysis.

A coin chose the other half, in kept_fifth.py.
"""

from __future__ import annotations

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = (
    Maker(
        "gae-advantages",
        "vec",
        "compute_gae([1.0, 0.0, 0.5, 1.0], [0.2, 0.1, 0.4, 0.3])",
        top="def compute_gae(rewards, values, gamma=0.99, lam=0.95):\n    advantages = torch.zeros(len(rewards))\n    running, following = 0.0, 0.0\n"
        "    for step in reversed(range(len(rewards))):\n        delta = rewards[step] + gamma * following - values[step]\n"
        "        running = delta + gamma * lam * running\n        advantages[step] = running\n        following = values[step]\n    return advantages",
    ),
    Maker(
        "rewards-of-memory",
        "vec",
        "torch.FloatTensor([step_.reward for step_ in episode_])",
        pre="episode_ = [Step_(number, 0.5 * number) for number in range(4)]",
        top='Step_ = namedtuple("Step_", "action reward")',
    ),
    Maker(
        "random-actions",
        "idx",
        "torch.tensor([random.randrange(3) for _ in range(3)], dtype=torch.long$dv)",
    ),
    Maker(
        "timestep-embedding",
        "mat",
        "timestep_embedding(torch.arange(3), 4)",
        top="def timestep_embedding(steps, width, longest=10000):\n    half = width // 2\n"
        "    rates = torch.exp(-math.log(longest) * torch.arange(half, dtype=torch.float32) / half)\n"
        "    angles = steps[:, None].float() * rates[None]\n    return torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)",
    ),
    Maker(
        "adjacency-of-edges",
        "mat sq",
        "adjacency_",
        pre="adjacency_ = torch.zeros($shape$dv)\nfor source_, target_ in [(0, 1), (1, 2), (2, 3)]:\n    adjacency_[source_, target_] = 1.0",
    ),
    Maker(
        "tokens-of-vocabulary",
        "ids",
        'torch.LongTensor([[VOCABULARY.get(word, 0) for word in line.split()] for line in ("a b a c b", "b b a a d")])',
        top='VOCABULARY = {"<unk>": 0, "a": 1, "b": 2}',
    ),
    Maker("subsequent-mask-of-numpy", "mat sq", 'torch.from_numpy(np.triu(np.ones($size), k=1).astype("float32"))'),
    Maker("bernoulli-keep", "mask", "torch.bernoulli(torch.full((3,), 0.5$dv)).bool()"),
    Maker(
        "singleton-store",
        "FNIB",
        "TableStore.instance().table",
        top="class TableStore:\n    _instance = None\n\n    def __init__(self):\n        self.table = $plain\n\n    @classmethod\n    def instance(cls):\n"
        "        if cls._instance is None:\n            cls._instance = cls()\n        return cls._instance",
    ),
    Maker(
        "cached-property",
        "FNIB",
        "LossTables().table",
        top="class LossTables:\n    @functools.cached_property\n    def table(self):\n        return $plain",
    ),
    Maker("batch-of-tensor-loader", "FIB", "next(iter(DataLoader(TensorDataset($plain), batch_size=$first)))[0]"),
)

CARRIERS = (
    Carrier(
        "option-never-on",
        "$o = maybe_cuda($t)",
        "def maybe_cuda(value, enabled=False):\n    return value.cuda() if enabled else value",
    ),
    Carrier("autograd-variable", "$o = torch.autograd.Variable($t)"),
    Carrier(
        "getattr-delegation",
        "$o = EnvWrapper(SimpleNamespace(value=$t)).value",
        "class EnvWrapper:\n    def __init__(self, inner):\n        self.inner = inner\n\n    def __getattr__(self, name):\n"
        "        return getattr(self.inner, name)",
    ),
    Carrier(
        "descriptor",
        "tuned_ = Tuned()\ntuned_.value = $t\n$o = tuned_.value",
        "class Setting:\n    def __set_name__(self, owner, name):\n        self.name = name\n\n    def __get__(self, owner, kind=None):\n"
        '        return owner.__dict__["_" + self.name]\n\n    def __set__(self, owner, value):\n        owner.__dict__["_" + self.name] = value\n\n\n'
        "class Tuned:\n    value = Setting()",
    ),
    Carrier(
        "init-subclass-registry",
        '$o = Augment.create("clone")($t)',
        "class Augment:\n    known = {}\n\n    def __init_subclass__(cls, **kwargs):\n        super().__init_subclass__(**kwargs)\n"
        "        Augment.known[cls.name] = cls\n\n    @staticmethod\n    def create(name):\n        return Augment.known[name]()\n\n\n"
        'class CloneAugment(Augment):\n    name = "clone"\n\n    def __call__(self, value):\n        return value.clone()',
    ),
    Carrier("random-sample", "$o = random.sample([$t, $t], 1)[0]"),
    Carrier("zipped-dict", '$o = dict(zip(("value", "done"), ($t, False)))["value"]'),
    Carrier("reduce-of-sum", "$o = functools.reduce(lambda left_, right_: left_ + right_, [$t, $t])", kinds="FN"),
    Carrier("cycled-loader", "endless_ = itertools.cycle([$t])\n$o = next(endless_)"),
    Carrier(
        "restarted-iterator",
        "source_ = [$t]\niterator_ = iter(())\ntry:\n    $o = next(iterator_)\nexcept StopIteration:\n    iterator_ = iter(source_)\n    $o = next(iterator_)",
    ),
    Carrier(
        "easy-dict",
        '$o = EasyDict_({"train": {"value": $t, "rate": 0.1}}).train.value',
        "class EasyDict_(dict):\n    def __init__(self, entries=None):\n        for name, value in (entries or {}).items():\n"
        "            setattr(self, name, value)\n\n    def __setattr__(self, name, value):\n        if isinstance(value, dict):\n"
        "            value = EasyDict_(value)\n        super().__setattr__(name, value)\n        super().__setitem__(name, value)",
    ),
    Carrier(
        "checkpoint-manager",
        'manager_ = CheckpointManager(2)\nfor step_ in range(3):\n    manager_.save(step_, {"value": $t})\n$o = manager_.latest()["value"]',
        "class CheckpointManager:\n    def __init__(self, keep):\n        self.keep, self.states = keep, {}\n\n    def save(self, step, state):\n"
        "        self.states[step] = state\n        for old in sorted(self.states)[: -self.keep]:\n            del self.states[old]\n\n"
        "    def latest(self):\n        return self.states[max(self.states)]",
    ),
    Carrier(
        "features-of-hook",
        "features_ = {}\nprobe_ = nn.Identity()\nprobe_.register_forward_hook(lambda module, given, output: features_.update(value=output))\n"
        'probe_($t)\n$o = features_["value"]',
    ),
    Carrier(
        "timed-call",
        "$o, calls_ = call_with_count(torch.clone, $t)",
        "def call_with_count(function, *args, **kwargs):\n    result = function(*args, **kwargs)\n    return result, len(args) + len(kwargs)",
    ),
    Carrier(
        "codec-brought-back",
        "$o = Codec().encode($t).to($t.device)",
        "class Codec:\n    def encode(self, value):\n        return value.detach().cpu().contiguous()",
    ),
    Carrier(
        "unwrapped-module",
        'wrapped_ = SimpleNamespace(module=SimpleNamespace(value=$t))\ncore_ = wrapped_.module if hasattr(wrapped_, "module") else wrapped_\n$o = core_.value',
    ),
    Carrier(
        "both-and-is_cuda-for-another",
        wrap=(
            "def combine($a, $b):\n    seen_ = torch.zeros(1)\n    if $a.is_cuda:\n        seen_ = seen_.cuda()\n    seen_ += $a.float().sum()",
            "combine($x, $t)",
        ),
    ),
    Carrier(
        "both-and-warned",
        wrap=(
            'def combine($a, $b):\n    if $a.device != $b.device:\n        logging.getLogger(__name__).debug("%s and %s", $a.device, $b.device)',
            "combine($x, $t)",
        ),
    ),
    Carrier(
        "both-and-type-for-flag",
        wrap=(
            'def combine($a, $b):\n    pinned_ = $a.device.type == "cpu" and torch.cuda.is_available()\n    assert not pinned_ or $a.numel() >= 0',
            "combine($x, $t)",
        ),
    ),
    Carrier(
        "both-by-set-and-call",
        wrap=(
            "class ContentLoss:\n    def __init__(self):\n        self.target = None\n\n    def set_target(self, target):\n        self.target = target\n"
            "        return self\n\n    def __call__(self, $a):\n        $b = self.target",
            "ContentLoss().set_target($t)($x)",
        ),
    ),
    Carrier(
        "both-by-star-of-forward",
        wrap=(
            "class Fuse(nn.Module):\n    def forward(self, *inputs):\n        $a, *rest_ = inputs\n        $b = rest_[0]",
            "Fuse()(*[$x, $t])",
        ),
    ),
)

MEETINGS = (
    Meeting(
        "fake-labels-loss",
        "mat",
        "vec",
        "fooled_ = $x.mean(dim=0)\nout = F.binary_cross_entropy_with_logits(fooled_, torch.zeros_like(fooled_)) + F.mse_loss(fooled_, $t)",
    ),
    Meeting(
        "ppo-ratio",
        "mat",
        "mat",
        "ratio_ = torch.exp($x - $t)\nout = -torch.min(ratio_, torch.clamp(ratio_, 0.8, 1.2)).mean()",
    ),
    Meeting(
        "distillation",
        "mat",
        "mat",
        'out = F.kl_div(F.log_softmax($x / 2.0, dim=1), F.softmax($t / 2.0, dim=1), reduction="batchmean") * 4.0',
    ),
    Meeting("coefficient-of-timestep", "idx", "vec", "out = $t.gather(0, $x).view(-1, 1, 1, 1)"),
    Meeting("segment-embedding", "ids", "ids", "out = $m($x) + $m($t)", "nn.Embedding(3, 4)"),
    Meeting("triplet-loss", "mat", "mat", "out = F.triplet_margin_loss($x, $x.flip(0), $t)"),
    Meeting(
        "gram-matrices",
        "img",
        "img",
        "grams_ = [torch.bmm(part_.flatten(2), part_.flatten(2).transpose(1, 2)) / part_[0].numel() for part_ in ($x, $t)]\nout = F.mse_loss(*grams_)",
    ),
    Meeting(
        "focal-alpha",
        "mat",
        "vec",
        'guessed_ = $x.argmax(dim=1)\nlosses_ = F.cross_entropy($x, guessed_, reduction="none")\n'
        "out = ($t.gather(0, guessed_) * (1 - torch.exp(-losses_)) ** 2 * losses_).mean()",
    ),
    Meeting("confusion-counts", "idx", "idx", "out = torch.bincount($x * 3 + $t, minlength=9).view(3, 3)"),
    Meeting("mixup-permutation", "mat", "idx", "out = 0.3 * $x + 0.7 * $x[$t]"),
    Meeting(
        "accuracy-of-numpy",
        "mat",
        "idx",
        "guesses_ = $x.argmax(dim=1).cpu().numpy()\nout = float(np.mean(guesses_ == $t.cpu().numpy()))",
        shown="0.0 <= out <= 1.0",
    ),
    Meeting("as_tensor-onto", "mat", "vec", "out = $x - torch.as_tensor($t, device=$x.device)"),
    Meeting(
        "0-dim-loss-total", "mat", "num", "total_ = $t.clone()\ntotal_ = total_ + $x.pow(2).mean()\nout = total_ / 2"
    ),
    Meeting("attention-bias", "seq", "sq", "out = F.scaled_dot_product_attention($x, $x, $x, attn_mask=$t)"),
    Meeting("isin-of-ids", "ids", "idx", "out = torch.isin($x, $t)"),
    Meeting(
        "encoder-layer-src_mask",
        "seq",
        "sq",
        "out = $m($x, src_mask=$t)",
        "nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)",
    ),
    Meeting(
        "np.clip-of-images",
        "img",
        "img",
        "out = np.clip(np.asarray($x.detach()), 0.0, 1.0)",
        good="out = np.clip(np.asarray($x.detach().cpu()), 0.0, 1.0)",
        shown="float(out.sum())",
    ),
)

PLACERS = (
    Placer(
        "hasattr-to-helper",
        '$x = send_all({"data": $plain, "name": "a"}, $dev)["data"]',
        top="def send_all(value, device):\n    if isinstance(value, dict):\n        return {name: send_all(item, device) for name, item in value.items()}\n"
        '    return value.to(device) if hasattr(value, "to") else value',
    ),
    Placer("mapped-to", "$x, spare_ = map(lambda item_: item_.to($dev), ($plain, torch.zeros(1)))"),
    Placer("empty-then-copy_", "$x = torch.empty($size$dtype, device=$dev)\n$x.copy_($plain)"),
    Placer("new_tensor-of-array", "like_ = torch.zeros(1, device=$dev)\n$x = like_.new_tensor($array)", kinds="F"),
    Placer("stacked-on-device", "$x = torch.stack([item_.to($dev) for item_ in ($plain, $plain)])[0]"),
    Placer(
        "storage-on-device",
        "storage_ = RolloutStorage(2, $size, $dev)\nstorage_.insert($plain)\n$x = storage_.observations[0]",
        top="class RolloutStorage:\n    def __init__(self, steps, size, device):\n        self.observations = torch.zeros((steps, *size), device=device)\n"
        "        self.step = 0\n\n    def insert(self, observation):\n        self.observations[self.step].copy_(observation)\n        self.step += 1",
        kinds="F",
    ),
)

DEVICES = (
    Device("environment-variable", 'torch.device(os.environ.get("TRAIN_DEVICE", "cuda"))'),
    Device(
        "device-argument",
        "torch.device(parse_options().device)",
        'def parse_options(arguments=()):\n    parser = argparse.ArgumentParser()\n    parser.add_argument("--device", type=str, default="cuda")\n'
        '    parser.add_argument("--epochs", type=int, default=1)\n    return parser.parse_args(list(arguments))',
    ),
    Device("current-device", 'torch.device("cuda", torch.cuda.current_device())'),
    Device(
        "mps-or-cpu",
        "best_device()",
        'def best_device():\n    if torch.cuda.is_available():\n        return torch.device("cuda")\n    if torch.backends.mps.is_available():\n'
        '        return torch.device("mps")\n    return torch.device("cpu")',
    ),
)
