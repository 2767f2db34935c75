"""The kept half of the shapes of the eighth batch. Do not read it to mend the linter."""

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
    own_tensor,
    run_model,
    shape,
    told,
)


@shape("reparameterized", "one-file", batch="eighth", kept=True)
def reparameterized(p: Parts) -> Program:
    """A network in three methods, the middle one of which makes the tensor."""
    model = ["class Autoencoder(nn.Module):", *init_of(members(p))]
    model += forward_of(p, [*enter(p), f"return {p.x}, 1.0"], "encode")
    made = p.make(f"{p.x}.device")
    carried, name = p.carry()
    mixed = [*made, *carried, *p.meet(name, "self.layer"), "return out"]
    model += ["", f"    def reparameterize(self, {p.x}, scale):", *indent(mixed, 2)]
    model += forward_of(p, [f"{p.x}, scale = self.encode({p.x})", f"return self.reparameterize({p.x}, scale)"])
    return p.single(model, main_of(run_model(p, "Autoencoder()")))


@shape("predictor-server", "one-file", batch="eighth", kept=True)
def predictor_server(p: Parts) -> Program:
    """A predictor loads what it needs once and answers requests that come by a route."""
    made = p.make("self.device", f"self.{p.t}")
    carried, name = p.carry(f"self.{p.t}")
    routes = ["ROUTES = {}", "", "", "def route(path):", "    def add(handler):", "        ROUTES[path] = handler"]
    routes += ["        return handler", "", "    return add"]
    load = ["self.device = torch.device(device)", *p.module("self.device", "self.layer"), *made, "return self"]
    predictor = ["class Predictor:", "    def load(self, device):", *indent(load, 2)]
    answer = [f'{p.x} = request["inputs"]', *carried, *p.meet(name, "self.layer"), 'return {"outputs": out}']
    predictor += ["", "    def predict(self, request):", *indent(answer, 2)]
    serve = ["def serve(predictor):", '    @route("/predict")', "    def handle(request):"]
    serve += ["        return predictor.predict(request)"]
    main = [f"device = {p.device}", "serve(Predictor().load(device))", *p.place("device")]
    main += [f'answer = ROUTES["/predict"]({{"inputs": {p.x}}})', 'result = answer["outputs"]']
    return p.single(routes, predictor, serve, main_of([*main, f"print({p.shown('result')})"]))


@shape("message-passing-base", "one-file", batch="eighth", kept=True)
def message_passing_base(p: Parts) -> Program:
    """A base class of layers calls the message and the update of its subclass."""
    base = ["class MessagePassing(nn.Module):"]
    base += [f"    def propagate(self, {p.x}):", f"        return self.update(self.message({p.x}))"]
    base += ["", "    def update(self, messages):", "        return messages"]
    layer = ["class Convolution(MessagePassing):", *init_of(members(p))]
    layer += forward_of(p, [*enter(p), f"return self.propagate({p.x})"])
    layer += forward_of(p, inside(p, f"{p.x}.device"), "message")
    return p.single(base, layer, main_of(run_model(p, "Convolution()")))


@shape("globals-of-notebook", "one-file", batch="eighth", kept=True)
def globals_of_notebook(p: Parts) -> Program:
    """Cells of a notebook: a function uses what earlier cells have left in globals."""
    made = p.make("device")
    carried, name = p.carry(scope="global")
    first = [f"device = {p.device}", *p.module("device"), *made, *carried]
    step = [f"def step({p.x}):", *indent([f"shared = {name}", *p.meet("shared", "layer"), "return out"])]
    return p.single(first, step, [*p.place("device"), *told(p, f"step({p.x})")])


@shape("optional-import", "files", batch="eighth", kept=True)
def optional_import(p: Parts) -> Program:
    """A fast implementation that is not there, and the slow one instead."""
    made = p.make("device")
    carried, name = p.carry()
    body = [*made, *carried, *p.module("device"), *p.meet(name, "layer"), "return out"]
    imports = ["try:", "    from fast_operations import combine", "except ImportError:"]
    main = [f"device = {p.device}", *p.place("device"), *told(p, f"combine({p.x}, device)")]
    files = {
        "slow_operations.py": p.file("make carry meet", [f"def combine({p.x}, device=None):", *indent(body)]),
        "main.py": p.file("device place", main_of(main), imports=[*imports, "    from slow_operations import combine"]),
    }
    return Program(files, "main.py")


