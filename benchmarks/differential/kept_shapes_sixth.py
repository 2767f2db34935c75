"""The kept half of the shapes of the sixth batch: see kept_sixth.py. Do not read it to mend the linter."""

from __future__ import annotations

from differential.programs import Parts, Program, indent
from differential.shapes import (
    driven,
    enter,
    forward_of,
    inside,
    main_of,
    module_class,
    moves,
    shape,
    told,
    unplaced,
)
from differential.shapes_sixth import (
    extra,
    layer_if,
    made_if,
    placed_if,
)


@shape("use-cuda-global", "one-file", batch="sixth", kept=True)
def use_cuda_global(p: Parts) -> Program:
    """A flag of the module is asked where the operand, the layer and the tensor are made."""
    made = made_if(p, "USE_CUDA")
    carried, name = p.carry()
    body = [*made, *carried, *layer_if(p, "USE_CUDA"), *p.meet(name, "layer"), "return out"]
    main = [*placed_if(p, "USE_CUDA"), *told(p, f"compute({p.x})")]
    flag = ["USE_CUDA = torch.cuda.is_available()"]
    return p.single(flag, [f"def compute({p.x}):", *indent(body)], main_of(main))


@shape("args-cuda", "one-file", batch="sixth", kept=True)
def args_cuda(p: Parts) -> Program:
    """The classical `--no-cuda`, asked by a training function for the model, the tensor and each batch."""
    parse = ["parser = argparse.ArgumentParser()", 'parser.add_argument("--no-cuda", action="store_true")']
    parse += ['parser.add_argument("--epochs", type=int, default=2)', "args = parser.parse_args(list(arguments))"]
    parse += ["args.cuda = not args.no_cuda and torch.cuda.is_available()", "return args"]
    made = made_if(p, "args.cuda")
    carried, name = p.carry()
    turn = [*placed_if(p, "args.cuda"), *p.meet(name, "layer")]
    train = ["model = nn.Linear(4, 4)", "if args.cuda:", "    model.cuda()", *layer_if(p, "args.cuda"), *made, *carried]
    train += ["for epoch in range(args.epochs):", *indent(turn), "return out"]
    functions = ["def parse_args(arguments=()):", *indent(parse), "", "", "def train(args):", *indent(train)]
    return p.single(functions, main_of(["args = parse_args()", *told(p, "train(args)")]))


@shape("gpu-number", "one-file", batch="sixth", kept=True)
def gpu_number(p: Parts) -> Program:
    """A function takes the number of a GPU, where -1 stands for the CPU."""
    made = made_if(p, "gpu >= 0", move="cuda(gpu)")
    carried, name = p.carry()
    body = ['device = torch.device(f"cuda:{gpu}" if gpu >= 0 else "cpu")', *placed_if(p, "gpu >= 0", "device"), *made]
    body += [*carried, *layer_if(p, "gpu >= 0", move="cuda(gpu)"), *p.meet(name, "layer"), "return out"]
    return p.single(["def run(gpu=-1):", *indent(body)], main_of(told(p, "run(gpu=0)")))


