"""The half of the seventh batch of entries that a coin kept from the authors of the analysis. Do not read it to mend the linter."""

from __future__ import annotations

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = (
    Maker("complex-real", "F", "torch.complex($rand, $rand).real", kept=True),
    Maker("bartlett-window", "vec", "torch.bartlett_window(4$dv)", kept=True),
    Maker("diag_embed", "mat", "torch.diag_embed(torch.ones(4$dv))[:3]", kept=True),
    Maker(
        "bucketize",
        "idx",
        "torch.bucketize(torch.tensor([0.1, 0.5, 2.0]$dv), torch.tensor([0.0, 1.0, 3.0]$dv))",
        kept=True,
    ),
    Maker("bincount", "idx", "torch.bincount(torch.tensor([0, 1, 2]$dv), minlength=3)", kept=True),
    Maker("argsort", "idx", "torch.argsort(torch.rand(3$dv))", kept=True),
    Maker("repeat_interleave", "idx", "torch.arange(3$dv).repeat_interleave(1)", kept=True),
    Maker(
        "grid_sample",
        "mat",
        "F.grid_sample(torch.ones(2, 3, 8, 8$dv), torch.zeros(2, 8, 8, 2$dv), align_corners=False)[0, 0, :3, :4]",
        kept=True,
    ),
    Maker("F-embedding", "seq", "F.embedding(torch.zeros(2, 5, dtype=torch.long$dv), torch.ones(3, 4$dv))", kept=True),
    Maker("norm-module-weight", "vec", "nn.LayerNorm(4$dv).weight.detach()", kept=True),
    Maker("batch-norm-running-mean", "vec", "nn.BatchNorm1d(4$dv).running_mean", kept=True),
    Maker("gru-output", "seq", "nn.GRU(4, 4, batch_first=True$dv)(torch.ones(2, 5, 4$dv))[0].detach()", kept=True),
    Maker(
        "lstm-state", "mat", "nn.LSTM(4, 4, batch_first=True$dv)(torch.ones(3, 5, 4$dv))[1][0][0].detach()", kept=True
    ),
    Maker(
        "attention-output",
        "seq",
        "nn.MultiheadAttention(4, 2, batch_first=True$dv)(*[torch.ones(2, 5, 4$dv)] * 3)[0].detach()",
        kept=True,
    ),
    Maker("square-subsequent-mask", "mat", "nn.Transformer.generate_square_subsequent_mask(4$dv)[:3]", kept=True),
    Maker("xavier-of-empty", "mat", "nn.init.xavier_uniform_(torch.empty(3, 4$dv))", kept=True),
    Maker("trunc_normal_", "F", "nn.init.trunc_normal_(torch.empty($shape$dv), std=0.1)", kept=True),
    Maker("random_-in-place", "I", "torch.empty($shape$dv, dtype=torch.long).random_(0, 3)", kept=True),
    Maker("beta-sample", "vec", "torch.distributions.Beta(torch.ones(4$dv), torch.ones(4$dv)).sample()", kept=True),
    Maker(
        "mixture-sample-shape", "vec", "torch.distributions.Exponential(torch.tensor(1.0$dv)).sample((4,))", kept=True
    ),
    Maker("dirichlet", "vec", "torch.distributions.Dirichlet(torch.ones(4$dv)).sample()", kept=True),
    Maker("numpy-random", "F", "torch.tensor(np.random.rand(*$size)$dv).float()", kept=True),
    Maker(
        "numpy-random-generator",
        "F",
        "torch.from_numpy(np.random.default_rng(0).normal(size=$size)).float()",
        kept=True,
    ),
    Maker("numpy-zeros-as_tensor", "F", "torch.as_tensor(np.zeros($size)$dv).float()", kept=True),
    Maker("frombuffer-7", "vec", "torch.frombuffer(bytearray(16), dtype=torch.float32)", kept=True),
    Maker("asarray", "vec", "torch.asarray([0.5, 1.0, 2.0, 4.0]$dv)", kept=True),
    Maker("scalar_tensor", "num", "torch.scalar_tensor(0.5$dv)", kept=True),
    Maker("tensor-of-math", "num", "torch.tensor(math.pi$dv)", kept=True),
    Maker("tensor-of-len", "num", "torch.tensor(float(len([1, 2]))$dv)", kept=True),
    Maker("hstack", "vec", "torch.hstack((torch.rand(2$dv), torch.rand(2$dv)))", kept=True),
    Maker("vstack", "mat", "torch.vstack([torch.rand(4$dv)] * 3)", kept=True),
    Maker("svd-values", "vec", "torch.linalg.svdvals(torch.rand(4, 4$dv))", kept=True),
    Maker("cholesky", "mat", "torch.linalg.cholesky(torch.eye(4$dv))[:3]", kept=True),
    Maker(
        "sinusoid-table-7",
        "mat",
        "torch.cat([torch.sin(torch.arange(3.0$dv)[:, None] * torch.ones(2$dv)), torch.cos(torch.arange(3.0$dv)[:, None] * torch.ones(2$dv))], dim=-1)",
        kept=True,
    ),
    Maker("positions-expanded", "ids", "torch.arange(5$dv).clamp(max=2).unsqueeze(0).expand(2, -1)", kept=True),
    Maker("one-hot-eye-rows", "mat", "torch.eye(4$dv)[torch.tensor([0, 1, 3]$dv)]", kept=True),
    Maker("sequence-mask-of-arange", "mask", "(torch.arange(3$dv) < torch.tensor(2$dv))", kept=True),
    Maker("bool-of-list-comprehension", "mask", "torch.BoolTensor([number > 1 for number in range(3)])", kept=True),
    Maker("long-tensor-of-range", "idx", "torch.LongTensor(range(3))", kept=True),
    Maker(
        "torch-load-weights_only",
        "FNIB",
        'torch.load(stored_, map_location=torch.device("cpu"), weights_only=True)["table"]',
        pre='stored_ = io.BytesIO()\ntorch.save({"table": $plain}, stored_)\nstored_.seek(0)',
        kept=True,
    ),
    Maker(
        "generator-argument",
        "F",
        "torch.randn($shape, generator=seeded_)",
        pre="seeded_ = torch.Generator().manual_seed(0)",
        kept=True,
    ),
    Maker("generator-permutation", "idx", "torch.randperm(3, generator=torch.Generator().manual_seed(1))", kept=True),
    Maker("moved-then-back", "FNIB", '$on.detach().to("cpu")', kept=True),
    Maker("item-round-trip", "num", "torch.tensor($on.item()$dv)", kept=True),
    Maker(
        "batch-on-cpu-of-loader",
        "mat",
        "next(iter(DataLoader(TensorDataset(torch.rand(6, 4)), batch_size=3)))[0]",
        kept=True,
    ),
    Maker(
        "cached-function",
        "FNIB",
        "table_of_(3)",
        top="@functools.lru_cache(maxsize=8)\ndef table_of_(count):\n    return $plain",
        kept=True,
    ),
    Maker(
        "cached_property-table",
        "FNIB",
        "WithTable_().table",
        top="class WithTable_:\n    @functools.cached_property\n    def table(self):\n        return $plain",
        kept=True,
    ),
    Maker(
        "abstract-maker",
        "FNIB",
        "RandomSource_().draw()",
        top=(
            "class Source2_(ABC):\n    def draw(self):\n        return self.make()\n\n    @abstractmethod\n"
            "    def make(self):\n        raise NotImplementedError\n\n\nclass RandomSource_(Source2_):\n"
            "    def make(self):\n        return $plain"
        ),
        kept=True,
    ),
    Maker(
        "moved-then-replaced-buffer",
        "FNIB",
        "moved_.table",
        pre="moved_ = Replaced_().to($dev)\nmoved_.reset()",
        top=(
            "class Replaced_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            '        self.register_buffer("table", torch.zeros(1))\n\n    def reset(self):\n'
            "        self.table = $plain"
        ),
        kept=True,
    ),
    Maker(
        "gradient-of-cpu-leaf",
        "F",
        "leaf_.grad",
        pre="leaf_ = $plain.requires_grad_()\n(leaf_ * 2).sum().backward()",
        kept=True,
    ),
    Maker(
        "autograd-grad",
        "F",
        "torch.autograd.grad((leaf_ * 2).sum(), leaf_)[0]",
        pre="leaf_ = $plain.requires_grad_()",
        kept=True,
    ),
    Maker(
        "func-grad-of-cpu", "vec", "torch.func.grad(lambda value: (value * value).sum())(torch.ones(4$dv))", kept=True
    ),
    Maker("stft-window-sum", "num", "torch.hann_window(4$dv).sum()", kept=True),
    Maker(
        "cpu-by-argument-default",
        "FNIB",
        "make_on_()",
        top='def make_on_(device="cpu"):\n    return $plain.to(device)',
        kept=True,
    ),
    Maker(
        "nested-factory",
        "FNIB",
        'Factory_.create("plain").build()',
        top=(
            "class Factory_:\n    kinds = {}\n\n    @classmethod\n    def register(cls, name):\n"
            "        def add(kind):\n            cls.kinds[name] = kind\n            return kind\n\n"
            "        return add\n\n    @classmethod\n    def create(cls, name):\n        return cls.kinds[name]()\n\n\n"
            '@Factory_.register("plain")\nclass PlainKind_:\n    def build(self):\n        return $plain'
        ),
        kept=True,
    ),
    Maker(
        "generator-of-batches",
        "FIB",
        "next(batches_of_(2))",
        top="def batches_of_(count):\n    for _ in range(count):\n        yield $plain",
        kept=True,
    ),
    Maker(
        "async-made", "FNIB", "asyncio.run(make_async_())", top="async def make_async_():\n    return $plain", kept=True
    ),
)

