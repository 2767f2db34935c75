"""The kept half of the shapes of the fourth batch: see kept_fourth.py."""

from __future__ import annotations

from differential.programs import Parts, Program, indent
from differential.shapes import (
    driven,
    enter,
    forward_of,
    init_of,
    inside,
    main_of,
    members,
    module_class,
    run_model,
    shape,
)


@shape("step-of-partial", "one-file", batch="fourth", kept=True)
def step_of_partial(p: Parts) -> Program:
    """The device is bound to a step function by `functools.partial`."""
    body = [*p.module("device"), *inside(p, "device", "layer")]
    step = [f"def step({p.x}, device, scale=1.0):", *indent(body)]
    main = [f"device = {p.device}", "run_step = functools.partial(step, device=device)", *p.place("device")]
    return p.single(step, main_of([*main, f"result = run_step({p.x})", f"print({p.shown('result')})"]))


@shape("operations-by-name", "one-file", batch="fourth", kept=True)
def operations_by_name(p: Parts) -> Program:
    """Functions enter themselves into a registry, and a configuration names the one that is called."""
    add = ["def add(function):", "    OPERATIONS[name] = function", "    return function", "", "return add"]
    register = ["OPERATIONS = {}", "", "", "def operation(name):", *indent(add)]
    device = f"{p.x}.device"
    body = [*p.module(device), *inside(p, device, "layer")]
    own = ['@operation("combine")', f"def combine_op({p.x}, **options):", *indent(body)]
    run = [f"def run(config, {p.x}):", f'    return OPERATIONS[config["op"]]({p.x}, **config["options"])']
    main = [f"device = {p.device}", 'config = {"op": "combine", "options": {"rate": 0.1}}', *p.place("device")]
    main += [f"result = run(config, {p.x})", f"print({p.shown('result')})"]
    return p.single(register, own, run, main_of(main))


@shape("chain-of-generators", "one-file", batch="fourth", kept=True)
def chain_of_generators(p: Parts) -> Program:
    """A generator reads batches, a second one works on what the first yields."""
    read = ["def read(device, count=2):", "    for number in range(count):"]
    read += indent([*p.place("device"), f"yield number, {p.x}"], 2)
    body = [*inside(p, "device", "layer")[:-1], "yield number, out"]
    extra = ", layer" if p.spec.meeting.module else ""
    work = [f"def work(pairs, device{extra}):", f"    for number, {p.x} in pairs:", *indent(body, 2)]
    main = [f"device = {p.device}", *p.module("device"), f"results = dict(work(read(device), device{extra}))"]
    return p.single(read, work, main_of([*main, "result = results[1]", f"print({p.shown('result')})"]))


@shape("module-with-device-property", "one-file", batch="fourth", kept=True)
def module_with_device_property(p: Parts) -> Program:
    """A base module whose property tells the device of its parameters."""
    base = ["class BaseModule(nn.Module):", *init_of(["self.gain = nn.Parameter(torch.ones(1))"])]
    base += ["", "    @property", "    def device(self):", "        return next(self.parameters()).device"]
    model = ["class Model(BaseModule):", *init_of(members(p)), *forward_of(p, [*enter(p), *inside(p, "self.device")])]
    return p.single(base, model, main_of(run_model(p)))


@shape("model-from-config", "one-file", batch="fourth", kept=True)
def model_from_config(p: Parts) -> Program:
    """A model that a classmethod builds from a dict of options."""
    init = ['options = {"rate": 0.1, **(options or {})}', 'self.factor_of = options["rate"]', *members(p)]
    model = ["class Model(nn.Module):", *init_of(init, ", options=None")]
    model += [
        "",
        "    @classmethod",
        "    def from_config(cls, config):",
        '        return cls(options=config["model"])',
    ]
    model += forward_of(p, [*enter(p), *inside(p, f"{p.x}.device")])
    return p.single(model, main_of(run_model(p, 'Model.from_config({"model": {"rate": 0.5}, "seed": 1})')))


