"""The shapes that are kept from whoever works on the analysis: see kept.py."""

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
    maker_function,
    members,
    module_class,
    run_model,
    shape,
)


@shape("callback", "one-file", kept=True)
def callback(p: Parts) -> Program:
    """A function that is given to another, which calls it."""
    device = f"{p.x}.device"
    made = p.make(device)
    carried, name = p.carry()
    step = [f"def step({p.x}):", *indent([*made, *carried, *p.module(device), *p.meet(name, "layer"), "return out"])]
    run = ["def run(action, value):", "    return action(value)"]
    main = [f"device = {p.device}", *p.place("device"), f"result = run(step, {p.x})", f"print({p.shown('result')})"]
    return p.single(step, run, main_of(main))


@shape("closure", "one-file", kept=True)
def closure(p: Parts) -> Program:
    """The tensor is a variable of an outer function."""
    made = p.make("device")
    carried, name = p.carry()
    body = [
        *p.module("device"),
        *made,
        *carried,
        f"def step({p.x}):",
        *indent([*_held(p, name), "return out"]),
        "return step",
    ]
    main = [f"device = {p.device}", "step = build(device)", *p.place("device"), f"result = step({p.x})"]
    return p.single(["def build(device):", *indent(body)], main_of([*main, f"print({p.shown('result')})"]))


def _held(p: Parts, name: str) -> list[str]:
    return [f"held = {name}", *p.meet("held", "layer")]


@shape("hook", "one-file", kept=True)
def hook(p: Parts) -> Program:
    """A forward hook."""
    body = inside(p, f"{p.x}.device", "layer")
    model = ["class Model(nn.Module):", *init_of(["self.rate = 0.1"]), *forward_of(p, [f"return {p.x}"])]
    main = [
        f"device = {p.device}",
        *p.module("device"),
        f"def observe(module, given, {p.x}):",
        *indent(body),
        "model = Model().to(device)",
        "model.register_forward_hook(observe)",
        *p.place("device"),
        f"result = model({p.x})",
        f"print({p.shown('result')})",
    ]
    return p.single(model, main_of(main))


@shape("sequential-part", "one-file", kept=True)
def sequential_part(p: Parts) -> Program:
    """A module of one's own in an nn.Sequential."""
    block = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")], name="Part")
    return p.single(block, main_of(run_model(p, "nn.Sequential(nn.Identity(), Part())")))


@shape("module-list", "one-file", kept=True)
def module_list(p: Parts) -> Program:
    """A module of a ModuleList."""
    block = module_class(p, [*enter(p), *inside(p, f"{p.x}.device")], name="Part")
    body = ["for part in self.parts:", f"    {p.x} = part({p.x})", f"return {p.x}"]
    model = ["class Model(nn.Module):", *init_of(["self.parts = nn.ModuleList([Part()])"]), *forward_of(p, body)]
    return p.single(block, model, main_of(run_model(p)))


@shape("relative-imports", "files", kept=True)
def relative_imports(p: Parts) -> Program:
    """A package with a subpackage and relative imports, run by a script."""
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
        "net/__init__.py": "from .parts import Model\n",
        "net/parts/__init__.py": "from .model import Model\n",
        "net/parts/model.py": p.file("carry meet", module_class(p, body), imports=[f"from ..tables import make_{p.t}"]),
        "net/tables.py": p.file("make", made),
    }
    place = p.place("device")
    main = [f"device = {p.device}", "model = net.Model().to(device)", *place, f"result = model({p.x})"]
    files["run.py"] = p.file("device place", main_of([*main, f"print({p.shown('result')})"]), imports=["import net"])
    return Program(files, "run.py")


@shape("star-import", "files", kept=True)
def star_import(p: Parts) -> Program:
    """Everything, torch too, comes by `from common import *`."""
    made, call = maker_function(p)
    carried, name = p.carry()
    place, layer, meet = p.place("device"), p.module("device"), p.meet(name, "layer")
    main = [
        f"device = {p.device}",
        *place,
        *layer,
        f"{p.t} = {call}",
        *carried,
        *meet,
        f"print({p.shown()})",
    ]
    body = "\n".join(main_of(main))
    common = p.file("device make place carry meet", made, beside=body)
    return Program({"common.py": common, "main.py": f"from common import *\n\n\n{body}\n"}, "main.py")


@shape("open-generator", "open", kept=True)
def open_generator(p: Parts) -> Program:
    """A generator function that nobody iterates."""
    device = f"{p.x}.device"
    made = p.make(device)
    carried, name = p.carry()
    body = [
        f"for {p.x} in batches:",
        *indent([*made, *carried, *p.module(device), *p.meet(name, "layer"), "yield out"]),
    ]
    text = p.file("make carry meet", ["def outputs(batches):", *indent(body)])
    return driven(p, {"library.py": text}, "from library import outputs", [f"result = next(outputs([{p.x}]))"])


@shape("open-method-override", "open", kept=True)
def open_method_override(p: Parts) -> Program:
    """A base class whose template method a subclass fills."""
    base = ["class Base(nn.Module):", *init_of(members(p)), *forward_of(p, [f"return self.compute({p.x})"])]
    own = ["class Model(Base):", *forward_of(p, [*enter(p), *inside(p, f"{p.x}.device")], "compute")[1:]]
    lines = ["model = Model().to(device)", f"result = model({p.x})"]
    return driven(p, {"model.py": p.file("make carry meet", base, own)}, "from model import Model", lines)


@shape("open-functions-package", "open", kept=True)
def open_functions_package(p: Parts) -> Program:
    """Functions of a package that call each other across files."""
    device = f"{p.x}.device"
    made, call = maker_function(p, f"default_{p.t}")
    carried, name = p.carry()
    body = [
        f"{p.t} = tables.{call.replace('(device)', f'({device})')}",
        *carried,
        *p.module(device),
        *p.meet(name, "layer"),
        "return out",
    ]
    files = {
        "pyproject.toml": '[project]\nname = "library"\nversion = "0.1"\n',
        "library/__init__.py": "from library.api import compute\n",
        "library/api.py": p.file(
            "carry meet", [f"def compute({p.x}):", *indent(body)], imports=["from library import tables"]
        ),
        "library/tables.py": p.file("make", made),
    }
    return driven(p, files, "import library", [f"result = library.compute({p.x})"])


@shape("rank-from-environment", "distributed", group=True, kept=True)
def rank_from_environment(p: Parts) -> Program:
    """The device is that of LOCAL_RANK."""
    made = p.make("device")
    carried, name = p.carry()
    lines = ['local_rank = int(os.environ.get("LOCAL_RANK", 0))', "torch.cuda.set_device(local_rank)"]
    lines += ['device = f"cuda:{local_rank}"', *p.place("device"), *made, *carried, *p.module("device")]
    return p.single(grouped([*lines, *p.meet(name, "layer"), f"print({p.shown()})"]))


@shape("gpu-round-robin", "distributed", kept=True)
def gpu_round_robin(p: Parts) -> Program:
    """Each batch goes to another GPU."""
    made = p.make("device")
    carried, name = p.carry()
    body = ['device = torch.device("cuda", number)', *p.place("device"), *made, *carried, *p.module("device")]
    body += [*p.meet(name, "layer"), f"total += {p.shown()}"]
    main = ["total = 0.0", "for number in range(torch.cuda.device_count()):", *indent(body), "print(total)"]
    return p.single(main_of(main))
