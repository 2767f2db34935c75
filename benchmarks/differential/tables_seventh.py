"""The open half of the seventh batch of entries: the language reference, the standard library and PyTorch's namespaces, construct by construct.

Written on 2026-11-26 by an author of the analysis, before it was asked. A coin chose the other half, in kept_seventh.py.
"""

from __future__ import annotations

from differential.rows import Carrier, Device, Maker, Meeting, Placer

MAKERS = (
    Maker("range-then-reshape", "mat", "torch.arange(12.0$dv).reshape(3, 4)"),
    Maker("vander", "mat", "torch.vander(torch.ones(3$dv), 4)"),
    Maker("tri-indices-column", "idx", "torch.tril_indices(3, 3$dv)[0, :3]"),
    Maker("kaiser-window", "vec", "torch.kaiser_window(4$dv)"),
    Maker("fftfreq", "vec", "torch.fft.fftfreq(4$dv)"),
    Maker("block_diag", "mat", "torch.block_diag(torch.ones(2, 2$dv), torch.ones(2, 2$dv))[:3]"),
    Maker("diag-of-vector", "mat", "torch.diag(torch.ones(4$dv))[:3]"),
    Maker(
        "searchsorted", "idx", "torch.searchsorted(torch.tensor([0.0, 1.0, 3.0]$dv), torch.tensor([0.1, 0.5, 2.0]$dv))"
    ),
    Maker("multinomial-7", "idx", "torch.multinomial(torch.ones(3$dv), 3)"),
    Maker("poisson", "F", "torch.poisson(torch.ones($shape$dv))"),
    Maker("nonzero-column", "idx", "torch.nonzero(torch.ones(3$dv))[:, 0]"),
    Maker(
        "scatter_add-counts",
        "idx",
        "torch.zeros(3, dtype=torch.long$dv).scatter_add(0, torch.tensor([0, 1, 2]$dv), torch.ones(3, dtype=torch.long$dv))",
    ),
    Maker("histc", "vec", "torch.histc(torch.rand(9$dv), bins=4)"),
    Maker("interpolate", "mat", "F.interpolate(torch.ones(2, 3, 4, 4$dv), size=(8, 8))[0, 0, :3, :4]"),
    Maker("unfold-free-conv", "mat", "F.conv2d(torch.ones(2, 1, 8, 8$dv), torch.ones(3, 1, 1, 1$dv))[0, 0, :3, :4]"),
    Maker("embedding-module-weight", "mat", "nn.Embedding(3, 4$dv).weight.detach()"),
    Maker("conv-module-weight", "vec", "nn.Conv1d(1, 4, 1$dv).bias.detach()"),
    Maker("constant-of-empty", "F", "nn.init.constant_(torch.empty($shape$dv), 0.5)"),
    Maker("uniform_-in-place", "F", "torch.empty($shape$dv).uniform_(-1, 1)"),
    Maker("exponential_", "F", "torch.empty($shape$dv).exponential_()"),
    Maker("bernoulli_", "mask", "torch.empty(3$dv).bernoulli_(0.5).bool()"),
    Maker("categorical-sample-7", "idx", "torch.distributions.Categorical(logits=torch.zeros(3, 3$dv)).sample()"),
    Maker(
        "categorical-log_prob", "vec", "torch.distributions.Categorical(torch.ones(4$dv)).log_prob(torch.arange(4$dv))"
    ),
    Maker(
        "multivariate-normal",
        "vec",
        "torch.distributions.MultivariateNormal(torch.zeros(4$dv), torch.eye(4$dv)).rsample()",
    ),
    Maker("numpy-of-list", "vec", 'torch.from_numpy(np.asarray([0.5, 1.0, 2.0, 4.0], dtype="float32"))'),
    Maker("stack-of-tensors-of-numbers", "idx", "torch.stack([torch.tensor(number$dv) for number in (2, 0, 1)])"),
    Maker("cat-of-random", "vec", "torch.cat([torch.rand(2$dv), torch.rand(2$dv)])"),
    Maker("column_stack", "mat", "torch.column_stack([torch.rand(3$dv) for _ in range(4)])"),
    Maker("linalg-qr", "mat", "torch.linalg.qr(torch.rand(4, 4$dv)).Q[:3]"),
    Maker("eigh-vectors", "mat", "torch.linalg.eigh(torch.eye(4$dv))[1][:3]"),
    Maker("inverse", "mat", "torch.inverse(torch.eye(4$dv))[:3]"),
    Maker("outer-of-arange", "mat", "torch.outer(torch.arange(3.0$dv), torch.arange(4.0$dv))"),
    Maker("broadcast-difference", "mat", "(torch.arange(3.0$dv)[:, None] - torch.arange(4.0$dv)[None, :])"),
    Maker("isnan-mask", "mask", "torch.isnan(torch.ones(3$dv))"),
    Maker("logical-mask", "mask", "torch.logical_and(torch.ones(3$dv) > 0, torch.zeros(3$dv) < 1)"),
    Maker("float-tensor-of-size", "F", "torch.FloatTensor($shape).zero_()"),
    Maker(
        "ids-of-dictionary",
        "idx",
        'torch.tensor([VOCABULARY_[word] for word in "a b c".split()]$dv)',
        top='VOCABULARY_ = {"a": 0, "b": 1, "c": 2}',
    ),
    Maker("json-table", "vec", 'torch.tensor(json.loads("[0.5, 1.0, 2.0, 4.0]")$dv)'),
    Maker(
        "load-lambda-location",
        "FNIB",
        "torch.load(stored_, map_location=lambda storage, location: storage)",
        pre="stored_ = io.BytesIO()\ntorch.save($plain, stored_)\nstored_.seek(0)",
    ),
    Maker("tolist-round-trip", "F", "torch.tensor($on.tolist()$dv)"),
    Maker(
        "cpu-copy-of-state",
        "mat",
        '{name_: value_.cpu() for name_, value_ in nn.Linear(4, 3).to($dev).state_dict().items()}["weight"]',
    ),
    Maker("enum-member-table", "FNIB", "Tables_.ONE.value", top="class Tables_(Enum):\n    ONE = $plain"),
    Maker(
        "dataclass-factory",
        "FNIB",
        "Holding_().table",
        top="@dataclass\nclass Holding_:\n    table: object = field(default_factory=lambda: $plain)",
    ),
    Maker("default-argument-7", "FNIB", "with_default_()", top="def with_default_(table=$plain):\n    return table"),
    Maker(
        "module-attribute-of-unmoved-child",
        "FNIB",
        "Parent_().child.table",
        top=(
            "class Child_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.table = $plain\n\n\nclass Parent_(nn.Module):\n    def __init__(self):\n"
            "        super().__init__()\n        self.child = Child_()"
        ),
    ),
    Maker(
        "moved-module-plain-attribute",
        "FNIB",
        "moved_.table",
        pre="moved_ = Unregistered_().to($dev)",
        top=(
            "class Unregistered_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.table = $plain\n        self.weight = nn.Parameter(torch.ones(1))"
        ),
    ),
    Maker(
        "moved-module-list-attribute",
        "FNIB",
        "moved_.tables[0]",
        pre="moved_ = ListOfTables_().to($dev)",
        top=(
            "class ListOfTables_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.tables = [$plain for _ in range(2)]"
        ),
    ),
    Maker("default-device-reset", "FNIB", "$plain", pre="torch.set_default_device(None)"),
    Maker("device-context-cpu", "FNIB", "made_", pre='with torch.device("cpu"):\n    made_ = $plain'),
    Maker(
        "uninitialised-lazy", "mat", "lazy_.weight.detach()", pre="lazy_ = nn.LazyLinear(3)\nlazy_(torch.ones(1, 4))"
    ),
    Maker(
        "optimizer-momentum",
        "F",
        'adam_.state[weight_]["exp_avg"]',
        pre=(
            "weight_ = nn.Parameter($plain)\nadam_ = torch.optim.Adam([weight_])\n"
            "weight_.grad = torch.ones_like(weight_)\nadam_.step()"
        ),
    ),
    Maker("jacobian", "mat", "torch.autograd.functional.jacobian(lambda value: value * 2, torch.ones(4$dv))[:3]"),
    Maker(
        "device-of-cpu-other", "FNIB", "torch.zeros($shape$dtype, device=other_.device)", pre="other_ = torch.ones(1)"
    ),
    Maker("like-of-cpu-other", "F", "torch.rand_like(other_)", pre="other_ = torch.empty($shape)"),
    Maker("new_full-of-cpu-other", "F", "other_.new_full($size, 0.5)", pre="other_ = torch.ones(1)"),
    Maker(
        "cpu-of-config-object", "FNIB", '$plain.to(PLACES_["eval"])', pre='PLACES_ = {"train": "cuda", "eval": "cpu"}'
    ),
    Maker("cpu-by-environment", "FNIB", '$plain.to(os.environ.get("NO_SUCH_DEVICE", "cpu"))'),
    Maker(
        "executor-made",
        "FNIB",
        "ThreadPoolExecutor(1).submit(make_later_).result()",
        top="def make_later_():\n    return $plain",
    ),
)

