"""The open half of the shapes of the seventh batch: see tables_seventh.py."""

from __future__ import annotations

from differential.programs import Parts, Program, indent
from differential.shapes import driven, enter, forward_of, main_of, members, module_class, own_tensor, run_model, shape


@shape("session-of-context", "one-file", batch="seventh")
def session_of_context(p: Parts) -> Program:
    """A session is entered, and gives what it has prepared."""
    made = p.make("self.device", f"self.{p.t}")
    carried, name = p.carry(f"session.{p.t}")
    session = ["class Session:", "    def __init__(self, device):", "        self.device = device"]
    session += ["", "    def __enter__(self):", *indent([*made, "return self"], 2)]
    session += ["", "    def __exit__(self, kind, error, trace):", "        return False"]
    body = [*p.place("device"), *p.module("device"), *carried, *p.meet(name, "layer"), f"print({p.shown()})"]
    main = [f"device = {p.device}", "with Session(device) as session:", *indent(body)]
    return p.single(session, main_of(main))


@shape("commands-of-parser", "one-file", batch="seventh")
def commands_of_parser(p: Parts) -> Program:
    """Subcommands of a parser, each with a function."""
    made = p.make("args.device")
    carried, name = p.carry()
    body = [*p.place("args.device"), *made, *carried, *p.module("args.device"), *p.meet(name, "layer"), "return out"]
    train = ["def train(args):", *indent(body)]
    read = ["def read(arguments):", "    parser = argparse.ArgumentParser()"]
    read += indent(
        [f'parser.add_argument("--device", default={p.device})', 'commands = parser.add_subparsers(dest="command")']
    )
    read += indent(['command = commands.add_parser("train")', 'command.add_argument("--epochs", type=int, default=1)'])
    read += indent(["command.set_defaults(run=train)", "return parser.parse_args(arguments)"])
    main = ['args = read(["train"])', "result = args.run(args)", f"print({p.shown('result')})"]
    return p.single(train, read, main_of(main))


@shape("registry-of-builders", "one-file", batch="seventh")
def registry_of_builders(p: Parts) -> Program:
    """Models are entered into a registry by a decorator and built by their name."""
    made = own_tensor(p, False)
    carried, name = p.carry(f"self.{p.t}")
    register = [
        "MODELS = {}",
        "",
        "",
        "def register(name):",
        "    def add(cls):",
        "        MODELS[name] = cls",
        "        return cls",
    ]
    register += ["", "    return add"]
    body = [*enter(p), *carried, *p.meet(name, "self.layer"), "return out"]
    model = ['@register("own")', *module_class(p, body, [*members(p), *made])]
    build = ["def build(name, **options):", "    return MODELS[name](**options)"]
    return p.single(register, model, build, main_of(run_model(p, 'build("own")')))


@shape("state-of-loader", "one-file", batch="seventh")
def state_of_loader(p: Parts) -> Program:
    """A dataset holds the tensor, a loader gives it beside a number, a step has the operand."""
    made = p.make('torch.device("cuda")', f"self.{p.t}")
    carried, name = p.carry()
    data = [
        "class Items(Dataset):",
        "    def __init__(self):",
        *indent(made, 2),
        "",
        "    def __len__(self):",
        "        return 1",
    ]
    data += [
        "",
        "    def __getitem__(self, position):",
        f'        return {{"value": self.{p.t}, "position": position}}',
    ]
    body = [f'{p.t} = batch["value"]', *carried, *p.meet(name, "layer"), f"print({p.shown()})"]
    main = [f"device = {p.device}", *p.place("device"), *p.module("device")]
    main += ["for batch in DataLoader(Items(), batch_size=None, collate_fn=lambda item: item):", *indent(body)]
    return p.single(data, main_of(main))


@shape("relative-package", "files", batch="seventh")
def relative_package(p: Parts) -> Program:
    """A package re-exports from its parts, which import each other relatively."""
    made = p.make("device")
    carried, name = p.carry()
    helper = [
        f"def combine({p.x}, device):",
        *indent([*made, *carried, *p.module("device"), *p.meet(name, "layer"), "return out"]),
    ]
    engine = ["class Engine:", "    def __init__(self, device):", "        self.device = device"]
    engine += forward_of(p, [f"return ops.combine({p.x}, self.device)"], "run")
    main = [
        f"device = {p.device}",
        *p.place("device"),
        f"result = kit.Engine(device).run({p.x})",
        f"print({p.shown('result')})",
    ]
    files = {
        "kit/__init__.py": "from .engine import *\n",
        "kit/engine.py": p.file("", engine, imports=["from . import ops"]) + '\n\n__all__ = ["Engine"]\n',
        "kit/ops.py": p.file("make carry meet", helper),
        "main.py": p.file("device place", main_of(main), imports=["import kit"]),
    }
    return Program(files, "main.py")


@shape("config-file-module", "files", batch="seventh")
def config_file_module(p: Parts) -> Program:
    """A module holds the settings as names; another holds the tensor as a global that a function fills."""
    made = p.make("config.DEVICE")
    carried, name = p.carry("state.TABLES[0]")
    main = [*p.place("config.DEVICE"), *p.module("config.DEVICE"), "state.fill()", *carried, *p.meet(name, "layer")]
    files = {
        "config.py": p.file("device", [f"DEVICE = {p.device}", "EPOCHS = 2"]),
        "state.py": p.file(
            "make",
            ["TABLES = []", "", "", "def fill():", *indent([*made, f"TABLES.append({p.t})"])],
            imports=["import config"],
        ),
        "main.py": p.file(
            "place carry meet", main_of([*main, f"print({p.shown()})"]), imports=["import config", "import state"]
        ),
    }
    return Program(files, "main.py")


@shape("open-each-generator", "open", batch="seventh")
def open_each_generator(p: Parts) -> Program:
    """A generator of a library that nobody asks."""
    made = p.make(f"{p.x}.device")
    carried, name = p.carry()
    body = [
        *made,
        *carried,
        *p.module(f"{p.x}.device"),
        f"for {p.x} in [{p.x}]:",
        *indent([*p.meet(name, "layer"), "yield out"]),
    ]
    text = p.file("make carry meet", [f"def each({p.x}):", *indent(body)])
    return driven(p, {"library.py": text}, "from library import each", [f"result = next(each({p.x}))"])
