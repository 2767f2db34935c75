"""The open half of the sixth batch of entries: how programs of research repositories decide where things are, by flags above all.

Written on 2026-11-24 by an author who knew nothing of the analysis. A coin chose the other half, in kept_sixth.py.
"""

from __future__ import annotations

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = (
    Maker(
        "gpu-minus-one",
        "FNIB",
        "place_on($plain, OPTIONS_.gpu)",
        top="OPTIONS_ = SimpleNamespace(gpu=-1, epochs=2)\n\n\ndef place_on(value, gpu):\n    if gpu >= 0:\n        value = value.cuda(gpu)\n    return value",
    ),
    Maker(
        "dtype-of-flag-off",
        "F",
        "$plain.type(dtype_)",
        pre="half_size_on_gpu = False\ndtype_ = torch.cuda.FloatTensor if half_size_on_gpu else torch.FloatTensor",
    ),
    Maker(
        "beside-a-cpu-example",
        "F",
        "new_beside(torch.ones(2), $size)",
        top="def new_beside(example, size):\n    made = torch.zeros(size)\n    if example.is_cuda:\n        made = made.cuda()\n    return made",
    ),
    Maker(
        "initial-state-of-keeper",
        "FNIB",
        "StateKeeper().initial()",
        top="class StateKeeper:\n    def __init__(self, use_gpu=False):\n        self.use_gpu = use_gpu\n\n    def initial(self):\n        state = $plain\n"
        "        if self.use_gpu:\n            state = state.cuda()\n        return state",
    ),
    Maker(
        "collated-without-cuda",
        "FNIB",
        "collate_rows([$plain], use_cuda=False)[0]",
        top="def collate_rows(rows, use_cuda):\n    rows = torch.stack(rows)\n    return rows.cuda() if use_cuda else rows",
    ),
    Maker(
        "setup-moves-modules-only",
        "FNIB",
        "bundle_.table",
        pre="bundle_ = PartsBundle()\nbundle_.setup($dev)",
        top="class PartsBundle:\n    def __init__(self):\n        self.net = nn.Linear(2, 2)\n        self.table = $plain\n\n    def setup(self, device):\n"
        "        for part in self.__dict__.values():\n            if isinstance(part, nn.Module):\n                part.to(device)",
    ),
    Maker(
        "one-net-of-registry-moved",
        "mat",
        'nets_["target"].weight.detach()',
        pre='nets_ = {"actor": nn.Linear(4, 3), "target": nn.Linear(4, 3)}\nfor name_ in ("actor",):\n    nets_[name_].to($dev)',
    ),
    Maker(
        "switch-turned-off",
        "F",
        "GpuSwitch.zeros($size)",
        pre="GpuSwitch.set_mode(False)",
        top="class GpuSwitch:\n    enabled = True\n\n    @classmethod\n    def set_mode(cls, enabled):\n        cls.enabled = enabled\n\n    @classmethod\n"
        "    def zeros(cls, size):\n        made = torch.zeros(size)\n        return made.cuda() if cls.enabled else made",
    ),
)

