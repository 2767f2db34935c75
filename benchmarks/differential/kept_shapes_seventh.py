"""The kept half of the shapes of the seventh batch. Do not read it to mend the linter."""

from __future__ import annotations

from differential.programs import Parts, Program, indent
from differential.shapes import (
    driven,
    enter,
    forward_of,
    init_of,
    main_of,
    members,
    module_class,
    own_tensor,
    run_model,
    shape,
)


@shape("async-service", "one-file", batch="seventh", kept=True)
def async_service(p: Parts) -> Program:
    """A service whose methods are coroutines."""
    made = p.make("self.device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    service = ["class Service:", "    def __init__(self, device):"]
    service += indent(["self.device = device", *p.module("device", "self.layer"), *made], 2)
    service += ["", "    async def prepare(self):", *indent([*p.place("self.device"), f"return {p.x}"], 2)]
    answer = [f"{p.x} = await self.prepare()", *carried, *p.meet(name, "self.layer"), "return out"]
    service += ["", "    async def answer(self):", *indent(answer, 2)]
    main = [f"device = {p.device}", "result = asyncio.run(Service(device).answer())", f"print({p.shown('result')})"]
    return p.single(service, main_of(main))


@shape("generator-of-steps", "one-file", batch="seventh", kept=True)
def generator_of_steps(p: Parts) -> Program:
    """A generator gives operands, another puts them together with the tensor, a loop asks it."""
    made = p.make("device")
    carried, name = p.carry()
    feed = [
        "def feed(device, count=2):",
        "    for _ in range(count):",
        *indent([*p.place("device"), f"yield {p.x}"], 2),
    ]
    loop = [
        *made,
        *carried,
        *p.module("device"),
        f"for {p.x} in batches:",
        *indent([*p.meet(name, "layer"), "yield out"]),
    ]
    steps = ["def steps(batches, device):", *indent(loop)]
    main = [f"device = {p.device}", "for result in steps(feed(device), device):", f"    print({p.shown('result')})"]
    return p.single(feed, steps, main_of(main))


@shape("stages-of-pipeline", "one-file", batch="seventh", kept=True)
def stages_of_pipeline(p: Parts) -> Program:
    """A pipeline puts a dict through its stages."""
    made = p.make("self.device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    load = [
        "class Load:",
        "    def __init__(self, device):",
        "        self.device = device",
        "",
        "    def __call__(self, state):",
    ]
    load += indent([*p.place("self.device"), f'return {{**state, "data": {p.x}}}'], 2)
    compute = ["class Compute:", "    def __init__(self, device):"]
    compute += indent(["self.device = device", *p.module("device", "self.layer"), *made], 2)
    body = [f'{p.x} = state["data"]', *carried, *p.meet(name, "self.layer"), 'state["result"] = out', "return state"]
    compute += ["", "    def __call__(self, state):", *indent(body, 2)]
    run = ["def run(stages):", "    return functools.reduce(lambda state, stage: stage(state), stages, {})"]
    main = [
        f"device = {p.device}",
        'result = run([Load(device), Compute(device)])["result"]',
        f"print({p.shown('result')})",
    ]
    return p.single(load, compute, run, main_of(main))


@shape("blocks-of-list", "one-file", batch="seventh", kept=True)
def blocks_of_list(p: Parts) -> Program:
    """Blocks in a ModuleList, built by a loop; one of them holds the tensor."""
    made = own_tensor(p, False)
    carried, name = p.carry(f"self.{p.t}")
    block = module_class(
        p, [*enter(p), *carried, *p.meet(name, "self.layer"), "return out"], [*members(p), *made], "Block"
    )
    lines = ["class Stack(nn.Module):"]
    lines += init_of(
        ["self.blocks = nn.ModuleList()", "for _ in range(depth):", "    self.blocks.append(Block())"], ", depth"
    )
    lines += forward_of(p, [f"outputs = [block({p.x}) for block in self.blocks]", "return outputs[-1]"])
    return p.single(block, lines, main_of(run_model(p, "Stack(depth=2)")))


@shape("strategy-objects", "one-file", batch="seventh", kept=True)
def strategy_objects(p: Parts) -> Program:
    """A learner is given the objects that do its work."""
    made = p.make(f"{p.x}.device")
    carried, name = p.carry()
    source = ["class Source(ABC):", "    @abstractmethod", "    def draw(self, device):", "        ..."]
    own = ["class OwnSource(Source):", "    def draw(self, device):", *indent([*p.place("device"), f"return {p.x}"], 2)]
    rule = ["class Rule:", "    def apply(self, operand):"]
    body = [f"{p.x} = operand", *made, *carried, *p.module(f"{p.x}.device"), *p.meet(name, "layer"), "return out"]
    rule += indent(body, 2)
    learner = ["class Learner:", "    def __init__(self, source: Source, rule: Rule, device):"]
    learner += indent(["self.source, self.rule, self.device = source, rule, device"], 2)
    learner += ["", "    def step(self):", "        return self.rule.apply(self.source.draw(self.device))"]
    main = [f"device = {p.device}", "learner = Learner(OwnSource(), rule=Rule(), device=device)"]
    return p.single(
        source, own, rule, learner, main_of([*main, "result = learner.step()", f"print({p.shown('result')})"])
    )


@shape("decorated-entry", "one-file", batch="seventh", kept=True)
def decorated_entry(p: Parts) -> Program:
    """A decorator gives the function its device."""
    wrap = ["def with_device(function):", "    @functools.wraps(function)", "    def run(*args, **kwargs):"]
    wrap += [
        f'        kwargs.setdefault("device", {p.device})',
        "        return function(*args, **kwargs)",
        "",
        "    return run",
    ]
    made = p.make("device")
    carried, name = p.carry()
    body = [*p.place("device"), *made, *carried, *p.module("device"), *p.meet(name, "layer"), "return out"]
    main = ["result = compute(3)", f"print({p.shown('result')})"]
    return p.single(wrap, ["@with_device", "def compute(count, device=None):", *indent(body)], main_of(main))


@shape("open-callable-class", "open", batch="seventh", kept=True)
def open_callable_class(p: Parts) -> Program:
    """A callable object of a library, which keeps the tensor."""
    made = p.make('torch.device("cuda")', f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    lines = [
        "class Measure:",
        "    def __init__(self):",
        *indent([*p.module('torch.device("cuda")', "self.layer"), *made], 2),
    ]
    lines += forward_of(p, [*carried, *p.meet(name, "self.layer"), "return out"], "__call__")
    text = p.file("make carry meet", lines)
    return driven(p, {"library.py": text}, "from library import Measure", [f"result = Measure()({p.x})"])
