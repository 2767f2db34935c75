"""The forms of whole programs: one function each, which asks `Parts` for its lines."""

from __future__ import annotations

import re
from collections.abc import Callable

from differential.programs import Parts, Program, Shape, indent

Builder = Callable[[Parts], Program]
SHAPES: dict[str, Shape] = {}
BUILDERS: dict[str, Builder] = {}


def shape(name: str, family: str, batch: str = "first", **marks: bool) -> Callable[[Builder], Builder]:
    """Enters a builder into the table. Families: one-file, files, open, distributed. A name can be entered once."""
    if name in SHAPES:
        raise ValueError(f"two shapes are called {name!r}")

    def enter(builder: Builder) -> Builder:
        SHAPES[name] = Shape(name, family, batch, **marks)
        BUILDERS[name] = builder
        return builder

    return enter


# ------------------------------------------------------------------------------------------------------------ pieces


def main_of(lines: list[str]) -> list[str]:
    """A main function and its call."""
    return ["def main():", *indent(lines), "", "", 'if __name__ == "__main__":', "    main()"]


def init_of(lines: list[str], parameters: str = "") -> list[str]:
    """The constructor of a module."""
    return [f"    def __init__(self{parameters}):", *indent(["super().__init__()", *lines], 2)]


def forward_of(p: Parts, body: list[str], name: str = "forward") -> list[str]:
    """A method of the operand."""
    return ["", f"    def {name}(self, {p.x}):", *indent(body, 2)]


def projects(p: Parts) -> bool:
    """Whether the module puts its input through a layer of its own first."""
    return not p.spec.meeting.module and p.spec.meeting.x in ("mat", "seq", "vec") and p.spec.key % 2 == 0


def members(p: Parts) -> list[str]:
    """What the constructor of a module makes beside the tensor in question."""
    if p.spec.meeting.module:
        return [f"self.layer = {p.spec.meeting.module}"]
    return ["self.project = nn.Linear(4, 4)"] if projects(p) else ["self.rate = 0.1"]


def enter(p: Parts) -> list[str]:
    """The first lines of a forward."""
    return [f"{p.x} = self.project({p.x})"] if projects(p) else []


def inside(p: Parts, device: str, layer: str = "self.layer") -> list[str]:
    """Make, carry, meet, return."""
    made = p.make(device)
    carried, name = p.carry()
    return [*made, *carried, *p.meet(name, layer), "return out"]


def own_tensor(p: Parts, takes_device: bool) -> list[str]:
    """Lines of a module's constructor that keep the tensor as an attribute; the right program has a buffer, or is told the device."""
    own = f"self.{p.t}"
    if p.mends and not takes_device and p.spec.fix != "at-use":
        made = Parts(p.spec, False).make('torch.device("cuda")', own)
        p.make('torch.device("cuda")', own)  # for what it needs at the top
        made[-1] = f'self.register_buffer("{p.t}", {made[-1].split(" = ", 1)[1]})'
        return made
    return p.make("device" if takes_device else 'torch.device("cuda")', own)


def run_model(p: Parts, model: str = "Model()") -> list[str]:
    """The lines of a main function that moves a model and calls it once."""
    return [
        f"device = {p.device}",
        f"model = {model}.to(device)",
        *p.place("device"),
        f"result = model({p.x})",
        f"print({p.shown('result')})",
    ]


def module_class(p: Parts, body: list[str], init: list[str] | None = None, name: str = "Model") -> list[str]:
    """A module whose forward has these lines."""
    return [f"class {name}(nn.Module):", *init_of(members(p) if init is None else init), *forward_of(p, body)]


def unplaced(p: Parts, name: str = "", device: str = '"cuda"') -> list[str]:
    """The lines that leave the tensor on the CPU, in the right program as well."""
    p.make(device, name)  # for what it needs at the top
    return Parts(p.spec, False).make(device, name)


def moves(p: Parts) -> bool:
    """Whether the right program moves the tensor where a flag says so; the other one forgets it."""
    return p.mends and p.spec.fix != "at-use"


def told(p: Parts, call: str) -> list[str]:
    """The last lines of a main function: a call, and its result printed."""
    return [f"result = {call}", f"print({p.shown('result')})"]


