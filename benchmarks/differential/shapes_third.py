"""The open half of the shapes of the third batch: see tables_third.py."""

from __future__ import annotations

from differential.programs import Parts, Program, indent
from differential.shapes import (
    driven,
    enter,
    forward_of,
    init_of,
    inside,
    main_of,
    maker_function,
    members,
    module_class,
    own_tensor,
    shape,
)


@shape("training-step-of-batches", "one-file", batch="third")
def training_step_of_batches(p: Parts) -> Program:
    """A module with a `training_step` that takes a batch, and a runner that calls it."""
    body = [f'{p.x} = batch["data"]', *enter(p), *inside(p, f"{p.x}.device")]
    model = ["class Model(nn.Module):", *init_of(members(p))]
    model += ["", "    def training_step(self, batch, batch_idx):", *indent(body, 2)]
    fit = ["for batch_idx, batch in enumerate(batches):", "    result = self.model.training_step(batch, batch_idx)"]
    runner = ["class Runner:", "    def __init__(self, model, device):", "        self.model = model.to(device)"]
    runner += ["", "    def fit(self, batches):", *indent([*fit, "return result"], 2)]
    main = [f"device = {p.device}", "runner = Runner(Model(), device)", *p.place("device")]
    main += [f'result = runner.fit([{{"data": {p.x}, "number": 0}}])', f"print({p.shown('result')})"]
    return p.single(model, runner, main_of(main))


@shape("generator-and-critic", "one-file", batch="third")
def generator_and_critic(p: Parts) -> Program:
    """Two networks and a step function that puts the output of one together with the tensor."""
    extra = ", layer" if p.spec.meeting.module else ""
    network = ["class Generator(nn.Module):", *init_of(["self.gain = nn.Parameter(torch.ones(1))"])]
    times = f"{p.x} * self.gain.detach()" if p.x_kind.sort == "F" else p.x
    network += forward_of(p, [f"return {times}"])
    body = [f"{p.x} = generator({p.x})", *inside(p, "device", "layer")]
    step = [f"def step(generator, {p.x}, device{extra}):", *indent(body)]
    main = [f"device = {p.device}", "generator = Generator().to(device)", *p.place("device"), *p.module("device")]
    main += [f"result = step(generator, {p.x}, device{extra})", f"print({p.shown('result')})"]
    return p.single(network, step, main_of(main))