CARRIERS = (
    Carrier(
        "data-descriptor-with-set_name",
        "with_ = WithStored_()\nwith_.table = $t\n$o = with_.table",
        (
            'class Stored_:\n    def __set_name__(self, owner, name):\n        self.name = "_" + name\n\n'
            "    def __get__(self, instance, owner=None):\n        return getattr(instance, self.name)\n\n"
            "    def __set__(self, instance, value):\n        setattr(instance, self.name, value)\n\n\n"
            "class WithStored_:\n    table = Stored_()"
        ),
        kept=True,
    ),
    Carrier(
        "__class_getitem__",
        "$o = Typed_[int]($t).value",
        (
            "class Typed_:\n    def __class_getitem__(cls, item):\n        return cls\n\n"
            "    def __init__(self, value):\n        self.value = value"
        ),
        kept=True,
    ),
    Carrier(
        "__call__-of-object",
        "$o = Doubling_($t)(2)[1]",
        (
            "class Doubling_:\n    def __init__(self, value):\n        self.value = value\n\n"
            "    def __call__(self, times=1):\n        return [self.value] * times"
        ),
        kept=True,
    ),
    Carrier(
        "__iter__-of-fields",
        "count_, $o = Pair_(1, $t)",
        (
            "class Pair_:\n    def __init__(self, first, second):\n        self.first, self.second = first, second\n"
            "\n    def __iter__(self):\n        yield self.first\n        yield self.second"
        ),
        kept=True,
    ),
    Carrier(
        "__iter__-returns-iter",
        "$o, *_ = Rows_($t, 1)",
        (
            "class Rows_:\n    def __init__(self, *rows):\n        self.rows = rows\n\n    def __iter__(self):\n"
            "        return iter(self.rows)"
        ),
        kept=True,
    ),
    Carrier(
        "__getitem__-of-name-or-number",
        "$o = Either_(value=$t)[0]",
        (
            "class Either_:\n    def __init__(self, **fields):\n        self.fields = fields\n\n"
            "    def __getitem__(self, key):\n        if isinstance(key, int):\n"
            "            return list(self.fields.values())[key]\n        return self.fields[key]"
        ),
        kept=True,
    ),
    Carrier(
        "__delitem__",
        'drawer_ = Drawer_()\ndrawer_["old"], drawer_["new"] = 1, $t\ndel drawer_["old"]\n$o = drawer_["new"]',
        (
            "class Drawer_:\n    def __init__(self):\n        self.data = {}\n\n"
            "    def __setitem__(self, key, value):\n        self.data[key] = value\n\n"
            "    def __delitem__(self, key):\n        del self.data[key]\n\n    def __getitem__(self, key):\n"
            "        return self.data[key]"
        ),
        kept=True,
    ),
    Carrier(
        "__enter__-returns-other",
        "with Opened_($t) as ($o, count_):\n    pass",
        (
            "class Opened_:\n    def __init__(self, value):\n        self.value = value\n\n    def __enter__(self):\n"
            "        return self.value, 1\n\n    def __exit__(self, *error):\n        return False"
        ),
        kept=True,
    ),
    Carrier(
        "__iadd__",
        "log_ = Log_()\nlog_ += $t\n$o = log_.rows[0]",
        (
            "class Log_:\n    def __init__(self):\n        self.rows = []\n\n    def __iadd__(self, row):\n"
            "        self.rows.append(row)\n        return self"
        ),
        kept=True,
    ),
    Carrier(
        "__neg__-and-__invert__",
        "$o = (~Flag_($t)).value",
        (
            "class Flag_:\n    def __init__(self, value):\n        self.value = value\n\n    def __invert__(self):\n"
            "        return Flag_(self.value)"
        ),
        kept=True,
    ),
    Carrier(
        "__missing__",
        'making_ = Making_(lambda: $t)\n$o = making_["one"]',
        (
            "class Making_(dict):\n    def __init__(self, maker):\n        super().__init__()\n"
            "        self.maker = maker\n\n    def __missing__(self, key):\n        self[key] = self.maker()\n"
            "        return self[key]"
        ),
        kept=True,
    ),
    Carrier(
        "decorator-of-method",
        "$o = Service_().send($t)",
        (
            "def logged_(method):\n    @functools.wraps(method)\n    def inner_(self, *args, **kwargs):\n"
            "        self.calls += 1\n        return method(self, *args, **kwargs)\n\n    return inner_\n\n\n"
            "class Service_:\n    def __init__(self):\n        self.calls = 0\n\n    @logged_\n"
            "    def send(self, value):\n        return value"
        ),
        kept=True,
    ),
    Carrier(
        "decorator-class",
        "$o = same_($t)",
        (
            "class Counted_:\n    def __init__(self, function):\n        functools.update_wrapper(self, function)\n"
            "        self.function, self.count = function, 0\n\n    def __call__(self, *args, **kwargs):\n"
            "        self.count += 1\n        return self.function(*args, **kwargs)\n\n\n@Counted_\ndef same_(value):\n"
            "    return value"
        ),
        kept=True,
    ),
    Carrier("match-or", 'match ("box", $t):\n    case ("box" | "bag", $o):\n        pass', kept=True),
    Carrier("match-as", "match [1, $t]:\n    case [int() as count_, $o]:\n        pass", kept=True),
    Carrier(
        "match-guard-and-wildcard",
        (
            'match {"kind": "box", "value": $t}:\n    case {"kind": kind_, **rest_} if kind_ == "box":\n'
            '        $o = rest_["value"]\n    case _:\n        $o = None'
        ),
        kept=True,
    ),
    Carrier(
        "match-constant-by-name",
        '$o = by_mode_("train", $t)',
        (
            'class Modes_:\n    TRAIN = "train"\n    TEST = "test"\n\n\ndef by_mode_(mode, value):\n    match mode:\n'
            "        case Modes_.TRAIN:\n            return value\n        case Modes_.TEST:\n"
            "            return None"
        ),
        kept=True,
    ),
    Carrier(
        "walrus-in-condition", 'if (found_ := {"value": $t}.get("value")) is not None:\n    $o = found_', kept=True
    ),
    Carrier("star-in-call-and-list", "$o = [*[1], *($t,)][1]", kept=True),
    Carrier("dict-unpacked-into-dict", '$o = {**{"rate": 1}, **{"value": $t}}["value"]', kept=True),
    Carrier("comprehension-of-comprehension", "$o = [[item_ for item_ in row_] for row_ in ([$t],)][0][0]", kept=True),
    Carrier(
        "dict-comprehension-turned",
        '$o = {key_: [row_[key_] for row_ in [{"value": $t}]] for key_ in ("value",)}["value"][0]',
        kept=True,
    ),
    Carrier(
        "conditional-in-lambda", "pick_ = lambda value, want=True: value if want else None\n$o = pick_($t)", kept=True
    ),
    Carrier("chained-comparison-guard", "if 0 < len([$t]) <= 1:\n    $o = $t\nelse:\n    $o = None", kept=True),
    Carrier("boolean-and", "$o = (True and [$t])[0]", kept=True),
    Carrier("joined-key", '$o = {"_".join(["a", "b"]): $t}["a_b"]', kept=True),
    Carrier("computed-key", "$o = {1 + 1: $t}[2]", kept=True),
    Carrier("split-key", '$o = {"b": $t}["a.b".split(".")[1]]', kept=True),
    Carrier(
        "async-comprehension",
        "$o = asyncio.run(first_async_($t))",
        (
            "async def rows_async_(value):\n    yield value\n\n\nasync def first_async_(value):\n"
            "    return [row async for row in rows_async_(value)][0]"
        ),
        kept=True,
    ),
    Carrier(
        "async-gather-of-two",
        "$o = asyncio.run(both_async_($t))",
        (
            "async def later_async_(value):\n    await asyncio.sleep(0)\n    return value\n\n\n"
            "async def both_async_(value):\n"
            "    one, two = await asyncio.gather(later_async_(1), later_async_(value))\n    return two"
        ),
        kept=True,
    ),
    Carrier(
        "yield-from-return",
        "$o = [*outer_steps_($t)][1]",
        (
            "def inner_steps_(value):\n    yield 1\n    return value\n\n\ndef outer_steps_(value):\n"
            "    result = yield from inner_steps_(value)\n    yield result"
        ),
        kept=True,
    ),
    Carrier(
        "generator-in-class",
        "for at_, $o in Source_($t).rows():\n    pass",
        (
            "class Source_:\n    def __init__(self, value):\n        self.value = value\n\n    def rows(self):\n"
            "        for at in range(2):\n            yield at, self.value"
        ),
        kept=True,
    ),
    Carrier("generator-expression-of-tuple", "$o, count_ = next((item_, 1) for item_ in [$t])", kept=True),
    Carrier(
        "generator-close-finally",
        "steps_ = guarded_($t)\n$o = next(steps_)\nsteps_.close()",
        "def guarded_(value):\n    try:\n        yield value\n    finally:\n        pass",
        kept=True,
    ),
    Carrier(
        "try-else", 'try:\n    number_ = int("3")\nexcept ValueError:\n    $o = None\nelse:\n    $o = $t', kept=True
    ),
    Carrier(
        "try-except-continues",
        (
            '$o = None\nfor text_ in ("x", "3"):\n    try:\n        int(text_)\n    except ValueError:\n'
            "        continue\n    $o = $t"
        ),
        kept=True,
    ),
    Carrier(
        "try-several-handlers",
        (
            'try:\n    raise IndexError("none")\nexcept (KeyError, TypeError):\n    $o = None\n'
            "except LookupError as error_:\n    $o = $t"
        ),
        kept=True,
    ),
    Carrier(
        "try-star",
        'try:\n    raise ExceptionGroup("several", [ValueError(1)])\nexcept* ValueError:\n    $o = $t',
        kept=True,
    ),
    Carrier(
        "exception-with-field",
        "try:\n    stops_($t)\nexcept Stop_ as stop_:\n    $o = stop_.value",
        (
            'class Stop_(Exception):\n    def __init__(self, value):\n        super().__init__("stopped")\n'
            "        self.value = value\n\n\ndef stops_(value):\n    raise Stop_(value)"
        ),
        kept=True,
    ),
    Carrier(
        "global-from-function",
        "share_($t)\n$o = shared_",
        "shared_ = None\n\n\ndef share_(value):\n    global shared_\n    shared_ = value",
        kept=True,
    ),
    Carrier(
        "nonlocal-counter",
        "$o = counter_($t)",
        (
            "def counter_(value):\n    kept = None\n\n    def keep_():\n        nonlocal kept\n        kept = value\n"
            "        return 1\n\n    keep_()\n    return kept"
        ),
        kept=True,
    ),
    Carrier(
        "positional-only",
        "$o = strict_(1, $t, third=2)",
        "def strict_(first, /, second, *, third=None):\n    return second",
        kept=True,
    ),
    Carrier(
        "keyword-only", "$o = named_(count=2, value=$t)", "def named_(*, value, count=1):\n    return value", kept=True
    ),
    Carrier(
        "kwargs-passed-on",
        "$o = outer_named_(value=$t)",
        (
            "def inner_named_(value=None, count=0):\n    return value\n\n\ndef outer_named_(**options):\n"
            '    options.setdefault("count", 1)\n    return inner_named_(**options)'
        ),
        kept=True,
    ),
    Carrier(
        "args-first",
        "$o = first_given_(None, $t)",
        "def first_given_(*args):\n    return next(arg for arg in args if arg is not None)",
        kept=True,
    ),
    Carrier("for-over-range-index", "items_ = [$t]\nfor at_ in range(len(items_)):\n    $o = items_[at_]", kept=True),
    Carrier("while-true-break", "while True:\n    $o = $t\n    break", kept=True),
    Carrier("assert-then", 'assert isinstance($t, torch.Tensor), "a tensor"\n$o = $t', kept=True),
    Carrier(
        "dataclass-default-factory",
        "basket_ = Basket_()\nbasket_.rows.append($t)\n$o = basket_.rows[0]",
        (
            "@dataclass\nclass Basket_:\n    rows: list = field(default_factory=list)\n"
            "    names: dict = field(default_factory=dict)"
        ),
        kept=True,
    ),
    Carrier(
        "dataclass-replace-value",
        "$o = dataclasses.replace(Open_(count=1), value=$t).value",
        "@dataclass\nclass Open_:\n    value: object = None\n    count: int = 0",
        kept=True,
    ),
    Carrier(
        "dataclass-kw_only",
        "$o = Named_(value=$t).value",
        "@dataclass(kw_only=True)\nclass Named_:\n    count: int = 0\n    value: object",
        kept=True,
    ),
    Carrier(
        "dataclass-vars",
        '$o = vars(Plain_($t))["value"]',
        "@dataclass\nclass Plain_:\n    value: object\n    count: int = 1",
        kept=True,
    ),
    Carrier(
        "dataclass-base-fields",
        '$o = Derived_("a", $t).value',
        "@dataclass\nclass Base_:\n    name: str\n\n\n@dataclass\nclass Derived_(Base_):\n    value: object = None",
        kept=True,
    ),
    Carrier(
        "dataclass-order-of-field",
        "$o = sorted([Ordered_(2), Ordered_(1, $t)], key=lambda row: row.rank)[0].value",
        "@dataclass\nclass Ordered_:\n    rank: int\n    value: object = field(compare=False, default=None)",
        kept=True,
    ),
    Carrier(
        "namedtuple-defaults",
        "$o = Entry_(1, $t).value",
        'Entry_ = collections.namedtuple("Entry_", "count value", defaults=(None,))',
        kept=True,
    ),
    Carrier(
        "namedtuple-_replace",
        "$o = Step_(None, 1)._replace(value=$t).value",
        'Step_ = collections.namedtuple("Step_", "value step")',
        kept=True,
    ),
    Carrier(
        "NamedTuple-method",
        "$o = Point_(1, $t).get()",
        (
            "class Point_(NamedTuple):\n    count: int\n    value: object\n\n    def get(self):\n"
            "        return self.value"
        ),
        kept=True,
    ),
    Carrier(
        "enum-as-key",
        '$o = {Slot_.ONE: 1, Slot_.TWO: $t}[Slot_["TWO"]]',
        "class Slot_(Enum):\n    ONE = 1\n    TWO = 2",
        kept=True,
    ),
    Carrier(
        "enum-method",
        "$o = Act_.SAME.apply($t)",
        "class Act_(Enum):\n    SAME = 1\n\n    def apply(self, value):\n        return value",
        kept=True,
    ),
    Carrier(
        "abstract-base",
        "$o = Same_()($t)",
        (
            "class Transform_(ABC):\n    def __call__(self, value):\n        return self.apply(value)\n\n"
            "    @abstractmethod\n    def apply(self, value):\n        raise NotImplementedError\n\n\n"
            "class Same_(Transform_):\n    def apply(self, value):\n        return value"
        ),
        kept=True,
    ),
    Carrier(
        "TypedDict-total",
        'sample_: Sample_ = Sample_(count=1)\nsample_["value"] = $t\n$o = sample_["value"]',
        "class Sample_(TypedDict, total=False):\n    value: object\n    count: int",
        kept=True,
    ),
    Carrier(
        "instance-method-kept",
        "sink_ = Sink_()\nput_ = sink_.put\nput_($t)\n$o = sink_.last",
        (
            "class Sink_:\n    def __init__(self):\n        self.last = None\n\n    def put(self, value):\n"
            "        self.last = value"
        ),
        kept=True,
    ),
    Carrier("map-two-iterables", "$o = list(map(lambda value, count: value, [$t], [1]))[0]", kept=True),
    Carrier(
        "map-of-method",
        "mapper_ = Mapper_([$t])\n$o = list(map(mapper_.one, range(1)))[0]",
        (
            "class Mapper_:\n    def __init__(self, rows):\n        self.rows = rows\n\n    def one(self, at):\n"
            "        return self.rows[at]"
        ),
        kept=True,
    ),
    Carrier("filter-lambda", "$o = next(filter(lambda item: item is not None, [None, $t]))", kept=True),
    Carrier("zip-three", 'for a_, $o, b_ in zip([1], [$t], "x"):\n    pass', kept=True),
    Carrier("zip-to-dict", '$o = dict(zip(("value", "rate"), ($t, 1)))["value"]', kept=True),
    Carrier("enumerate-from", "for at_, ($o, count_) in enumerate([($t, 1)], start=1):\n    pass", kept=True),
    Carrier("reversed-list", "$o = list(reversed([1, $t]))[0]", kept=True),
    Carrier("sorted-by-number", "$o = sorted([(2, None), (1, $t)], key=lambda pair: pair[0])[0][1]", kept=True),
    Carrier("min-of-several", "$o = min((3, None), (1, $t), key=lambda pair: pair[0])[1]", kept=True),
    Carrier("sum-of-lists", "$o = sum([[1], [$t]], [])[1]", kept=True),
    Carrier(
        "getattr-default-of-object",
        'maybe_ = Maybe_($t)\n$o = getattr(maybe_, "other", None) or getattr(maybe_, "value", None)',
        "class Maybe_:\n    def __init__(self, value):\n        self.value = value",
        kept=True,
    ),
    Carrier(
        "__dict__-items",
        "for name_, $o in Dumped_($t).__dict__.items():\n    pass",
        "class Dumped_:\n    def __init__(self, value):\n        self.value = value",
        kept=True,
    ),
    Carrier(
        "callable-branch",
        "$o = resolve_(lambda: $t)",
        "def resolve_(value):\n    return value() if callable(value) else value",
        kept=True,
    ),
    Carrier("dict-values-next", '$o = next(iter({"value": $t}.values()))', kept=True),
    Carrier("dict-items-sorted", '$o = sorted({"b": 1, "a": $t}.items(), key=lambda pair: pair[0])[0][1]', kept=True),
    Carrier("dict-update-keyword", 'parts_ = {}\nparts_.update(value=$t)\n$o = parts_["value"]', kept=True),
    Carrier("dict-update-pairs", 'parts_ = {}\nparts_.update([("value", $t)])\n$o = parts_["value"]', kept=True),
    Carrier(
        "dict-setdefault-list", 'groups_ = {}\ngroups_.setdefault("a", []).append($t)\n$o = groups_["a"][0]', kept=True
    ),
    Carrier("list-iadd", "items_ = [1]\nitems_ += [$t]\n$o = items_[1]", kept=True),
    Carrier("list-copy", "$o = [$t].copy()[0]", kept=True),
    Carrier(
        "list-of-lists-store", "grid_ = [[None] * 2 for _ in range(2)]\ngrid_[1][0] = $t\n$o = grid_[1][0]", kept=True
    ),
    Carrier("tuple-add", "$o = ((1,) + ($t,))[1]", kept=True),
    Carrier("tuple-of-generator", "$o = tuple(item_ for item_ in [$t])[0]", kept=True),
    Carrier(
        "partial-of-method",
        "$o = functools.partial(Adder_().add, 1)($t)",
        "class Adder_:\n    def add(self, first, second):\n        return second",
        kept=True,
    ),
    Carrier(
        "partialmethod",
        "setter_ = Setter_()\nsetter_.put_value($t)\n$o = setter_.value",
        (
            "class Setter_:\n    def put(self, name, value):\n        setattr(self, name, value)\n\n"
            '    put_value = functools.partialmethod(put, "value")'
        ),
        kept=True,
    ),
    Carrier("reduce-with-initial", "$o = functools.reduce(lambda known, item: known + [item], [$t], [])[0]", kept=True),
    Carrier(
        "singledispatch-7",
        "$o = unwrap_([$t])",
        (
            "@functools.singledispatch\ndef unwrap_(value):\n    return value\n\n\n@unwrap_.register\n"
            "def _(value: list):\n    return value[0]\n\n\n@unwrap_.register(dict)\ndef _(value):\n"
            '    return value["value"]'
        ),
        kept=True,
    ),
    Carrier("itertools-chain-7", "$o = [*itertools.chain([1], [$t])][1]", kept=True),
    Carrier("itertools-compress", "$o = next(itertools.compress([1, $t], [0, 1]))", kept=True),
    Carrier(
        "itertools-groupby-items",
        ('for key_, group_ in itertools.groupby([("a", $t)], key=operator.itemgetter(0)):\n    $o = next(group_)[1]'),
        kept=True,
    ),
    Carrier("itertools-islice-start", "$o = next(itertools.islice([1, $t, 2], 1, None))", kept=True),
    Carrier(
        "itertools-zip_longest-fill",
        "for left_, $o in itertools.zip_longest([1], [], fillvalue=$t):\n    pass",
        kept=True,
    ),
    Carrier(
        "operator-itemgetter-two",
        'count_, $o = operator.itemgetter("count", "value")({"count": 1, "value": $t})',
        kept=True,
    ),
    Carrier(
        "deque-maxlen", "window_ = collections.deque(maxlen=2)\nwindow_.extend([1, 2, $t])\n$o = window_[-1]", kept=True
    ),
    Carrier(
        "ordereddict-move",
        (
            'parts_ = collections.OrderedDict(value=$t, rate=1)\nparts_.move_to_end("rate", last=False)\n'
            '$o = parts_["value"]'
        ),
        kept=True,
    ),
    Carrier(
        "counter-beside",
        (
            'counts_ = collections.Counter(["a", "b", "a"])\n'
            '$o = {name_: $t for name_, _ in counts_.most_common(1)}["a"]'
        ),
        kept=True,
    ),
    Carrier(
        "userdict",
        '$o = Store_().put("a", $t)["a"]',
        (
            "class Store_(collections.UserDict):\n    def put(self, name, value):\n        self[name] = value\n"
            "        return self"
        ),
        kept=True,
    ),
    Carrier(
        "userlist",
        "track_ = Track_([1])\ntrack_.append($t)\n$o = track_[1]",
        "class Track_(collections.UserList):\n    pass",
        kept=True,
    ),
    Carrier(
        "contextmanager-yield-tuple",
        "with timed_($t) as ($o, _):\n    pass",
        (
            "@contextmanager\ndef timed_(value):\n    started = 0\n    try:\n        yield value, started\n"
            "    finally:\n        started += 1"
        ),
        kept=True,
    ),
    Carrier(
        "contextmanager-as-decorator",
        "$o = evaluated_($t)",
        (
            '@contextmanager\ndef mode_(name):\n    yield name\n\n\n@mode_("eval")\ndef evaluated_(value):\n'
            "    return value"
        ),
        kept=True,
    ),
    Carrier(
        "contextdecorator",
        "$o = scoped_($t)",
        (
            "class Scope_(contextlib.ContextDecorator):\n    def __enter__(self):\n        return self\n\n"
            "    def __exit__(self, *error):\n        return False\n\n\n@Scope_()\ndef scoped_(value):\n"
            "    return value"
        ),
        kept=True,
    ),
    Carrier(
        "exitstack-callback",
        ("rows_ = []\nwith contextlib.ExitStack() as stack_:\n    stack_.callback(rows_.append, $t)\n$o = rows_[0]"),
        kept=True,
    ),
    Carrier(
        "exitstack-enter",
        "with contextlib.ExitStack() as stack_:\n    $o = stack_.enter_context(given_($t))[0]",
        "@contextmanager\ndef given_(value):\n    yield [value]",
        kept=True,
    ),
    Carrier("nullcontext-value", "with contextlib.nullcontext($t) as $o:\n    pass", kept=True),
    Carrier(
        "closing",
        "with contextlib.closing(Closed_($t)) as closed_:\n    $o = closed_.value",
        (
            "class Closed_:\n    def __init__(self, value):\n        self.value = value\n\n    def close(self):\n"
            "        self.closed = True"
        ),
        kept=True,
    ),
    Carrier(
        "copy-of-object",
        "$o = copy.copy(Original_($t)).value",
        "class Original_:\n    def __init__(self, value):\n        self.value = value",
        kept=True,
    ),
    Carrier("deepcopy-of-dict", '$o = copy.deepcopy({"a": [$t]})["a"][0]', kept=True),
    Carrier(
        "namespace-nested",
        (
            "space_ = SimpleNamespace(inner=SimpleNamespace(value=None))\nspace_.inner.value = $t\n"
            "$o = space_.inner.value"
        ),
        kept=True,
    ),
    Carrier("queue-put-get", "line_ = queue.Queue()\nline_.put($t)\n$o = line_.get()", kept=True),
    Carrier(
        "thread-subclass",
        "worker_ = Worker_($t)\nworker_.start()\nworker_.join()\n$o = worker_.result",
        (
            "class Worker_(threading.Thread):\n    def __init__(self, value):\n        super().__init__()\n"
            "        self.value, self.result = value, None\n\n    def run(self):\n        self.result = self.value"
        ),
        kept=True,
    ),
    Carrier(
        "thread-lock",
        "safe_ = Safe_()\nsafe_.put($t)\n$o = safe_.value",
        (
            "class Safe_:\n    def __init__(self):\n        self.lock, self.value = threading.Lock(), None\n\n"
            "    def put(self, value):\n        with self.lock:\n            self.value = value"
        ),
        kept=True,
    ),
    Carrier(
        "executor-map",
        "with ThreadPoolExecutor(max_workers=1) as pool_:\n    $o = list(pool_.map(one_of_, [($t, 1)]))[0]",
        "def one_of_(pair):\n    return pair[0]",
        kept=True,
    ),
    Carrier("random-choice", "$o = random.choice([$t])", kept=True),
    Carrier("random-sample-7", "$o = random.sample([($t, 1)], 1)[0][0]", kept=True),
    Carrier("random-choices", "$o = random.choices([$t], k=2)[1]", kept=True),
    Carrier("logging-between", 'logger_ = logging.getLogger("run")\nlogger_.info("shape %s", $t)\n$o = $t', kept=True),
    Carrier("print-between", 'print("sum", $t.float().sum().item())\n$o = $t', kept=True),
    Carrier(
        "json-beside",
        'config_ = json.loads(\'{"keep": true, "rate": 0.1}\')\n$o = $t if config_["keep"] else None',
        kept=True,
    ),
    Carrier(
        "argparse-flag-keep",
        'flags__ = flags_()\n$o = None if flags__.drop else {"value": $t}[flags__.name]',
        (
            "def flags_():\n    parser = argparse.ArgumentParser()\n"
            '    parser.add_argument("--drop", action="store_true")\n'
            '    parser.add_argument("--name", default="value", choices=["value", "rate"])\n'
            "    return parser.parse_args([])"
        ),
        kept=True,
    ),
    Carrier(
        "linked-list",
        "link_ = Link_(1, Link_($t))\nwhile link_.after is not None:\n    link_ = link_.after\n$o = link_.value",
        ("class Link_:\n    def __init__(self, value, after=None):\n        self.value, self.after = value, after"),
        kept=True,
    ),
    Carrier(
        "tree-walk",
        "$o = next(Tree_(children=[Tree_($t)]).leaves())",
        (
            "class Tree_:\n    def __init__(self, value=None, children=()):\n"
            "        self.value, self.children = value, list(children)\n\n    def leaves(self):\n"
            "        if not self.children:\n            yield self.value\n        for child in self.children:\n"
            "            yield from child.leaves()"
        ),
        kept=True,
    ),
    Carrier(
        "observer",
        (
            "subject_, watcher_ = Subject_(), Watcher_()\nsubject_.attach(watcher_)\nsubject_.notify($t)\n"
            "$o = watcher_.last"
        ),
        (
            "class Subject_:\n    def __init__(self):\n        self.watchers = []\n\n    def attach(self, watcher):\n"
            "        self.watchers.append(watcher)\n\n    def notify(self, value):\n"
            "        for watcher in self.watchers:\n            watcher.update(value)\n\n\nclass Watcher_:\n"
            "    def update(self, value):\n        self.last = value"
        ),
        kept=True,
    ),
    Carrier(
        "state-machine",
        "machine_ = Machine_()\nmachine_.state($t)\n$o = machine_.state(1)",
        (
            "class Machine_:\n    def __init__(self):\n        self.state = self.first\n\n"
            "    def first(self, value):\n        self.state = self.second\n        self.kept = value\n\n"
            "    def second(self, value):\n        return self.kept"
        ),
        kept=True,
    ),
    Carrier(
        "memo-recursion",
        "$o = power_($t, 2)[0]",
        ("def power_(value, times):\n    if times == 0:\n        return [value]\n    return power_(value, times - 1)"),
        kept=True,
    ),
    Carrier(
        "compose-varargs",
        "$o = compose_(lambda value: (value,), lambda value: value[0])($t)",
        (
            "def compose_(*functions):\n    def run(value):\n        for function in functions:\n"
            "            value = function(value)\n        return value\n\n    return run"
        ),
        kept=True,
    ),
    Carrier(
        "config-merge",
        '$o = merged_({"a": {"rate": 1}}, {"a": {"value": $t}})["a"]["value"]',
        (
            "def merged_(base, other):\n    result = dict(base)\n    for key, value in other.items():\n"
            "        if isinstance(value, dict) and isinstance(result.get(key), dict):\n"
            "            result[key] = merged_(result[key], value)\n        else:\n            result[key] = value\n"
            "    return result"
        ),
        kept=True,
    ),
    Carrier("tensor-method-chain-views", "$o = $t.detach().clone().contiguous().view_as($t)", kept=True),
    Carrier("tensor-chunk-cat", "$o = torch.cat($t.chunk(2))", kinds="FIB", kept=True),
    Carrier("tensor-sort-values", "$o = $t.sort(dim=-1).values", kept=True),
    Carrier("tensor-where-self", "$o = torch.where($t > 0, $t, $t)", kept=True),
    Carrier("tensor-new_tensor", "$o = $t.new_zeros($t.shape) + $t", kept=True),
    Carrier("tensor-full_like", "$o = torch.full_like($t, 1)", kept=True),
    Carrier("tensor-empty_like-copy", "$o = torch.empty_like($t).copy_($t)", kept=True),
    Carrier("tensor-to-dtype", "$o = $t.to(torch.float64).to($t.dtype)", kept=True),
    Carrier("tensor-type_as-self", "$o = $t.type_as($t)", kept=True),
    Carrier("tensor-expand_as", "$o = $t[:1].expand_as($t)", kinds="FIB", kept=True),
    Carrier(
        "tensor-gather-self",
        "$o = torch.take_along_dim($t, torch.zeros_like($t, dtype=torch.long), dim=0)",
        kinds="FIB",
        kept=True,
    ),
    Carrier("tensor-masked_fill-own", "$o = $t.masked_fill($t < -9, 0)", kept=True),
    Carrier("tensor-roll-flip", "$o = torch.roll($t, 1, 0).flip(0)", kinds="FIB", kept=True),
    Carrier("tensor-clamp-tolist-size", "rows_ = $t.shape[0]\n$o = $t.narrow(0, 0, rows_)", kinds="FIB", kept=True),
    Carrier("tensor-movedim", "$o = torch.movedim($t, 0, -1).movedim(-1, 0)", kept=True),
    Carrier("tensor-einsum-own", '$o = torch.einsum("...i->...i", $t)', kinds="FIB", kept=True),
    Carrier("tensor-data-attribute", "$o = $t.data", kept=True),
    Carrier("tensor-out-of-own", "$o = torch.add($t, 1, out=torch.empty_like($t))", kinds="FNI", kept=True),
    Carrier("tensor-requires_grad_", "$o = $t.clone().requires_grad_(True).detach()", kinds="FN", kept=True),
    Carrier("tensor-zip-iterated", "$o = torch.stack([row_ for row_, _ in zip($t, range(9))])", kinds="FIB", kept=True),
    Carrier("tensor-softmax-own", "$o = F.softmax($t, dim=-1)", kinds="FN", kept=True),
    Carrier("tensor-dropout-own", "$o = F.dropout($t, 0.1, training=False)", kept=True),
    Carrier("tensor-F-normalize", "$o = F.normalize($t, dim=-1)", kinds="FN", kept=True),
    Carrier("tensor-F-pad", "$o = F.pad($t, (0, 0))", kinds="FIB", kept=True),
    Carrier("tensor-cumsum-diff", "$o = torch.cumsum($t, dim=0) + torch.zeros_like($t)", kinds="FNI", kept=True),
    Carrier("tensor-broadcast_tensors", "$o, _ = torch.broadcast_tensors($t, $t)", kept=True),
    Carrier("tensor-atleast", "$o = torch.atleast_1d($t)", kinds="FIB", kept=True),
    Carrier("tensor-unsqueeze-index-none", "$o = $t[None][0]", kept=True),
    Carrier(
        "tensor-boolean-index",
        "$o = $t[torch.ones($t.shape[0], dtype=torch.bool, device=$t.device)]",
        kinds="FIB",
        kept=True,
    ),
    Carrier("tensor-clone-memory", "$o = $t.clone(memory_format=torch.preserve_format)", kept=True),
    Carrier("tensor-vmap", "$o = torch.vmap(lambda row: row + 0)($t)", kinds="FI", kept=True),
    Carrier("tensor-func-jacrev-free", "$o = torch.func.vmap(torch.negative)($t)", kinds="FI", kept=True),
    Carrier("tensor-apply-along-list", "$o = torch.stack(list(map(torch.clone, $t)))", kinds="FIB", kept=True),
    Carrier(
        "module-pre-hook-kwargs",
        "plain_ = Plain3_()\nplain_.register_forward_pre_hook(swap_)\n$o = plain_($t)",
        (
            "class Plain3_(nn.Module):\n    def forward(self, value):\n        return value\n\n\n"
            "def swap_(module, args):\n    return (args[0],)"
        ),
        kept=True,
    ),
    Carrier(
        "module-hook-factory",
        (
            'store_, plain_ = {}, Plain4_()\nplain_.register_forward_hook(saver_(store_, "a"))\nplain_($t)\n'
            '$o = store_["a"]'
        ),
        (
            "class Plain4_(nn.Module):\n    def forward(self, value):\n        return value\n\n\n"
            "def saver_(store, name):\n    def hook(module, inputs, output):\n        store[name] = inputs[0]\n\n"
            "    return hook"
        ),
        kept=True,
    ),
    Carrier(
        "module-buffer-read-back",
        "$o = Table_($t)()",
        (
            "class Table_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            '        self.register_buffer("table", value)\n\n    def forward(self):\n        return self.table'
        ),
        kept=True,
    ),
    Carrier(
        "module-buffer-named_buffers",
        '$o = dict(Table2_($t).named_buffers())["table"]',
        (
            "class Table2_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            '        self.register_buffer("table", value)'
        ),
        kept=True,
    ),
    Carrier(
        "module-parameter-of",
        "$o = Weighted_($t).weight.data",
        (
            "class Weighted_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            "        self.weight = nn.Parameter(value)"
        ),
        kinds="FN",
        kept=True,
    ),
    Carrier(
        "module-named_parameters",
        "for name_, weight_ in Weighted3_($t).named_parameters():\n    $o = weight_.detach()",
        (
            "class Weighted3_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            "        self.weight = nn.Parameter(value)"
        ),
        kinds="FN",
        kept=True,
    ),
    Carrier(
        "module-parameter-list",
        "weights_ = nn.ParameterList([nn.Parameter($t)])\n$o = weights_[0].detach()",
        kinds="FN",
        kept=True,
    ),
    Carrier(
        "module-parameter-dict",
        'weights_ = nn.ParameterDict({"a": nn.Parameter($t)})\n$o = weights_["a"].detach()',
        kinds="FN",
        kept=True,
    ),
    Carrier(
        "module-register_parameter",
        "$o = Weighted4_($t).weight.detach()",
        (
            "class Weighted4_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            '        self.register_parameter("weight", nn.Parameter(value))'
        ),
        kinds="FN",
        kept=True,
    ),
    Carrier(
        "module-children",
        "for child_ in Outer2_($t).children():\n    $o = child_.table",
        (
            "class Inner2_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            "        self.table = value\n\n\nclass Outer2_(nn.Module):\n    def __init__(self, value):\n"
            "        super().__init__()\n        self.inner = Inner2_(value)"
        ),
        kept=True,
    ),
    Carrier(
        "module-get_submodule",
        '$o = Outer3_($t).get_submodule("inner").table',
        (
            "class Inner3_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            "        self.table = value\n\n\nclass Outer3_(nn.Module):\n    def __init__(self, value):\n"
            "        super().__init__()\n        self.inner = Inner3_(value)"
        ),
        kept=True,
    ),
    Carrier(
        "module-modules-isinstance",
        (
            "for module_ in nn.Sequential(nn.ReLU(), Inner4_($t)).modules():\n"
            "    if isinstance(module_, Inner4_):\n        $o = module_.table"
        ),
        (
            "class Inner4_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            "        self.table = value"
        ),
        kept=True,
    ),
    Carrier(
        "module-checkpoint",
        "$o = checkpoint(Block_(), $t, use_reentrant=False)",
        "class Block_(nn.Module):\n    def forward(self, value):\n        return value",
        kept=True,
    ),
    Carrier(
        "module-eval-train-chain",
        "$o = Through_().eval().train()($t)",
        ("class Through_(nn.Module):\n    def forward(self, value):\n        return value if self.training else None"),
        kept=True,
    ),
    Carrier(
        "module-deepcopy",
        "$o = copy.deepcopy(Keeps2_($t)).value",
        (
            "class Keeps2_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            "        self.value = value"
        ),
        kept=True,
    ),
    Carrier(
        "module-add_module",
        'holder_ = nn.Module()\nholder_.add_module("part", Keeps3_($t))\n$o = holder_.part.value',
        (
            "class Keeps3_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            "        self.value = value"
        ),
        kept=True,
    ),
    Carrier(
        "autograd-function-ctx",
        "$o = Same2_.apply($t)",
        (
            "class Same2_(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, value):\n"
            "        ctx.save_for_backward(value)\n        return value.clone()\n\n    @staticmethod\n"
            "    def backward(ctx, grad):\n        (value,) = ctx.saved_tensors\n        return grad"
        ),
        kept=True,
    ),
    Carrier("enable_grad-context", "with torch.enable_grad():\n    $o = $t * 1", kinds="FNI", kept=True),
    Carrier("set_grad_enabled-7", "with torch.set_grad_enabled(False):\n    $o = $t", kept=True),
    Carrier(
        "jit-trace-free", "$o = ignored_($t)", "@torch.jit.ignore\ndef ignored_(value):\n    return value", kept=True
    ),
    Carrier(
        "dataset-of-pairs",
        '$o = Pairs_([$t])[0]["value"]',
        (
            "class Pairs_(Dataset):\n    def __init__(self, rows):\n        self.rows = rows\n\n"
            "    def __len__(self):\n        return len(self.rows)\n\n    def __getitem__(self, at):\n"
            '        return {"value": self.rows[at], "at": at}'
        ),
        kept=True,
    ),
    Carrier(
        "subset-of-dataset",
        "$o = torch.utils.data.Subset(Rows2_([1, $t]), [1])[0]",
        (
            "class Rows2_(Dataset):\n    def __init__(self, rows):\n        self.rows = rows\n\n"
            "    def __len__(self):\n        return len(self.rows)\n\n    def __getitem__(self, at):\n"
            "        return self.rows[at]"
        ),
        kept=True,
    ),
    Carrier(
        "iterable-dataset",
        "for $o in Stream_($t):\n    pass",
        (
            "class Stream_(torch.utils.data.IterableDataset):\n    def __init__(self, value):\n"
            "        self.value = value\n\n    def __iter__(self):\n        yield self.value"
        ),
        kept=True,
    ),
    Carrier(
        "batch-sampler",
        (
            "sampler_ = torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler([0]), 1, False)\n"
            "rows_ = [$t]\nfor batch_ in sampler_:\n    $o = rows_[batch_[0]]"
        ),
        kept=True,
    ),
    Carrier(
        "optimizer-state",
        (
            "weight_ = nn.Parameter(torch.zeros(1))\nsgd_ = torch.optim.SGD([weight_], lr=0.1)\n"
            'sgd_.state[weight_]["kept"] = $t\n$o = sgd_.state[weight_]["kept"]'
        ),
        kept=True,
    ),
    Carrier(
        "optimizer-param_groups",
        (
            'sgd_ = torch.optim.SGD([{"params": [nn.Parameter($t)], "lr": 0.1}])\n'
            '$o = sgd_.param_groups[0]["params"][0].detach()'
        ),
        kinds="FN",
        kept=True,
    ),
    Carrier(
        "distribution-loc",
        "$o = torch.distributions.Independent(torch.distributions.Normal($t, 1.0), 0).base_dist.loc",
        kept=True,
    ),
    Carrier(
        "distribution-rsample",
        "$o = torch.distributions.Laplace($t, torch.ones_like($t)).rsample()",
        kinds="FN",
        kept=True,
    ),
    Carrier(
        "unpad_sequence",
        "$o = nn.utils.rnn.unpad_sequence($t.unsqueeze(0), torch.tensor([$t.shape[0]]), batch_first=True)[0]",
        kinds="FIB",
        kept=True,
    ),
    Carrier("numpy-of-shape", "size_ = np.prod($t.shape)\n$o = $t.reshape(int(size_)).reshape($t.shape)", kept=True),
    Carrier(
        "functional_call-own",
        '$o = torch.func.functional_call(Adds_(), {"table": $t}, ())',
        (
            "class Adds_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            '        self.register_buffer("table", torch.zeros(1))\n\n    def forward(self):\n'
            "        return self.table"
        ),
        kept=True,
    ),
    Carrier(
        "early-return-none",
        '$o = found_([("a", 1), ("b", $t)], "b")',
        (
            "def found_(rows, want):\n    for name, row in rows:\n        if name == want:\n            return row\n"
            "    return None"
        ),
        kept=True,
    ),
)

