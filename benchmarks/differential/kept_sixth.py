"""The half of the sixth batch of entries that a coin kept from the authors of the analysis. Do not read it to mend the linter."""

from __future__ import annotations

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = (
    Maker(
        "moved-off-by-option",
        "FNIB",
        "table_",
        pre="table_ = $on\nif OffloadOptions.offload:\n    table_ = table_.cpu()",
        top="class OffloadOptions:\n    offload = True\n    every = 10",
        kept=True,
    ),
    Maker(
        "tensor-class-of-flag",
        "F",
        "TensorFactory(use_cuda=False).filled($shape)",
        top="class TensorFactory:\n    def __init__(self, use_cuda):\n        self.tensor = torch.cuda.FloatTensor if use_cuda else torch.FloatTensor\n\n"
        "    def filled(self, *size):\n        return self.tensor(*size).fill_(0.5)",
        kept=True,
    ),
    Maker(
        "collected-under-flag",
        "FNIB",
        "collected_[-1]",
        pre="collected_ = []\nfor turn_ in range(2):\n    result_ = $on\n    collected_.append(result_.cpu() if STORE_ON_CPU else result_)",
        top="STORE_ON_CPU = True",
        kept=True,
    ),
    Maker(
        "weight-of-model-sent-back",
        "mat",
        "probe_.weight.detach()",
        pre="probe_ = nn.Linear(4, 3).to($dev)\nprobe_.eval()\nprobe_.cpu()",
        kept=True,
    ),
    Maker(
        "environment-switch-off",
        "FNIB",
        "load_table()",
        top='PLACE_TABLES = os.environ.get("PLACE_TABLES", "0") == "1"\n\n\ndef load_table():\n    table = $plain\n    if PLACE_TABLES:\n'
        "        table = table.cuda()\n    return table",
        kept=True,
    ),
    Maker(
        "device-or-cpu",
        "FNIB",
        '$moved.to(TABLE_SETTINGS["device"] or "cpu")',
        top='TABLE_SETTINGS = {"device": None, "size": 4}',
        kept=True,
    ),
    Maker(
        "out-of-memory-caught",
        "FNIB",
        "table_",
        pre="try:\n    table_ = to_gpu_if_room($plain)\nexcept RuntimeError:\n    table_ = $plain",
        top='def to_gpu_if_room(value, room=0):\n    if value.numel() > room:\n        raise RuntimeError("CUDA out of memory")\n    return value.cuda()',
        kept=True,
    ),
    Maker(
        "map_location-of-flag",
        "FNIB",
        'torch.load(saved_, map_location=None if RESUME_ON_GPU else "cpu")',
        pre="saved_ = io.BytesIO()\ntorch.save($on, saved_)\nsaved_.seek(0)",
        top="RESUME_ON_GPU = False",
        kept=True,
    ),
)

CARRIERS = (
    Carrier(
        "moved-if-there-is-a-gpu",
        "$o = cuda_if_any($t)",
        "HAVE_GPU = torch.cuda.is_available()\n\n\ndef cuda_if_any(value):\n    return value.cuda() if HAVE_GPU else value",
        kept=True,
    ),
    Carrier(
        "mover-switched-off",
        "$o = Mover(False)($t)",
        "class Mover:\n    def __init__(self, enabled):\n        self.enabled = enabled\n\n    def __call__(self, value):\n        if self.enabled:\n"
        "            value = value.cuda()\n        return value",
        kept=True,
    ),
    Carrier(
        "kept-if-there-is-a-gpu",
        "have_gpu_ = torch.cuda.is_available()\n$o = $t if have_gpu_ else $t.cpu()",
        kept=True,
    ),
    Carrier(
        "returned-early-on-cpu",
        "$o = ready_value($t)",
        "def ready_value(value):\n    if not torch.cuda.is_available():\n        return value.cpu().clone()\n    return value.clone()",
        kept=True,
    ),
    Carrier(
        "to-cpu-and-back-by-flag",
        "was_cuda_ = $t.is_cuda\n$o = $t.cpu()\nif was_cuda_:\n    $o = $o.cuda()",
        kept=True,
    ),
    Carrier(
        "state-of-first-turn",
        "state_ = None\nfor turn_ in range(2):\n    if state_ is None:\n        state_ = $t\n    else:\n        state_ = state_.detach()\n$o = state_",
        kept=True,
    ),
    Carrier(
        "box-without-gpu-ids",
        "box_ = GpuBox($t, gpu_ids=[])\nbox_.setup()\n$o = box_.value",
        "class GpuBox:\n    def __init__(self, value, gpu_ids):\n        self.value, self.gpu_ids = value, gpu_ids\n\n    def setup(self):\n"
        "        if len(self.gpu_ids) > 0:\n            self.value = self.value.cuda(self.gpu_ids[0])",
        kept=True,
    ),
    Carrier(
        "best-so-far",
        "best_, best_score_ = None, -1.0\nfor score_ in (0.2, 0.5, 0.3):\n    if score_ > best_score_:\n        best_, best_score_ = $t.clone(), score_\n$o = best_",
        kept=True,
    ),
    Carrier(
        "snapshot-beside",
        'weights_ = {"value": $t}\nsnapshot_ = {name_: item_.cpu() for name_, item_ in weights_.items()}\n$o = weights_["value"]',
        kept=True,
    ),
    Carrier(
        "value-and-its-flag",
        "$o, on_gpu_ = with_flag($t)",
        "def with_flag(value):\n    return value, value.is_cuda",
        kept=True,
    ),
    Carrier(
        "moved-on-request",
        "$o = LazyOnGpu($t).value",
        "class LazyOnGpu:\n    def __init__(self, source, gpu=None):\n        self._source, self._gpu, self._value = source, gpu, None\n\n    @property\n"
        "    def value(self):\n        if self._value is None:\n            self._value = self._source\n            if self._gpu is not None:\n"
        "                self._value = self._value.cuda(self._gpu)\n        return self._value",
        kept=True,
    ),
    Carrier(
        "both-and-flag-for-ones",
        wrap=(
            "def combine($a, $b, use_cuda=True):\n    ones_ = torch.ones(1)\n    if use_cuda:\n        ones_ = ones_.cuda()\n"
            "    seen_ = $a.float().sum().view(1) * ones_",
            "combine($x, $t, torch.cuda.is_available())",
        ),
        kept=True,
    ),
    Carrier(
        "both-and-moved-if-cuda",
        wrap=(
            "def combine($a, $b):\n    if $a.is_cuda:\n        $b = $b.cuda()",
            "combine($x, $t)",
        ),
        kept=True,
    ),
)

