"""The kept half of the shapes of the fifth batch: see kept_fifth.py."""

from __future__ import annotations

from differential.programs import Parts, Program, indent
from differential.shapes import (
    driven,
    enter,
    forward_of,
    inside,
    main_of,
    module_class,
    shape,
)


@shape("prefetcher-of-batches", "one-file", batch="fifth", kept=True)
def prefetcher_of_batches(p: Parts) -> Program:
    """A prefetcher moves each batch before it is asked for; the loop ends where it gives none."""
    load = ["try:", "    self.following = next(self.batches)", "except StopIteration:", "    self.following = None"]
    load += ["    return", "self.following = self.following.to(self.device, non_blocking=True)"]
    init = ["self.batches, self.device = iter(batches), device", "self.preload()"]
    prefetcher = ["class Prefetcher:", "    def __init__(self, batches, device):", *indent(init, 2)]
    prefetcher += ["", "    def preload(self):", *indent(load, 2), "", "    def next(self):"]
    prefetcher += indent(["current = self.following", "self.preload()", "return current"], 2)
    made = p.make("device")
    carried, name = p.carry()
    turn = [*p.meet(name, "layer"), f"{p.x} = prefetcher.next()"]
    main = [f"device = {p.device}", *p.place("device"), *p.module("device"), *made, *carried]
    main += [f"prefetcher = Prefetcher([{p.x}, {p.x}], device)", f"{p.x} = prefetcher.next()"]
    main += [f"while {p.x} is not None:", *indent(turn), f"print({p.shown()})"]
    return p.single(prefetcher, main_of(main))


@shape("average-of-weights", "one-file", batch="fifth", kept=True)
def average_of_weights(p: Parts) -> Program:
    """A model and the copy of it that follows its weights; the copy is asked."""
    model = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")])
    pairs = "zip(self.module.state_dict().values(), model.state_dict().values())"
    update = [f"for own, other in {pairs}:", "    own.copy_(own * self.decay + other * (1 - self.decay))"]
    average = ["class ModelEma:", "    def __init__(self, model, decay=0.99):"]
    average += indent(["self.module = copy.deepcopy(model).eval()", "self.decay = decay"], 2)
    average += ["", "    @torch.no_grad()", "    def update(self, model):", *indent(update, 2)]
    main = [f"device = {p.device}", "model = Model().to(device)", "ema = ModelEma(model)", "ema.update(model)"]
    main += [*p.place("device"), f"result = ema.module({p.x})", f"print({p.shown('result')})"]
    return p.single(model, average, main_of(main))