def maker_function(p: Parts, name: str = "") -> tuple[list[str], str]:
    """A function that makes the tensor, and its name with the parameters that it needs: `device`, or none where the tensor is left on the CPU."""
    made = p.make("device")
    name = name or f"make_{p.t}"
    parameters = "(device)" if any(re.search(r"\bdevice\b(?!=)", line) for line in made) else "()"
    return [f"def {name}{parameters}:", *indent([*made, f"return {p.t}"])], name + parameters


# ---------------------------------------------------------------------------------------------------------- one file


@shape("script", "one-file")
def script(p: Parts) -> Program:
    made = p.make("device")
    carried, name = p.carry(scope="global")
    lines = [f"device = {p.device}", *p.place("device"), *made, *carried, *p.module("device"), *p.meet(name, "layer")]
    return p.single([*lines, f"print({p.shown()})"])


@shape("function", "one-file")
def function(p: Parts) -> Program:
    made = p.make("device")
    carried, name = p.carry()
    lines = [f"device = {p.device}", *made, *carried, *p.place("device"), *p.module("device"), *p.meet(name, "layer")]
    return p.single(main_of([*lines, f"print({p.shown()})"]))


@shape("argument", "one-file")
def argument(p: Parts) -> Program:
    device = f"{p.x}.device"
    made = p.make(device)
    carried, name = p.carry()
    body = [*made, *carried, *p.module(device), *p.meet(name, "layer"), "return out"]
    main = [f"device = {p.device}", *p.place("device"), f"result = compute({p.x})", f"print({p.shown('result')})"]
    return p.single([f"def compute({p.x}):", *indent(body)], main_of(main))


@shape("forward", "one-file")
def forward(p: Parts) -> Program:
    return p.single(module_class(p, [*enter(p), *inside(p, f"{p.x}.device")]), main_of(run_model(p)))


@shape("module-attribute", "one-file")
def module_attribute(p: Parts) -> Program:
    takes_device = p.spec.key % 3 == 0
    made = own_tensor(p, takes_device)
    carried, name = p.carry(f"self.{p.t}")
    body = [*enter(p), *carried, *p.meet(name, "self.layer"), "return out"]
    parameters = ", device" if takes_device else ""
    lines = ["class Model(nn.Module):", *init_of([*members(p), *made], parameters), *forward_of(p, body)]
    return p.single(lines, main_of(run_model(p, "Model(device)" if takes_device else "Model()")))


@shape("train-eval", "one-file")
def train_eval(p: Parts) -> Program:
    body = [*enter(p), "if self.training:", *indent(inside(p, f"{p.x}.device")), f"return {p.x}"]
    main = [
        f"device = {p.device}",
        "model = Model()",
        "model.to(device)",
        "model.train()",
        *p.place("device"),
        f"result = model({p.x})",
        f"print({p.shown('result')})",
    ]
    return p.single(module_class(p, body), main_of(main))


@shape("submodules", "one-file")
def submodules(p: Parts) -> Program:
    block = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")], name="Block")
    model = [
        "class Model(nn.Module):",
        *init_of(["self.block = Block()"]),
        *forward_of(p, [f"return self.block({p.x})"]),
    ]
    return p.single(block, model, main_of(run_model(p)))


@shape("inheritance", "one-file")
def inheritance(p: Parts) -> Program:
    made = [*p.make(f"{p.x}.device"), f"return {p.t}"]
    carried, name = p.carry()
    body = [*enter(p), f"{p.t} = self.prepare_{p.t}({p.x})", *carried, *p.meet(name, "self.layer"), "return out"]
    base = ["class Base(nn.Module):", *init_of(members(p)), *forward_of(p, made, f"prepare_{p.t}")]
    return p.single(base, ["class Model(Base):", *forward_of(p, body)[1:]], main_of(run_model(p)))


@shape("trainer", "one-file")
def trainer(p: Parts) -> Program:
    return p.single(_trainer_class(p), main_of([f"device = {p.device}", *_use_trainer(p)]))