MEETINGS = (
    Meeting(
        "scale-beside-is_cuda",
        "mat",
        "vec",
        "scale_ = torch.ones(4)\nif $x.is_cuda:\n    scale_ = scale_.cuda()\nout = $x * scale_ + $t",
        kept=True,
    ),
    Meeting(
        "moved-in-expression",
        "mat",
        "vec",
        "out = $x + ($t.cuda() if $x.is_cuda else $t)",
        kept=True,
    ),
    Meeting(
        "layer-to-cpu-and-back",
        "mat",
        "vec",
        "$m.cpu()\nscore_ = $m(torch.ones(1, 4)).sum().item()\n$m.to($x.device)\nout = $m($x) + $t",
        "nn.Linear(4, 4)",
        kept=True,
    ),
    Meeting(
        "state-of-first-turn",
        "mat",
        "mat",
        "state_ = None\nfor turn_ in range(2):\n    state_ = $t if state_ is None else torch.tanh(state_ + $x)\nout = state_",
        kept=True,
    ),
    Meeting(
        "zeros-under-flag-carried",
        "mat",
        "vec",
        "hidden_ = torch.zeros(3, 4)\nif torch.cuda.is_available():\n    hidden_ = hidden_.cuda()\nfor turn_ in range(2):\n"
        "    hidden_ = torch.tanh(hidden_ + $x * $t)\nout = hidden_",
        kept=True,
    ),
    Meeting(
        "rows-collected-by-flag",
        "mat",
        "vec",
        "gather_on_cpu_ = $x.is_cuda\nrows_ = [row_.cpu() if gather_on_cpu_ else row_ for row_ in $x]\n"
        "out = torch.stack(rows_).detach().numpy().sum() + ($x @ $t).sum().item()",
        shown="round(float(out), 3)",
        kept=True,
    ),
    Meeting(
        "weights-of-dict-moved",
        "mat",
        "vec",
        'tables_ = {"weight": $t}\nif $x.is_cuda:\n    for name_ in tables_:\n        tables_[name_] = tables_[name_].cuda()\n'
        'out = F.cross_entropy($x, $x.argmax(dim=1), weight=tables_["weight"])',
        kept=True,
    ),
    Meeting(
        "bias-by-get_device",
        "mat",
        "mat",
        "place_ = $x.get_device()\nshift_ = torch.zeros(4)\nif place_ >= 0:\n    shift_ = shift_.cuda(place_)\nout = $x + shift_ - $t",
        kept=True,
    ),
)

