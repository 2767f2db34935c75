"""The open half of the shapes of the fifth batch: see tables_fifth.py."""

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


@shape("solver-of-config", "one-file", batch="fifth")
def solver_of_config(p: Parts) -> Program:
    """A solver that chooses its device from a configuration, builds its model and counts iterations."""
    layer = p.module("self.device", "self.layer") or ["self.model = nn.Linear(4, 4).to(self.device)"]
    made = p.make("self.device")
    carried, name = p.carry()
    turn = [*p.place("self.device"), *p.meet(name, "self.layer"), "if (step + 1) % self.config.log_every == 0:"]
    turn += ['    print(f"step {step + 1}")']
    train = [*made, *carried, "for step in range(self.config.first, self.config.last):", *indent(turn), "return out"]
    solver = ["class Solver:", "    def __init__(self, config):"]
    solver += indent(["self.config = config", f"self.device = {p.device}", "self.build_model()"], 2)
    solver += ["", "    def build_model(self):", *indent(layer, 2), "", "    def train(self):", *indent(train, 2)]
    main = ["config = SimpleNamespace(first=0, last=2, log_every=10)", "result = Solver(config).train()"]
    return p.single(solver, main_of([*main, f"print({p.shown('result')})"]))


@shape("observations-brought-back", "one-file", batch="fifth")
def observations_brought_back(p: Parts) -> Program:
    """An agent remembers observations on the CPU and brings a sample back before it learns."""
    init = ["self.device = device", "self.memory = deque(maxlen=100)", *p.module("device", "self.layer")]
    agent = ["class Agent:", "    def __init__(self, device):", *indent(init, 2)]
    agent += forward_of(p, [f"self.memory.append(({p.x}.detach().cpu(), 0.5))"], "remember")
    learn = ["sampled = random.sample(list(self.memory), 1)", f"{p.x} = sampled[0][0].to(self.device)"]
    agent += ["", "    def learn(self):", *indent([*learn, *inside(p, "self.device")], 2)]
    main = [f"device = {p.device}", "agent = Agent(device)", *p.place("device"), f"agent.remember({p.x})"]
    return p.single(agent, main_of([*main, "result = agent.learn()", f"print({p.shown('result')})"]))


@shape("model-of-registry", "one-file", batch="fifth")
def model_of_registry(p: Parts) -> Program:
    """A decorator registers a model, and a builder finds it by the name in a configuration."""
    add = ["def add(cls):", "    MODELS[name] = cls", "    return cls", "", "return add"]
    registry = ["MODELS = {}", "", "", "def register_model(name):", *indent(add)]
    model = ['@register_model("base")', *module_class(p, [*enter(p), *inside(p, f"{p.x}.device")])]
    build = ["def build_model(config):", "    options = dict(config)"]
    build += ['    return MODELS[options.pop("name")](**options)']
    return p.single(registry, model, build, main_of(run_model(p, 'build_model({"name": "base"})')))