def _trainer_class(p: Parts) -> list[str]:
    made = p.make("device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    train = [*p.place("self.device"), *carried, *p.meet(name, "self.layer"), "return out"]
    init = ["self.device = device", *p.module("device", "self.layer"), *made]
    return [
        "class Trainer:",
        "    def __init__(self, device):",
        *indent(init, 2),
        "",
        "    def train(self):",
        *indent(train, 2),
        "",
        "    def evaluate(self):",
        "        result = self.train()",
        "        return result",
    ]


def _use_trainer(p: Parts) -> list[str]:
    return ["trainer = Trainer(device)", "result = trainer.evaluate()", f"print({p.shown('result')})"]


@shape("holder", "one-file")
def holder(p: Parts) -> Program:
    keeps = p.module("device", "self.layer") or ["self.model = nn.Linear(4, 4).to(device)"]
    first = [f"{p.x} = self.model({p.x})"] if projects(p) else []
    body = [*first, *inside(p, "self.device")]
    lines = ["class Predictor:", "    def __init__(self, device):", *indent(["self.device = device", *keeps], 2)]
    main = [
        f"device = {p.device}",
        "predictor = Predictor(device)",
        *p.place("device"),
        f"result = predictor.predict({p.x})",
        f"print({p.shown('result')})",
    ]
    return p.single([*lines, *forward_of(p, body, "predict")], main_of(main))


@shape("mutual", "one-file")
def mutual(p: Parts) -> Program:
    made = p.make("device")
    carried, name = p.carry()
    extra = ", layer" if p.spec.meeting.module else ""
    base = ["if depth == 0:", *indent([*p.meet("value", "layer"), "return out"])]
    step = [f"def step({p.x}, value{extra}, depth):", *indent([*base, f"return again({p.x}, value{extra}, depth - 1)"])]
    again = [f"def again({p.x}, value{extra}, depth):", f"    return step({p.x}, value{extra}, depth)"]
    main = [
        f"device = {p.device}",
        *p.place("device"),
        *made,
        *carried,
        *p.module("device"),
        f"result = step({p.x}, {name}{extra}, 2)",
        f"print({p.shown('result')})",
    ]
    return p.single(step, again, main_of(main))


@shape("loop", "one-file", loop=True)
def loop(p: Parts) -> Program:
    return p.single(*_loop(p, p.make("device"), ""))


@shape("loop-pair", "one-file", loop=True)
def loop_pair(p: Parts) -> Program:
    return p.single(*_loop(p, p.make("device", given="target"), p.t_kind.fields()["rand"]))


def _loop(p: Parts, made: list[str], target: str) -> list[list[str]]:
    carried, name = p.carry()
    data = p.x_kind.fields()["rand"]
    second = " target" if target else ""
    body = [*p.place("device", "loaded"), *made, *carried, *p.meet(name, "layer"), f"total += {p.shown()}"]
    train = [
        "total = 0.0",
        *p.module("device"),
        f"for step, (loaded,{second}) in enumerate(loader):",
        *indent(body),
        "return total",
    ]
    main = [
        f"device = {p.device}",
        f"data = TensorDataset({data}{', ' + target if target else ''})",
        f"loader = DataLoader(data, batch_size={p.x_kind.dims[0]})",
        "print(train(loader, device))",
    ]
    return [["def train(loader, device):", *indent(train)], main_of(main)]


@shape("generator", "one-file")
def generator(p: Parts) -> Program:
    made = p.make("device")
    carried, name = p.carry()
    batches = ["def batches(device):", "    for _ in range(2):", *indent([*p.place("device"), f"yield {p.x}"], 2)]
    body = [*made, *carried, *p.meet(name, "layer"), f"total += {p.shown()}"]
    main = [f"device = {p.device}", *p.module("device"), "total = 0.0", f"for {p.x} in batches(device):", *indent(body)]
    return p.single(batches, main_of([*main, "print(total)"]))


@shape("two-callers", "one-file")
def two_callers(p: Parts) -> Program:
    """A helper that two functions call: one with tensors on the CPU, one on the accelerator."""
    device = f"{p.x}.device"
    made = p.make(device)
    carried, name = p.carry()
    body = [*made, *carried, *p.module(device), *p.meet(name, "layer"), "return out"]
    plain = p.x_kind.fields()["rand"]
    main = [f"device = {p.device}", *p.place("device"), f"result = compute({p.x})", f"print({p.shown('result')})"]
    takes_both = not p.mends or p.spec.fix != "cuda()"
    check = ["def check():", f"    return compute({plain}) is not None"] if takes_both else []
    return p.single([f"def compute({p.x}):", *indent(body)], check, main_of(["check()", *main] if takes_both else main))


@shape("epochs", "one-file")
def epochs(p: Parts) -> Program:
    """The tensor is made before the loop and met in it, beside a model with an optimizer."""
    made = p.make("device")
    carried, name = p.carry()
    main = [
        f"device = {p.device}",
        "model = nn.Linear(4, 1).to(device)",
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
        *p.module("device"),
        *made,
        *carried,
        "for epoch in range(2):",
        *indent(
            [
                "optimizer.zero_grad()",
                "loss = model(torch.ones(2, 4, device=device)).mean()",
                "loss.backward()",
                "optimizer.step()",
                *p.place("device"),
                *p.meet(name, "layer"),
            ]
        ),
        f"print({p.shown()})",
    ]
    return p.single(main_of(main))


# ------------------------------------------------------------------------------------------------------------- files


@shape("helpers-file", "files")
def helpers_file(p: Parts) -> Program:
    """The tensor is made in helpers.py and met in main.py."""
    made, call = maker_function(p)
    carried, name = p.carry()
    main = [f"device = {p.device}", *p.place("device"), *p.module("device"), f"{p.t} = {call}", *carried]
    main += [*p.meet(name, "layer"), f"print({p.shown()})"]
    files = {
        "helpers.py": p.file("make", made),
        "main.py": p.file("device place carry meet", main_of(main), imports=[f"from helpers import make_{p.t}"]),
    }
    return Program(files, "main.py")


@shape("meeting-file", "files")
def meeting_file(p: Parts) -> Program:
    """Both operands are made in main.py and meet in a function of ops.py."""
    made = p.make("device")
    carried, name = p.carry()
    extra = ", layer" if p.spec.meeting.module else ""
    ops = [f"def combine_all({p.x}, value{extra}):", *indent([*p.meet("value", "layer"), "return out"])]
    main = [f"device = {p.device}", *p.place("device"), *p.module("device"), *made, *carried]
    main += [f"result = ops.combine_all({p.x}, {name}{extra})", f"print({p.shown('result')})"]
    files = {
        "ops.py": p.file("meet", ops),
        "main.py": p.file("device place make carry", main_of(main), imports=["import ops"]),
    }
    return Program(files, "main.py")


@shape("package", "files")
def package(p: Parts) -> Program:
    """A package with a model and its data, and a training script beside it."""
    model = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")])
    data = ["def load(device):", *indent([*p.place("device"), f"return {p.x}"])]
    main = [f"device = {p.device}", "model = Model().to(device)", f"{p.x} = load(device)", f"result = model({p.x})"]
    files = {
        "project/__init__.py": '"""A small project."""\n',
        "project/model.py": p.file("make carry meet", model),
        "project/data.py": p.file("place", data),
        "train.py": p.file(
            "device",
            main_of([*main, f"print({p.shown('result')})"]),
            imports=["from project.data import load", "from project.model import Model"],
        ),
    }
    return Program(files, "train.py")


@shape("trainer-files", "files")
def trainer_files(p: Parts) -> Program:
    """A configuration, a trainer and a script, each in a file."""
    lines = _trainer_class(p)
    files = {
        "config.py": p.file("device", [f"DEVICE = {p.device}", "EPOCHS = 1"]),
        "trainer.py": p.file("make carry place meet", lines),
        "main.py": p.file(
            "",
            main_of(["device = config.DEVICE", *_use_trainer(p)]),
            imports=["import config", "from trainer import Trainer"],
        ),
    }
    return Program(files, "main.py")


@shape("model-and-loss-files", "files")
def model_and_loss_files(p: Parts) -> Program:
    """The loss is a class of its own file, built by a script that moves only the model."""
    made = p.make("device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    keeps = p.module("device", "self.layer")
    body = [*carried, *p.meet(name, "self.layer"), "return out"]
    loss = ["class Loss:", "    def __init__(self, device):", *indent([*keeps, *made, "self.device = device"], 2)]
    main = [f"device = {p.device}", "loss = Loss(device)", *p.place("device"), f"result = loss({p.x})"]
    files = {
        "losses.py": p.file("make carry meet", [*loss, *forward_of(p, body, "__call__")]),
        "main.py": p.file(
            "device place", main_of([*main, f"print({p.shown('result')})"]), imports=["from losses import Loss"]
        ),
    }
    return Program(files, "main.py")


# --------------------------------------------------------------------------------------------------------- open ends


def driven(p: Parts, files: dict[str, str], imports: str, lines: list[str]) -> Program:
    """Shown files, and a hidden driver that places the operand, runs `lines` and prints `result`."""
    place = p.place("device")
    body = main_of([f"device = {p.device}", *place, *lines, f"print({p.shown('result')})"])
    return Program(files, "driver_.py", p.file("device place", body, imports=[imports]))


@shape("open-function", "open")
def open_function(p: Parts) -> Program:
    """A function that nobody calls."""
    device = f"{p.x}.device"
    made = p.make(device)
    carried, name = p.carry()
    body = [*made, *carried, *p.module(device), *p.meet(name, "layer"), "return out"]
    text = p.file("make carry meet", [f"def compute({p.x}):", *indent(body)])
    return driven(p, {"library.py": text}, "from library import compute", [f"result = compute({p.x})"])


@shape("open-device-parameter", "open")
def open_device_parameter(p: Parts) -> Program:
    """A function that nobody calls and that takes a device."""
    made = p.make("device")
    carried, name = p.carry()
    body = [*made, *carried, *p.module("device"), *p.meet(name, "layer"), "return out"]
    text = p.file("make carry meet", [f"def compute({p.x}, device):", *indent(body)])
    return driven(p, {"library.py": text}, "from library import compute", [f"result = compute({p.x}, device)"])


@shape("open-function-of-function", "open")
def open_function_of_function(p: Parts) -> Program:
    """A function that nobody calls gives its argument to a helper."""
    device = f"{p.x}.device"
    made = p.make(device)
    carried, name = p.carry()
    helper = [
        f"def _combine({p.x}):",
        *indent([*made, *carried, *p.module(device), *p.meet(name, "layer"), "return out"]),
    ]
    outer = [f"def compute({p.x}, scale=1.0):", f"    return _combine({p.x} * 1 if scale == 1.0 else {p.x})"]
    if p.x_kind.sort != "F":
        outer[1] = f"    return _combine({p.x})"
    text = p.file("make carry meet", helper, outer)
    return driven(p, {"library.py": text}, "from library import compute", [f"result = compute({p.x})"])


@shape("open-module", "open")
def open_module(p: Parts) -> Program:
    """A module that nobody makes or moves."""
    text = p.file("make carry meet", module_class(p, [*enter(p), *inside(p, f"{p.x}.device")]))
    lines = ["model = Model().to(device)", f"result = model({p.x})"]
    return driven(p, {"model.py": text}, "from model import Model", lines)


@shape("open-module-attribute", "open")
def open_module_attribute(p: Parts) -> Program:
    """A module that nobody moves keeps the tensor as an attribute."""
    made = own_tensor(p, False)
    carried, name = p.carry(f"self.{p.t}")
    body = [*enter(p), *carried, *p.meet(name, "self.layer"), "return out"]
    text = p.file("make carry meet", module_class(p, body, [*members(p), *made]))
    lines = ["model = Model().to(device)", f"result = model({p.x})"]
    return driven(p, {"model.py": text}, "from model import Model", lines)


@shape("open-submodules", "open")
def open_submodules(p: Parts) -> Program:
    """The inner module of a module that nobody moves."""
    block = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")], name="Block")
    model = [
        "class Model(nn.Module):",
        *init_of(["self.block = Block()"]),
        *forward_of(p, [f"return self.block({p.x})"]),
    ]
    lines = ["model = Model().to(device)", f"result = model({p.x})"]
    return driven(p, {"model.py": p.file("make carry meet", block, model)}, "from model import Model", lines)


@shape("open-class", "open")
def open_class(p: Parts) -> Program:
    """A plain class that takes a device, and that nobody makes."""
    made = p.make("device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    body = [*carried, *p.meet(name, "self.layer"), "return out"]
    init = ["self.device = device", *p.module("device", "self.layer"), *made]
    lines = ["class Criterion:", "    def __init__(self, device):", *indent(init, 2), *forward_of(p, body, "__call__")]
    text = p.file("make carry meet", lines)
    return driven(p, {"library.py": text}, "from library import Criterion", [f"result = Criterion(device)({p.x})"])


@shape("open-package", "open")
def open_package(p: Parts) -> Program:
    """The API of a package: a model and its helpers in files of their own."""
    made, call = maker_function(p)
    carried, name = p.carry()
    body = [
        *enter(p),
        f"{p.t} = {call.replace('(device)', f'({p.x}.device)')}",
        *carried,
        *p.meet(name, "self.layer"),
        "return out",
    ]
    files = {
        "pyproject.toml": '[project]\nname = "library"\nversion = "0.1"\n',
        "library/__init__.py": 'from library.model import Model\n\n__all__ = ["Model"]\n',
        "library/model.py": p.file(
            "carry meet", module_class(p, body), imports=[f"from library.tables import make_{p.t}"]
        ),
        "library/tables.py": p.file("make", made),
    }
    lines = ["model = Model().to(device)", f"result = model({p.x})"]
    return driven(p, files, "from library import Model", lines)


# ------------------------------------------------------------------------------------------------------- distributed


def grouped(body: list[str]) -> list[str]:
    """A main function with a process group of one NCCL process."""
    setup = 'rendezvous = dist.HashStore()\ndist.init_process_group("nccl", store=rendezvous, rank=0, world_size=1)'
    return main_of([*setup.split("\n"), *body, "dist.destroy_process_group()"])


@shape("process-group", "distributed", group=True)
def process_group(p: Parts) -> Program:
    made = p.make("device")
    carried, name = p.carry()
    lines = ["rank = dist.get_rank()", "torch.cuda.set_device(rank)", 'device = torch.device("cuda", rank)']
    lines += [*p.place("device"), *made, *carried, *p.module("device"), *p.meet(name, "layer"), f"print({p.shown()})"]
    return p.single(grouped(lines))


@shape("ddp", "distributed", group=True)
def ddp(p: Parts) -> Program:
    model = module_class(
        p, [*enter(p), *inside(p, f"{p.x}.device")], [*members(p), "self.scale = nn.Parameter(torch.ones(1))"]
    )
    lines = ["rank = dist.get_rank()", "torch.cuda.set_device(rank)", 'device = torch.device("cuda", rank)']
    lines += ["model = DDP(Model().to(device), device_ids=[rank])", *p.place("device")]
    return p.single(model, grouped([*lines, f"result = model({p.x})", f"print({p.shown('result')})"]))


@shape("two-gpus", "distributed")
def two_gpus(p: Parts) -> Program:
    """A model in two parts on two GPUs; the tensor belongs to the second."""
    body = [f"{p.x} = {p.x}.to(self.second)", *inside(p, "self.second")]
    init = [*p.module("second", "self.layer"), "self.first = first", "self.second = second"]
    model = ["class Model(nn.Module):", *init_of(init, ", first, second"), *forward_of(p, body)]
    main = ['first, second = torch.device("cuda:0"), torch.device("cuda:1")', "model = Model(first, second)"]
    main += [*p.place("first"), f"result = model({p.x})", f"print({p.shown('result')})"]
    return p.single(model, main_of(main))


@shape("data-parallel", "distributed")
def data_parallel(p: Parts) -> Program:
    """A module under DataParallel."""
    model = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")])
    main = [f"device = {p.device}", "model = nn.DataParallel(Model().to(device))", *p.place("device")]
    return p.single(model, main_of([*main, f"result = model({p.x})", f"print({p.shown('result')})"]))