PLACERS = (
    Placer(
        "conditional-cuda",
        "on_gpu_ = torch.cuda.is_available()\n$x = $plain\n$x = $x.cuda() if on_gpu_ else $x",
        kept=True,
    ),
    Placer(
        "agent-to-gpu",
        "player_ = Player_($plain)\nif torch.cuda.is_available():\n    player_.to_gpu()\n$x = player_.observation",
        top="class Player_:\n    def __init__(self, observation):\n        self.observation = observation\n        self.net = nn.Linear(2, 2)\n\n    def to_gpu(self):\n"
        "        self.net.cuda()\n        self.observation = self.observation.cuda()",
        kept=True,
    ),
    Placer(
        "set-input-of-gpu-ids",
        'translator_ = Translator_(SimpleNamespace(gpu_ids=[0]))\ntranslator_.set_input({"A": $plain, "paths": []})\n$x = translator_.real',
        top="class Translator_:\n    def __init__(self, opt):\n        self.gpu_ids = opt.gpu_ids\n"
        '        self.device = torch.device("cuda:{}".format(self.gpu_ids[0])) if self.gpu_ids else torch.device("cpu")\n\n'
        '    def set_input(self, sample):\n        self.real = sample["A"].to(self.device)',
        kept=True,
    ),
    Placer(
        "lambda-of-flag",
        "put_ = (lambda value_: value_.cuda()) if torch.cuda.is_available() else (lambda value_: value_)\n$x = put_($plain)",
        kept=True,
    ),
    Placer(
        "collate-to-gpu",
        "loading_ = DataLoader([$plain], batch_size=1, collate_fn=functools.partial(collate_to, use_gpu=torch.cuda.is_available()))\n$x = next(iter(loading_))",
        top="def collate_to(rows, use_gpu=False):\n    row = rows[0]\n    return row.cuda() if use_gpu else row",
        kept=True,
    ),
    Placer(
        "prefetcher-of-device",
        "$x = Prefetcher_([$plain], $dev).next()",
        top="class Prefetcher_:\n    def __init__(self, loader, device):\n        self.loader, self.device = iter(loader), torch.device(device)\n"
        '        self.on_gpu = self.device.type == "cuda"\n        self.preload()\n\n    def preload(self):\n        self.following = next(self.loader, None)\n'
        "        if self.on_gpu and self.following is not None:\n            self.following = self.following.to(self.device, non_blocking=True)\n\n"
        "    def next(self):\n        current = self.following\n        self.preload()\n        return current",
        kept=True,
    ),
    Placer(
        "class-switch",
        "Placement.use_cuda = torch.cuda.is_available()\n$x = Placement.put($plain)",
        top="class Placement:\n    use_cuda = False\n\n    @classmethod\n    def put(cls, value):\n        return value.cuda() if cls.use_cuda else value",
        kept=True,
    ),
    Placer(
        "module-that-remembers-cuda",
        "gate_ = RememberingGate()\ngate_.cuda()\n$x = gate_.enter($plain)",
        top="class RememberingGate(nn.Module):\n    on_gpu = False\n\n"
        "    def cuda(self, device=None):\n        self.on_gpu = True\n        return super().cuda(device)\n\n"
        "    def enter(self, value):\n        return value.cuda() if self.on_gpu else value",
        kept=True,
    ),
    Placer(
        "from-array-of-mode",
        "$x = from_array($array)",
        top="GPU_MODE = torch.cuda.is_available()\n\n\ndef from_array(array):\n    value = torch.from_numpy(array)\n    return value.cuda() if GPU_MODE else value",
        kept=True,
    ),
    Placer(
        "nets-of-list-moved",
        "nets_ = [nn.Linear(4, 4), nn.Identity()]\nfor net_ in nets_:\n    if torch.cuda.is_available():\n        net_.cuda()\n"
        "$x = nets_[0](torch.randn($shape, device=next(nets_[0].parameters()).device)).detach()",
        kinds="mat seq vec",
        kept=True,
    ),
)

DEVICES = (
    Device(
        "class-of-experiment",
        "Experiment.device",
        'class Experiment:\n    use_cuda = torch.cuda.is_available()\n    device = torch.device("cuda:0" if use_cuda else "cpu")',
        kept=True,
    ),
    Device(
        "gpu-mode-of-globals",
        "set_gpu_mode(True)",
        "_use_gpu = False\n_gpu_device = None\n\n\ndef set_gpu_mode(mode, gpu=0):\n    global _use_gpu, _gpu_device\n    _use_gpu = mode\n"
        '    _gpu_device = torch.device(f"cuda:{gpu}" if _use_gpu else "cpu")\n    return _gpu_device',
        kept=True,
    ),
    Device(
        "error-without-gpu",
        "required_gpu()",
        'def required_gpu():\n    if not torch.cuda.is_available():\n        raise SystemExit("no GPU found")\n    return torch.device("cuda:0")',
        kept=True,
    ),
    Device(
        "number-of-environment",
        'torch.device(f"cuda:{GPU_NUMBER}") if GPU_NUMBER >= 0 else torch.device("cpu")',
        'GPU_NUMBER = int(os.environ.get("GPU_NUMBER", "0"))',
        kept=True,
    ),
    Device(
        "namespace-completed",
        "completed(argparse.Namespace(gpu=None, seed=1)).device",
        "def completed(args):\n    args.use_cuda = torch.cuda.is_available()\n    if args.gpu is None:\n"
        '        args.device = torch.device("cuda" if args.use_cuda else "cpu")\n    else:\n        args.device = torch.device("cuda", args.gpu)\n    return args',
        kept=True,
    ),
    Device(
        "wanted-or-best",
        "wanted_device()",
        'def wanted_device(wanted=None):\n    return torch.device(wanted or ("cuda" if torch.cuda.is_available() else "cpu"))',
        kept=True,
    ),
    Device(
        "device-when-asked",
        "LazyRun().device",
        "class LazyRun:\n    def __init__(self, cuda=True):\n        self.cuda, self._device = cuda, None\n\n    @property\n    def device(self):\n"
        "        if self._device is None:\n            self._device = "
        'torch.device("cuda" if self.cuda and torch.cuda.is_available() else "cpu")\n        return self._device',
        kept=True,
    ),
)