@shape("memory-of-agent", "one-file", batch="fourth", kept=True)
def memory_of_agent(p: Parts) -> Program:
    """An agent pushes the tensor into its memory and works with it later."""
    made = p.make("self.device")
    carried, name = p.carry()
    memory = ["class Memory:", "    def __init__(self, size):", "        self.entries = deque([], maxlen=size)"]
    memory += ["", "    def push(self, *entry):", "        self.entries.append(entry)"]
    memory += ["", "    def last(self):", "        return self.entries[-1]"]
    init = ["self.device = device", "self.memory = Memory(4)", *p.module("device", "self.layer")]
    agent = ["class Agent:", "    def __init__(self, device):", *indent(init, 2)]
    agent += ["", "    def observe(self, reward):", *indent([*made, f"self.memory.push({p.t}, reward)"], 2)]
    body = [f"{p.t}, reward = self.memory.last()", *carried, *p.meet(name, "self.layer"), "return out"]
    agent += forward_of(p, body, "learn")
    main = [f"device = {p.device}", "agent = Agent(device)", "agent.observe(1.0)", *p.place("device")]
    return p.single(memory, agent, main_of([*main, f"result = agent.learn({p.x})", f"print({p.shown('result')})"]))


@shape("dict-batches", "one-file", loop=True, batch="fourth", kept=True)
def dict_batches(p: Parts) -> Program:
    """A dataset of dicts, whose batches a loop takes apart and moves by name."""
    made = p.make("device")
    carried, name = p.carry()
    dataset = ["class Rows(Dataset):", "    def __init__(self, rows):", "        self.rows = rows"]
    dataset += ["", "    def __len__(self):", "        return len(self.rows)", "", "    def __getitem__(self, number):"]
    dataset += ['        return {"data": self.rows[number], "number": number}']
    body = ['loaded = batch["data"]', *p.place("device", "loaded"), *made, *carried, *p.meet(name, "layer")]
    train = ["total = 0.0", *p.module("device"), "for batch in loader:", *indent([*body, f"total += {p.shown()}"])]
    main = [f"device = {p.device}", f"data = Rows({p.x_kind.fields()['moved']})"]
    main += [f"loader = DataLoader(data, batch_size={p.x_kind.dims[0]})", "print(train(loader, device))"]
    return p.single(dataset, ["def train(loader, device):", *indent([*train, "return total"])], main_of(main))


@shape("main-of-arguments", "one-file", batch="fourth", kept=True)
def main_of_arguments(p: Parts) -> Program:
    """A script that hands its arguments, the device among them, to each of its functions."""
    run = ["def run(args):", *indent([*p.place("args.device"), f"return compute({p.x}, args)"])]
    body = [*p.module("args.device"), *inside(p, "args.device", "layer")]
    parse = ["def parse():", "    parser = argparse.ArgumentParser()"]
    parse += ['    parser.add_argument("--epochs", type=int, default=1)', "    args = parser.parse_args([])"]
    parse += [f"    args.device = {p.device}", "    return args"]
    main = ["args = parse()", "result = run(args)", f"print({p.shown('result')})"]
    return p.single(parse, [f"def compute({p.x}, args):", *indent(body)], run, main_of(main))


@shape("strategy-object", "one-file", batch="fourth", kept=True)
def strategy_object(p: Parts) -> Program:
    """A model delegates to a plain object that it was given, which knows nothing of modules."""
    made = p.make(f"{p.x}.device")
    carried, name = p.carry()
    extra = ", layer" if p.spec.meeting.module else ""
    plan = ["class Strategy:", f"    def apply(self, {p.x}{extra}):"]
    plan += indent([*made, *carried, *p.meet(name, "layer"), "return out"], 2)
    own = ", self.layer" if extra else ""
    model = ["class Model(nn.Module):", *init_of([*members(p), "self.strategy = strategy"], ", strategy")]
    model += forward_of(p, [*enter(p), f"return self.strategy.apply({p.x}{own})"])
    return p.single(plan, model, main_of(run_model(p, "Model(Strategy())")))


