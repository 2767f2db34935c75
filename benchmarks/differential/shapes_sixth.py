"""The open half of the shapes of the sixth batch: see tables_sixth.py."""

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
    moves,
    own_tensor,
    run_model,
    shape,
    told,
    unplaced,
)


def made_if(p: Parts, flag: str, name: str = "", move: str = "cuda()", device: str = '"cuda"') -> list[str]:
    """The tensor is made on the CPU; the right program moves it under the flag that places everything else."""
    lines, name = unplaced(p, name, device), name or p.t
    if moves(p) and p.spec.fix in ("factory", "inline"):
        lines.append(f"{name} = {name}.{move} if {flag} else {name}")
    elif moves(p):
        lines += [f"if {flag}:", f"    {name} = {name}.{move}"]
    return lines


def placed_if(p: Parts, flag: str, device: str = '"cuda"') -> list[str]:
    """The operand, which is on the accelerator under a flag and on the CPU without."""
    return [f"if {flag}:", *indent(p.place(device)), "else:", f"    {p.x} = {p.x_kind.fields()['plain']}"]


def layer_if(p: Parts, flag: str, name: str = "layer", move: str = "cuda()") -> list[str]:
    """The meeting's module, moved in place under a flag."""
    module = p.spec.meeting.module
    return [f"{name} = {module}", f"if {flag}:", f"    {name}.{move}"] if module else []


def extra(p: Parts) -> str:
    """The parameter for the meeting's module, if it has one."""
    return ", layer" if p.spec.meeting.module else ""