CARRIERS = (
    Carrier(
        "__getattribute__",
        "$o = Watching_($t).value",
        (
            "class Watching_:\n    def __init__(self, value):\n        self.value = value\n\n"
            "    def __getattribute__(self, name):\n        return super().__getattribute__(name)"
        ),
    ),
    Carrier(
        "__setattr__-of-own",
        "$o = Recording_($t).value",
        (
            "class Recording_:\n    def __init__(self, value):\n        self.value = value\n\n"
            "    def __setattr__(self, name, value):\n        object.__setattr__(self, name, value)"
        ),
    ),
    Carrier(
        "__setattr__-into-dict",
        "bag_ = Bag_()\nbag_.value = $t\n$o = bag_.value",
        (
            'class Bag_:\n    def __init__(self):\n        self.__dict__["items_"] = {}\n\n'
            '    def __setattr__(self, name, value):\n        self.__dict__["items_"][name] = value\n\n'
            '    def __getattr__(self, name):\n        return self.__dict__["items_"][name]'
        ),
    ),
    Carrier(
        "__slots__",
        "$o = Slotted_($t).value",
        (
            'class Slotted_:\n    __slots__ = ("count", "value")\n\n    def __init__(self, value):\n'
            "        self.count, self.value = 1, value"
        ),
    ),
    Carrier(
        "metaclass-call",
        "$o = Single_($t).value",
        (
            "class Only_(type):\n    known = {}\n\n    def __call__(cls, *args):\n        if cls not in cls.known:\n"
            "            cls.known[cls] = super().__call__(*args)\n        return cls.known[cls]\n\n\n"
            "class Single_(metaclass=Only_):\n    def __init__(self, value):\n        self.value = value"
        ),
    ),
    Carrier(
        "__contains__-and-__len__",
        "shelf_ = Shelf_()\nat_ = shelf_.put($t)\n$o = shelf_.rows[at_]",
        (
            "class Shelf_:\n    def __init__(self):\n        self.rows = []\n\n    def __len__(self):\n"
            "        return len(self.rows)\n\n    def __bool__(self):\n        return True\n\n    def put(self, row):\n"
            "        self.rows.append(row)\n        return len(self) - 1"
        ),
    ),
    Carrier(
        "__getitem__-as-sequence",
        "for $o in Loose_([$t]):\n    break",
        (
            "class Loose_:\n    def __init__(self, rows):\n        self.rows = rows\n\n"
            "    def __getitem__(self, at):\n        return self.rows[at]"
        ),
    ),
    Carrier(
        "two-with-items",
        "with Lent_(1) as one_, Lent_($t) as two_:\n    $o = two_.value",
        (
            "class Lent_:\n    def __init__(self, value):\n        self.value = value\n\n    def __enter__(self):\n"
            "        return self\n\n    def __exit__(self, kind, error, trace):\n        return None"
        ),
    ),
    Carrier(
        "parenthesised-with",
        'with (\n    lend_(1) as _,\n    lend_($t) as lent_,\n):\n    $o = lent_["value"]',
        '@contextmanager\ndef lend_(value):\n    yield {"value": value}',
    ),
    Carrier(
        "__radd__",
        "$o = (0 + Sum_([$t])).parts[1]",
        (
            "class Sum_:\n    def __init__(self, parts):\n        self.parts = parts\n\n"
            "    def __radd__(self, other):\n        return Sum_([other, *self.parts])"
        ),
    ),
    Carrier(
        "__or__-chain",
        "$o = [$t] | Pipe_(lambda rows: rows[0])",
        (
            "class Pipe_:\n    def __init__(self, function):\n        self.function = function\n\n"
            "    def __ror__(self, value):\n        return self.function(value)"
        ),
    ),
    Carrier(
        "__copy__-and-deepcopy",
        "$o = copy.deepcopy(Copied_($t)).value",
        (
            "class Copied_:\n    def __init__(self, value):\n        self.value = value\n\n"
            "    def __deepcopy__(self, memo):\n        return Copied_(copy.deepcopy(self.value, memo))"
        ),
    ),
    Carrier(
        "__getstate__",
        "made_ = Kept_.__new__(Kept_)\nmade_.__setstate__(Kept_($t).__getstate__())\n$o = made_.value",
        (
            "class Kept_:\n    def __init__(self, value):\n        self.value = value\n\n    def __getstate__(self):\n"
            '        return {"value": self.value}\n\n    def __setstate__(self, state):\n'
            "        self.__dict__.update(state)"
        ),
    ),
    Carrier(
        "__new__-with-fields",
        "$o = Fresh_($t).value",
        (
            "class Fresh_:\n    def __new__(cls, value):\n        made = super().__new__(cls)\n"
            "        made.value = value\n        return made"
        ),
    ),
    Carrier(
        "class-decorator-7",
        "$o = Decorated_($t).value",
        (
            'def registered_(cls):\n    cls.kind = "registered"\n    return cls\n\n\n@registered_\nclass Decorated_:\n'
            "    def __init__(self, value):\n        self.value = value"
        ),
    ),
    Carrier(
        "class-decorator-with-arguments",
        '$o = Tagged_().get($t)["box"]',
        (
            "def tagged_(tag):\n    def add_(cls):\n        cls.tag = tag\n        return cls\n\n    return add_\n\n\n"
            '@tagged_("box")\nclass Tagged_:\n    def get(self, value):\n        return {self.tag: value}'
        ),
    ),
    Carrier(
        "decorator-with-arguments",
        "$o = boxed_($t)[0]",
        (
            "def repeated_(times):\n    def wrap_(function):\n        @functools.wraps(function)\n"
            "        def inner_(*args, **kwargs):\n            result = None\n            for _ in range(times):\n"
            "                result = function(*args, **kwargs)\n            return result\n\n        return inner_\n"
            "\n    return wrap_\n\n\n@repeated_(times=2)\ndef boxed_(value):\n    return [value]"
        ),
    ),
    Carrier(
        "stacked-decorators",
        "$o = pass_on_($t)",
        (
            "def twice_(function):\n    def inner_(value):\n        return function(function(value))\n\n"
            "    return inner_\n\n\ndef quiet_(function):\n    def inner_(*args):\n        return function(*args)\n\n"
            "    return inner_\n\n\n@quiet_\n@twice_\ndef pass_on_(value):\n    return value"
        ),
    ),
    Carrier("match-star", "match [1, 2, $t]:\n    case [_, *rest_]:\n        $o = rest_[-1]"),
    Carrier(
        "match-class-with-__match_args__",
        "match Node_(1, $t):\n    case Node_(_, $o):\n        pass",
        (
            'class Node_:\n    __match_args__ = ("left", "right")\n\n    def __init__(self, left, right):\n'
            "        self.left, self.right = left, right"
        ),
    ),
    Carrier(
        "match-type-of-value", "match $t:\n    case torch.Tensor() as $o:\n        pass\n    case _:\n        $o = None"
    ),
    Carrier("walrus-in-comprehension", "$o = [last_ for item_ in [$t] if (last_ := item_) is not None][0]"),
    Carrier("star-in-middle", "first_, *middle_, last_ = (1, $t, 2)\n$o = middle_[0]"),
    Carrier(
        "starred-into-set-free",
        '$o = collect_(*[1, $t], sep=",")[-1]',
        "def collect_(*values, sep=None):\n    return values",
    ),
    Carrier("nested-comprehension", "$o = [item_ for row_ in [[$t]] for item_ in row_][0]"),
    Carrier("dict-comprehension-7", '$o = {name_: item_ for name_, item_ in [("value", $t)]}["value"]'),
    Carrier("generator-in-call", "$o = max(((0, $t) for _ in range(1)), key=lambda pair: pair[0])[1]"),
    Carrier("lambda-default-7", "later_ = [lambda value=item_: value for item_ in [$t]]\n$o = later_[0]()"),
    Carrier("chained-assignment-7", "$o = same_one_ = $t"),
    Carrier("boolean-or", "$o = (None or [$t])[0]"),
    Carrier("f-string-key", 'name_ = "value"\n$o = {f"{name_}_1": $t}["value_1"]'),
    Carrier("format-key", '$o = {"{}_{}".format("a", 1): $t}["a_1"]'),
    Carrier("percent-key", '$o = {"layer%d" % 1: $t}["layer1"]'),
    Carrier("upper-key", '$o = {"VALUE": $t}["value".upper()]'),
    Carrier(
        "async-queue",
        "$o = asyncio.run(through_queue_($t))",
        (
            "async def through_queue_(value):\n    rows = asyncio.Queue()\n    await rows.put(value)\n"
            "    return await rows.get()"
        ),
    ),
    Carrier(
        "async-task",
        "$o = asyncio.run(with_task_($t))",
        (
            'async def work_async_(value):\n    return {"value": value}\n\n\nasync def with_task_(value):\n'
            '    task = asyncio.create_task(work_async_(value))\n    return (await task)["value"]'
        ),
    ),
    Carrier("yield-from-list", "$o = next(rows_of_($t))", "def rows_of_(value):\n    yield from [value, value]"),
    Carrier(
        "generator-send-loop",
        "echo__ = echo_()\nnext(echo__)\n$o = echo__.send($t)",
        "def echo_():\n    last = None\n    while True:\n        last = yield last",
    ),
    Carrier("try-handler-binds", 'try:\n    {}["missing"]\nexcept KeyError:\n    $o = $t'),
    Carrier(
        "try-finally-return",
        "$o = finally_($t)",
        "def finally_(value):\n    kept = []\n    try:\n        return value\n    finally:\n        kept.append(1)",
    ),
    Carrier(
        "exception-of-cause",
        (
            "try:\n    try:\n        raise Lost_($t)\n    except Lost_ as lost_:\n"
            '        raise RuntimeError("again") from lost_\nexcept RuntimeError as again_:\n'
            "    $o = again_.__cause__.args[0]"
        ),
        "class Lost_(Exception):\n    pass",
    ),
    Carrier(
        "closure-list-cell",
        "$o = cell_($t)",
        (
            "def cell_(value):\n    box = [None]\n\n    def put():\n        box[0] = value\n\n    put()\n"
            "    return box[0]"
        ),
    ),
    Carrier(
        "mutable-default",
        "remembered_($t)\n$o = remembered_()[-1]",
        (
            "def remembered_(value=None, known=[]):\n    if value is not None:\n        known.append(value)\n"
            "    return known"
        ),
    ),
    Carrier(
        "kwargs-get", "$o = optional_(value=$t)", 'def optional_(**options):\n    return options.get("value", None)'
    ),
    Carrier("del-item-then-read", "items_ = [1, $t]\ndel items_[0]\n$o = items_[0]"),
    Carrier("for-with-tuple-target", 'for (name_, count_), $o in [(("a", 1), $t)]:\n    pass'),
    Carrier(
        "for-into-attribute",
        "spot_ = Spot_()\nfor spot_.value in [$t]:\n    pass\n$o = spot_.value",
        "class Spot_:\n    pass",
    ),
    Carrier("while-pop", "pending_ = [$t]\nwhile pending_:\n    $o = pending_.pop()"),
    Carrier("while-else", "count_ = 0\nwhile count_ < 2:\n    count_ += 1\nelse:\n    $o = $t"),
    Carrier(
        "raise-in-other-branch",
        '$o = checked_($t, "keep")',
        (
            'def checked_(value, mode):\n    if mode == "keep":\n        return value\n    elif mode == "none":\n'
            "        return None\n    raise ValueError(mode)"
        ),
    ),
    Carrier(
        "dataclass-replace-7",
        "$o = dataclasses.replace(Frozen_($t), count=2).value",
        "@dataclass(frozen=True)\nclass Frozen_:\n    value: object\n    count: int = 0",
    ),
    Carrier(
        "dataclass-init-var",
        "$o = Seeded_($t).value",
        (
            "@dataclass\nclass Seeded_:\n    given: dataclasses.InitVar[object]\n    value: object = None\n\n"
            "    def __post_init__(self, given):\n        self.value = given"
        ),
    ),
    Carrier(
        "dataclass-asdict-passed",
        "$o = take_options_(**dataclasses.asdict(Options_($t)))",
        (
            "@dataclass\nclass Options_:\n    value: object\n    count: int = 2\n\n\ndef take_options_(value, count):\n"
            "    return value"
        ),
    ),
    Carrier(
        "dataclass-fields-getattr",
        "for field_ in dataclasses.fields(Fields_):\n    $o = getattr(Fields_($t), field_.name)",
        "@dataclass\nclass Fields_:\n    value: object",
    ),
    Carrier(
        "dataclass-property",
        "$o = Computed_([$t]).first",
        (
            "@dataclass\nclass Computed_:\n    parts: list\n\n    @property\n    def first(self):\n"
            "        return self.parts[0]"
        ),
    ),
    Carrier(
        "namedtuple-unpacked",
        "count_, $o = Batch_(1, $t)",
        'Batch_ = collections.namedtuple("Batch_", ["inputs", "extra"])',
    ),
    Carrier(
        "namedtuple-_asdict",
        '$o = Row_($t, 1)._asdict()["value"]',
        'Row_ = collections.namedtuple("Row_", "value step")',
    ),
    Carrier(
        "NamedTuple-zip-star",
        "batch_ = Move_(*zip(*[Move_($t, 1.0), Move_($t, 2.0)]))\n$o = batch_.state[0]",
        "class Move_(NamedTuple):\n    state: object\n    reward: float",
    ),
    Carrier(
        "enum-dispatch",
        '$o = by_kind_(Kind_("keep"), $t)',
        (
            'class Kind_(Enum):\n    KEEP = "keep"\n    DROP = "drop"\n\n\ndef by_kind_(kind, value):\n'
            "    if kind is Kind_.KEEP:\n        return value\n    return None"
        ),
    ),
    Carrier(
        "protocol",
        "$o = give_(Taker_(), $t)",
        (
            "class Takes_(Protocol):\n    def take(self, value): ...\n\n\nclass Taker_:\n    def take(self, value):\n"
            "        return value\n\n\ndef give_(taker: Takes_, value):\n    return taker.take(value)"
        ),
    ),
    Carrier(
        "classmethod-factory",
        "$o = Built_.of(1, $t).value",
        (
            "class Built_:\n    def __init__(self, value):\n        self.value = value\n\n    @classmethod\n"
            "    def of(cls, *parts):\n        return cls(parts[-1])"
        ),
    ),
    Carrier(
        "staticmethod-by-instance",
        "$o = Tools_().run($t)",
        (
            "class Tools_:\n    @staticmethod\n    def same(value):\n        return value\n\n"
            "    def run(self, value):\n        return self.same(value)"
        ),
    ),
    Carrier(
        "property-setter-7",
        "guarded_ = Guarded_()\nguarded_.value = $t\n$o = guarded_.value",
        (
            "class Guarded_:\n    def __init__(self):\n        self._value = None\n\n    @property\n"
            "    def value(self):\n        return self._value\n\n    @value.setter\n    def value(self, value):\n"
            "        self._value = value"
        ),
    ),
    Carrier(
        "property-function",
        "$o = Old_($t).value",
        (
            "class Old_:\n    def __init__(self, value):\n        self._value = value\n\n    def _get(self):\n"
            "        return self._value\n\n    value = property(_get)"
        ),
    ),
    Carrier(
        "super-chain-of-three",
        "$o = C_().run($t)",
        (
            "class A_:\n    def run(self, value):\n        return value\n\n\nclass B_(A_):\n    def run(self, value):\n"
            "        return super().run([value])\n\n\nclass C_(B_, A_):\n    def run(self, value):\n"
            "        return super().run(value)[0]"
        ),
    ),
    Carrier(
        "mixin-diamond",
        "$o = Both_(left=1, right=$t).right",
        (
            "class Root_:\n    def __init__(self, **fields):\n        self.fields = fields\n\n\nclass Left_(Root_):\n"
            "    def __init__(self, left=None, **fields):\n        super().__init__(**fields)\n"
            "        self.left = left\n\n\nclass Right_(Root_):\n    def __init__(self, right=None, **fields):\n"
            "        super().__init__(**fields)\n        self.right = right\n\n\nclass Both_(Left_, Right_):\n    pass"
        ),
    ),
    Carrier(
        "class-attribute-shared",
        'Registry_.put("one", $t)\n$o = Registry_.rows["one"]',
        (
            "class Registry_:\n    rows = {}\n\n    @classmethod\n    def put(cls, name, row):\n"
            "        cls.rows[name] = row"
        ),
    ),
    Carrier(
        "inner-class",
        "$o = Outer_().make($t).value",
        (
            "class Outer_:\n    class Inner_:\n        def __init__(self, value):\n            self.value = value\n\n"
            "    def make(self, value):\n        return self.Inner_(value)"
        ),
    ),
    Carrier(
        "method-assigned-later",
        "Bare_.get = get_value_\nbare_ = Bare_()\nbare_.value = $t\n$o = bare_.get()",
        "class Bare_:\n    pass\n\n\ndef get_value_(self):\n    return self.value",
    ),
    Carrier("type-made-class", "$o = Made_().get($t)", 'Made_ = type("Made_", (), {"get": lambda self, value: value})'),
    Carrier(
        "weak-key-free",
        "target_ = Target_($t)\n$o = weakref.ref(target_)().value",
        "class Target_:\n    def __init__(self, value):\n        self.value = value",
    ),
    Carrier("filter-none", "$o = list(filter(None.__ne__, [None, $t]))[0]"),
    Carrier("zip-unzipped", "values_, counts_ = zip(*[($t, 1), ($t, 2)])\n$o = values_[1]"),
    Carrier(
        "sorted-by-itemgetter",
        '$o = sorted([{"n": 2}, {"n": 1, "value": $t}], key=operator.itemgetter("n"))[0]["value"]',
    ),
    Carrier("list-sort-key", "rows_ = [(2, 0), (1, $t)]\nrows_.sort(key=lambda row: row[0])\n$o = rows_[0][1]"),
    Carrier("max-default", "$o = max([(1, $t)], key=lambda pair: pair[0], default=None)[1]"),
    Carrier("iter-sentinel", "feed_ = iter([$t, None])\nfor $o in iter(lambda: next(feed_), None):\n    pass"),
    Carrier("next-with-default", "$o = next(iter([$t]), None)"),
    Carrier(
        "setattr-loop",
        "$o = Loaded_(value=$t, rate=1).value",
        (
            "class Loaded_:\n    def __init__(self, **fields):\n        for name, value in fields.items():\n"
            "            setattr(self, name, value)"
        ),
    ),
    Carrier(
        "hasattr-branch",
        'has_ = Has_($t)\nif hasattr(has_, "value"):\n    $o = has_.value\nelse:\n    $o = None',
        "class Has_:\n    def __init__(self, value):\n        self.value = value",
    ),
    Carrier(
        "isinstance-of-several",
        '$o = flatten_({"a": [($t,)]})[0]',
        (
            "def flatten_(tree):\n    if isinstance(tree, (list, tuple)):\n"
            "        return [leaf for part in tree for leaf in flatten_(part)]\n    if isinstance(tree, dict):\n"
            "        return [leaf for part in tree.values() for leaf in flatten_(part)]\n    return [tree]"
        ),
    ),
    Carrier("any-then", "values_ = [None, $t]\nif any(value_ is not None for value_ in values_):\n    $o = values_[1]"),
    Carrier("dict-get-default", '$o = {}.get("value", $t)'),
    Carrier("dict-keys-sorted", 'parts_ = {"b": 1, "a": $t}\n$o = [parts_[key_] for key_ in sorted(parts_)][0]'),
    Carrier("dict-of-pairs", '$o = dict([("value", $t)], rate=1)["value"]'),
    Carrier("dict-copy", '$o = {"value": $t}.copy()["value"]'),
    Carrier("dict-del-then-read", 'parts_ = {"old": 1, "value": $t}\ndel parts_["old"]\n$o = list(parts_.values())[0]'),
    Carrier("dict-nested-store", 'tree_ = {"a": {}}\ntree_["a"]["b"] = $t\n$o = tree_["a"]["b"]'),
    Carrier("list-extend", "items_ = []\nitems_.extend([1, $t])\n$o = items_[-1]"),
    Carrier("list-extend-generator", "items_ = [1]\nitems_.extend(item_ for item_ in ($t,))\n$o = items_[1]"),
    Carrier("list-times", "$o = ([$t] * 3)[2]"),
    Carrier("list-slice-step", "$o = [$t, 1, 2][::-1][2]"),
    Carrier("list-remove", 'items_ = ["a", $t]\nitems_.remove("a")\n$o = items_[0]'),
    Carrier("stack-push-pop", "stack_ = []\nstack_.append(($t, 0))\nwhile stack_:\n    $o, depth_ = stack_.pop()"),
    Carrier(
        "partial-keyword",
        "$o = functools.partial(scaled_, 1, bias=$t)()",
        "def scaled_(value, factor=1, bias=None):\n    return bias",
    ),
    Carrier(
        "partial-of-class",
        "$o = functools.partial(Head_, 3)(value=$t).value",
        "class Head_:\n    def __init__(self, count, value=None):\n        self.value = value",
    ),
    Carrier(
        "reduce-compose", "$o = functools.reduce(lambda value, step: step(value), [lambda v: [v], lambda v: v[0]], $t)"
    ),
    Carrier(
        "lru_cache-of-method",
        "$o = Cached_($t).get(1)",
        (
            "class Cached_:\n    def __init__(self, value):\n        self.value = value\n\n"
            "    @functools.lru_cache(maxsize=None)\n    def get(self, count):\n        return self.value"
        ),
    ),
    Carrier(
        "cache-decorator",
        'box_of_("a")["value"] = $t\n$o = box_of_("a")["value"]',
        "@functools.cache\ndef box_of_(name):\n    return {}",
    ),
    Carrier(
        "cached_property",
        "$o = Lazy_($t).value",
        (
            "class Lazy_:\n    def __init__(self, value):\n        self._value = value\n\n"
            "    @functools.cached_property\n    def value(self):\n        return self._value"
        ),
    ),
    Carrier(
        "singledispatchmethod",
        "$o = Opener_().open(($t, 1))",
        (
            "class Opener_:\n    @functools.singledispatchmethod\n    def open(self, value):\n        return value\n\n"
            "    @open.register\n    def _(self, value: tuple):\n        return value[0]"
        ),
    ),
    Carrier(
        "total_ordering",
        "$o = max(Ranked_(1, None), Ranked_(2, $t)).value",
        (
            "@functools.total_ordering\nclass Ranked_:\n    def __init__(self, rank, value):\n"
            "        self.rank, self.value = rank, value\n\n    def __eq__(self, other):\n"
            "        return self.rank == other.rank\n\n    def __lt__(self, other):\n"
            "        return self.rank < other.rank"
        ),
    ),
    Carrier(
        "cmp_to_key", "$o = sorted([(2, None), (1, $t)], key=functools.cmp_to_key(lambda a, b: a[0] - b[0]))[0][1]"
    ),
    Carrier(
        "wraps-by-hand",
        '$o = as_is_($t)["result"]',
        (
            "def traced_(function):\n    def inner_(*args, **kwargs):\n        result = function(*args, **kwargs)\n"
            '        return {"result": result, "name": function.__name__}\n\n'
            "    inner_.__name__ = function.__name__\n    return inner_\n\n\n@traced_\ndef as_is_(value):\n"
            "    return value"
        ),
    ),
    Carrier("itertools-count-zip", "for $o, at_ in zip([$t], itertools.count()):\n    pass"),
    Carrier("itertools-combinations", "for left_, $o in itertools.combinations([1, $t], 2):\n    pass"),
    Carrier("itertools-permutations", "for $o, right_ in itertools.permutations([$t, 1], 2):\n    break"),
    Carrier("itertools-dropwhile", "$o = next(itertools.dropwhile(lambda item: item is None, [None, $t]))"),
    Carrier("itertools-filterfalse", "$o = next(itertools.filterfalse(lambda item: item is None, [None, $t]))"),
    Carrier("itertools-pairwise", "for left_, $o in itertools.pairwise([1, $t]):\n    pass"),
    Carrier("itertools-repeat-map", "$o = list(map(lambda count, value: value, [1, 2], itertools.repeat($t)))[1]"),
    Carrier(
        "operator-attrgetter-nested",
        '$o = operator.attrgetter("value.value")(Node2_(Node2_($t)))',
        "class Node2_:\n    def __init__(self, value):\n        self.value = value",
    ),
    Carrier("operator-methodcaller-args", '$o = operator.methodcaller("get", "value")({"value": $t})'),
    Carrier("operator-getitem", "$o = operator.getitem([$t], 0)"),
    Carrier("deque-popleft", "window_ = collections.deque([$t, 1])\n$o = window_.popleft()"),
    Carrier("deque-appendleft", "window_ = collections.deque([1])\nwindow_.appendleft($t)\n$o = window_[0]"),
    Carrier(
        "defaultdict-append", 'groups_ = collections.defaultdict(list)\ngroups_["a"].append($t)\n$o = groups_["a"][-1]'
    ),
    Carrier("defaultdict-lambda", 'known_ = collections.defaultdict(lambda: $t)\n$o = known_["new"]'),
    Carrier(
        "defaultdict-nested",
        (
            'tree_ = collections.defaultdict(lambda: collections.defaultdict(dict))\ntree_["a"]["b"]["c"] = $t\n'
            '$o = tree_["a"]["b"]["c"]'
        ),
    ),
    Carrier(
        "ordereddict-popitem", 'parts_ = collections.OrderedDict([("value", $t)])\n$o = parts_.popitem(last=False)[1]'
    ),
    Carrier(
        "chainmap-new_child",
        'parts_ = collections.ChainMap({"rate": 1}).new_child({"value": $t})\n$o = parts_["value"]',
    ),
    Carrier("suppress", "$o = None\nwith contextlib.suppress(KeyError):\n    $o = $t"),
    Carrier("copy-of-list", "$o = copy.copy([$t])[0]"),
    Carrier("namespace-kwargs", '$o = SimpleNamespace(**{"value": $t}).value'),
    Carrier("namespace-vars", '$o = dict(vars(SimpleNamespace(value=$t)))["value"]'),
    Carrier("priority-queue", "line_ = queue.PriorityQueue()\nline_.put((1, $t))\n_, $o = line_.get()"),
    Carrier(
        "lifo-queue-timeout",
        "line_ = queue.LifoQueue(maxsize=2)\nline_.put([$t], timeout=1)\n$o = line_.get(timeout=1)[0]",
    ),
    Carrier(
        "thread-with-result",
        (
            'results_ = {}\nworker_ = threading.Thread(target=results_.__setitem__, args=("value", $t))\n'
            'worker_.start()\nworker_.join()\n$o = results_["value"]'
        ),
    ),
    Carrier(
        "thread-kwargs",
        (
            'found_ = []\nworker_ = threading.Thread(target=work_, kwargs={"value": $t, "out": found_})\n'
            "worker_.start()\nworker_.join()\n$o = found_[0]"
        ),
        "def work_(value, out):\n    out.append(value)",
    ),
    Carrier("thread-local", "local_.value = $t\n$o = local_.value", "local_ = threading.local()"),
    Carrier(
        "executor-as_completed",
        (
            "with concurrent.futures.ThreadPoolExecutor(1) as pool_:\n"
            "    futures_ = [pool_.submit(lambda value: value, $t)]\n"
            "    for future_ in concurrent.futures.as_completed(futures_):\n        $o = future_.result()"
        ),
        "import concurrent.futures",
    ),
    Carrier(
        "executor-futures-dict",
        (
            'with futures_lib.ThreadPoolExecutor(1) as pool_:\n    futures_ = {pool_.submit(list, [$t]): "a"}\n'
            "    $o = [future_.result() for future_ in futures_][0][0]"
        ),
        "import concurrent.futures as futures_lib",
    ),
    Carrier("random-shuffle", "items_ = [$t, $t]\nrandom.shuffle(items_)\n$o = items_[0]"),
    Carrier("heapq-nlargest", "$o = heapq.nlargest(1, [(1, $t), (0, None)], key=lambda pair: pair[0])[0][1]"),
    Carrier("heapq-pushpop", "heap_ = [(2, None)]\n$o = heapq.heappushpop(heap_, (1, $t))[1]"),
    Carrier(
        "tqdm-like-wrapper",
        "bar_ = Progress_([($t, 1)])\nfor at_, ($o, count_) in enumerate(bar_):\n    bar_.set_postfix(n=count_)",
        (
            "class Progress_:\n    def __init__(self, rows, total=None):\n"
            "        self.rows, self.total = rows, total\n\n    def __iter__(self):\n        for row in self.rows:\n"
            "            yield row\n\n    def __len__(self):\n        return len(self.rows)\n\n"
            "    def set_postfix(self, **kwargs):\n        self.last = kwargs"
        ),
    ),
    Carrier("pathlib-key", 'tables_ = {pathlib.Path("a/b.pt").stem: $t}\n$o = tables_["b"]'),
    Carrier("environ-default", 'kept_ = {os.environ.get("NO_SUCH_NAME", "a"): $t}\n$o = kept_["a"]'),
    Carrier(
        "argparse-set_defaults",
        "args_ = parsed_()\n$o = args_.handler(args_, $t)",
        (
            "def parsed_():\n    parser = argparse.ArgumentParser()\n"
            '    commands = parser.add_subparsers(dest="command")\n    train = commands.add_parser("train")\n'
            '    train.add_argument("--count", type=int, default=1)\n'
            '    train.set_defaults(handler=lambda args, value: value)\n    return parser.parse_args(["train"])'
        ),
    ),
    Carrier("argparse-namespace-field", "args_ = argparse.Namespace(rate=0.1)\nargs_.value = $t\n$o = args_.value"),
    Carrier(
        "handlers-dict",
        '$o = HANDLERS_["same"]($t)',
        (
            "HANDLERS_ = {}\n\n\ndef handles_(name):\n    def add(function):\n        HANDLERS_[name] = function\n"
            '        return function\n\n    return add\n\n\n@handles_("same")\ndef same_handler_(value):\n'
            "    return value"
        ),
    ),
    Carrier(
        "mutual-recursion",
        "$o = even_($t, 2)",
        (
            "def even_(value, left):\n    return value if left == 0 else odd_(value, left - 1)\n\n\n"
            "def odd_(value, left):\n    return even_(value, left - 1)"
        ),
    ),
    Carrier(
        "currying",
        '$o = curried_(1)("a")($t)',
        (
            "def curried_(count):\n    def with_count(name):\n        def with_name(value):\n"
            "            return value\n\n        return with_name\n\n    return with_count"
        ),
    ),
    Carrier(
        "transforms-list",
        "$o = Compose_([AsIs_(), AsIs_()])($t)",
        (
            "class Compose_:\n    def __init__(self, transforms):\n        self.transforms = transforms\n\n"
            "    def __call__(self, value):\n        for transform in self.transforms:\n"
            "            value = transform(value)\n        return value\n\n\nclass AsIs_:\n"
            "    def __call__(self, value):\n        return value"
        ),
    ),
    Carrier("tensor-reshape-back", "$o = $t.reshape(-1).reshape($t.shape)"),
    Carrier("tensor-flatten-unflatten", "$o = $t.flatten().view($t.size())"),
    Carrier("tensor-split-cat", "$o = torch.cat(torch.split($t, 1, dim=0), dim=0)", kinds="FIB"),
    Carrier("tensor-unbind-stack", "$o = torch.stack($t.unbind(0))", kinds="FIB"),
    Carrier("tensor-topk-values", "$o = $t.topk($t.shape[-1], dim=-1)[0]", kinds="FI"),
    Carrier("tensor-max-values", "$o = $t.unsqueeze(0).max(dim=0).values"),
    Carrier("tensor-cummax", "$o = torch.cummax($t.unsqueeze(0), dim=0).values[0]"),
    Carrier("tensor-type-conversions", "$o = $t.double().float()", kinds="FN"),
    Carrier("tensor-type-string", "$o = $t.type(torch.float32)", kinds="FN"),
    Carrier(
        "tensor-index_select-own", "$o = $t.index_select(0, torch.arange($t.shape[0], device=$t.device))", kinds="FIB"
    ),
    Carrier(
        "tensor-unique-inverse", "values_, inverse_ = torch.unique($t, return_inverse=True)\n$o = values_[inverse_]"
    ),
    Carrier("tensor-in-place-chain", "$o = $t.clone().add_(1).mul_(2)", kinds="FNI"),
    Carrier("tensor-iterated", "$o = torch.stack([row_ for row_ in $t])", kinds="FIB"),
    Carrier("tensor-triu-of-own", "$o = torch.triu($t)", kinds="mat img seq sq hid ids"),
    Carrier("tensor-norm-division", "$o = $t / $t.norm(dim=-1, keepdim=True).clamp(min=1e-6)", kinds="FN"),
    Carrier("tensor-std_mean", "std_, mean_ = torch.std_mean($t)\n$o = ($t - mean_) / (std_ + 1)", kinds="FN"),
    Carrier("tensor-meshgrid", '$o, _ = torch.meshgrid($t, $t, indexing="ij")\n$o = $o[:, 0]', kinds="B vec idx"),
    Carrier("module-identity-sequential", "$o = nn.Sequential(nn.Identity(), nn.ReLU())($t)", kinds="FNI"),
    Carrier(
        "module-list-loop-7",
        "$o = Stages_()($t)",
        (
            "class Stages_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.stages = nn.ModuleList([nn.Identity() for _ in range(2)])\n\n"
            "    def forward(self, value):\n        for stage in self.stages:\n            value = stage(value)\n"
            "        return value"
        ),
    ),
    Carrier(
        "module-dict-choice",
        "$o = Choice_()($t)",
        (
            "class Choice_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            '        self.heads = nn.ModuleDict({"a": nn.Identity(), "b": nn.Tanh()})\n\n'
            '    def forward(self, value, name="a"):\n        return self.heads[name](value)'
        ),
    ),
    Carrier(
        "module-forward-kwargs",
        '$o = Options2_()(value=$t)["value"]',
        (
            "class Options2_(nn.Module):\n    def forward(self, *, value, scale=None):\n"
            '        return {"value": value, "scale": scale}'
        ),
    ),
    Carrier(
        "module-returns-dataclass",
        "$o = Net_()($t).logits",
        (
            "@dataclass\nclass Result_:\n    logits: object\n    hidden: object = None\n\n\nclass Net_(nn.Module):\n"
            "    def forward(self, value):\n        return Result_(logits=value)"
        ),
    ),
    Carrier(
        "module-forward-hook",
        (
            "seen_ = {}\nplain_ = Plain2_()\n"
            "handle_ = plain_.register_forward_hook(lambda module, args, output: seen_.update(value=output))\n"
            'plain_($t)\nhandle_.remove()\n$o = seen_["value"]'
        ),
        "class Plain2_(nn.Module):\n    def forward(self, value):\n        return value",
    ),
    Carrier(
        "module-state_dict-items",
        '$o = [value_ for name_, value_ in Table3_($t).state_dict().items() if name_.endswith("table")][0]',
        (
            "class Table3_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            '        self.register_buffer("table", value)'
        ),
    ),
    Carrier(
        "module-get_buffer",
        '$o = Table4_($t).get_buffer("table")',
        (
            "class Table4_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            '        self.register_buffer("table", value)'
        ),
    ),
    Carrier(
        "module-parameters-next",
        "$o = next(Weighted2_($t).parameters()).detach()",
        (
            "class Weighted2_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            "        self.weight = nn.Parameter(value)"
        ),
        kinds="FN",
    ),
    Carrier(
        "module-apply-collects",
        (
            "tables_ = []\n"
            'nn.Sequential(Inner5_($t)).apply(lambda module: tables_.append(module.table) if hasattr(module, "table") else None)\n'
            "$o = tables_[0]"
        ),
        (
            "class Inner5_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            "        self.table = value"
        ),
    ),
    Carrier(
        "module-__getattr__",
        "$o = Wrap_(Inner6_($t)).table",
        (
            "class Wrap_(nn.Module):\n    def __init__(self, inner):\n        super().__init__()\n"
            "        self.inner = inner\n\n    def __getattr__(self, name):\n        try:\n"
            "            return super().__getattr__(name)\n        except AttributeError:\n"
            "            return getattr(self.inner, name)\n\n\nclass Inner6_(nn.Module):\n"
            "    def __init__(self, value):\n        super().__init__()\n        self.table = value"
        ),
    ),
    Carrier(
        "module-wrapped-module",
        "$o = Wrapped_(Base2_())($t, scale=2)",
        (
            "class Wrapped_(nn.Module):\n    def __init__(self, module):\n        super().__init__()\n"
            "        self.module = module\n\n    def forward(self, *args, **kwargs):\n"
            "        return self.module(*args, **kwargs)\n\n\nclass Base2_(nn.Module):\n"
            "    def forward(self, value, scale=1):\n        return value"
        ),
    ),
    Carrier(
        "module-load_state_dict-own",
        'table_ = Table5_($t)\ntable_.load_state_dict({"table": $t})\n$o = table_.table',
        (
            "class Table5_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            '        self.register_buffer("table", torch.zeros_like(value))'
        ),
    ),
    Carrier(
        "module-extra_state",
        'extra_ = Extra_()\nextra_.set_extra_state({"kept": $t})\n$o = extra_.kept',
        (
            "class Extra_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            '        self.kept = None\n\n    def get_extra_state(self):\n        return {"kept": self.kept}\n\n'
            '    def set_extra_state(self, state):\n        self.kept = state["kept"]'
        ),
    ),
    Carrier(
        "module-sequential-index",
        'net_ = nn.Sequential(OrderedDict([("keeps", Keeps_($t))]))\n$o = net_.keeps.value',
        (
            "class Keeps_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            "        self.value = value\n\n    def forward(self, other):\n        return other"
        ),
    ),
    Carrier(
        "module-setattr-list",
        "$o = Levels_([$t, $t]).level(1)",
        (
            "class Levels_(nn.Module):\n    def __init__(self, values):\n        super().__init__()\n"
            '        for at, value in enumerate(values):\n            self.register_buffer(f"level_{at}", value)\n\n'
            '    def level(self, at):\n        return getattr(self, f"level_{at}")'
        ),
    ),
    Carrier("no_grad-decorator", "$o = still_($t)", "@torch.no_grad()\ndef still_(value):\n    return value"),
    Carrier(
        "inference_mode-decorator",
        "$o = infer_($t).clone()",
        "@torch.inference_mode()\ndef infer_(value):\n    return value * 1",
        kinds="FNI",
    ),
    Carrier("autocast-context", 'with torch.autocast("cpu", enabled=False):\n    $o = $t'),
    Carrier(
        "jit-script-function",
        "$o = scripted_($t)",
        "@torch.jit.script\ndef scripted_(value: torch.Tensor) -> torch.Tensor:\n    return value + 0",
        kinds="FNI",
    ),
    Carrier("compile-disabled", "$o = eager_($t)", "@torch.compiler.disable\ndef eager_(value):\n    return value"),
    Carrier(
        "concat-dataset",
        "$o = torch.utils.data.ConcatDataset([Rows3_([1]), Rows3_([$t])])[1]",
        (
            "class Rows3_(Dataset):\n    def __init__(self, rows):\n        self.rows = rows\n\n"
            "    def __len__(self):\n        return len(self.rows)\n\n    def __getitem__(self, at):\n"
            "        return self.rows[at]"
        ),
    ),
    Carrier(
        "loader-with-collate", "for $o in DataLoader([$t], batch_size=1, collate_fn=lambda rows: rows[0]):\n    pass"
    ),
    Carrier("loader-of-dicts", 'for batch_ in DataLoader([{"value": $t}], batch_size=1):\n    $o = batch_["value"][0]'),
    Carrier(
        "loader-of-tensor-dataset",
        "for (batch_,) in DataLoader(TensorDataset($t), batch_size=9):\n    $o = batch_",
        kinds="FIB",
    ),
    Carrier("random_split-item", "first_, second_ = torch.utils.data.random_split([$t, $t], [1, 1])\n$o = first_[0]"),
    Carrier("distribution-mean", "$o = torch.distributions.Normal($t, 1.0).mean"),
    Carrier(
        "nested-unpack-of-call",
        "(count_, ($o, _)), options_ = several_($t)",
        'def several_(value):\n    return (1, (value, 2)), {"rate": 0.1}',
    ),
    Carrier(
        "packed-and-padded",
        (
            "packed_ = nn.utils.rnn.pack_sequence([$t])\n"
            "padded_, lengths_ = nn.utils.rnn.pad_packed_sequence(packed_)\n$o = padded_[:, 0]"
        ),
        kinds="FIB",
    ),
    Carrier(
        "parametrize",
        (
            'held_ = Held_($t)\ntorch.nn.utils.parametrize.register_parametrization(held_, "weight", Keep2_())\n'
            "$o = held_.weight.detach()"
        ),
        (
            "class Keep2_(nn.Module):\n    def forward(self, value):\n        return value\n\n\n"
            "class Held_(nn.Module):\n    def __init__(self, value):\n        super().__init__()\n"
            "        self.weight = nn.Parameter(value)"
        ),
        kinds="FN",
    ),
    Carrier(
        "generator-pipeline",
        "$o = list(second_of_(numbers_($t)))[-1]",
        (
            "def numbers_(value):\n    for at in range(2):\n        yield at, value\n\n\ndef second_of_(rows):\n"
            "    for at, value in rows:\n        yield value"
        ),
    ),
    Carrier(
        "bool-flag-parameter",
        "$o = with_flag_($t, wrap=True)[0]",
        "def with_flag_(value, wrap=False):\n    if not wrap:\n        return value\n    return [value]",
    ),
    Carrier(
        "ternary-of-none",
        "$o = or_else_(other=$t)",
        "def or_else_(value=None, other=None):\n    value = other if value is None else value\n    return value",
    ),
)