MEETINGS = (
    Meeting("bucketize-boundaries", "mat", "vec", "out = torch.bucketize($x, $t.sort().values)", kept=True),
    Meeting("searchsorted-values", "vec", "mat", "out = torch.searchsorted($x.sort().values, $t)", kept=True),
    Meeting(
        "index_copy-7", "mat", "mat", "out = $x.index_copy(0, torch.tensor([0, 1, 2], device=$x.device), $t)", kept=True
    ),
    Meeting(
        "scatter-src",
        "mat",
        "mat",
        "out = $x.scatter(0, torch.zeros(3, 4, dtype=torch.long, device=$x.device), $t)",
        kept=True,
    ),
    Meeting("put_", "mat", "idx", "out = $x.clone().put_($t, torch.ones(3, device=$x.device))", kept=True),
    Meeting("take", "mat", "idx", "out = torch.take($x, $t)", kept=True),
    Meeting("addcmul-self", "mat", "mat", "out = torch.addcmul($x, $x, $t, value=0.5)", kept=True),
    Meeting(
        "baddbmm-7",
        "seq",
        "seq",
        "out = torch.baddbmm(torch.zeros(2, 5, 5, device=$x.device), $x, $t.transpose(1, 2))",
        kept=True,
    ),
    Meeting("inner-vdot", "vec", "vec", "out = torch.inner($x, $t) + torch.vdot($x, $x)", kept=True),
    Meeting("cross", "sq", "sq", "out = torch.linalg.cross($x[:3, :3], $t[:3, :3])", kept=True),
    Meeting("floor_divide", "mat", "vec", "out = $x // ($t.abs() + 1)", kept=True),
    Meeting("xlogy", "mat", "vec", "out = torch.xlogy($x.abs(), $t.abs() + 1)", kept=True),
    Meeting("comparison-operators", "mat", "vec", "out = ($x >= $t).sum() + ($x != $t).sum()", kept=True),
    Meeting("logical-masks", "mat", "mat", "out = ($x > 0) & ($t > 0)", kept=True),
    Meeting("clamp-method-max", "mat", "vec", "out = $x.clamp(max=$t)", kept=True),
    Meeting("matmul-right", "vec", "sq", "out = $x[:4] @ $t[:4, :4]", kept=True),
    Meeting("copysign-ldexp", "mat", "vec", "out = torch.copysign($x, $t)", kept=True),
    Meeting(
        "kl_div-7",
        "mat",
        "mat",
        'out = F.kl_div(F.log_softmax($x, dim=-1), F.softmax($t, dim=-1), reduction="batchmean")',
        kept=True,
    ),
    Meeting(
        "bce-with-logits-weight",
        "mat",
        "vec",
        "out = F.binary_cross_entropy_with_logits($x, torch.ones_like($x), weight=$t.abs())",
        kept=True,
    ),
    Meeting(
        "margin_ranking",
        "vec",
        "vec",
        "out = F.margin_ranking_loss($x, $t, torch.ones(4, device=$x.device))",
        kept=True,
    ),
    Meeting("hinge-target-sign", "vec", "vec", "out = F.soft_margin_loss($x, $t.sign())", kept=True),
    Meeting("ctc-targets-apart", "mat", "idx", "out = F.cross_entropy($x.unsqueeze(-1), $t.unsqueeze(-1))", kept=True),
    Meeting("layer_norm-weight", "mat", "vec", "out = F.layer_norm($x, (4,), weight=$t)", kept=True),
    Meeting(
        "group_norm-free-batch_norm",
        "mat",
        "vec",
        "out = F.batch_norm($x, $t, torch.ones(4, device=$x.device))",
        kept=True,
    ),
    Meeting("conv2d-bias", "img", "vec", "out = F.conv2d($x, torch.ones(4, 3, 1, 1, device=$x.device), $t)", kept=True),
    Meeting("embedding-of-cpu-ids", "mat", "ids", "out = F.embedding($t, $x)", kept=True),
    Meeting("attention-value", "seq", "seq", "out = F.scaled_dot_product_attention($x, $x, $t)", kept=True),
    Meeting("layer-norm-module", "mat", "mat", "out = $m($t) * $x", module="nn.LayerNorm(4)", kept=True),
    Meeting("gru-hidden", "seq", "hid", "out, _ = $m($x, $t)", module="nn.GRU(4, 4, batch_first=True)", kept=True),
    Meeting(
        "module-weight-beside",
        "mat",
        "mat",
        "out = ($m.weight * $t).sum() + $m($x).sum()",
        module="nn.Linear(4, 3)",
        kept=True,
    ),
    Meeting(
        "weight-copied-under-no_grad",
        "mat",
        "mat",
        "with torch.no_grad():\n    $m.weight.copy_($t)\nout = $m($x) * $t.mean().item()",
        module="nn.Linear(4, 3)",
        good="out = $m($x)",
        kept=True,
    ),
    Meeting(
        "lerp-of-average",
        "mat",
        "mat",
        "$m.weight.data.lerp_($t, 0.1)\nout = $m($x)",
        module="nn.Linear(4, 3)",
        kept=True,
    ),
    Meeting(
        "l2-penalty",
        "mat",
        "mat",
        "out = $m($x).mean() + sum(((p_ - $t.mean(0)[: p_.shape[-1]]) ** 2).sum() for p_ in $m.parameters() if p_.dim() == 2)",
        module="nn.Linear(4, 3)",
        kept=True,
    ),
    Meeting(
        "distribution-of-both", "mat", "vec", "out = torch.distributions.Normal($x, $t.abs() + 1).rsample()", kept=True
    ),
    Meeting("stack-of-list-comprehension", "mat", "mat", "out = torch.stack([part_ for part_ in ($x, $t)])", kept=True),
    Meeting("concat-name", "mat", "mat", "out = torch.concat(($t, $x))", kept=True),
    Meeting("reduce-operator-add", "mat", "mat", "out = functools.reduce(operator.add, [$x, $t])", kept=True),
    Meeting("isin-7", "ids", "idx", "out = torch.isin($x, $t)", kept=True),
    Meeting("einsum-three", "mat", "vec", 'out = torch.einsum("ij,j,kj->ik", $x, $t, $x)', kept=True),
    Meeting("broadcast_to-then-mul", "mat", "vec", "out = $x * $t.broadcast_to($x.shape)", kept=True),
    Meeting("expand_as-then-add", "mat", "vec", "out = $x + $t.expand_as($x)", kept=True),
    Meeting("combined-index", "mat", "idx", "out = $x[torch.arange(3, device=$x.device), $t]", kept=True),
    Meeting("rows-by-mask", "mat", "mask", "out = $x[$t]", kept=True),
    Meeting("cpu-table-by-gpu-ids", "ids", "mat", "out = $t[$x]", kept=True),
    Meeting("assign-into-cpu-rows", "mat", "mat", "out = $t.clone()\nout[0] = $x[0]", kept=True),
    Meeting(
        "index_put-values",
        "mat",
        "vec",
        "out = $x.clone().index_put((torch.tensor([0], device=$x.device),), $t.unsqueeze(0))",
        kept=True,
    ),
    Meeting("vmap-in_dims", "mat", "vec", "out = torch.vmap(torch.dot, in_dims=(0, None))($x, $t)", kept=True),
    Meeting(
        "np-array-of-moved",
        "mat",
        "vec",
        "out = np.array($x.detach()).mean()",
        good="out = np.array($x.detach().cpu()).mean()",
        shown="np.asarray(out).sum()",
        kept=True,
    ),
    Meeting(
        "np-function-of-moved",
        "mat",
        "vec",
        "out = np.sqrt($x.detach().abs()).sum()",
        good="out = np.sqrt($x.detach().abs().cpu()).sum()",
        shown="np.asarray(out).sum()",
        kept=True,
    ),
    Meeting(
        "np-stack-of-list",
        "mat",
        "vec",
        "out = np.stack([row_ for row_ in $x.detach()])",
        good="out = np.stack([row_.cpu() for row_ in $x.detach()])",
        shown="np.asarray(out).sum()",
        kept=True,
    ),
    Meeting(
        "numpy-of-argmax",
        "mat",
        "vec",
        "out = $x.argmax(dim=1).numpy().tolist()",
        good="out = $x.argmax(dim=1).cpu().numpy().tolist()",
        shown="np.asarray(out).sum()",
        kept=True,
    ),
)