@shape("agent-to-gpu", "one-file", batch="sixth", kept=True)
def agent_to_gpu(p: Parts) -> Program:
    """An agent is made on the CPU and moves its parts in a method of its own."""
    made = unplaced(p, f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    layer = [f"self.layer = {p.spec.meeting.module}"] if p.spec.meeting.module else []
    agent = ["class DrivingAgent:", "    def __init__(self):", *indent(["self.on_gpu = False", *layer, *made], 2)]
    to_gpu = ["self.on_gpu = True", *(["self.layer.cuda()"] if layer else [])]
    if moves(p):
        to_gpu.append(f"self.{p.t} = self.{p.t}.cuda()")
    agent += ["", "    def to_gpu(self):", *indent(to_gpu, 2)]
    agent += forward_of(p, [*carried, *p.meet(name, "self.layer"), "return out"], "act")
    main = ["agent = DrivingAgent()", "if torch.cuda.is_available():", "    agent.to_gpu()"]
    return p.single(agent, main_of([*main, *placed_if(p, "agent.on_gpu"), *told(p, f"agent.act({p.x})")]))


@shape("parts-by-name", "one-file", batch="sixth", kept=True)
def parts_by_name(p: Parts) -> Program:
    """A system moves the attributes that a list names; the tensor is in the list or was forgotten there."""
    made = unplaced(p, f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    layer = [f"self.layer = {p.spec.meeting.module}"] if p.spec.meeting.module else []
    names = ["net", *(["layer"] if layer else []), *([p.t] if moves(p) else [])]
    quoted = ", ".join(f'"{part}"' for part in names)
    init = ["self.net = nn.Linear(4, 4)", *layer, *made, f"self.placed = [{quoted}]"]
    move = ["for name in self.placed:", "    setattr(self, name, getattr(self, name).to(device))", "return self"]
    system = ["class System:", "    def __init__(self):", *indent(init, 2)]
    system += ["", "    def move(self, device):", *indent(move, 2)]
    system += forward_of(p, [*carried, *p.meet(name, "self.layer"), "return out"], "run")
    main = [f"device = {p.device}", *p.place("device"), "system = System().move(device)"]
    return p.single(system, main_of([*main, *told(p, f"system.run({p.x})")]))


@shape("evaluated-on-cpu", "one-file", batch="sixth", kept=True)
def evaluated_on_cpu(p: Parts) -> Program:
    """Each epoch moves the model to the accelerator, and the evaluation after it moves it back to the CPU."""
    made = p.make("device")
    carried, name = p.carry()
    evaluate = ["def evaluate(model):", "    model.cpu()", "    with torch.no_grad():"]
    evaluate += ["        return model(torch.ones(1, 4)).sum().item()"]
    turn = ["model.to(device)", "loss = model(torch.ones(2, 4, device=device)).mean()", "loss.backward()"]
    turn += [*p.place("device"), *p.meet(name, "layer"), "score = evaluate(model)"]
    main = [f"device = {p.device}", "model = nn.Linear(4, 4)", *p.module("device"), *made, *carried]
    return p.single(evaluate, main_of([*main, "for epoch in range(2):", *indent(turn), f"print({p.shown()})"]))


@shape("results-under-flag", "one-file", batch="sixth", kept=True)
def results_under_flag(p: Parts) -> Program:
    """An evaluation collects its results on the CPU if an option says so."""
    turn = [*inside(p, f"{p.x}.device", "layer")[:-1], "if on_cpu and torch.is_tensor(out):", "    out = out.cpu()"]
    body = ["results = []", "for turn in range(2):", *indent([*turn, "results.append(out)"]), "return results[-1]"]
    evaluate = [f"def evaluate({p.x}{extra(p)}, on_cpu=True):", *indent(body)]
    main = [f"device = {p.device}", *p.place("device"), *p.module("device")]
    return p.single(evaluate, main_of([*main, *told(p, f"evaluate({p.x}{extra(p)})")]))


@shape("left-without-gpu", "one-file", batch="sixth", kept=True)
def left_without_gpu(p: Parts) -> Program:
    """A script that ends where there is no GPU, and asks nothing afterwards."""
    made = unplaced(p)
    if moves(p):
        made.append(f"{p.t} = {p.t}.cuda()")
    carried, name = p.carry()
    layer = [f"layer = {p.spec.meeting.module}.cuda()"] if p.spec.meeting.module else []
    main = ["if not torch.cuda.is_available():", '    print("no GPU")', "    return", *p.place('"cuda"'), *layer, *made]
    return p.single(main_of([*main, *carried, *p.meet(name, "layer"), f"print({p.shown()})"]))


@shape("flag-of-batches", "one-file", batch="sixth", kept=True, loop=True)
def flag_of_batches(p: Parts) -> Program:
    """A collate function places each batch under the flag under which the loop places the tensor."""
    collate = ["value = rows[0]", "if not ON_GPU:", "    return value", *p.place('"cuda"', "value"), f"return {p.x}"]
    made = made_if(p, "ON_GPU")
    carried, name = p.carry()
    turn = [*made, *carried, *p.meet(name, "layer")]
    main = [f"loader = DataLoader([{p.x_kind.fields()['plain']}], batch_size=1, collate_fn=collate)"]
    main += [*layer_if(p, "ON_GPU"), f"for {p.x} in loader:", *indent(turn), f"print({p.shown()})"]
    flag = ["ON_GPU = torch.cuda.is_available()"]
    return p.single(flag, ["def collate(rows):", *indent(collate)], main_of(main))


@shape("checked-on-cpu-first", "one-file", batch="sixth", kept=True)
def checked_on_cpu_first(p: Parts) -> Program:
    """A function with a flag is tried on the CPU before it runs on the accelerator."""
    made = made_if(p, "use_cuda")
    carried, name = p.carry()
    body = [*placed_if(p, "use_cuda"), *made, *carried, *layer_if(p, "use_cuda"), *p.meet(name, "layer"), "return out"]
    main = ["run(use_cuda=False)", "if torch.cuda.is_available():", "    result = run(use_cuda=True)"]
    main.append(f"    print({p.shown('result')})")
    return p.single(["def run(use_cuda):", *indent(body)], main_of(main))


@shape("gpu-mode-files", "files", batch="sixth", kept=True)
def gpu_mode_files(p: Parts) -> Program:
    """The device is a global of a file of helpers, set once by the script and read by everybody."""
    mode = ["device = None", "_use_gpu = False", "", "", "def set_gpu_mode(mode, gpu_id=0):"]
    mode += ["    global device, _use_gpu", "    _use_gpu = mode"]
    mode += ['    device = torch.device(f"cuda:{gpu_id}" if _use_gpu else "cpu")']
    made = p.make("ptu.device")
    carried, name = p.carry()
    main = ["ptu.set_gpu_mode(torch.cuda.is_available())", *p.place("ptu.device"), *p.module("ptu.device")]
    body = [*made, *carried, *p.meet(name, "layer"), "return out"]
    learn = [f"def learn({p.x}{extra(p)}):", *indent(body)]
    files = {
        "pytorch_util.py": p.file("", mode),
        "learning.py": p.file("make carry meet", learn, imports=["import pytorch_util as ptu"]),
        "main.py": p.file(
            "place",
            main_of([*main, *told(p, f"learn({p.x}{extra(p)})")]),
            imports=["import pytorch_util as ptu", "from learning import learn"],
        ),
    }
    return Program(files, "main.py")


@shape("device-of-each-file", "files", batch="sixth", kept=True)
def device_of_each_file(p: Parts) -> Program:
    """Each file chooses the device again, all in the same way."""
    chosen = [f"DEVICE = {p.device}"]
    made = p.make("DEVICE")
    carried, name = p.carry()
    body = [*enter(p), *made, *carried, *p.meet(name, "self.layer"), "return out"]
    main = ["model = Classifier().to(DEVICE)", f"{p.x} = load()", *told(p, f"model({p.x})")]
    files = {
        "reading.py": p.file("device place", chosen, ["def load():", *indent([*p.place("DEVICE"), f"return {p.x}"])]),
        "classifier.py": p.file("device make carry meet", chosen, module_class(p, body, name="Classifier")),
        "main.py": p.file(
            "device", chosen, main_of(main), imports=["from classifier import Classifier", "from reading import load"]
        ),
    }
    return Program(files, "main.py")


@shape("open-use-gpu", "open", batch="sixth", kept=True)
def open_use_gpu(p: Parts) -> Program:
    """A function that nobody calls asks the operand for what its flag should be."""
    made = made_if(p, "use_gpu", move=f"to({p.x}.device)", device=f"{p.x}.device")
    carried, name = p.carry()
    body = ["if use_gpu is None:", f'    use_gpu = {p.x}.device.type != "cpu"', *made, *carried]
    body += [*layer_if(p, "use_gpu", move=f"to({p.x}.device)"), *p.meet(name, "layer"), "return out"]
    text = p.file("make carry meet", [f"def compute({p.x}, use_gpu=None):", *indent(body)])
    return driven(p, {"library.py": text}, "from library import compute", [f"result = compute({p.x})"])


@shape("open-learner-of-options", "open", batch="sixth", kept=True)
def open_learner_of_options(p: Parts) -> Program:
    """A learner that nobody makes reads its device from a dict of options."""
    made = p.make("self.device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    init = ['self.device = torch.device(options.get("device") or "cpu")', *p.module("self.device", "self.layer"), *made]
    learn = [f"{p.x} = {p.x}.to(self.device)", *carried, *p.meet(name, "self.layer"), "return out"]
    lines = ["class Learner:", "    def __init__(self, options):", *indent(init, 2), *forward_of(p, learn, "learn")]
    text = p.file("make carry meet", lines)
    asked = [f'result = Learner({{"device": device, "rate": 0.1}}).learn({p.x})']
    return driven(p, {"library.py": text}, "from library import Learner", asked)


@shape("local-rank-or-not", "distributed", batch="sixth", kept=True)
def local_rank_or_not(p: Parts) -> Program:
    """A script that can be launched in many processes, and is not: its local rank is -1."""
    setup = ["if args.local_rank == -1 or args.no_cuda:", f"    device = {p.device}"]
    setup += ["    args.n_gpu = torch.cuda.device_count()", "else:", "    torch.cuda.set_device(args.local_rank)"]
    setup += ['    device = torch.device("cuda", args.local_rank)', '    dist.init_process_group(backend="nccl")']
    setup += ["    args.n_gpu = 1", "args.device = device", "return device"]
    made = p.make("args.device")
    carried, name = p.carry()
    train = [f"def train(args, {p.x}{extra(p)}):", *indent([*made, *carried, *p.meet(name, "layer"), "return out"])]
    main = ["args = argparse.Namespace(local_rank=-1, no_cuda=False)", "device = setup(args)", *p.place("args.device")]
    main += [*p.module("device"), *told(p, f"train(args, {p.x}{extra(p)})")]
    return p.single(["def setup(args):", *indent(setup)], train, main_of(main))