@shape("subclasses-by-name", "one-file", batch="fifth", kept=True)
def subclasses_by_name(p: Parts) -> Program:
    """Subclasses enter themselves under a name; the script makes one of them by it."""
    enters = ["super().__init_subclass__(**kwargs)", "Task.known[name] = cls"]
    base = [
        "class Task:",
        "    known = {}",
        "",
        '    def __init_subclass__(cls, name="", **kwargs):',
        *indent(enters, 2),
    ]
    base += ["", "    def __init__(self, device):", "        self.device = device"]
    base += ["        self.setup()", "", "    def setup(self):", "        pass"]
    made = p.make("self.device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    own = ['class OwnTask(Task, name="own"):', "    def setup(self):"]
    own += indent([*p.module("self.device", "self.layer"), *made], 2)
    own += forward_of(p, [*carried, *p.meet(name, "self.layer"), "return out"], "run")
    main = [f"device = {p.device}", 'task = Task.known["own"](device)', *p.place("device"), f"result = task.run({p.x})"]
    return p.single(base, own, main_of([*main, f"print({p.shown('result')})"]))


@shape("resumed-checkpoint", "one-file", batch="fifth", kept=True)
def resumed_checkpoint(p: Parts) -> Program:
    """The tensor is part of a checkpoint that is read onto the device, wherever it was written."""
    made = p.make("device")
    carried, name = p.carry()
    save = [f"def save(file, {p.t}, step):", f'    torch.save({{"{p.t}": {p.t}, "step": step}}, file)']
    resume = ["def resume(file, device):", "    file.seek(0)", "    return torch.load(file, map_location=device)"]
    main = [f"device = {p.device}", *made, "file = io.BytesIO()", f"save(file, {p.t}, 3)"]
    main += ["checkpoint = resume(file, device)", f'{p.t} = checkpoint["{p.t}"]', *carried]
    main += [*p.place("device"), *p.module("device"), *p.meet(name, "layer"), f"print({p.shown()})"]
    return p.single(save, resume, main_of(main))


@shape("bank-on-the-cpu", "one-file", batch="fifth", kept=True)
def bank_on_the_cpu(p: Parts) -> Program:
    """A bank keeps what it gets on the CPU; the right program brings back what it gives."""
    p.make("device")  # for what it needs at the top
    first = Parts(p.spec, False).make("device")
    back = p.make("device", given="bank.latest()")
    carried, name = p.carry()
    bank = ["class FeatureBank:", "    def __init__(self):", "        self.items = []", "", "    def push(self, item):"]
    bank += ["        self.items.append(item.detach().cpu())", "", "    def latest(self):"]
    bank += ["        return self.items[-1]"]
    main = [f"device = {p.device}", "bank = FeatureBank()", *first, f"bank.push({p.t})", *back, *carried]
    main += [*p.place("device"), *p.module("device"), *p.meet(name, "layer"), f"print({p.shown()})"]
    return p.single(bank, main_of(main))


@shape("cuda-option-off", "one-file", batch="fifth", kept=True)
def cuda_option_off(p: Parts) -> Program:
    """A script whose option for the GPU is not given, so that everything stays on the CPU."""
    p.make('"cpu"')  # for what it needs at the top
    made = Parts(p.spec, False).make('"cpu"')
    carried, name = p.carry()
    layer = [f"layer = {p.spec.meeting.module}"] if p.spec.meeting.module else []
    move = ["if args.cuda:", f"    {p.x} = {p.x}.cuda()", *(["    layer.cuda()"] if layer else [])]
    parse = ["def parse():", "    parser = argparse.ArgumentParser()"]
    parse += ['    parser.add_argument("--cuda", action="store_true", help="use the GPU")']
    parse += ['    parser.add_argument("--lr", type=float, default=0.1)', "    return parser.parse_args([])"]
    main = ["args = parse()", f"{p.x} = {p.x_kind.fields()['plain']}", *layer, *move, *made, *carried]
    text = p.file("make carry meet", parse, main_of([*main, *p.meet(name, "layer"), f"print({p.shown()})"]))
    return Program({"main.py": text}, "main.py")


@shape("batch-that-moves-itself", "one-file", batch="fifth", kept=True)
def batch_that_moves_itself(p: Parts) -> Program:
    """A batch with a `to` of its own, which forgets one of its tensors in the faulty program."""
    p.make("device")  # for what it needs at the top
    made = Parts(p.spec, False).make("device")
    move = [f"self.{p.x} = self.{p.x}.to(device)"]
    move += [f"self.{p.t} = self.{p.t}.to(device)"] if p.mends and p.spec.fix != "at-use" else []
    carried, name = p.carry(f"batch.{p.t}")
    init = [f"self.{p.x}, self.{p.t} = {p.x}, {p.t}"]
    batch = ["class Batch:", f"    def __init__(self, {p.x}, {p.t}):", *indent(init, 2)]
    batch += ["", "    def to(self, device):", *indent([*move, "return self"], 2)]
    extra = ", layer" if p.spec.meeting.module else ""
    step = [f"{p.x} = batch.{p.x}", *carried, *p.meet(name, "layer"), "return out"]
    step = [f"def training_step(batch{extra}):", *indent(step)]
    main = [f"device = {p.device}", *p.place("device"), *made, *p.module("device")]
    main += [f"result = training_step(Batch({p.x}, {p.t}).to(device){extra})", f"print({p.shown('result')})"]
    return p.single(batch, step, main_of(main))


@shape("gpu-mode-module", "files", batch="fifth", kept=True)
def gpu_mode_module(p: Parts) -> Program:
    """A module of utilities with a global device that the script sets once."""
    utilities = ["device = None", "", "", "def set_gpu_mode(mode, gpu_id=0):", "    global device"]
    utilities += ['    device = torch.device(f"cuda:{gpu_id}" if mode else "cpu")']
    utilities += ["", "", "def zeros(*size):", "    return torch.zeros(*size, device=device)"]
    utilities += ["", "", "def get_numpy(tensor):", '    return tensor.detach().to("cpu").numpy()']
    made = p.make("ptu.device")
    carried, name = p.carry()
    extra = ", layer" if p.spec.meeting.module else ""
    policy = [f"def act({p.x}{extra}):", *indent([*made, *carried, *p.meet(name, "layer"), "return out"])]
    main = ["ptu.set_gpu_mode(True)", *p.place("ptu.device"), *p.module("ptu.device"), f"result = act({p.x}{extra})"]
    files = {
        "ptu.py": p.file("", utilities),
        "policy.py": p.file("make carry meet", policy, imports=["import ptu"]),
        "main.py": p.file(
            "place", main_of([*main, f"print({p.shown('result')})"]), imports=["import ptu", "from policy import act"]
        ),
    }
    return Program(files, "main.py")


@shape("open-mixin", "open", batch="fifth", kept=True)
def open_mixin(p: Parts) -> Program:
    """A mixin of modules that nobody moves makes the tensor for their forward."""
    mixin = ["class TableMixin:", f"    def build_{p.t}(self, device):"]
    mixin += indent([*p.make("device"), f"return {p.t}"], 2)
    carried, name = p.carry()
    body = [*enter(p), f"{p.t} = self.build_{p.t}({p.x}.device)", *carried, *p.meet(name, "self.layer"), "return out"]
    model = module_class(p, body)
    model[0] = "class Model(TableMixin, nn.Module):"
    text = p.file("make carry meet", mixin, model)
    lines = ["model = Model().to(device)", f"result = model({p.x})"]
    return driven(p, {"model.py": text}, "from model import Model", lines)


@shape("main-worker", "distributed", group=True, batch="fifth", kept=True)
def main_worker(p: Parts) -> Program:
    """A function for each GPU that writes its device into the options."""
    start = ["torch.cuda.set_device(gpu)", 'args.device = torch.device(f"cuda:{gpu}")', "store = dist.HashStore()"]
    start += ['dist.init_process_group("nccl", store=store, rank=args.rank + gpu, world_size=args.world_size)']
    body = [*p.module("args.device"), *p.place("args.device"), *inside(p, "args.device", "layer")[:-1]]
    worker = ["def main_worker(gpu, args):", *indent([*start, *body, "dist.destroy_process_group()", "return out"])]
    main = ["args = argparse.Namespace(rank=0, world_size=1)", "result = main_worker(0, args)"]
    return p.single(worker, main_of([*main, f"print({p.shown('result')})"]))
