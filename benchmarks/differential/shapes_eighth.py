"""The open half of the shapes of the eighth batch: see tables_eighth.py."""

from __future__ import annotations

from differential.programs import Parts, Program, indent
from differential.shapes import driven, forward_of, grouped, init_of, main_of, moves, shape, told, unplaced


@shape("accelerated-loop", "one-file", batch="eighth")
def accelerated_loop(p: Parts) -> Program:
    """An object knows the device and prepares the network; the loop asks it for the rest."""
    accelerator = ["class Accelerator:", "    def __init__(self):", f"        self.device = {p.device}", ""]
    accelerator += ["    def prepare(self, *parts):", "        return [part.to(self.device) for part in parts]"]
    device = "accelerator.device"
    made = p.make(device)
    carried, name = p.carry()
    turn = [*p.place(device), *p.meet(name, "layer")]
    train = ["(network,) = accelerator.prepare(nn.Linear(4, 4))", "network.train()", *p.module(device), *made, *carried]
    train += ["for step in range(steps):", *indent(turn), "return out"]
    functions = ["def train(accelerator, steps=2):", *indent(train)]
    return p.single(accelerator, functions, main_of(["accelerator = Accelerator()", *told(p, "train(accelerator)")]))


@shape("sampling-loop", "one-file", batch="eighth")
def sampling_loop(p: Parts) -> Program:
    """A process keeps the tensor; its sampler goes through the steps backwards."""
    made = p.make("self.device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    process = ["class Process:", "    def __init__(self, steps, device):"]
    process += indent(["self.steps, self.device = steps, device", *p.module("device", "self.layer"), *made], 2)
    process += ["", f"    def step(self, {p.x}, number):"]
    process += indent([*carried, *p.meet(name, "self.layer"), "return out"], 2)
    sample = [*p.place("self.device"), "for number in reversed(range(self.steps)):"]
    sample += [f"    result = self.step({p.x}, number)", "return result"]
    process += ["", "    def sample(self):", *indent(sample, 2)]
    return p.single(process, main_of([f"device = {p.device}", *told(p, "Process(2, device).sample()")]))


@shape("rollout-storage", "one-file", batch="eighth")
def rollout_storage(p: Parts) -> Program:
    """A storage is made on the CPU and moves its tensors in a method `to`, which forgets one of them."""
    made = unplaced(p, f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    storage = ["class Storage:", "    def __init__(self, steps):"]
    storage += indent(["self.rewards, self.step = torch.zeros(steps, 1), 0", *made], 2)
    to = ["self.rewards = self.rewards.to(device)", *([f"self.{p.t} = self.{p.t}.to(device)"] if moves(p) else [])]
    storage += ["", "    def to(self, device):", *indent(to, 2)]
    storage += ["", f"    def compute(self, {p.x}, layer=None):"]
    storage += indent([*carried, *p.meet(name, "layer"), "return out"], 2)
    main = [f"device = {p.device}", "storage = Storage(steps=4)", "storage.to(device)", *p.place("device")]
    given = f"{p.x}, layer" if p.spec.meeting.module else p.x
    return p.single(storage, main_of([*main, *p.module("device"), *told(p, f"storage.compute({given})")]))


@shape("folds", "one-file", batch="eighth")
def folds(p: Parts) -> Program:
    """Each fold of a cross validation is run by a function with a model and data of its own."""
    made = p.make("device")
    carried, name = p.carry()
    body = [*p.place("device"), *made, *carried, *p.module("device"), *p.meet(name, "layer"), "return out"]
    run = ["def run_fold(fold, device, seed=0):", "    torch.manual_seed(seed + fold)", *indent(body)]
    validate = ["def cross_validate(device, count=2):", "    results = {}", "    for fold in range(count):"]
    validate += ["        results[fold] = run_fold(fold, device=device)", "    return results[count - 1]"]
    return p.single(run, validate, main_of([f"device = {p.device}", *told(p, "cross_validate(device)")]))


@shape("import-in-function", "files", batch="eighth")
def import_in_function(p: Parts) -> Program:
    """A function imports what it needs when it is called."""
    made = p.make("device")
    carried, name = p.carry()
    body = [*made, *carried, *p.module("device"), *p.meet(name, "layer"), "return out"]
    run = ["def run(device):", "    from operations import combine", ""]
    run += indent([*p.place("device"), f"return combine({p.x}, device=device)"])
    main = [f"device = {p.device}", *told(p, "engine.run(device)")]
    files = {
        "operations.py": p.file("make carry meet", [f"def combine({p.x}, device):", *indent(body)]),
        "engine.py": p.file("place", run),
        "main.py": p.file("device", main_of(main), imports=["import engine"]),
    }
    return Program(files, "main.py")


@shape("open-metric", "open", batch="eighth")
def open_metric(p: Parts) -> Program:
    """A metric that nobody makes: it is updated with operands and asked for what it has."""
    made = p.make("device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    metric = ["class Metric:", "    def __init__(self, device=None):"]
    metric += indent(["self.results = []", *made], 2)
    body = [*carried, *p.module(f"{p.x}.device"), *p.meet(name, "layer"), "self.results.append(out)"]
    metric += ["", f"    def update(self, {p.x}):", *indent(body, 2)]
    metric += ["", "    def compute(self):", "        return self.results[-1]"]
    lines = ["metric = Metric(device=device)", f"metric.update({p.x})", "result = metric.compute()"]
    return driven(p, {"metrics.py": p.file("make carry meet", metric)}, "from metrics import Metric", lines)


@shape("group-evaluation", "distributed", group=True, batch="eighth")
def group_evaluation(p: Parts) -> Program:
    """Each rank evaluates its share; the count is summed over the ranks."""
    made = p.make("device")
    carried, name = p.carry()
    body = [*p.place("device"), *made, *carried, *p.module("device"), *p.meet(name, "layer")]
    body += ["count = torch.ones(1, device=device)", "dist.all_reduce(count)", "return out"]
    evaluate = ["def evaluate(device):", *indent(body)]
    lines = ["rank = dist.get_rank()", "torch.cuda.set_device(rank)", "device = torch.device('cuda', rank)"]
    return p.single(evaluate, grouped([*lines, *told(p, "evaluate(device)")]))


@shape("pipeline-and-scheduler", "one-file", batch="eighth")
def pipeline_and_scheduler(p: Parts) -> Program:
    """A pipeline sets its scheduler up for a device; the scheduler's step has the tensor."""
    made = p.make("device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    scheduler = ["class Scheduler:", "    def __init__(self):", f"        self.{p.t} = None"]
    scheduler += ["", "    def set_timesteps(self, count, device=None):", *indent(["self.count = count", *made], 2)]
    step = [*carried, *p.module(f"{p.x}.device"), *p.meet(name, "layer"), "return out"]
    scheduler += forward_of(p, step, "step")
    pipeline = ["class Pipeline:", "    def __init__(self, scheduler, device):"]
    pipeline += ["        self.scheduler, self.device = scheduler, device", "", "    def __call__(self, count=2):"]
    call = ["self.scheduler.set_timesteps(count, device=self.device)", *p.place("self.device")]
    pipeline += indent([*call, f"return self.scheduler.step({p.x})"], 2)
    main = [f"device = {p.device}", "pipeline = Pipeline(Scheduler(), device)", *told(p, "pipeline(count=3)")]
    return p.single(scheduler, pipeline, main_of(main))


@shape("grid-search", "one-file", batch="eighth")
def grid_search(p: Parts) -> Program:
    """A trial is run for every combination of settings; the best is kept."""
    made = p.make("device")
    carried, name = p.carry()
    body = [
        *p.place("device"),
        *made,
        *carried,
        *p.module("device"),
        *p.meet(name, "layer"),
        "return rate * depth, out",
    ]
    trial = ["def trial(device, rate=0.1, depth=1):", *indent(body)]
    search = ["def search(run, grid):", "    best_score, best = -1.0, None"]
    search += ["    for values in itertools.product(*grid.values()):"]
    search += indent(["score, result = run(**dict(zip(grid, values)))", "if score > best_score:"], 2)
    search += indent(["best_score, best = score, result"], 3)
    search += ["    return best"]
    main = [f"device = {p.device}", 'grid = {"rate": [0.1, 0.01], "depth": [1, 2]}']
    return p.single(trial, search, main_of([*main, *told(p, "search(functools.partial(trial, device), grid)")]))


@shape("postprocess-of-outputs", "one-file", batch="eighth")
def postprocess_of_outputs(p: Parts) -> Program:
    """A network gives a dict of outputs; a function that is no part of it goes on with them."""
    head = ["class Detector(nn.Module):", *init_of(["self.gain = nn.Parameter(torch.ones(1))"])]
    head += forward_of(p, [f'return {{"scores": {p.x}, "count": 1}}'])
    made = p.make(f"{p.x}.device")
    carried, name = p.carry()
    body = [f'{p.x} = outputs["scores"]', *made, *carried, *p.module(f"{p.x}.device"), *p.meet(name, "layer")]
    post = ["def postprocess(outputs, threshold=0.5):", *indent([*body, "return out"])]
    main = [f"device = {p.device}", "detector = Detector().to(device).eval()", *p.place("device")]
    return p.single(head, post, main_of([*main, *told(p, f"postprocess(detector({p.x}))")]))


@shape("run-as-module", "files", batch="eighth")
def run_as_module(p: Parts) -> Program:
    """A package that is run by its `__main__.py`; its command reads the device from arguments."""
    made = p.make("args.device")
    carried, name = p.carry()
    body = [*p.place("args.device"), *made, *carried, *p.module("args.device"), *p.meet(name, "layer"), "return out"]
    parse = ["def main(arguments=()):", "    parser = argparse.ArgumentParser()"]
    parse += indent(
        [f'parser.add_argument("--device", default={p.device})', "args = parser.parse_args(list(arguments))"]
    )
    parse += indent(told(p, "run(args)"))
    files = {
        "tool/__init__.py": '"""A tool."""\n',
        "tool/steps.py": p.file("make carry place meet", ["def run(args):", *indent(body)]),
        "tool/cli.py": p.file("device", parse, imports=["from .steps import run"]),
        "tool/__main__.py": 'from tool.cli import main\n\nif __name__ == "__main__":\n    main()\n',
    }
    return Program(files, "tool/__main__.py")