CARRIERS = (
    Carrier("cpu-if-there-is-none", "$o = $t\nif not torch.cuda.is_available():\n    $o = $o.cpu()"),
    Carrier(
        "list-with-offload-off",
        "outputs_ = []\nfor item_ in [$t]:\n    outputs_.append(item_.cpu() if SAVE_MEMORY else item_)\n$o = outputs_[0]",
        "SAVE_MEMORY = False",
    ),
    Carrier(
        "repackaged-state",
        "$o = repackage_state(($t, $t))[0]",
        "def repackage_state(state):\n    if isinstance(state, torch.Tensor):\n        return state.detach()\n    return tuple(repackage_state(part) for part in state)",
    ),
    Carrier(
        "number-or-tensor",
        "$o = metric_of($t)",
        "def metric_of(value, as_number=False):\n    if as_number:\n        return value.float().mean().item()\n    return value.detach()",
    ),
    Carrier(
        "data-parallel-of-many",
        "passing_ = nn.Identity()\nif torch.cuda.device_count() > 8:\n    passing_ = nn.DataParallel(passing_)\n$o = passing_($t)",
    ),
    Carrier(
        "history-with-the-last-kept",
        "history_ = []\nfor step_ in range(3):\n    history_.append($t if step_ == 2 else $t.cpu())\n$o = history_[-1]",
    ),
    Carrier(
        "getattr-of-phase",
        'phase_ = "train"\nphases_ = SimpleNamespace(train_value=$t, test_value=None)\n$o = getattr(phases_, phase_ + "_value")',
    ),
    Carrier(
        "both-and-left-without-gpu",
        wrap=(
            "def combine($a, $b):\n    if not $a.is_cuda:\n        return $a",
            "combine($x, $t)",
        ),
    ),
    Carrier(
        "both-and-counted-over-turns",
        wrap=(
            "def combine($a, $b):\n    seen_ = None\n    for turn_ in range(2):\n        if seen_ is None:\n            seen_ = torch.zeros(1, device=$a.device)\n"
            "        seen_ = seen_ + $a.float().sum()",
            "combine($x, $t)",
        ),
    ),
    Carrier(
        "both-with-one-placed-by-agent",
        wrap=(
            "class StepAgent:\n    def __init__(self, use_gpu):\n        self.use_gpu = use_gpu\n\n    def place(self, value):\n"
            "        return value.cuda() if self.use_gpu else value\n\n    def step(self, first, second):\n        $a, $b = self.place(first), second",
            "StepAgent(torch.cuda.is_available()).step($x, $t)",
        ),
    ),
    Carrier(
        "both-and-parameters-asked",
        wrap=(
            "class AskedBlock(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.gain = nn.Parameter(torch.ones(1))\n\n"
            "    def forward(self, $a, $b):\n        if next(self.parameters()).is_cuda:\n            $b = $b.cuda()",
            "AskedBlock().to($x.device)($x, $t)",
        ),
    ),
    Carrier(
        "both-and-error-without-gpu",
        wrap=(
            'def combine($a, $b):\n    if not torch.cuda.is_available():\n        raise RuntimeError("this needs a GPU")',
            "combine($x, $t)",
        ),
    ),
    Carrier(
        "both-on-args",
        wrap=(
            "def combine(args, $a, $b):\n    counts_ = torch.zeros(2)\n    if args.cuda:\n        counts_ = counts_.cuda()\n    counts_[0] += $a.float().sum()",
            "combine(SimpleNamespace(cuda=$x.is_cuda, seed=1), $x, $t)",
        ),
    ),
)

MEETINGS = (
    Meeting(
        "tensor-class-beside",
        "mat",
        "vec",
        "kind_ = torch.cuda.FloatTensor if $x.is_cuda else torch.FloatTensor\nout = $x + kind_(3, 4).fill_(0.5) * $t",
    ),
    Meeting(
        "numpy-by-flag",
        "mat",
        "mat",
        "bring_back_ = False\nvalues_ = $x.detach().cpu() if bring_back_ else $x.detach()\nout = values_.numpy() + 1",
        good="bring_back_ = True\nvalues_ = $x.detach().cpu() if bring_back_ else $x.detach()\nout = values_.numpy() + 1",
        shown="float(out.sum())",
    ),
    Meeting(
        "numpy-if-is_cuda",
        "mat",
        "mat",
        "values_ = $x.detach()\nif values_.is_cuda:\n    values_ = values_.cpu()\nout = values_.numpy() + $t.detach().cpu().numpy()",
        shown="float(out.sum())",
    ),
    Meeting(
        "layer-left-on-cpu",
        "mat",
        "vec",
        "$m.cpu()\nscore_ = $m(torch.ones(1, 4)).sum().item()\nout = $m($x) + score_",
        "nn.Linear(4, 4)",
        good="$m.cpu()\nscore_ = $m(torch.ones(1, 4)).sum().item()\n$m.to($x.device)\nout = $m($x) + score_",
    ),
    Meeting(
        "input-where-parameters-are",
        "mat",
        "mat",
        "given_ = $t.cuda() if next($m.parameters()).is_cuda else $t\nout = $m(given_) + $x",
        "nn.Linear(4, 4)",
    ),
    Meeting(
        "total-of-items",
        "mat",
        "vec",
        "out = 0.0\nfor turn_ in range(2):\n    out += ($x * $t).sum().item()",
        shown="round(out, 3)",
    ),
    Meeting(
        "only-where-devices-agree",
        "mat",
        "mat",
        "out = $x * 2\nif $t.device == $x.device:\n    out = out + $t",
    ),
    Meeting(
        "teacher-forced-turns",
        "seq",
        "seq",
        "taken_ = []\nfor place_ in range(2):\n    step_ = $x[:, place_]\n    if place_ > 0:\n        step_ = step_ + $t[:, place_ - 1]\n"
        "    taken_.append(step_)\nout = torch.stack(taken_, dim=1)",
    ),
)