MEETINGS = (
    Meeting("torch.where-three", "mat", "vec", "out = torch.where($x > 0, $x, $t)"),
    Meeting("masked_scatter", "mat", "mat", "out = $x.masked_scatter($x > 0, $t)"),
    Meeting("index_fill", "mat", "idx", "out = $x.index_fill(0, $t, 0.5)"),
    Meeting(
        "scatter_reduce-7",
        "mat",
        "mat",
        'out = $x.scatter_reduce(0, torch.zeros(3, 4, dtype=torch.long, device=$x.device), $t, reduce="amax")',
    ),
    Meeting("addmv", "mat", "vec", "out = $x.new_zeros(3).addmv($x, $t)"),
    Meeting("dot-7", "vec", "vec", "out = $x.dot($t)"),
    Meeting("logaddexp-7", "mat", "vec", "out = torch.logaddexp($x, $t)"),
    Meeting("atan2", "mat", "vec", "out = torch.atan2($x, $t)"),
    Meeting("fmod-remainder", "mat", "vec", "out = torch.remainder($x, $t.abs() + 1)"),
    Meeting("minimum-method", "mat", "vec", "out = $x.minimum($t)"),
    Meeting("rsub-number-side", "mat", "vec", "out = 1 - $x + (2 - $t)"),
    Meeting("in-place-sub", "mat", "vec", "out = $x.clone()\nout -= $t"),
    Meeting("dist-norm", "mat", "mat", "out = torch.dist($x, $t)"),
    Meeting("smooth_l1", "mat", "mat", "out = F.smooth_l1_loss($x, $t)"),
    Meeting("huber-module", "mat", "mat", "out = nn.HuberLoss()($x, $t)"),
    Meeting("nll_loss", "mat", "idx", "out = F.nll_loss(F.log_softmax($x, dim=-1), $t)"),
    Meeting(
        "nll_loss-weight-7",
        "mat",
        "vec",
        "out = F.nll_loss(F.log_softmax($x, dim=-1), torch.zeros(3, dtype=torch.long, device=$x.device), weight=$t.abs())",
    ),
    Meeting("multi_margin", "mat", "idx", "out = F.multi_margin_loss($x, $t)"),
    Meeting("poisson_nll", "mat", "mat", "out = F.poisson_nll_loss($x, $t.abs())"),
    Meeting("gaussian_nll-var", "vec", "vec", "out = F.gaussian_nll_loss($x, torch.zeros_like($x), $t.abs() + 1)"),
    Meeting("instance-prelu", "img", "num", "out = F.prelu($x, $t.reshape(1))"),
    Meeting("linear-bias", "mat", "vec", "out = F.linear($x, torch.ones(4, 4, device=$x.device), $t)"),
    Meeting("embedding_bag", "mat", "ids", "out = F.embedding_bag($t, $x)"),
    Meeting("attention-scores-mask", "seq", "sq", "out = F.scaled_dot_product_attention($x, $x, $x, attn_mask=$t)"),
    Meeting(
        "grid_sample-grid",
        "img",
        "img",
        "out = F.grid_sample($x, $t.permute(0, 2, 3, 1)[..., :2], align_corners=False)",
    ),
    Meeting("conv-module-input", "img", "img", "out = $m($t) + $x", module="nn.Conv2d(3, 3, 1)"),
    Meeting(
        "embedding-module-then-mask",
        "ids",
        "mask",
        "out = $m($x)[:, :3] * $t.unsqueeze(-1)",
        module="nn.Embedding(3, 4)",
    ),
    Meeting(
        "multihead-key-mask",
        "seq",
        "ids",
        "out, _ = $m($x, $x, $x, key_padding_mask=$t > 5)",
        module="nn.MultiheadAttention(4, 2, batch_first=True)",
    ),
    Meeting(
        "sequential-with-loss",
        "mat",
        "idx",
        "out = nn.CrossEntropyLoss()($m($x), $t)",
        module="nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))",
    ),
    Meeting("weight-data-added", "mat", "mat", "$m.weight.data += $t\nout = $m($x)", module="nn.Linear(4, 3)"),
    Meeting(
        "categorical-log_prob-of-actions", "mat", "idx", "out = torch.distributions.Categorical(logits=$x).log_prob($t)"
    ),
    Meeting(
        "kl-of-distributions",
        "mat",
        "mat",
        "out = torch.distributions.kl_divergence(torch.distributions.Normal($x, 1.0), torch.distributions.Normal($t, 1.0))",
    ),
    Meeting(
        "bernoulli-log_prob-7",
        "mat",
        "mat",
        "out = torch.distributions.Bernoulli(logits=$x).log_prob(($t > 0).float())",
    ),
    Meeting("cat-of-generator-tuple", "mat", "mat", "out = torch.cat(tuple(part_ for part_ in [$x, $t]), dim=1)"),
    Meeting("hstack-both", "mat", "mat", "out = torch.hstack([$x, $t])"),
    Meeting("sum-builtin", "mat", "mat", "out = sum([$x, $t])"),
    Meeting("operator-mul", "mat", "mat", "out = operator.mul($x, $t)"),
    Meeting("map-operator", "mat", "mat", "out = torch.stack(list(map(operator.sub, [$x], [$t])))"),
    Meeting("torch-isclose", "mat", "mat", "out = torch.isclose($x, $t)"),
    Meeting("tensordot-dims", "mat", "mat", "out = torch.tensordot($x, $t, dims=([1], [1]))"),
    Meeting("chain-matmul", "mat", "sq", "out = $x @ $t[:4, :4] @ torch.ones(4, device=$x.device)"),
    Meeting("repeat-then-sub", "mat", "vec", "out = $x - $t.unsqueeze(0).repeat(3, 1)"),
    Meeting("view_as-then-add", "mat", "mat", "out = $t.view_as($x) + $x"),
    Meeting("store-with-mask", "mat", "mask", "out = $x.clone()\nout[$t] = 0.5"),
    Meeting("vmap-of-two", "mat", "mat", "out = torch.vmap(lambda a, b: (a * b).sum())($x, $t)"),
    Meeting("grad-of-both", "mat", "vec", "out = torch.func.grad(lambda value: (value * $t).sum())($x)"),
    Meeting("checkpointed-both", "mat", "vec", "out = checkpoint(lambda a, b: a + b, $x, $t, use_reentrant=False)"),
    Meeting(
        "autograd-function-of-both",
        "mat",
        "vec",
        (
            "class Product_(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, one, other):\n"
            "        ctx.save_for_backward(one, other)\n        return one * other\n\n    @staticmethod\n"
            "    def backward(ctx, grad):\n        one, other = ctx.saved_tensors\n"
            "        return grad * other, grad * one\n\nout = Product_.apply($x, $t)"
        ),
    ),
    Meeting(
        "numpy-of-moved",
        "mat",
        "vec",
        "out = $x.detach().numpy().sum() + $t.detach().cpu().numpy().sum()",
        good="out = $x.detach().cpu().numpy().sum() + $t.detach().cpu().numpy().sum()",
        shown="np.asarray(out).sum()",
    ),
    Meeting(
        "numpy-by-helper",
        "mat",
        "vec",
        (
            "def to_numpy_(value):\n    if isinstance(value, torch.Tensor):\n        return value.detach().numpy()\n"
            "    return np.asarray(value)\n\nout = to_numpy_($x) + 1"
        ),
        good=(
            "def to_numpy_(value):\n    if isinstance(value, torch.Tensor):\n        return value.detach().numpy()\n"
            "    return np.asarray(value)\n\nout = to_numpy_($x.cpu()) + 1"
        ),
        shown="np.asarray(out).sum()",
    ),
    Meeting(
        "appended-numpy",
        "mat",
        "vec",
        (
            "collected_ = []\nfor row_ in $x.detach():\n    collected_.append(row_.numpy())\n"
            "out = np.concatenate(collected_)"
        ),
        good="out = np.concatenate([row_.cpu().numpy() for row_ in $x.detach()])",
        shown="np.asarray(out).sum()",
    ),
)

