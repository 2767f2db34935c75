"""The kept half of the shapes of the ninth batch. Do not read it to mend the linter."""

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
    told,
)


@shape("wrapper-with-average", "one-file", batch="ninth", kept=True)
def wrapper_with_average(p: Parts) -> Program:
    """A wrapper keeps a copy of a model; the copy is asked."""
    model = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")])
    wrapper = ["class Averaged:", "    def __init__(self, model, decay=0.99):"]
    wrapper += indent(["self.decay = decay", "self.module = copy.deepcopy(model).eval()"], 2)
    update = ["for own, other in zip(self.module.parameters(), model.parameters()):"]
    update += ["    own.data.mul_(self.decay).add_(other.data, alpha=1 - self.decay)"]
    wrapper += ["", "    def update(self, model):", *indent(update, 2)]
    main = [f"device = {p.device}", "model = Model().to(device)", "average = Averaged(model)", *p.place("device")]
    return p.single(model, wrapper, main_of([*main, "average.update(model)", *told(p, f"average.module({p.x})")]))


@shape("tasks-adapted-to", "one-file", batch="ninth", kept=True)
def tasks_adapted_to(p: Parts) -> Program:
    """Meta-learning: an outer loop over tasks calls an inner function."""
    made = p.make("device")
    carried, name = p.carry()
    body = [*made, *carried, *p.module("device"), *p.meet(name, "layer"), "return out"]
    adapt = [f"def adapt({p.x}, device, steps=1):", *indent(body)]
    outer = ["def outer_loop(tasks, device):", "    results = []", "    for task in tasks:"]
    outer += indent(['results.append(adapt(task["support"], device, steps=2))'], 2)
    outer += ["    return results"]
    main = [f"device = {p.device}", *p.place("device"), f'tasks = [{{"support": {p.x}, "name": "first"}}]']
    return p.single(adapt, outer, main_of([*main, *told(p, "outer_loop(tasks, device)[-1]")]))


@shape("collate-closure", "one-file", batch="ninth", kept=True)
def collate_closure(p: Parts) -> Program:
    """A function makes the collate function, which knows the device."""
    made = p.make("device")
    carried, name = p.carry()
    collate = ["def make_collate(device):", "    def collate(rows):"]
    collate += indent([*p.place("device"), *made, f'return {{"inputs": {p.x}, "extra": {p.t}, "count": len(rows)}}'], 2)
    collate += ["", "    return collate"]
    body = [f'{p.x}, {p.t} = batch["inputs"], batch["extra"]', *carried, *p.meet(name, "layer")]
    run = ["def run(loader, device):", *indent([*p.module("device"), "for batch in loader:", *indent(body)])]
    run += ["    return out"]
    main = [
        f"device = {p.device}",
        "loader = DataLoader(list(range(4)), batch_size=2, collate_fn=make_collate(device))",
    ]
    return p.single(collate, run, main_of([*main, *told(p, "run(loader, device)")]))


@shape("loss-mixin", "one-file", batch="ninth", kept=True)
def loss_mixin(p: Parts) -> Program:
    """A mixin has the loss; the module that uses it has the layers."""
    made = p.make(f"{p.x}.device")
    carried, name = p.carry()
    mixin = ["class LossMixin:", f"    def compute_loss(self, {p.x}):"]
    mixin += indent([*made, *carried, *p.meet(name, "self.layer"), "return out"], 2)
    model = ["class Model(LossMixin, nn.Module):", *init_of(members(p))]
    model += forward_of(p, [*enter(p), f"return self.compute_loss({p.x})"])
    return p.single(mixin, model, main_of(run_model(p)))


@shape("tasks-by-name", "one-file", batch="ninth", kept=True)
def tasks_by_name(p: Parts) -> Program:
    """Tasks register themselves and are run by name."""
    made = p.make("device")
    carried, name = p.carry()
    register = ["TASKS = {}", "", "", "def task(name):", "    def enter(function):", "        TASKS[name] = function"]
    register += ["        return function", "", "    return enter"]
    body = [*p.place("device"), *made, *carried, *p.module("device"), *p.meet(name, "layer"), "return out"]
    run = ['@task("compare")', "def compare(device, verbose=False):", *indent(body)]
    main = [f"device = {p.device}", *told(p, 'TASKS["compare"](device)')]
    return p.single(register, run, main_of(main))