@shape("trainer-with-use-gpu", "one-file", batch="sixth")
def trainer_with_use_gpu(p: Parts) -> Program:
    """A trainer keeps the flag as an attribute and asks it in its constructor, in a helper and in its loop."""
    made = made_if(p, "self.use_gpu", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    init = ["self.use_gpu = use_gpu", "self.model = nn.Linear(4, 4)", "if self.use_gpu:", "    self.model.cuda()"]
    trainer = ["class GpuTrainer:", "    def __init__(self, use_gpu):"]
    trainer += indent([*init, *layer_if(p, "self.use_gpu", "self.layer"), *made], 2)
    trainer += ["", "    def next_batch(self):", *indent([*placed_if(p, "self.use_gpu"), f"return {p.x}"], 2)]
    train = [f"{p.x} = self.next_batch()", *carried, *p.meet(name, "self.layer"), "return out"]
    trainer += ["", "    def train(self):", *indent(train, 2)]
    return p.single(trainer, main_of(told(p, "GpuTrainer(torch.cuda.is_available()).train()")))


@shape("model-of-gpu-ids", "one-file", batch="sixth")
def model_of_gpu_ids(p: Parts) -> Program:
    """A base class keeps the list of GPUs; its subclass moves what it makes if the list has any."""
    device = 'torch.device("cuda:{}".format(self.gpu_ids[0])) if self.gpu_ids else torch.device("cpu")'
    base = ["class BaseModel_:", "    def __init__(self, opt):"]
    base += indent(["self.opt = opt", "self.gpu_ids = opt.gpu_ids", f"self.device = {device}"], 2)
    flag, move = "len(self.gpu_ids) > 0", "cuda(self.gpu_ids[0])"
    made = made_if(p, flag, f"self.{p.t}", move)
    carried, name = p.carry(f"self.{p.t}")
    init = ["super().__init__(opt)", *layer_if(p, flag, "self.layer", move), *made]
    own = ["class OwnModel(BaseModel_):", "    def __init__(self, opt):", *indent(init, 2)]
    own += ["", "    def set_input(self):", *indent([*placed_if(p, flag, "self.device"), f"self.given = {p.x}"], 2)]
    forward = [f"{p.x} = self.given", *carried, *p.meet(name, "self.layer"), "return out"]
    own += ["", "    def forward(self):", *indent(forward, 2)]
    main = ["opt = SimpleNamespace(gpu_ids=[0])", "model = OwnModel(opt)", "model.set_input()"]
    return p.single(base, own, main_of([*main, *told(p, "model.forward()")]))


@shape("type-of-flag", "one-file", batch="sixth")
def type_of_flag(p: Parts) -> Program:
    """The flag chooses a type, and the type is what tensors are put through."""
    legacy = p.t_kind.fields()["legacy"]
    made = unplaced(p)
    if moves(p):
        made.append(f"{p.t} = {p.t}.type(dtype)")
    carried, name = p.carry()
    main = ["use_cuda = torch.cuda.is_available()", f"dtype = torch.cuda.{legacy} if use_cuda else torch.{legacy}"]
    main += [*placed_if(p, "use_cuda"), *layer_if(p, "use_cuda"), *made, *carried, *p.meet(name, "layer")]
    return p.single(main_of([*main, f"print({p.shown()})"]))


@shape("to-var-helper", "one-file", batch="sixth")
def to_var_helper(p: Parts) -> Program:
    """A helper moves what it is given if there is a GPU; the tensor goes through it or is forgotten."""
    helper = [
        "def to_var(value):",
        "    if torch.cuda.is_available():",
        "        value = value.cuda()",
        "    return value",
    ]
    made = unplaced(p)
    if moves(p):
        made.append(f"{p.t} = to_var({p.t})")
    carried, name = p.carry()
    layer = [f"layer = to_var({p.spec.meeting.module})"] if p.spec.meeting.module else []
    main = [f"device = {p.device}", *p.place("device"), f"{p.x} = to_var({p.x})", *layer, *made, *carried]
    return p.single(helper, main_of([*main, *p.meet(name, "layer"), f"print({p.shown()})"]))


@shape("options-dict", "one-file", batch="sixth")
def options_dict(p: Parts) -> Program:
    """The device is an entry of a dict of options, which is completed and given from function to function."""
    device = 'options["device"]'
    complete = ['options.setdefault("rate", 0.1)', 'if options.get("device") is None:']
    complete += [f'    options["device"] = {p.device}', "return options"]
    made = p.make(device)
    carried, name = p.carry()
    body = [*made, *carried, *p.module(device), *p.meet(name, "layer"), "return out"]
    functions = ["def complete(options):", *indent(complete), "", ""]
    functions += [f"def step({p.x}, options):", *indent(body)]
    main = ['options = complete({"epochs": 1, "device": None})', *p.place(device), *told(p, f"step({p.x}, options)")]
    return p.single(functions, main_of(main))


@shape("run-config-dataclass", "one-file", batch="sixth")
def run_config_dataclass(p: Parts) -> Program:
    """A dataclass of settings has a flag and a property for the device; an engine asks now one, now the other."""
    settings = ["@dataclass", "class RunConfig:", "    use_gpu: bool = True", "    gpu: int = 0", "", "    @property"]
    settings += ["    def device(self):", '        return torch.device(f"cuda:{self.gpu}" if self.use_gpu else "cpu")']
    made = made_if(p, "self.cfg.use_gpu", f"self.{p.t}", "to(self.cfg.device)")
    carried, name = p.carry(f"self.{p.t}")
    engine = ["class Engine:", "    def __init__(self, cfg):"]
    engine += indent(["self.cfg = cfg", *p.module("self.cfg.device", "self.layer"), *made], 2)
    run = [*placed_if(p, "self.cfg.use_gpu", "self.cfg.device"), *carried, *p.meet(name, "self.layer"), "return out"]
    engine += ["", "    def run(self):", *indent(run, 2)]
    return p.single(settings, engine, main_of(["cfg = RunConfig()", *told(p, "Engine(cfg).run()")]))


@shape("setup-over-dict", "one-file", batch="sixth")
def setup_over_dict(p: Parts) -> Program:
    """A trainer goes through its attributes and moves the modules; the right one moves tensors, too."""
    made = unplaced(p, f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    layer = [f"self.layer = {p.spec.meeting.module}"] if p.spec.meeting.module else []
    setup = ["for name, value in self.__dict__.items():", "    if isinstance(value, nn.Module):"]
    setup.append("        value.to(device)")
    if moves(p):
        setup += ["    elif torch.is_tensor(value):", "        setattr(self, name, value.to(device))"]
    lines = ["class SetUpTrainer:", "    def __init__(self):"]
    lines += indent(["self.net, self.step = nn.Linear(4, 4), 0", *layer, *made], 2)
    lines += ["", "    def setup(self, device):", *indent(setup, 2)]
    lines += forward_of(p, [*carried, *p.meet(name, "self.layer"), "return out"], "train")
    main = [f"device = {p.device}", "trainer = SetUpTrainer()", "trainer.setup(device)", *p.place("device")]
    return p.single(lines, main_of([*main, *told(p, f"trainer.train({p.x})")]))


@shape("state-of-first-turn", "one-file", batch="sixth")
def state_of_first_turn(p: Parts) -> Program:
    """The first turn of a loop makes the tensor, the later ones carry it."""
    made = p.make(f"{p.x}.device")
    carried, name = p.carry()
    first = [f"if {name} is None:", *indent([*made, *carried])]
    body = [
        *p.module(f"{p.x}.device"),
        f"{name} = None",
        "for turn in range(3):",
        *indent([*first, *p.meet(name, "layer")]),
    ]
    main = [f"device = {p.device}", *p.place("device"), *told(p, f"unroll({p.x})")]
    return p.single([f"def unroll({p.x}):", *indent([*body, "return out"])], main_of(main))


@shape("property-of-parameters", "one-file", batch="sixth")
def property_of_parameters(p: Parts) -> Program:
    """A module asks its own parameters whether it is on a GPU."""
    made = made_if(p, "self.on_gpu", move=f"to({p.x}.device)", device=f"{p.x}.device")
    carried, name = p.carry()
    lines = ["class Network(nn.Module):", *init_of([*members(p), "self.gain = nn.Parameter(torch.ones(1))"])]
    lines += ["", "    @property", "    def on_gpu(self):", "        return next(self.parameters()).is_cuda"]
    lines += forward_of(p, [*enter(p), *made, *carried, *p.meet(name, "self.layer"), "return out"])
    return p.single(lines, main_of(run_model(p, "Network()")))


@shape("beside-is_cuda", "one-file", batch="sixth")
def beside_is_cuda(p: Parts) -> Program:
    """A module makes the tensor beside its input and asks where that is."""
    move = f"cuda({p.x}.get_device())"
    made = made_if(p, f"{p.x}.is_cuda", move=move, device=f"{p.x}.device")
    carried, name = p.carry()
    body = [*enter(p), *made, *carried, *p.meet(name, "self.layer"), "return out"]
    return p.single(module_class(p, body), main_of(run_model(p)))


@shape("state-kept-by-object", "one-file", batch="sixth")
def state_kept_by_object(p: Parts) -> Program:
    """An object makes its state at the first step, asks its flag, and keeps the state for the later steps."""
    made = made_if(p, "self.on_gpu", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    lines = ["class Recurrence:", "    def __init__(self, on_gpu):"]
    lines += indent(["self.on_gpu = on_gpu", f"self.{p.t} = None", *layer_if(p, "on_gpu", "self.layer")], 2)
    lines += ["", "    def reset(self):", *indent(made, 2)]
    step = [f"if self.{p.t} is None:", "    self.reset()", *carried, *p.meet(name, "self.layer"), "return out"]
    lines += forward_of(p, step, "step")
    main = ["on_gpu = torch.cuda.is_available()", "recurrence = Recurrence(on_gpu)", *placed_if(p, "on_gpu")]
    main += ["for turn in range(2):", f"    result = recurrence.step({p.x})", f"print({p.shown('result')})"]
    return p.single(lines, main_of(main))


@shape("nets-of-list", "one-file", batch="sixth")
def nets_of_list(p: Parts) -> Program:
    """Networks in a list are moved in a loop under a flag; one of them keeps the tensor."""
    made = own_tensor(p, False)
    carried, name = p.carry(f"self.{p.t}")
    body = [*enter(p), *carried, *p.meet(name, "self.layer"), "return out"]
    lines = module_class(p, body, [*members(p), *made], "Actor")
    main = ["use_cuda = torch.cuda.is_available()", "nets = [Actor(), nn.Linear(4, 1)]", "for net in nets:"]
    main += ["    if use_cuda:", "        net.cuda()", *placed_if(p, "use_cuda"), *told(p, f"nets[0]({p.x})")]
    return p.single(lines, main_of(main))


@shape("use-gpu-files", "files", batch="sixth")
def use_gpu_files(p: Parts) -> Program:
    """A flag in one file, a helper that asks it in another, and a script that uses both."""
    made = unplaced(p)
    if moves(p):
        made.append(f"{p.t} = cuda({p.t})")
    carried, name = p.carry()
    layer = [f"layer = cuda({p.spec.meeting.module})"] if p.spec.meeting.module else []
    main = [*placed_if(p, "settings.USE_GPU"), *layer, *made, *carried, *p.meet(name, "layer"), f"print({p.shown()})"]
    helper = ["def cuda(value):", "    return value.cuda() if settings.USE_GPU else value"]
    files = {
        "settings.py": p.file("", ["USE_GPU = torch.cuda.is_available()", "SEED = 1"]),
        "gpu_utils.py": p.file("", helper, imports=["import settings"]),
        "main.py": p.file(
            "place make carry meet", main_of(main), imports=["import settings", "from gpu_utils import cuda"]
        ),
    }
    return Program(files, "main.py")


@shape("options-and-networks-files", "files", batch="sixth")
def options_and_networks_files(p: Parts) -> Program:
    """Options are parsed in one file, a network of another keeps its list of GPUs, and a script joins them."""
    parse = ["parser = argparse.ArgumentParser()", 'parser.add_argument("--gpu_ids", type=str, default="0")']
    parse += ["opt = parser.parse_args(list(arguments))"]
    parse += ['opt.gpu_ids = [int(part) for part in opt.gpu_ids.split(",") if int(part) >= 0]', "if opt.gpu_ids:"]
    parse += ["    torch.cuda.set_device(opt.gpu_ids[0])", "return opt"]
    flag, move = "self.gpu_ids", f"to({p.x}.device)"
    made = made_if(p, flag, move=move, device=f"{p.x}.device")
    carried, name = p.carry()
    lines = ["class Translator(nn.Module):"]
    lines += init_of(["self.gpu_ids = gpu_ids", *members(p)], ", gpu_ids")
    lines += forward_of(p, [*enter(p), *made, *carried, *p.meet(name, "self.layer"), "return out"])
    main = [
        "opt = parse()",
        "net = Translator(opt.gpu_ids)",
        "if len(opt.gpu_ids) > 0:",
        "    net.cuda(opt.gpu_ids[0])",
    ]
    main += [*placed_if(p, "len(opt.gpu_ids) > 0"), *told(p, f"net({p.x})")]
    files = {
        "options.py": p.file("", ["def parse(arguments=()):", *indent(parse)]),
        "networks.py": p.file("make carry meet", lines),
        "main.py": p.file(
            "place", main_of(main), imports=["from networks import Translator", "from options import parse"]
        ),
    }
    return Program(files, "main.py")


@shape("open-gpu-ids", "open", batch="sixth")
def open_gpu_ids(p: Parts) -> Program:
    """A criterion that nobody makes takes a list of GPUs, empty for the CPU."""
    flag = "len(self.gpu_ids) > 0"
    made = made_if(p, flag, f"self.{p.t}", "to(self.gpu_ids[0])", "self.gpu_ids[0]")
    carried, name = p.carry(f"self.{p.t}")
    init = ["self.gpu_ids = list(gpu_ids)", *layer_if(p, flag, "self.layer", "to(self.gpu_ids[0])"), *made]
    lines = ["class Criterion:", "    def __init__(self, gpu_ids=()):", *indent(init, 2)]
    lines += forward_of(p, [*carried, *p.meet(name, "self.layer"), "return out"], "__call__")
    text = p.file("make carry meet", lines)
    return driven(p, {"library.py": text}, "from library import Criterion", [f"result = Criterion([0])({p.x})"])


@shape("parallel-under-flag", "distributed", batch="sixth")
def parallel_under_flag(p: Parts) -> Program:
    """A helper moves a network to the first of the GPUs and puts it under DataParallel, if it is given any."""
    made = made_if(p, f"{p.x}.is_cuda", move=f"to({p.x}.device)", device=f"{p.x}.device")
    carried, name = p.carry()
    body = [*enter(p), *made, *carried, *p.meet(name, "self.layer"), "return out"]
    start = ["if len(gpu_ids) > 0:", "    net.to(gpu_ids[0])", "    net = nn.DataParallel(net, gpu_ids)", "return net"]
    main = ["gpu_ids = [0] if torch.cuda.is_available() else []", "net = start_net(Generator_(), gpu_ids)"]
    main += [*placed_if(p, "gpu_ids"), *told(p, f"net({p.x})")]
    model = module_class(p, body, name="Generator_")
    return p.single(model, ["def start_net(net, gpu_ids):", *indent(start)], main_of(main))
