"""The kept half of the shapes of the third batch: see kept_third.py."""

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


@shape("config-of-trainer", "one-file", batch="third", kept=True)
def config_of_trainer(p: Parts) -> Program:
    """A trainer that reads its device from a configuration object."""
    config = ["@dataclass", "class TrainConfig:", "    device: object", "    epochs: int = 1"]
    made = p.make("self.config.device")
    carried, name = p.carry()
    epoch = [*p.place("self.config.device"), *made, *carried, *p.meet(name, "self.layer"), "return out"]
    init = ["self.config = config", *p.module("config.device", "self.layer")]
    run = ["for epoch in range(self.config.epochs):", "    result = self.run_epoch()", "return result"]
    trainer = ["class Trainer:", "    def __init__(self, config):", *indent(init, 2)]
    trainer += ["", "    def run_epoch(self):", *indent(epoch, 2), "", "    def run(self):", *indent(run, 2)]
    main = [f"trainer = Trainer(TrainConfig(device={p.device}))", "result = trainer.run()"]
    return p.single(config, trainer, main_of([*main, f"print({p.shown('result')})"]))


@shape("teacher-and-student", "one-file", batch="third", kept=True)
def teacher_and_student(p: Parts) -> Program:
    """A copy of a moved model is asked first."""
    student = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")], name="Student")
    distill = [f"def distill(student, teacher, {p.x}):", "    with torch.no_grad():"]
    distill += [f"        teacher({p.x})", f"    return student({p.x})"]
    main = [f"device = {p.device}", "student = Student().to(device)", "teacher = copy.deepcopy(student).eval()"]
    main += [*p.place("device"), f"result = distill(student, teacher, {p.x})", f"print({p.shown('result')})"]
    return p.single(student, distill, main_of(main))