PLACERS = (
    Placer("to-keyword-device", "$x = $moved.to(device=$dev)", kinds="FNIB", kept=True),
    Placer("to-non_blocking", "$x = $moved.to($dev, non_blocking=True)", kinds="FNIB", kept=True),
    Placer("cuda-with-index", "$x = $moved.cuda(0)", kinds="FNIB", kept=True),
    Placer("empty_like-device", "$x = torch.ones_like($moved, device=$dev)", kinds="FNIB", kept=True),
    Placer("as_tensor-moved", "$x = torch.as_tensor($moved, device=$dev)", kinds="FNIB", kept=True),
    Placer("tensor-device-numpy", "$x = torch.from_numpy($array).to($dev)", kept=True),
    Placer(
        "map-lambda-to", "$x, _ = map(lambda part_: part_.to($dev), ($moved, torch.ones(1)))", kinds="FNIB", kept=True
    ),
    Placer(
        "list-item-moved",
        (
            "parts_ = [$moved, torch.ones(1)]\nfor at_, part_ in enumerate(parts_):\n"
            "    parts_[at_] = part_.to($dev)\n$x = parts_[0]"
        ),
        kinds="FNIB",
        kept=True,
    ),
    Placer(
        "setattr-moved",
        (
            "space_ = SimpleNamespace(a=$moved, n=1)\nfor name_, value_ in vars(space_).items():\n"
            "    if isinstance(value_, torch.Tensor):\n        setattr(space_, name_, value_.to($dev))\n"
            "$x = space_.a"
        ),
        kinds="FNIB",
        kept=True,
    ),
    Placer(
        "partial-to",
        "move_ = functools.partial(torch.Tensor.to, device=$dev)\n$x = move_($moved)",
        kinds="FNIB",
        kept=True,
    ),
    Placer("device-context", "with torch.device($dev):\n    $x = $plain", kinds="FNIB", kept=True),
    Placer(
        "singledispatch-to",
        '$x = to_place_({"a": $moved}, $dev)["a"]',
        (
            "@functools.singledispatch\ndef to_place_(value, device):\n    return value\n\n\n"
            "@to_place_.register(torch.Tensor)\ndef _(value, device):\n    return value.to(device)\n\n\n"
            "@to_place_.register(dict)\ndef _(value, device):\n"
            "    return {name: to_place_(part, device) for name, part in value.items()}"
        ),
        kinds="FNIB",
        kept=True,
    ),
    Placer(
        "match-to",
        '$x = to_place2_([$moved, "a"], $dev)[0]',
        (
            "def to_place2_(value, device):\n    match value:\n        case torch.Tensor():\n"
            "            return value.to(device)\n        case [*parts]:\n"
            "            return [to_place2_(part, device) for part in parts]\n        case _:\n"
            "            return value"
        ),
        kinds="FNIB",
        kept=True,
    ),
    Placer(
        "type-rebuilt-to",
        '$x = to_place3_((1.0, {"a": $moved}), $dev)[1]["a"]',
        (
            "def to_place3_(value, device):\n    if isinstance(value, (list, tuple)):\n"
            "        return type(value)(to_place3_(part, device) for part in value)\n"
            "    if isinstance(value, Mapping):\n"
            "        return {name: to_place3_(part, device) for name, part in value.items()}\n"
            '    return value.to(device) if hasattr(value, "to") else value'
        ),
        kinds="FNIB",
        kept=True,
    ),
    Placer(
        "module-cuda-method",
        "$x = Place3_().cuda().place",
        (
            "class Place3_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            '        self.register_buffer("place", $plain)'
        ),
        kinds="FNIB",
        kept=True,
    ),
    Placer(
        "device-of-first-state",
        "layer_ = nn.Linear(2, 2).to($dev)\n$x = $moved.to(list(layer_.state_dict().values())[0].device)",
        kinds="FNIB",
        kept=True,
    ),
    Placer("out-of-module-device-keyword", "$x = nn.Linear(4, 3, device=$dev).weight.detach()", kinds="mat", kept=True),
    Placer(
        "contextmanager-device",
        "with on_device_($dev):\n    $x = $plain",
        (
            "@contextmanager\ndef on_device_(device):\n    torch.set_default_device(device)\n    try:\n        yield\n"
            "    finally:\n        torch.set_default_device(None)"
        ),
        kinds="FNIB",
        kept=True,
    ),
)

