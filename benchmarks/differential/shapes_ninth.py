"""The open half of the shapes of the ninth batch: see tables_ninth.py."""

from __future__ import annotations

from differential.programs import Parts, Program, indent
from differential.shapes import (
    driven,
    enter,
    forward_of,
    grouped,
    init_of,
    inside,
    main_of,
    members,
    module_class,
    own_tensor,
    shape,
    told,
)


@shape("federated-clients", "one-file", batch="ninth")
def federated_clients(p: Parts) -> Program:
    """A server asks its clients, each of which keeps the tensor."""
    made = p.make("device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    client = ["class Client:", "    def __init__(self, number, device):"]
    client += indent(["self.number, self.device = number, device", *p.module("device", "self.layer"), *made], 2)
    train = [*p.place("self.device"), *carried, *p.meet(name, "self.layer"), "return out"]
    client += ["", "    def train(self):", *indent(train, 2)]
    server = ["class Server:", "    def __init__(self, clients):", "        self.clients = clients"]
    server += ["", "    def run_round(self):", "        return [client.train() for client in self.clients]"]
    main = [f"device = {p.device}", "server = Server([Client(number, device) for number in range(2)])"]
    return p.single(client, server, main_of([*main, *told(p, "server.run_round()[0]")]))


@shape("task-and-fit", "one-file", batch="ninth")
def task_and_fit(p: Parts) -> Program:
    """A module with a training step; a trainer moves the module and the batches."""
    made = own_tensor(p, False)
    carried, name = p.carry(f"self.{p.t}")
    step = [f"{p.x} = batch[0]", *carried, *p.meet(name, "self.layer"), "return out"]
    task = ["class Task(nn.Module):", *init_of([*members(p), *made])]
    task += ["", "    def training_step(self, batch, batch_idx):", *indent(step, 2)]
    fit = ["task.to(self.device).train()", "result = None", "for number, batch in enumerate(loader):"]
    fit += ["    batch = [part.to(self.device) for part in batch]", "    result = task.training_step(batch, number)"]
    trainer = ["class Trainer:", "    def __init__(self, device, max_epochs=1):"]
    trainer += ["        self.device, self.max_epochs = device, max_epochs", "", "    def fit(self, task, loader):"]
    trainer += indent([*fit, "return result"], 2)
    main = [f"device = {p.device}", *p.place("device")]
    return p.single(task, trainer, main_of([*main, *told(p, f"Trainer(device).fit(Task(), [({p.x},)])")]))


@shape("placing-dataset", "one-file", batch="ninth")
def placing_dataset(p: Parts) -> Program:
    """A dataset makes its items where it is told; they are used as they come."""
    made = p.make("self.device")
    carried, name = p.carry()
    data = ["class Items(Dataset):", "    def __init__(self, size, device):"]
    data += ["        self.size, self.device = size, device", "", "    def __len__(self):", "        return self.size"]
    item = [*p.place("self.device"), *made, f"return {p.x}, {p.t}"]
    data += ["", "    def __getitem__(self, number):", *indent(item, 2)]
    body = [f"{p.x}, {p.t} = data[number]", *carried, *p.meet(name, "layer")]
    run = ["def run(data, device):", *indent([*p.module("device"), "for number in range(len(data)):"])]
    run += [*indent(body, 2), "    return out"]
    return p.single(data, run, main_of([f"device = {p.device}", *told(p, "run(Items(2, device), device)")]))


@shape("agent-learns-from-buffer", "one-file", batch="ninth")
def agent_learns_from_buffer(p: Parts) -> Program:
    """A replay buffer keeps what was added; an agent samples it and learns."""
    buffer = ["class Buffer:", "    def __init__(self):", "        self.rows = []"]
    buffer += ["", "    def add(self, *row):", "        self.rows.append(row)"]
    buffer += ["", "    def sample(self):", "        return random.choice(self.rows)"]
    made = p.make("self.device")
    carried, name = p.carry()
    agent = ["class Agent:", "    def __init__(self, device):"]
    agent += indent(["self.device, self.buffer = device, Buffer()", *p.module("device", "self.layer")], 2)
    agent += ["", "    def observe(self):", *indent([*p.place("self.device"), *made], 2)]
    agent += [f"        self.buffer.add({p.x}, {p.t})"]
    learn = [f"{p.x}, {p.t} = self.buffer.sample()", *carried, *p.meet(name, "self.layer"), "return out"]
    agent += ["", "    def learn(self):", *indent(learn, 2)]
    main = [f"device = {p.device}", "agent = Agent(device)", "agent.observe()", *told(p, "agent.learn()")]
    return p.single(buffer, agent, main_of(main))


@shape("experiment-of-dataclass", "one-file", batch="ninth")
def experiment_of_dataclass(p: Parts) -> Program:
    """An experiment is made of a dataclass that says where it runs."""
    made = p.make("self.config.device")
    carried, name = p.carry()
    config = ["@dataclass", "class Config:", "    device: object", "    epochs: int = 2"]
    body = [*made, *carried, *p.module("self.config.device"), "for _ in range(self.config.epochs):"]
    body += indent([*p.place("self.config.device"), *p.meet(name, "layer")])
    experiment = ["class Experiment:", "    def __init__(self, config):", "        self.config = config"]
    experiment += ["", "    def run(self):", *indent([*body, "return out"], 2)]
    main = [f"config = Config(device={p.device})", *told(p, "Experiment(config).run()")]
    return p.single(config, experiment, main_of(main))


@shape("heads-of-dict", "one-file", batch="ninth")
def heads_of_dict(p: Parts) -> Program:
    """A module runs its heads, each of which makes the tensor, and gives a dict."""
    head = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")], name="Head")
    body = [f"return {{name: head({p.x}) for name, head in self.heads.items()}}"]
    model = ["class Model(nn.Module):", *init_of(['self.heads = nn.ModuleDict({"main": Head(), "side": Head()})'])]
    main = [f"device = {p.device}", "model = Model().to(device)", *p.place("device")]
    return p.single(head, [*model, *forward_of(p, body)], main_of([*main, *told(p, f'model({p.x})["main"]')]))


@shape("own-optimizer", "one-file", batch="ninth")
def own_optimizer(p: Parts) -> Program:
    """An optimizer with a state of its own makes the tensor in its first step."""
    made = p.make("self.device")
    carried, name = p.carry()
    optimizer = ["class Optimizer:", "    def __init__(self, device, rate=0.1):"]
    optimizer += indent(["self.device, self.rate, self.state = device, rate, {}"], 2)
    first = ["if not self.state:", *indent([*made, f'self.state["{p.t}"] = {p.t}']), f'{p.t} = self.state["{p.t}"]']
    step = [*first, *carried, *p.module("self.device"), *p.meet(name, "layer"), "return out"]
    optimizer += forward_of(p, step, "step")
    main = [f"device = {p.device}", "optimizer = Optimizer(device)", *p.place("device")]
    return p.single(
        optimizer,
        main_of([*main, "for _ in range(2):", f"    result = optimizer.step({p.x})", f"print({p.shown('result')})"]),
    )


@shape("settings-and-tables-files", "files", batch="ninth")
def settings_and_tables_files(p: Parts) -> Program:
    """One file says the device, one has the tensor at its top, one computes."""
    made = p.make("DEVICE", "TABLE")
    carried, name = p.carry()
    body = [*p.place("DEVICE"), f"{p.t} = TABLE", *carried, *p.module("DEVICE"), *p.meet(name, "layer"), "return out"]
    run = ["def run():", *indent(body)]
    files = {
        "settings.py": p.file("device", [f"DEVICE = {p.device}", "SEED = 1"]),
        "tables.py": p.file("make", made, imports=["from settings import DEVICE"]),
        "engine.py": p.file(
            "carry place meet", run, imports=["from settings import DEVICE", "from tables import TABLE"]
        ),
        "main.py": p.file("", main_of(told(p, "engine.run()")), imports=["import engine"]),
    }
    return Program(files, "main.py")


@shape("open-loss-module", "open", batch="ninth")
def open_loss_module(p: Parts) -> Program:
    """A loss that nobody makes is given outputs in a dict."""
    made = p.make(f"{p.x}.device")
    carried, name = p.carry()
    init = [*([f"self.layer = {p.spec.meeting.module}"] if p.spec.meeting.module else []), "self.weight = weight"]
    loss = ["class PairLoss(nn.Module):", *init_of(init, ", weight=1.0")]
    body = [f'{p.x} = outputs["values"]', *made, *carried, *p.meet(name, "self.layer"), "return out"]
    loss += ["", "    def forward(self, outputs):", *indent(body, 2)]
    lines = ["criterion = PairLoss().to(device)", f'result = criterion({{"values": {p.x}}})']
    return driven(p, {"criterion.py": p.file("make carry meet", loss)}, "from criterion import PairLoss", lines)


@shape("ranks-with-setup", "distributed", group=True, batch="ninth")
def ranks_with_setup(p: Parts) -> Program:
    """A function sets a rank up and gives its device; another one works there."""
    made = p.make("device")
    carried, name = p.carry()
    setup = ["def setup():", "    rank = dist.get_rank()", "    torch.cuda.set_device(rank)"]
    setup += ['    return rank, torch.device(f"cuda:{rank}")']
    body = [*p.place("device"), *made, *carried, *p.module("device"), *p.meet(name, "layer"), "dist.barrier()"]
    work = ["def work(rank, device):", *indent([*body, "return out"])]
    return p.single(setup, work, grouped(["rank, device = setup()", *told(p, "work(rank, device)")]))