@shape("cached-in-forward", "one-file", batch="third", kept=True)
def cached_in_forward(p: Parts) -> Program:
    """The tensor is made at the first call of a module and kept."""
    made = p.make(f"{p.x}.device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    body = [*enter(p), f"if self.{p.t} is None:", *indent(made), *carried, *p.meet(name, "self.layer"), "return out"]
    return p.single(module_class(p, body, [*members(p), f"self.{p.t} = None"]), main_of(run_model(p)))


@shape("models-by-name", "one-file", batch="third", kept=True)
def models_by_name(p: Parts) -> Program:
    """A model class is entered into a registry by a decorator, and built by its name."""
    add = ["def add(cls):", "    MODELS[name] = cls", "    return cls", "", "return add"]
    register = ["MODELS = {}", "", "", "def register_model(name):", *indent(add)]
    model = ['@register_model("plain")', *module_class(p, [*enter(p), *inside(p, f"{p.x}.device")])]
    build = ["def build_model(name, **options):", "    return MODELS[name](**options)"]
    return p.single(register, model, build, main_of(run_model(p, 'build_model("plain")')))


@shape("mixin", "one-file", batch="third", kept=True)
def mixin(p: Parts) -> Program:
    """A mixin makes the tensor for the module that it is mixed into."""
    made = [*p.make("device"), f"return {p.t}"]
    carried, name = p.carry()
    mixed = ["class TableMixin:", f"    def get_{p.t}(self, device):", *indent(made, 2)]
    body = [*enter(p), f"{p.t} = self.get_{p.t}({p.x}.device)", *carried, *p.meet(name, "self.layer"), "return out"]
    model = ["class Model(TableMixin, nn.Module):", *init_of(members(p)), *forward_of(p, body)]
    return p.single(mixed, model, main_of(run_model(p)))


@shape("encoder-and-decoder", "one-file", batch="third", kept=True)
def encoder_and_decoder(p: Parts) -> Program:
    """The operand comes out of one part of a model and meets the tensor in the other."""
    times = f"self.dropout({p.x})" if p.x_kind.sort == "F" else p.x
    encoder = ["class Encoder(nn.Module):", *init_of(["self.dropout = nn.Dropout(0.0)"])]
    encoder += forward_of(p, [f"return {times}, {p.x}.size(0)"])
    decoder = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")], name="Decoder")
    model = [
        "class Seq2Seq(nn.Module):",
        *init_of(["self.encoder = encoder", "self.decoder = decoder"], ", encoder, decoder"),
    ]
    model += forward_of(p, [f"memory, count = self.encoder({p.x})", "return self.decoder(memory)"])
    return p.single(encoder, decoder, model, main_of(run_model(p, "Seq2Seq(Encoder(), Decoder())")))


@shape("heads-by-task", "one-file", batch="third", kept=True)
def heads_by_task(p: Parts) -> Program:
    """One of the heads of a ModuleDict, chosen by a parameter with a default."""
    head = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")], name="Head")
    model = ["class Model(nn.Module):", *init_of(['self.heads = nn.ModuleDict({task: Head() for task in ("a", "b")})'])]
    model += ["", f'    def forward(self, {p.x}, task="a"):', f"        return self.heads[task]({p.x})"]
    return p.single(head, model, main_of(run_model(p)))


@shape("collate-function", "one-file", loop=True, batch="third", kept=True)
def collate_function(p: Parts) -> Program:
    """The tensor is made by the collate function of a loader, and only the other part of the batch is moved."""
    made = p.make("device")
    carried, name = p.carry()
    collate = ["def collate(items, device):", *indent([*made, f"return torch.stack(items), {p.t}"])]
    body = [*p.place("device", "loaded"), *carried, *p.meet(name, "layer"), f"total += {p.shown()}"]
    train = ["total = 0.0", *p.module("device"), f"for loaded, {p.t} in loader:", *indent(body), "return total"]
    main = [f"device = {p.device}", f"data = list({p.x_kind.fields()['moved']})"]
    main += ["collate_fn = functools.partial(collate, device=device)"]
    main += [f"loader = DataLoader(data, batch_size={p.x_kind.dims[0]}, collate_fn=collate_fn)"]
    return p.single(
        collate, ["def train(loader, device):", *indent(train)], main_of([*main, "print(train(loader, device))"])
    )


@shape("models-package", "files", batch="third", kept=True)
def models_package(p: Parts) -> Program:
    """A registry of models in a package of its own, filled when the package is imported."""
    model = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")], name="PlainModel")
    own = [*model, "", "", 'MODELS["plain"] = PlainModel']
    main = [f"device = {p.device}", 'model = build("plain").to(device)', *p.place("device"), f"result = model({p.x})"]
    files = {
        "models/__init__.py": "from models import plain  # noqa: F401\nfrom models.registry import MODELS\n\n\ndef build(name):\n    return MODELS[name]()\n",
        "models/registry.py": "MODELS = {}\n",
        "models/plain.py": p.file("make carry meet", own, imports=["from models.registry import MODELS"]),
        "main.py": p.file(
            "device place", main_of([*main, f"print({p.shown('result')})"]), imports=["from models import build"]
        ),
    }
    return Program(files, "main.py")


@shape("layers-and-utils", "files", batch="third", kept=True)
def layers_and_utils(p: Parts) -> Program:
    """A model file uses a layer of another file, which uses a helper of a third under another name."""
    made, call = maker_function(p, f"build_{p.t}")
    carried, name = p.carry()
    call = f"tables.{call.replace('(device)', f'({p.x}.device)')}"
    body = [*enter(p), f"{p.t} = {call}", *carried, *p.meet(name, "self.layer"), "return out"]
    model = [
        "class Model(nn.Module):",
        *init_of(["self.block = Block()"]),
        *forward_of(p, [f"return self.block({p.x})"]),
    ]
    files = {
        "utils/__init__.py": "",
        "utils/tables.py": p.file("make", made),
        "layers.py": p.file(
            "carry meet", module_class(p, body, name="Block"), imports=["import utils.tables as tables"]
        ),
        "model.py": p.file("", model, imports=["from layers import Block"]),
    }
    files["train.py"] = p.file("device place", main_of(run_model(p)), imports=["from model import Model"])
    return Program(files, "train.py")


@shape("open-function-of-model", "open", batch="third", kept=True)
def open_function_of_model(p: Parts) -> Program:
    """A function that nobody calls puts its input on the device of a model that it is given."""
    body = ["device = next(model.parameters()).device", f"{p.x} = {p.x}.to(device)", *p.module("device")]
    text = p.file("make carry meet", [f"def predict(model, {p.x}):", *indent([*body, *inside(p, "device", "layer")])])
    lines = ["model = nn.Linear(4, 4).to(device)", f"result = predict(model, {p.x})"]
    return driven(p, {"library.py": text}, "from library import predict", lines)


@shape("stages-of-gpus", "distributed", batch="third", kept=True)
def stages_of_gpus(p: Parts) -> Program:
    """A pipeline of stages, each of which keeps its own device."""
    stage = module_class(p, [f"{p.x} = {p.x}.to(self.device)", *inside(p, "self.device")], name="Last")
    stage[1:3] = ["    def __init__(self, device):", "        super().__init__()", "        self.device = device"]
    first = ["class First(nn.Module):", *init_of(["self.device = device"], ", device")]
    first += forward_of(p, [f"return {p.x}.to(self.device)"])
    pipe = ["pipeline = nn.Sequential(First(first), Last(last).to(last))"]
    main = ['first, last = (torch.device("cuda", number) for number in range(2))', *pipe]
    main += [*p.place("first"), f"result = pipeline({p.x})", f"print({p.shown('result')})"]
    return p.single(first, stage, main_of(main))