@shape("plugin-by-import", "files", batch="fourth", kept=True)
def plugin_by_import(p: Parts) -> Program:
    """A module of a package that is imported by its name, and asked for its model."""
    model = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")])
    build = ["def build(**options):", "    return Model()"]
    load = ["def load(name, **options):", '    plugin = importlib.import_module(f"plugins.{name}")']
    load += ["    return plugin.build(**options)"]
    files = {
        "plugins/__init__.py": "",
        "plugins/plain.py": p.file("make carry meet", model, build),
        "loading.py": p.file("", load),
        "main.py": p.file(
            "device place", main_of(run_model(p, 'load("plain", rate=0.1)')), imports=["from loading import load"]
        ),
    }
    return Program(files, "main.py")


@shape("constants-file", "files", batch="fourth", kept=True)
def constants_file(p: Parts) -> Program:
    """The device is a constant of a settings file that all others import."""
    made = p.make("settings.DEVICE")
    carried, name = p.carry()
    extra = ", layer" if p.spec.meeting.module else ""
    body = [*made, *carried, *p.meet(name, "layer"), "return out"]
    main = [*p.place("settings.DEVICE"), *p.module("settings.DEVICE"), f"result = score({p.x}{extra})"]
    files = {
        "settings.py": p.file("device", [f"DEVICE = {p.device}", "SEED = 1"]),
        "scoring.py": p.file(
            "make carry meet", [f"def score_batch({p.x}{extra}):", *indent(body)], imports=["import settings"]
        ),
        "main.py": p.file(
            "place",
            main_of([*main, f"print({p.shown('result')})"]),
            imports=["import settings", "from scoring import score_batch as score"],
        ),
    }
    return Program(files, "main.py")


@shape("open-callback", "open", batch="fourth", kept=True)
def open_callback(p: Parts) -> Program:
    """A callback class of a library, whose methods a trainer elsewhere calls."""
    device = f"{p.x}.device"
    made = p.make(device, f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    fill = [f"if self.{p.t} is None:", *indent(made), *p.module(device)]
    own = ["class Monitor:", "    def __init__(self, every=1):", f"        self.every, self.{p.t} = every, None"]
    own += ["", f"    def on_batch_end(self, step, {p.x}):"]
    own += indent(
        ["if step % self.every:", "    return None", *fill, *carried, *p.meet(name, "layer"), "return out"], 2
    )
    text = p.file("make carry meet", own)
    return driven(
        p, {"library.py": text}, "from library import Monitor", [f"result = Monitor().on_batch_end(0, {p.x})"]
    )


@shape("open-closure", "open", batch="fourth", kept=True)
def open_closure(p: Parts) -> Program:
    """A function that nobody calls makes a function of the operand."""
    made = p.make("device")
    carried, name = p.carry()
    step = [f"def step({p.x}):", *indent([f"held = {name}", *p.meet("held", "layer"), "return out"])]
    make = ["def make_step(device):", *indent([*p.module("device"), *made, *carried, "", *step, "", "return step"])]
    lines = ["step = make_step(device)", f"result = step({p.x})"]
    return driven(p, {"library.py": p.file("make carry meet", make)}, "from library import make_step", lines)


@shape("open-blocks-of-list", "open", batch="fourth", kept=True)
def open_blocks_of_list(p: Parts) -> Program:
    """A module that nobody moves goes through a ModuleList of its blocks and keeps what they give."""
    block = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")], name="Block")
    body = ["results = []", "for block in self.blocks:", f"    results.append(block({p.x}))", "return results[-1]"]
    init = ["self.blocks = nn.ModuleList([Block() for _ in range(depth)])"]
    model = ["class Model(nn.Module):", *init_of(init, ", depth=2"), *forward_of(p, body)]
    lines = ["model = Model().to(device)", f"result = model({p.x})"]
    return driven(p, {"model.py": p.file("make carry meet", block, model)}, "from model import Model", lines)