@shape("agent-and-environment", "one-file", batch="third")
def agent_and_environment(p: Parts) -> Program:
    """An environment gives the operand, an agent keeps the tensor."""
    environment = ["class Environment:", "    def __init__(self, device):", "        self.device = device"]
    environment += ["", "    def reset(self):", *indent([*p.place("self.device"), f"return {p.x}"], 2)]
    made = p.make("device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    init = [*p.module("device", "self.layer"), *made]
    agent = ["class Agent:", "    def __init__(self, device):", *indent(init, 2)]
    agent += forward_of(p, [*carried, *p.meet(name, "self.layer"), "return out"], "act")
    main = [f"device = {p.device}", "environment, agent = Environment(device), Agent(device)"]
    main += [f"{p.x} = environment.reset()", f"result = agent.act({p.x})", f"print({p.shown('result')})"]
    return p.single(environment, agent, main_of(main))


@shape("abstract-task", "one-file", batch="third")
def abstract_task(p: Parts) -> Program:
    """An abstract class runs a step that its subclass fills."""
    base = [
        "class Task(ABC):",
        "    def __init__(self, device):",
        "        self.device = device",
        "        self.setup()",
    ]
    base += ["", "    def setup(self):", "        self.count = 0", "", "    @abstractmethod"]
    base += [f"    def step(self, {p.x}):", "        raise NotImplementedError"]
    base += forward_of(p, ["self.count += 1", f"return self.step({p.x})"], "run")
    layer = p.module("self.device", "self.layer")
    own = ["class OwnTask(Task):", "    def setup(self):", *indent(["super().setup()", *layer], 2)]
    own += forward_of(p, inside(p, "self.device"), "step")
    main = [f"device = {p.device}", "task = OwnTask(device)", *p.place("device"), f"result = task.run({p.x})"]
    return p.single(base, own, main_of([*main, f"print({p.shown('result')})"]))


@shape("criterion-of-model", "one-file", batch="third")
def criterion_of_model(p: Parts) -> Program:
    """A loss module keeps the tensor and is moved beside the model."""
    made = own_tensor(p, False)
    carried, name = p.carry(f"self.{p.t}")
    body = [*carried, *p.meet(name, "self.layer"), "return out"]
    layer = [line for line in members(p) if "self.layer" in line]
    loss = ["class Criterion(nn.Module):", *init_of([*layer, *made]), *forward_of(p, body)]
    main = [f"device = {p.device}", "model = nn.Identity().to(device)", "criterion = Criterion().to(device)"]
    main += [*p.place("device"), f"result = criterion(model({p.x}))", f"print({p.shown('result')})"]
    return p.single(loss, main_of(main))


@shape("evaluation", "one-file", batch="third")
def evaluation(p: Parts) -> Program:
    """A function under `@torch.no_grad()` collects what it computes for each batch."""
    extra = ", layer" if p.spec.meeting.module else ""
    made = p.make("device")
    carried, name = p.carry()
    body = [f"for {p.x} in batches:", *indent([*made, *carried, *p.meet(name, "layer"), "results.append(out)"])]
    evaluate = [
        "@torch.no_grad()",
        f"def evaluate(batches, device{extra}):",
        *indent(["results = []", *body, "return results"]),
    ]
    main = [f"device = {p.device}", *p.place("device"), *p.module("device")]
    main += [f"result = evaluate([{p.x}], device{extra})[-1]", f"print({p.shown('result')})"]
    if "backward()" in p.spec.meeting.lines:
        evaluate = evaluate[1:]
    return p.single(evaluate, main_of(main))


@shape("state-of-functions", "one-file", batch="third")
def state_of_functions(p: Parts) -> Program:
    """Functions that give a dict of state to each other."""
    made = p.make("device")
    carried, name = p.carry()
    state = f'{{"{p.t}": {p.t}, "step": 0' + (', "layer": layer}' if p.spec.meeting.module else "}")
    init = ["def init_state(device):", *indent([*p.module("device"), *made, f"return {state}"])]
    layer = ['layer = state["layer"]'] if p.spec.meeting.module else []
    body = [
        f'{p.t} = state["{p.t}"]',
        *layer,
        *carried,
        *p.meet(name, "layer"),
        'state["step"] += 1',
        "return state, out",
    ]
    step = [f"def update(state, {p.x}):", *indent(body)]
    main = [f"device = {p.device}", "state = init_state(device)", *p.place("device")]
    main += [f"state, result = update(state, {p.x})", f"print({p.shown('result')})"]
    return p.single(init, step, main_of(main))


@shape("base-trainer-file", "files", batch="third")
def base_trainer_file(p: Parts) -> Program:
    """A trainer whose base class, in a file of its own, keeps the device and drives the steps."""
    base = [
        "class BaseTrainer:",
        "    def __init__(self, device):",
        "        self.device = device",
        "        self.build()",
    ]
    base += ["", "    def build(self):", "        raise NotImplementedError", "", "    def fit(self, batches):"]
    base += ["        results = [self.step(batch) for batch in batches]", "        return results[-1]"]
    made = p.make("self.device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    own = [
        "class Trainer(BaseTrainer):",
        "    def build(self):",
        *indent([*p.module("self.device", "self.layer"), *made], 2),
    ]
    own += forward_of(p, [*carried, *p.meet(name, "self.layer"), "return out"], "step")
    main = [f"device = {p.device}", "trainer = Trainer(device)", *p.place("device"), f"result = trainer.fit([{p.x}])"]
    files = {
        "base.py": p.file("", base),
        "trainer.py": p.file("make carry meet", own, imports=["from base import BaseTrainer"]),
        "main.py": p.file(
            "device place", main_of([*main, f"print({p.shown('result')})"]), imports=["from trainer import Trainer"]
        ),
    }
    return Program(files, "main.py")


@shape("open-cache-of-module", "open", batch="third")
def open_cache_of_module(p: Parts) -> Program:
    """A module that nobody moves makes the tensor at its first call and keeps it in a dict."""
    made = p.make(f"{p.x}.device")
    carried, name = p.carry(f'self.cache["{p.t}"]')
    fill = [f'if "{p.t}" not in self.cache:', *indent([*made, f'self.cache["{p.t}"] = {p.t}'])]
    body = [*enter(p), *fill, *carried, *p.meet(name, "self.layer"), "return out"]
    text = p.file("make carry meet", module_class(p, body, [*members(p), "self.cache = {}"]))
    lines = ["model = Model().to(device)", f"result = model({p.x})"]
    return driven(p, {"model.py": text}, "from model import Model", lines)


@shape("open-static-methods", "open", batch="third")
def open_static_methods(p: Parts) -> Program:
    """A class of static methods that nobody calls."""
    device = f"{p.x}.device"
    made, call = maker_function(p)
    carried, name = p.carry()
    call = call.replace("(device)", f"({device})")
    body = [f"{p.t} = Ops.{call}", *carried, *p.module(device), *p.meet(name, "layer"), "return out"]
    ops = [
        "class Ops:",
        "    @staticmethod",
        *indent(made),
        "",
        "    @staticmethod",
        f"    def compute({p.x}):",
        *indent(body, 2),
    ]
    text = p.file("make carry meet", ops)
    return driven(p, {"library.py": text}, "from library import Ops", [f"result = Ops.compute({p.x})"])


@shape("open-batch-function", "open", batch="third")
def open_batch_function(p: Parts) -> Program:
    """A function that nobody calls takes a batch apart."""
    body = [
        f'{p.x}, extra = batch["data"], batch.get("extra")',
        *p.module(f"{p.x}.device"),
        *inside(p, f"{p.x}.device", "layer"),
    ]
    text = p.file("make carry meet", ["def compute(batch, step=0):", *indent(body)])
    return driven(p, {"library.py": text}, "from library import compute", [f'result = compute({{"data": {p.x}}})'])


@shape("worker-of-rank", "distributed", group=True, batch="third")
def worker_of_rank(p: Parts) -> Program:
    """A worker function of a rank, as it is given to `mp.spawn`."""
    made = p.make("device")
    carried, name = p.carry()
    setup = ["rendezvous = dist.HashStore()"]
    setup += ['dist.init_process_group("nccl", store=rendezvous, rank=rank, world_size=world_size)']
    setup += ["torch.cuda.set_device(rank)", 'device = torch.device(f"cuda:{rank}")']
    body = [*p.place("device"), *made, *carried, *p.module("device"), *p.meet(name, "layer")]
    worker = [
        "def worker(rank, world_size, epochs):",
        *indent([*setup, *body, f"print({p.shown()})", "dist.destroy_process_group()"]),
    ]
    return p.single(worker, main_of(["worker(0, 1, 2)"]))