PLACERS = (
    Placer(
        "dict-comprehension-to",
        (
            'batch_ = {"a": $moved, "n": 3}\n'
            "batch_ = {key_: value_.to($dev) if torch.is_tensor(value_) else value_ for key_, value_ in batch_.items()}\n"
            '$x = batch_["a"]'
        ),
        kinds="FNIB",
    ),
    Placer("tuple-generator-to", "$x, _ = tuple(part_.to($dev) for part_ in ($moved, torch.ones(1)))", kinds="FNIB"),
    Placer("methodcaller-to", '$x = operator.methodcaller("to", $dev)($moved)', kinds="FNIB"),
    Placer("unbound-to", "$x = torch.Tensor.to($moved, $dev)", kinds="FNIB"),
    Placer(
        "generator-then-to",
        "for $x, _ in batches_placed_([($moved, torch.ones(1))], $dev):\n    pass",
        (
            "def batches_placed_(rows, device):\n    for row in rows:\n"
            "        yield tuple(part.to(device) for part in row)"
        ),
        kinds="FNIB",
    ),
    Placer(
        "class-to-returns-self",
        "$x = Batch2_($moved).to($dev).value",
        (
            "class Batch2_:\n    def __init__(self, value):\n        self.value = value\n\n    def to(self, device):\n"
            "        self.value = self.value.to(device)\n        return self"
        ),
        kinds="FNIB",
    ),
    Placer(
        "class-to-copies",
        '$x = Batch3_(value=$moved).to($dev).fields["value"]',
        (
            "class Batch3_:\n    def __init__(self, **fields):\n        self.fields = fields\n\n"
            "    def to(self, device):\n"
            "        return Batch3_(**{name: value.to(device) for name, value in self.fields.items()})"
        ),
        kinds="FNIB",
    ),
    Placer(
        "collate-then-to",
        (
            "loader_ = DataLoader([$moved], batch_size=1, collate_fn=lambda rows: rows[0])\n"
            "$x = next(iter(loader_)).to($dev)"
        ),
        kinds="FNIB",
    ),
    Placer(
        "module-buffer-after-to",
        "$x = Place_().to($dev).place",
        (
            "class Place_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            '        self.register_buffer("place", $plain)'
        ),
        kinds="FNIB",
    ),
    Placer(
        "module-nested-buffer",
        "$x = Around_().to($dev).parts[0].place",
        (
            "class Place2_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            '        self.register_buffer("place", $plain, persistent=False)\n\n\nclass Around_(nn.Module):\n'
            "    def __init__(self):\n        super().__init__()\n        self.parts = nn.ModuleList([Place2_()])"
        ),
        kinds="FNIB",
    ),
    Placer(
        "module-to_empty",
        "$x = torch.zeros_like(Place4_().to_empty(device=$dev).place)",
        (
            "class Place4_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            '        self.register_buffer("place", $plain)'
        ),
        kinds="FNIB",
    ),
    Placer(
        "module-own-device-property",
        "$x = $moved.to(Knows_().to($dev).device)",
        (
            "class Knows_(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.anchor = nn.Parameter(torch.ones(1))\n\n    @property\n    def device(self):\n"
            "        return self.anchor.device"
        ),
        kinds="FNIB",
    ),
    Placer(
        "device-of-next-parameters",
        "layer_ = nn.Linear(2, 2).to($dev)\n$x = $moved.to(next(layer_.parameters()).device)",
        kinds="FNIB",
    ),
    Placer(
        "device-kept-by-object",
        "$x, = Runner2_($dev).place($moved)",
        (
            "class Runner2_:\n    def __init__(self, device):\n        self.device = torch.device(device)\n\n"
            "    def place(self, *values):\n        return [value.to(self.device) for value in values]"
        ),
        kinds="FNIB",
    ),
    Placer(
        "device-of-kwargs",
        "$x = make_with_($size$dtype, device=$dev)",
        "def make_with_(size, **kwargs):\n    return torch.ones(size, **kwargs)",
        kinds="FNIB",
    ),
    Placer(
        "generator-device-rand",
        (
            "generator_ = torch.Generator(device=$dev)\n"
            "$x = torch.rand($shape, generator=generator_, device=generator_.device)"
        ),
        kinds="FN",
    ),
    Placer(
        "distribution-sample-placed",
        "$x = torch.distributions.Normal(torch.zeros($shape, device=$dev), 1.0).sample()",
        kinds="FN",
    ),
    Placer("nn-init-placed", "$x = nn.init.ones_(torch.empty($shape, device=$dev))", kinds="FN"),
    Placer(
        "optimizer-held",
        (
            "weight_ = nn.Parameter($on)\nsgd_ = torch.optim.SGD([weight_], lr=0.1)\n"
            '$x = sgd_.param_groups[0]["params"][0].data'
        ),
        kinds="FN",
    ),
)