PLACERS = (
    Placer(
        "to-var-of-global",
        "$x = to_variable($plain)",
        top="CUDA_ON = torch.cuda.is_available()\n\n\ndef to_variable(value):\n    if CUDA_ON:\n        value = value.cuda()\n    return torch.autograd.Variable(value)",
    ),
    Placer(
        "type-of-flag",
        "use_cuda_ = torch.cuda.is_available()\nkind_of_gpu = torch.cuda.$legacy if use_cuda_ else torch.$legacy\n$x = $moved.type(kind_of_gpu)",
    ),
    Placer(
        "fields-moved-in-setup",
        "fields_ = FieldsOfRun($plain)\nfields_.setup($dev)\n$x = fields_.data",
        top="class FieldsOfRun:\n    def __init__(self, data):\n        self.data, self.net, self.step = data, nn.Linear(2, 2), 0\n\n    def setup(self, device):\n"
        "        for name, value in list(self.__dict__.items()):\n"
        "            if isinstance(value, (torch.Tensor, nn.Module)):\n                setattr(self, name, value.to(device))",
    ),
    Placer(
        "cuda-beside-example",
        "example_ = torch.zeros(1, device=$dev)\n$x = $plain\nif example_.is_cuda:\n    $x = $x.cuda(example_.get_device())",
    ),
    Placer("tried-cuda", "$x = $plain\ntry:\n    $x = $x.cuda()\nexcept RuntimeError:\n    pass"),
    Placer(
        "fields-by-name",
        'pair_ = SimpleNamespace(first=$plain, second=torch.zeros(1))\nfor field_ in ("first", "second"):\n'
        "    setattr(pair_, field_, getattr(pair_, field_).to($dev))\n$x = pair_.first",
    ),
    Placer(
        "unless-there-is-none",
        "$x = on_accelerator($plain)",
        top="def on_accelerator(value):\n    if not torch.cuda.is_available():\n        return value\n    return value.cuda()",
    ),
    Placer(
        "at-gpu-number",
        "$x = place_at($plain, 0)",
        top="def place_at(value, gpu=-1):\n    if gpu == -1:\n        return value\n    return value.cuda(gpu)",
    ),
    Placer(
        "made-in-the-first-turn",
        "running_ = None\nfor turn_ in range(2):\n    if running_ is None:\n        running_ = $moved.to($dev)\n    running_ = running_.detach()\n$x = running_",
    ),
    Placer(
        "tensor-class-of-flag",
        "TensorOfRun = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor\n$x = TensorOfRun($shape).fill_(1.0)",
        kinds="F",
    ),
)

DEVICES = (
    Device(
        "no-cuda-option",
        'torch.device("cuda" if parse_flags().cuda else "cpu")',
        'def parse_flags(arguments=()):\n    parser = argparse.ArgumentParser()\n    parser.add_argument("--no-cuda", action="store_true", default=False)\n'
        "    flags = parser.parse_args(list(arguments))\n    flags.cuda = not flags.no_cuda and torch.cuda.is_available()\n    return flags",
    ),
    Device(
        "gpu-ids-of-text",
        "first_gpu()",
        'def first_gpu(text="0,1"):\n    gpu_ids = [int(part) for part in text.split(",") if int(part) >= 0]\n'
        '    return torch.device("cuda:{}".format(gpu_ids[0])) if gpu_ids else torch.device("cpu")',
    ),
    Device(
        "dataclass-post-init",
        "TrainingArguments_().device",
        '@dataclass\nclass TrainingArguments_:\n    device: str = ""\n    epochs: int = 1\n\n    def __post_init__(self):\n        if not self.device:\n'
        '            self.device = "cuda" if torch.cuda.is_available() else "cpu"',
    ),
    Device(
        "settings-tree",
        'torch.device("cuda:{}".format(RUN_SETTINGS["run"]["gpu"]) if RUN_SETTINGS["run"]["use_gpu"] else "cpu")',
        'RUN_SETTINGS = {"run": {"use_gpu": True, "gpu": 0}, "model": {"width": 4}}',
    ),
    Device("device-of-network", "next(nn.Linear(1, 1).cuda().parameters()).device"),
    Device("count-of-gpus", 'torch.device("cuda:0" if torch.cuda.device_count() > 0 else "cpu")'),
    Device(
        "tried-once",
        "usable_device()",
        "def usable_device():\n    try:\n        torch.zeros(1).cuda()\n"
        '    except (RuntimeError, AssertionError):\n        return torch.device("cpu")\n    return torch.device("cuda")',
    ),
)