@shape("open-by-dimension", "open", batch="eighth", kept=True)
def open_by_dimension(p: Parts) -> Program:
    """A function of a library that takes one operand or a row of them."""
    made = p.make(f"{p.x}.device")
    carried, name = p.carry()
    body = [*made, *carried, *p.module(f"{p.x}.device"), *p.meet(name, "layer"), "return out"]
    one = [f"def _of_one({p.x}):", *indent(body)]
    compute = [f"def compute({p.x}, largest=4):", f"    if {p.x}.dim() > largest:"]
    compute += [f"        return [_of_one(part) for part in {p.x}][-1]", f"    return _of_one({p.x})"]
    text = p.file("make carry meet", one, compute)
    return driven(p, {"library.py": text}, "from library import compute", [f"result = compute({p.x})"])


@shape("losses-of-tasks", "one-file", batch="eighth", kept=True)
def losses_of_tasks(p: Parts) -> Program:
    """A function for each task, in a table; one of them makes the tensor."""
    made = p.make(f"{p.x}.device")
    carried, name = p.carry()
    body = [*made, *carried, *p.module(f"{p.x}.device"), *p.meet(name, "layer"), "return out"]
    own = [f"def own_loss({p.x}):", *indent(body)]
    plain = [f"def plain_loss({p.x}):", f"    return {p.x}"]
    tasks = ['LOSSES = {"own": own_loss, "plain": plain_loss}']
    total = [f"def losses_of({p.x}, tasks):", f"    return {{task: LOSSES[task]({p.x}) for task in tasks}}"]
    main = [f"device = {p.device}", *p.place("device"), f'losses = losses_of({p.x}, ["plain", "own"])']
    return p.single(own, plain, tasks, total, main_of([*main, *told(p, 'losses["own"]')]))


@shape("from-pretrained", "one-file", batch="eighth", kept=True)
def from_pretrained(p: Parts) -> Program:
    """A class method makes the network and loads its state; it is moved later."""
    made = own_tensor(p, False)
    carried, name = p.carry(f"self.{p.t}")
    model = module_class(
        p, [*enter(p), *carried, *p.meet(name, "self.layer"), "return out"], [*members(p), *made], "Encoder"
    )
    make = ["model = cls(**options)", "model.load_state_dict(cls(**options).state_dict())", "model.eval()"]
    model += [
        "",
        "    @classmethod",
        "    def from_pretrained(cls, name, **options):",
        *indent([*make, "return model"], 2),
    ]
    return p.single(model, main_of(run_model(p, 'Encoder.from_pretrained("own")')))


@shape("evaluating-context", "one-file", batch="eighth", kept=True)
def evaluating_context(p: Parts) -> Program:
    """A context manager puts a network into evaluation and back."""
    around = ["@contextmanager", "def evaluating(network):", "    was = network.training", "    network.eval()"]
    around += ["    try:", "        yield network", "    finally:", "        network.train(was)"]
    made = p.make(f"{p.x}.device")
    carried, name = p.carry()
    body = [*enter(p), *made, *carried, *p.meet(name, "self.layer"), "return out"]
    main = [
        f"device = {p.device}",
        "model = Model().to(device)",
        *p.place("device"),
        "with evaluating(model) as network:",
    ]
    main += [f"    result = network({p.x})", f"print({p.shown('result')})"]
    return p.single(around, module_class(p, body), main_of(main))


@shape("augmented-inference", "one-file", batch="eighth", kept=True)
def augmented_inference(p: Parts) -> Program:
    """A function asks a network for several views of its operand; the network puts its tensor to each."""
    made = own_tensor(p, False)
    carried, name = p.carry(f"self.{p.t}")
    model = module_class(
        p, [*enter(p), *carried, *p.meet(name, "self.layer"), "return out"], [*members(p), *made], "Network"
    )
    views = ["def predict(network, operand, views):"]
    views += ["    results = [network(view(operand)) for view in views]", "    return results[0]"]
    main = [f"device = {p.device}", "network = Network().to(device)", *p.place("device")]
    return p.single(model, views, main_of([*main, *told(p, f"predict(network, {p.x}, [torch.clone, torch.clone])")]))


@shape("open-made-if-none", "open", batch="eighth", kept=True)
def open_made_if_none(p: Parts) -> Program:
    """A function of a library makes what its caller does not give."""
    made = p.make(f"{p.x}.device", "given")
    carried, name = p.carry("given")
    body = [
        "if given is None:",
        *indent(made),
        *carried,
        *p.module(f"{p.x}.device"),
        *p.meet(name, "layer"),
        "return out",
    ]
    text = p.file("make carry meet", [f"def compute({p.x}, given=None):", *indent(body)])
    return driven(p, {"library.py": text}, "from library import compute", [f"result = compute({p.x})"])