DEVICES = (
    Device("device-of-object", 'torch.device(torch.device("cuda"))'),
    Device("device-percent", '"cuda:%d" % 0'),
    Device("device-format", '"cuda:{}".format(0)'),
    Device("device-of-join", '":".join(["cuda", "0"])'),
    Device(
        "device-in-namedtuple",
        "PLACES2_.train",
        'PLACES2_ = collections.namedtuple("PLACES2_", "train test")("cuda", "cpu")',
    ),
    Device(
        "device-of-argparse-type",
        'options2_()["device"]',
        (
            "def options2_():\n    parser = argparse.ArgumentParser()\n"
            '    parser.add_argument("--device", type=torch.device, default=torch.device("cuda"))\n'
            "    return vars(parser.parse_args([]))"
        ),
    ),
    Device(
        "device-of-known-args",
        "options3_()[0].device",
        (
            "def options3_():\n    parser = argparse.ArgumentParser()\n"
            '    parser.add_argument("-d", "--device", default="cuda", choices=["cuda", "cpu"])\n'
            "    return parser.parse_known_args([])"
        ),
    ),
    Device(
        "device-of-json",
        'json.loads(CONFIG_TEXT_)["run"]["device"]',
        'CONFIG_TEXT_ = \'{"run": {"device": "cuda", "rate": 0.1}}\'',
    ),
    Device(
        "device-of-class-property",
        "Run_().device",
        (
            "class Run_:\n    @property\n    def device(self):\n"
            '        return torch.device("cuda" if torch.cuda.is_available() else "cpu")'
        ),
    ),
    Device("device-of-cached-function", "where_()", '@functools.cache\ndef where_():\n    return torch.device("cuda")'),
    Device(
        "device-of-try",
        "tried_()",
        (
            'def tried_():\n    try:\n        torch.zeros(1).cuda()\n        return torch.device("cuda")\n'
            '    except (RuntimeError, AssertionError):\n        return torch.device("cpu")'
        ),
    ),
    Device(
        "device-of-next", 'next(name for name, works in (("cuda", torch.cuda.is_available()), ("cpu", True)) if works)'
    ),
    Device("device-of-count", '"cuda" if torch.cuda.device_count() > 1 else "cpu"'),
    Device("device-of-tensor", 'torch.empty(0, device="cuda").device'),
    Device("device-number", "torch.cuda.current_device()"),
    Device("device-accelerator", "torch.accelerator.current_accelerator()"),
)
