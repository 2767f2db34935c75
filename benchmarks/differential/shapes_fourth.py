"""The open half of the shapes of the fourth batch: see tables_fourth.py."""

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
    run_model,
    shape,
)


@shape("session", "one-file", batch="fourth")
def session(p: Parts) -> Program:
    """A class that opens with `with` and keeps the tensor until it closes."""
    made = p.make("self.device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    lines = ["class Session:", "    def __init__(self, device):", "        self.device = device"]
    lines += [
        "",
        "    def __enter__(self):",
        *indent([*p.module("self.device", "self.layer"), *made, "return self"], 2),
    ]
    lines += ["", "    def __exit__(self, *error):", f"        self.{p.t} = None", "        return False"]
    lines += forward_of(p, [*carried, *p.meet(name, "self.layer"), "return out"], "run")
    main = [f"device = {p.device}", *p.place("device"), "with Session(device) as session:"]
    main += [f"    result = session.run({p.x})", f"print({p.shown('result')})"]
    return p.single(lines, main_of(main))


@shape("adapter-of-module", "one-file", batch="fourth")
def adapter_of_module(p: Parts) -> Program:
    """A module that wraps another one, as an adapter of a frozen layer does."""
    body = [f"{p.x} = self.base({p.x})", *inside(p, f"{p.x}.device")]
    adapter = ["class Adapter(nn.Module):", *init_of(["self.base = base", *members(p)], ", base"), *forward_of(p, body)]
    inject = [
        "def inject(model):",
        "    for parameter in model.parameters():",
        "        parameter.requires_grad_(False)",
    ]
    inject += ["    return Adapter(model)"]
    return p.single(adapter, inject, main_of(run_model(p, "inject(nn.Identity())")))


@shape("callbacks-of-trainer", "one-file", batch="fourth")
def callbacks_of_trainer(p: Parts) -> Program:
    """A trainer gives each batch to a list of callbacks, one of which keeps the tensor."""
    base = ["class Callback:", "    def on_start(self, trainer):", "        pass"]
    base += ["", f"    def on_batch(self, trainer, {p.x}):", "        pass"]
    made = p.make("trainer.device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    start = [*p.module("trainer.device", "self.layer"), *made]
    own = ["class Monitor(Callback):", "    def on_start(self, trainer):", *indent(start, 2)]
    own += ["", f"    def on_batch(self, trainer, {p.x}):"]
    own += indent([*carried, *p.meet(name, "self.layer"), "trainer.log(out)"], 2)
    fit = ["for callback in self.callbacks:", "    callback.on_start(self)", "for batch in batches:"]
    fit += ["    for callback in self.callbacks:", "        callback.on_batch(self, batch)"]
    trainer = ["class Trainer:", "    def __init__(self, device, callbacks=()):"]
    trainer += indent(["self.device, self.callbacks = device, list(callbacks)", "self.logged = []"], 2)
    trainer += ["", "    def log(self, value):", "        self.logged.append(value)"]
    trainer += ["", "    def fit(self, batches):", *indent(fit, 2)]
    main = [f"device = {p.device}", "trainer = Trainer(device, [Callback(), Monitor()])", *p.place("device")]
    main += [f"trainer.fit([{p.x}])", "result = trainer.logged[-1]", f"print({p.shown('result')})"]
    return p.single(base, own, trainer, main_of(main))


@shape("state-dataclass", "one-file", batch="fourth")
def state_dataclass(p: Parts) -> Program:
    """A dataclass holds the tensor beside a step number; a method of it works with a batch."""
    layer = ["    layer: nn.Module"] if p.spec.meeting.module else []
    made = p.make("device")
    carried, name = p.carry(f"self.{p.t}")
    state = ["@dataclass", "class TrainState:", f"    {p.t}: torch.Tensor", *layer, "    step: int = 0"]
    body = ["self.step += 1", *carried, *p.meet(name, "self.layer"), "return out"]
    state += forward_of(p, body, "update")
    given = f"{p.t}={p.t}" + (", layer=layer" if p.spec.meeting.module else "")
    main = [f"device = {p.device}", *p.module("device"), *made, f"state = TrainState({given})", *p.place("device")]
    return p.single(state, main_of([*main, f"result = state.update({p.x})", f"print({p.shown('result')})"]))


@shape("batch-tree", "one-file", batch="fourth")
def batch_tree(p: Parts) -> Program:
    """A function goes down into nested containers and works on the tensors that it finds there."""
    extra = ", layer" if p.spec.meeting.module else ""
    device = f"{p.x}.device"
    walk = ["if isinstance(tree, dict):"]
    walk += [f"    return {{name: compute(branch{extra}) for name, branch in tree.items()}}"]
    walk += ["if isinstance(tree, (list, tuple)):", f"    return [compute(branch{extra}) for branch in tree]"]
    body = [*walk, f"{p.x} = tree", *inside(p, device, "layer")]
    main = [f"device = {p.device}", *p.place("device"), *p.module("device")]
    main += [f'result = compute({{"views": [{p.x}]}}{extra})["views"][0]', f"print({p.shown('result')})"]
    return p.single([f"def compute(tree{extra}):", *indent(body)], main_of(main))


@shape("table-property", "one-file", batch="fourth")
def table_property(p: Parts) -> Program:
    """A module makes the tensor in a property, on the device of its own parameter."""
    made = p.make("self.gain.device")
    carried, name = p.carry()
    lines = ["class Model(nn.Module):", *init_of([*members(p), "self.gain = nn.Parameter(torch.ones(1))"])]
    lines += ["", "    @property", f"    def own_{p.t}(self):", *indent([*made, f"return {p.t}"], 2)]
    lines += forward_of(p, [*enter(p), f"{p.t} = self.own_{p.t}", *carried, *p.meet(name, "self.layer"), "return out"])
    return p.single(lines, main_of(run_model(p)))


@shape("decorated-compute", "one-file", batch="fourth")
def decorated_compute(p: Parts) -> Program:
    """A function under a decorator that counts its calls."""
    device = f"{p.x}.device"
    wrapper = ["@functools.wraps(function)", "def wrapper(*args, **kwargs):", "    wrapper.calls += 1"]
    wrapper += ["    return function(*args, **kwargs)", "", "wrapper.calls = 0", "return wrapper"]
    body = [*p.module(device), *inside(p, device, "layer")]
    main = [f"device = {p.device}", *p.place("device"), f"result = compute({p.x})", f"print({p.shown('result')})"]
    counted = ["def counted(function):", *indent(wrapper)]
    return p.single(counted, ["@counted", f"def compute({p.x}):", *indent(body)], main_of(main))


@shape("decoding-loop", "one-file", batch="fourth")
def decoding_loop(p: Parts) -> Program:
    """A loop that stops by a flag, and a state that is made before its first turn."""
    extra = ", layer" if p.spec.meeting.module else ""
    made = p.make("device")
    carried, name = p.carry()
    turn = ["out, step = None, 0", "while True:"]
    turn += indent([*p.meet(name, "layer"), "step += 1", "if step >= limit:", "    break"])
    decode = [f"def decode({p.x}, device{extra}, limit=2):", *indent([*made, *carried, *turn, "return out"])]
    main = [f"device = {p.device}", *p.place("device"), *p.module("device")]
    main += [f"result = decode({p.x}, device{extra}, limit=1)", f"print({p.shown('result')})"]
    return p.single(decode, main_of(main))


@shape("engine-files", "files", batch="fourth")
def engine_files(p: Parts) -> Program:
    """A script that calls `train_one_epoch` of an engine, with helpers in a package of utilities."""
    made, call = maker_function(p, f"create_{p.t}")
    carried, name = p.carry()
    extra = ", layer" if p.spec.meeting.module else ""
    turn = [f"{p.x} = utils.to_device(batch, device)", f"{p.t} = utils.{call}", *carried, *p.meet(name, "layer")]
    epoch = [f"def train_one_epoch(batches, device{extra}):", *indent(["for batch in batches:", *indent(turn)])]
    move = ["def to_device(value, device):", "    return value.to(device)"]
    main = [f"device = {p.device}", *p.place("device"), *p.module("device")]
    main += [f"result = engine.train_one_epoch([{p.x}], device{extra})", f"print({p.shown('result')})"]
    files = {
        "utils/__init__.py": f"from .device import to_device\nfrom .tables import create_{p.t}\n",
        "utils/device.py": p.file("", move),
        "utils/tables.py": p.file("make", made),
        "engine.py": p.file("carry meet", [*epoch, "    return out"], imports=["import utils"]),
        "main.py": p.file("device place", main_of(main), imports=["import engine"]),
    }
    return Program(files, "main.py")


@shape("open-helper-method", "open", batch="fourth")
def open_helper_method(p: Parts) -> Program:
    """A module that nobody moves, with a helper method for the tensor that takes its device from the operand."""
    made = p.make("device")
    carried, name = p.carry()
    helper = ["", f"    def _build_{p.t}(self, size, device):", *indent([*made, f"return {p.t}"], 2)]
    body = [*enter(p), f"{p.t} = self._build_{p.t}({p.x}.shape[:1], {p.x}.device)", *carried]
    model = module_class(p, [*body, *p.meet(name, "self.layer"), "return out"])
    lines = ["model = Model().to(device)", f"result = model({p.x})"]
    return driven(p, {"model.py": p.file("make carry meet", [*model, *helper])}, "from model import Model", lines)


@shape("open-layers-package", "open", batch="fourth")
def open_layers_package(p: Parts) -> Program:
    """A package whose layer imports a function of another file by a relative import."""
    device = f"{p.x}.device"
    extra = ", layer" if p.spec.meeting.module else ""
    functional = [f"def combine_all({p.x}{extra}):", *indent(inside(p, device, "layer"))]
    own = ", self.layer" if extra else ""
    layer = module_class(p, [*enter(p), f"return functional.combine_all({p.x}{own})"], name="CombineAll")
    files = {
        "pyproject.toml": '[project]\nname = "library"\nversion = "0.1"\n',
        "library/__init__.py": "from .layers import CombineAll\n",
        "library/layers.py": p.file("", layer, imports=["from . import functional"]),
        "library/functional.py": p.file("make carry meet", functional),
    }
    lines = ["model = library.CombineAll().to(device)", f"result = model({p.x})"]
    return driven(p, files, "import library", lines)


@shape("open-options-class", "open", batch="fourth")
def open_options_class(p: Parts) -> Program:
    """A criterion that nobody makes, which keeps its options in a dataclass and takes the operand by keyword."""
    options = ["@dataclass", "class LossOptions:", "    scale: float = 1.0", "    eps: float = 1e-8"]
    device = f"{p.x}.device"
    body = [*p.module(device), *inside(p, device, "layer")]
    lines = [
        "class Criterion:",
        "    def __init__(self, options=None):",
        "        self.options = options or LossOptions()",
    ]
    lines += ["", f"    def compute(self, *, {p.x}, step=0):", *indent(body, 2)]
    text = p.file("make carry meet", options, lines)
    asked = [f"result = Criterion().compute({p.x}={p.x})"]
    return driven(p, {"library.py": text}, "from library import Criterion", asked)


@shape("worker-class", "distributed", group=True, batch="fourth")
def worker_class(p: Parts) -> Program:
    """A worker object that joins a process group, works on its GPU and leaves."""
    start = ["self.rank = rank", 'self.device = torch.device("cuda", rank)', "torch.cuda.set_device(self.device)"]
    start += ["rendezvous = dist.HashStore()"]
    start += ['dist.init_process_group("nccl", store=rendezvous, rank=rank, world_size=world_size)']
    start += p.module("self.device", "self.layer")
    body = [*p.place("self.device"), *inside(p, "self.device")]
    worker = ["class Worker:", "    def __init__(self, rank, world_size):", *indent(start, 2)]
    worker += ["", "    def run(self):", *indent(body, 2)]
    worker += ["", "    def close(self):", "        dist.barrier()", "        dist.destroy_process_group()"]
    main = ["worker = Worker(0, 1)", "result = worker.run()", f"print({p.shown('result')})", "worker.close()"]
    return p.single(worker, main_of(main))


@shape("device-map", "distributed", batch="fourth")
def device_map(p: Parts) -> Program:
    """The parts of a model go to the GPUs that a dict names, and each batch follows them."""
    parts = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")], name="Part")
    body = ["for name, part in self.parts.items():", f"    {p.x} = {p.x}.to(self.places[name])"]
    body += ['    if name == "head":', f"        return part({p.x})", f"    {p.x} = part({p.x})"]
    init = ['self.parts = nn.ModuleDict({"stem": nn.Identity(), "head": Part()})', "self.places = places"]
    init += ["for name, part in self.parts.items():", "    part.to(places[name])"]
    model = ["class Model(nn.Module):", *init_of(init, ", places"), *forward_of(p, body)]
    main = ['places = {"stem": "cuda:1", "head": "cuda:0"}', "model = Model(places)", *p.place('places["stem"]')]
    return p.single(parts, model, main_of([*main, f"result = model({p.x})", f"print({p.shown('result')})"]))