DEVICES = (
    Device("device-with-index", 'torch.device("cuda", 0)', kept=True),
    Device("device-f-string", 'torch.device(f"cuda:{0}")', kept=True),
    Device("device-in-list", "DEVICES_[0]", 'DEVICES_ = [torch.device("cuda:0"), torch.device("cpu")]', kept=True),
    Device("device-by-enum", "Where_.GPU.value", 'class Where_(Enum):\n    GPU = "cuda"\n    CPU = "cpu"', kept=True),
    Device(
        "device-by-match",
        'by_name_("gpu")',
        (
            'def by_name_(name):\n    match name:\n        case "gpu" | "cuda":\n'
            '            return torch.device("cuda")\n        case _:\n            return torch.device("cpu")'
        ),
        kept=True,
    ),
    Device("device-by-dict-get", '{"gpu": "cuda"}.get("gpu", "cpu")', kept=True),
    Device("device-or", 'os.environ.get("NO_SUCH_DEVICE") or "cuda"', kept=True),
    Device("device-getenv", 'os.getenv("NO_SUCH_DEVICE", "cuda:0")', kept=True),
    Device(
        "device-of-argparse",
        "options_().device",
        (
            "def options_():\n    parser = argparse.ArgumentParser()\n"
            '    parser.add_argument("--device", type=str, default="cuda")\n    return parser.parse_args([])'
        ),
        kept=True,
    ),
    Device(
        "device-of-dataclass-default_factory",
        "Setup_().device",
        ('@dataclass\nclass Setup_:\n    device: torch.device = field(default_factory=lambda: torch.device("cuda"))'),
        kept=True,
    ),
    Device("device-of-partial", 'functools.partial(torch.device, "cuda")()', kept=True),
    Device("device-of-type-attribute", 'torch.empty(0, device="cuda").device.type', kept=True),
    Device(
        "device-of-global-set",
        "current_device_()",
        (
            "DEVICE_ = None\n\n\ndef set_device_(name):\n    global DEVICE_\n    DEVICE_ = torch.device(name)\n\n\n"
            'def current_device_():\n    if DEVICE_ is None:\n        set_device_("cuda")\n    return DEVICE_'
        ),
        kept=True,
    ),
    Device("device-split", '"model:cuda".split(":")[1]', kept=True),
    Device("device-replace", '"gpu".replace("gpu", "cuda")', kept=True),
    Device("device-lower", '"CUDA".lower()', kept=True),
)