@shape("parameters-in-a-dict", "one-file", batch="ninth", kept=True)
def parameters_in_a_dict(p: Parts) -> Program:
    """No modules: a function makes a dict of parameters, another one computes with it."""
    made = p.make("device")
    carried, name = p.carry()
    start = ["def init_parameters(device):", *indent([*made, f'return {{"{p.t}": {p.t}, "steps": 0}}'])]
    body = [f'{p.t} = parameters["{p.t}"]', *carried, *p.module(f"{p.x}.device"), *p.meet(name, "layer"), "return out"]
    run = [f"def apply(parameters, {p.x}):", *indent(body)]
    main = [f"device = {p.device}", "parameters = init_parameters(device)", *p.place("device")]
    return p.single(start, run, main_of([*main, *told(p, f"apply(parameters, {p.x})")]))


@shape("losses-package", "files", batch="ninth", kept=True)
def losses_package(p: Parts) -> Program:
    """A package of losses, each in a file of its own; its `__init__` names them."""
    loss = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")], name="PairLoss")
    main = [f"device = {p.device}", 'criterion = losses.LOSSES["pair"]().to(device)', *p.place("device")]
    files = {
        "losses/__init__.py": 'from losses.pair import PairLoss\n\nLOSSES = {"pair": PairLoss}\n',
        "losses/pair.py": p.file("make carry meet", loss),
        "main.py": p.file("device place", main_of([*main, *told(p, f"criterion({p.x})")]), imports=["import losses"]),
    }
    return Program(files, "main.py")


@shape("layers-and-model-files", "files", batch="ninth", kept=True)
def layers_and_model_files(p: Parts) -> Program:
    """A block in one file, the model that has several of them in another."""
    block = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")], name="Block")
    build = [
        "class Model(nn.Module):",
        *init_of(["self.blocks = nn.ModuleList(Block() for _ in range(depth))"], ", depth=1"),
    ]
    build += forward_of(p, [f"return [block({p.x}) for block in self.blocks][-1]"])
    main = [f"device = {p.device}", "model = Model(depth=2).to(device)", *p.place("device"), *told(p, f"model({p.x})")]
    files = {
        "layers.py": p.file("make carry meet", block),
        "model.py": p.file("", build, imports=["from layers import Block"]),
        "main.py": p.file("device place", main_of(main), imports=["from model import Model"]),
    }
    return Program(files, "main.py")


@shape("open-steps-of-policy", "open", batch="ninth", kept=True)
def open_steps_of_policy(p: Parts) -> Program:
    """A policy that nobody makes keeps the tensor and acts."""
    made = p.make("device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    policy = ["class Policy:", "    def __init__(self, device):"]
    policy += indent(["self.device, self.steps = device, 0", *p.module("device", "self.layer"), *made], 2)
    policy += forward_of(p, ["self.steps += 1", *carried, *p.meet(name, "self.layer"), "return out"], "act")
    lines = ["policy = Policy(device)", f"result = policy.act({p.x})"]
    return driven(p, {"policy.py": p.file("make carry meet", policy)}, "from policy import Policy", lines)


@shape("stages-on-two-gpus", "distributed", batch="ninth", kept=True)
def stages_on_two_gpus(p: Parts) -> Program:
    """The stages of a pipeline have a GPU each; the last one meets the tensor."""
    made = p.make("self.device")
    carried, name = p.carry()
    stage = ["class Stage:", "    def __init__(self, device):"]
    stage += indent(["self.device = device", *p.module("device", "self.layer")], 2)
    stage += ["", "    def receive(self, value):", "        return value.to(self.device)"]
    stage += forward_of(p, [*made, *carried, *p.meet(name, "self.layer"), "return out"], "run")
    main = ['stages = [Stage(torch.device("cuda", number)) for number in range(2)]', "device = stages[0].device"]
    main += ["torch.cuda.set_device(stages[1].device)"]
    main += [*p.place("device"), f"{p.x} = stages[1].receive({p.x})", *told(p, f"stages[1].run({p.x})")]
    return p.single(stage, main_of(main))