@shape("device-property", "one-file", batch="fifth")
def device_property(p: Parts) -> Program:
    """A module whose device is a property, and a hook of its trainer in which the tensor is made."""
    made = p.make("self.device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    lines = ["class Model(nn.Module):", *init_of([*members(p), "self.gain = nn.Parameter(torch.ones(1))"])]
    lines += ["", "    @property", "    def device(self):", "        return next(self.parameters()).device"]
    lines += ["", "    def on_train_start(self):", *indent(made, 2)]
    lines += forward_of(p, [*enter(p), *carried, *p.meet(name, "self.layer"), "return out"])
    main = [f"device = {p.device}", "model = Model()", "model.to(device)", "model.on_train_start()", *p.place("device")]
    return p.single(lines, main_of([*main, f"result = model({p.x})", f"print({p.shown('result')})"]))


@shape("stopped-early", "one-file", batch="fifth")
def stopped_early(p: Parts) -> Program:
    """A loop that an object ends when the score does not fall any more."""
    step = ["self.waited = 0 if score < self.best else self.waited + 1", "self.best = min(self.best, score)"]
    stopper = ["class EarlyStopping:", "    def __init__(self, patience):"]
    stopper += indent(["self.patience, self.waited = patience, 0", 'self.best = float("inf")'], 2)
    stopper += ["", "    @property", "    def stop(self):", "        return self.waited >= self.patience"]
    stopper += ["", "    def step(self, score):", *indent(step, 2)]
    extra = ", layer" if p.spec.meeting.module else ""
    turn = [*inside(p, f"{p.x}.device", "layer")[:-1], "stopper.step(float(epoch))", "epoch += 1"]
    fit = ["stopper, epoch, out = EarlyStopping(1), 0, None", "while epoch < 5 and not stopper.stop:", *indent(turn)]
    main = [f"device = {p.device}", *p.place("device"), *p.module("device"), f"result = fit({p.x}{extra})"]
    fit = [f"def fit({p.x}{extra}):", *indent([*fit, "return out"])]
    return p.single(stopper, fit, main_of([*main, f"print({p.shown('result')})"]))


@shape("no-device-named", "one-file", batch="fifth")
def no_device_named(p: Parts) -> Program:
    """A script that names no device and runs where its tensors are made."""
    p.make('"cpu"')  # for what it needs at the top
    made = Parts(p.spec, False).make('"cpu"')
    carried, name = p.carry()
    layer = [f"layer = {p.spec.meeting.module}"] if p.spec.meeting.module else []
    body = [*made, *carried, *p.meet(name, "layer"), "return out"]
    compute = [f"def compute({p.x}{', layer' if layer else ''}):", *indent(body)]
    main = [f"{p.x} = {p.x_kind.fields()['plain']}", *layer, f"result = compute({p.x}{', layer' if layer else ''})"]
    text = p.file("make carry meet", compute, main_of([*main, f"print({p.shown('result')})"]))
    return Program({"main.py": text}, "main.py")


@shape("graph-data-object", "one-file", batch="fifth")
def graph_data_object(p: Parts) -> Program:
    """An object of named tensors that moves all of them."""
    move = ["for name, value in self.__dict__.items():", "    if torch.is_tensor(value):"]
    move += ["        setattr(self, name, value.to(device))", "return self"]
    data = ["class GraphData:", "    def __init__(self, **entries):", "        self.__dict__.update(entries)"]
    data += ["", "    def to(self, device):", *indent(move, 2)]
    made = p.make("device")
    carried, name = p.carry(f"data.{p.t}")
    main = [f"device = {p.device}", *p.place("device"), *made, *p.module("device")]
    main += [f"data = GraphData({p.x}={p.x}, {p.t}={p.t}, count=1)", "data = data.to(device)", f"{p.x} = data.{p.x}"]
    return p.single(data, main_of([*main, *carried, *p.meet(name, "layer"), f"print({p.shown()})"]))


@shape("runner-and-hooks", "files", batch="fifth")
def runner_and_hooks(p: Parts) -> Program:
    """A runner calls registered hooks by the name of the moment; one of them keeps the tensor."""
    call = ["for hook in self.hooks:", "    getattr(hook, moment)(self)"]
    run = ["self.outputs = []", 'self.call_hook("before_run")', "for self.batch in batches:"]
    run += ['    self.call_hook("after_iter")', "return self.outputs"]
    runner = ["class Runner:", "    def __init__(self, device):", "        self.device, self.hooks = device, []"]
    runner += ["", "    def register_hook(self, hook):", "        self.hooks.append(hook)"]
    runner += ["", "    def call_hook(self, moment):", *indent(call, 2)]
    runner += ["", "    def run(self, batches):", *indent(run, 2)]
    made = p.make("runner.device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    start = [*p.module("runner.device", "self.layer"), *made]
    after = [f"{p.x} = runner.batch", *carried, *p.meet(name, "self.layer"), "runner.outputs.append(out)"]
    base = ["class Hook:", "    def before_run(self, runner):", "        pass"]
    base += ["", "    def after_iter(self, runner):", "        pass"]
    own = ["class OwnHook(Hook):", "    def before_run(self, runner):", *indent(start, 2)]
    own += ["", "    def after_iter(self, runner):", *indent(after, 2)]
    main = [f"device = {p.device}", "runner = Runner(device)", "runner.register_hook(OwnHook())", *p.place("device")]
    main += [f"result = runner.run([{p.x}])[-1]", f"print({p.shown('result')})"]
    files = {
        "runner.py": p.file("", runner),
        "hooks.py": p.file("make carry meet", base, own),
        "main.py": p.file(
            "device place", main_of(main), imports=["from hooks import OwnHook", "from runner import Runner"]
        ),
    }
    return Program(files, "main.py")


@shape("open-optional-argument", "open", batch="fifth")
def open_optional_argument(p: Parts) -> Program:
    """A function that makes the tensor where its caller gives none."""
    made = p.make(f"{p.x}.device")
    carried, name = p.carry()
    body = [f"if {p.t} is None:", *indent(made), *carried, *p.module(f"{p.x}.device"), *p.meet(name, "layer")]
    text = p.file("make carry meet", [f"def compute({p.x}, {p.t}=None):", *indent([*body, "return out"])])
    return driven(p, {"library.py": text}, "from library import compute", [f"result = compute({p.x})"])


@shape("open-sampler", "open", batch="fifth")
def open_sampler(p: Parts) -> Program:
    """A sampler that nobody makes goes through steps with a model that it is given."""
    body = [*inside(p, f"{p.x}.device", "layer")[:-1], "if step == self.steps - 1:", "    return out"]
    sampler = ["class Sampler:", "    def __init__(self, steps=2):", "        self.steps = steps"]
    loop = [f"{p.x} = model({p.x})", "for step in range(self.steps):", *indent([*p.module(f"{p.x}.device"), *body])]
    sampler += ["", f"    def sample(self, model, {p.x}):", *indent([*loop, "return None"], 2)]
    text = p.file("make carry meet", sampler)
    asked = [f"result = Sampler(1).sample(nn.Identity(), {p.x})"]
    return driven(p, {"library.py": text}, "from library import Sampler", asked)


@shape("teacher-on-second-gpu", "distributed", batch="fifth")
def teacher_on_second_gpu(p: Parts) -> Program:
    """A teacher on the second GPU gives the operand, which comes back to the student's."""
    network = ["class Teacher(nn.Module):", *init_of(["self.gain = nn.Parameter(torch.ones(1))"])]
    network += forward_of(p, [f"return {p.x} * self.gain.detach()" if p.x_kind.sort == "F" else f"return {p.x}"])
    extra = ", layer" if p.spec.meeting.module else ""
    body = [f"{p.x} = teacher({p.x}.to(teacher.gain.device)).to(device)", *inside(p, "device", "layer")]
    distill = [f"def distill(teacher, {p.x}, device{extra}):", *indent(body)]
    main = ['device = torch.device("cuda:0")', 'teacher = Teacher().to("cuda:1")', *p.module("device")]
    main += [*p.place("device"), f"result = distill(teacher, {p.x}, device{extra})", f"print({p.shown('result')})"]
    return p.single(network, distill, main_of(main))
