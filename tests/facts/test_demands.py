"""A program that needs CUDA anyway is told so once, at its first line; what it does behind that line, or only on the way to it, is a note."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchdevlint import check_paths, check_source

MODULE = """
    import torch

    def accuracy(x, y):
        return (x == y).type(torch.cuda.FloatTensor).mean()

    def place(batch):
        return batch.cuda()
    """
TRAIN = """
    import torch
    from torch import nn
    from helpers import accuracy, place

    def main(loader):
        model = nn.Linear(3, 3){moved}
        {between}
        for x, y in loader:
            print(accuracy(model(place(x)), y))

    if __name__ == "__main__":
        main([])
    """


def codes(folder: Path, files: dict[str, str], checked: str) -> list[str]:
    (folder / ".git").mkdir(exist_ok=True)
    files = {"options.py": "parser.add_argument('--device')", "README.md": "See net.py and run.py.", **files}
    for path, text in files.items():
        (folder / path).parent.mkdir(exist_ok=True, parents=True)
        (folder / path).write_text(textwrap.dedent(text))
    found = check_paths([folder / checked], isolated=True)
    return [finding.code for finding in found if finding.code in ("TDL101", "TDL511", "TDL605", "TDL801", "TDL807")]


def train(moved: str = ".cuda()", between: str = "pass") -> str:
    return TRAIN.format(moved=moved, between=between)


BOTH = ["TDL511", "TDL801"]
PLACE = ["TDL801"]  # `accuracy` is behind `place` then, which its arguments call
HELPERS = {
    "behind a move": (train(), []),
    "behind no move": (train(""), PLACE),
    "behind a move on a condition": (train("", "if loader: model.cuda()"), PLACE),
    "behind a flag of one value": (train("", "use_gpu = True\n        if use_gpu: model = model.cuda()"), []),
    "behind a move in a try": (train("", "try: model.cuda()\n        except RuntimeError: pass"), PLACE),
    "behind a device of a rank": (train("", 'device = torch.device("cuda:%d" % len(loader)); model.to(device)'), []),
    "behind a choice": (
        train("", 'model.to(torch.device("cuda" if torch.cuda.is_available() else "cpu"))'),
        PLACE,
    ),
    "behind a constructor that moves": (
        train("", "runner = Runner(model)")
        + "\n    class Runner:\n        def __init__(self, net):\n            self.net = net.cuda()\n",
        [],
    ),
    "behind a function that moves": (
        train("", "prepare(model)") + "\n    def prepare(net):\n        net.cuda()\n",
        [],
    ),
    "behind a function that moves on a condition": (
        train("", "prepare(model)") + "\n    def prepare(net):\n        if len(net) > 1: net.cuda()\n",
        PLACE,
    ),
    "behind a move in each branch": (
        train("", "if loader: model.cuda()\n        else: model.cuda(0)"),
        [],
    ),
    "behind a move in one branch of three": (
        train("", "if loader: model.cuda()\n        elif model: model.cuda(0)"),
        PLACE,
    ),
    "behind a function that moves in each branch": (
        train("", "prepare(model)")
        + "\n    def prepare(net):\n        if len(net) > 1: return net.cuda()\n        return net.cuda(1)\n",
        [],
    ),
    "behind a function that returns before it moves": (
        train("", "prepare(model)")
        + "\n    def prepare(net):\n        if len(net) > 1: return net\n        return net.cuda(1)\n",
        PLACE,
    ),
    "behind an assertion": (train("", "assert torch.cuda.is_available()"), []),
    "behind a test that leaves": (train("", "if not torch.cuda.is_available(): raise SystemExit"), []),
    "behind a test that goes on": (train("", "if not torch.cuda.is_available(): print('slow')"), PLACE),
    "behind a tensor of CUDA's type": (train("", "torch.cuda.FloatTensor(3)"), []),
    "behind a function that moves to the device that it is given": (
        train("", 'prepare(model, torch.device("cuda"))') + "\n    def prepare(net, where):\n        net.to(where)\n",
        [],
    ),
    "behind a function that moves a loss to the device that it is given": (
        train("", 'prepare("cuda")') + "\n    def prepare(where):\n        return nn.L1Loss().to(where)\n",
        PLACE,
    ),
    "behind a function that hands the device on": (
        train("", 'prepare(model, "cuda")')
        + "\n    def prepare(net, where):\n        return put(net, device=where)\n"
        + "\n    def put(net, device):\n        return [torch.zeros(3, device=device) for _ in net]\n",
        [],
    ),
    "behind a function that moves to a device that the machine has": (
        train("", 'prepare(model, "cuda" if torch.cuda.is_available() else "cpu")')
        + "\n    def prepare(net, where):\n        net.to(where)\n",
        PLACE,
    ),
    "behind a function that is given a device and moves to another": (
        train("", 'prepare(model, "cuda")') + "\n    def prepare(net, where, other='cpu'):\n        net.to(other)\n",
        PLACE,
    ),
    "behind a function that moves to its device on a condition": (
        train("", 'prepare(model, "cuda")') + "\n    def prepare(net, where):\n        if len(net): net.to(where)\n",
        PLACE,
    ),
    "behind a loss": (train("", "loss = nn.CrossEntropyLoss().cuda()"), PLACE),
}


@pytest.mark.parametrize("case", HELPERS)
def test_helpers_of_a_program(case: str, tmp_path: Path) -> None:
    text, expected = HELPERS[case]
    assert sorted(codes(tmp_path, {"helpers.py": MODULE, "train.py": text}, "helpers.py")) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mean = torch.zeros(3).cuda()", []),
        ("def shift(x, mean=torch.zeros(3).cuda()): return x + mean", []),
        ("def shift(x): return x + torch.zeros(3).cuda()", ["TDL101"]),
        ("if __name__ == '__main__':\n    mean = torch.zeros(3).cuda()", ["TDL101"]),
        ("try:\n    mean = torch.zeros(3).cuda()\nexcept RuntimeError:\n    mean = torch.zeros(3)", ["TDL101"]),
    ],
)
def test_what_imports_a_file_that_places_something_on_cuda(line: str, expected: list[str], tmp_path: Path) -> None:
    run = """
        import torch
        from scales import scale

        def restore(model, path):
            model.load_state_dict(torch.load(path))
            return model.to("cuda" if torch.cuda.is_available() else "cpu")

        restore(torch.nn.Linear(3, 3), "best.pt")
        """
    files = {"scales.py": f"import torch\n\ndef scale(x): return x\n{line}\n", "run.py": run}
    assert codes(tmp_path, files, "run.py") == expected


def test_a_program_calls_its_own_main_alone(tmp_path: Path) -> None:
    main = """
        import torch

        def main(path):
            model = torch.load(path)
            model.load_state_dict(torch.load("best.pt"))

        if __name__ == "__main__":
            {before}
            main("net.pt")
        """
    text = textwrap.dedent(main)
    asserted = text.format(before="assert torch.cuda.is_available()")
    others = {f"other{number}.py": text.format(before="pass") for number in range(45)}
    assert codes(tmp_path, {**others, "run.py": asserted}, "run.py") == []
    assert codes(tmp_path, {**others, "run.py": asserted}, "other1.py") == ["TDL101", "TDL101"]


def test_the_program_is_told_once(tmp_path: Path) -> None:
    assert codes(tmp_path, {"helpers.py": MODULE, "train.py": train()}, ".") == ["TDL801"]


def test_one_program_that_runs_everywhere_keeps_the_finding(tmp_path: Path) -> None:
    files = {"helpers.py": MODULE, "train.py": train(), "other.py": train("") + "    print('cpu')\n"}
    assert sorted(codes(tmp_path, files, "helpers.py")) == PLACE


def test_the_only_demand_is_told_where_it_stands(tmp_path: Path) -> None:
    files = {"helpers.py": MODULE, "train.py": "from helpers import place\nplace(x)\n"}
    assert "TDL801" in codes(tmp_path, files, "helpers.py")


def test_what_a_package_defines_is_for_others_too(tmp_path: Path) -> None:
    files = {"kit/helpers.py": MODULE, "kit/__init__.py": "", "pyproject.toml": "[project]\nname='kit'\n"}
    text = train().replace("from helpers", "from kit.helpers")
    assert sorted(codes(tmp_path, {**files, "train.py": text}, "kit/helpers.py")) == BOTH


FORWARD = """
    import torch
    from torch import nn
    from tools import *

    class Net(nn.Module):
        def forward(self, graphs, x):
            rows = {call}
            return rows + torch.zeros(3).cuda()
    """


@pytest.mark.parametrize("call, expected", [("spread(graphs)", []), ("gather(graphs)", ["TDL605"])])
def test_a_call_of_what_moves_comes_before(call: str, expected: list[str], tmp_path: Path) -> None:
    tools = """
        def spread(graphs):
            return graphs.cuda()

        def gather(graphs):
            return graphs
        """
    assert codes(tmp_path, {"tools.py": tools, "net.py": FORWARD.format(call=call)}, "net.py") == expected


LOADS = {
    "behind the load": ("state = torch.load(path); model.load_state_dict(state)\n    model.cuda()", []),
    "on both branches": (
        "if final: model.load_state_dict(torch.load('net.pt'))\n    else: model.load_state_dict(torch.load(path))\n    model.cuda()",
        [],
    ),
    "on one of two ways": (
        "model.load_state_dict(torch.load(path))\n    if final: return model\n    model.cuda()",
        ["TDL101"],
    ),
    "on a condition": ("model.load_state_dict(torch.load(path))\n    if final: model.cuda()", ["TDL101"]),
    "nowhere": ("model.load_state_dict(torch.load(path))", ["TDL101"]),
}


@pytest.mark.parametrize("case", LOADS)
def test_a_load_before_a_move(case: str, tmp_path: Path) -> None:
    lines, expected = LOADS[case]
    text = f"import torch\n\ndef restore(model, path, final):\n    {lines}\n    return model\n"
    assert [code for code in codes(tmp_path, {"run.py": text}, "run.py") if code == "TDL101"] == expected


def test_a_training_state_that_stays_on_the_gpu_is_told(tmp_path: Path) -> None:
    text = "import torch\nstate = torch.load(path)\nmodel.load_state_dict(state['state_dict'])\nmodel.cuda()\n"
    several = text + "torch.distributed.init_process_group('nccl')\n"  # each holds what the first one's GPU held
    assert "TDL101" in codes(tmp_path, {"run.py": several}, "run.py")


def test_each_of_several_processes_loads(tmp_path: Path) -> None:
    text = """
        import torch
        from torch.nn.parallel import DistributedDataParallel

        def restore(model, path, rank):
            model.load_state_dict(torch.load(path))
            return DistributedDataParallel(model.cuda())
        """
    assert "TDL101" in codes(tmp_path, {"run.py": text}, "run.py")


def test_a_second_call_of_the_api_is_a_note() -> None:
    text = """
        import time
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"

        def timed(model, x):
            torch.cuda.synchronize()
            start = time.time()
            model(x)
            torch.cuda.synchronize()
            return time.time() - start
        """
    found = [finding.span.start.row for finding in check_source(textwrap.dedent(text)) if finding.code == "TDL807"]
    assert len(found) == 1


# ------------------------------------------------------------------------------- loads of what is no torch checkpoint


@pytest.mark.parametrize("value, expected", [("asset/net.safetensors", []), ("asset/net.pt", ["TDL101"])])
@pytest.mark.parametrize("read", ["paths.net_path", 'asdict(paths)["net_path"]'])
def test_a_setting_of_the_project_names_the_file(value: str, expected: list[str], read: str, tmp_path: Path) -> None:
    files = {
        "config.py": f'class Paths:\n    net_path: str = "{value}"\n    other: str = "x"\n',
        "run.py": f"import torch\n\ndef restore(model, paths):\n    model.load_state_dict(torch.load({read}))\n",
    }
    assert codes(tmp_path, files, "run.py") == expected
    files["more.py"] = "Paths(net_path='best.pt')\n"
    assert codes(tmp_path, files, "run.py") == ["TDL101"]


@pytest.mark.parametrize(
    "value, expected", [("time.time() - start", []), ("model.state_dict()", ["TDL101"]), ("loss", ["TDL101"])]
)
def test_what_a_class_keeps_numbers_in(value: str, expected: list[str]) -> None:
    text = f"""
        import time
        import torch

        class Snapshots:
            def __init__(self):
                self.state = dict()

            def register(self, at, start, model, loss):
                self.state[at] = {value}
                torch.save(self.state, "checkpoint.pt")

            def restore(self):
                self.state = torch.load("checkpoint.pt")
        """
    assert [one.code for one in check_source(textwrap.dedent(text)) if one.code == "TDL101"] == expected


# ----------------------------------------------------------------------------------------------- names that nothing binds


@pytest.mark.parametrize(
    "files, expected",
    [
        ({"kit/__init__.py": "from kit.net import Net"}, []),
        ({"kit/__init__.py": "from kit.net import Net, Old"}, ["TDL801"]),
        ({"kit/__init__.py": "from kit.net import *", "kit/net.py": "class Net: pass"}, []),
        ({"kit/__init__.py": "from kit.net import *", "kit/net.py": "class Old: pass"}, ["TDL801"]),
        ({"kit/__init__.py": "from elsewhere import *"}, ["TDL801"]),
        ({}, ["TDL801"]),
    ],
)
def test_a_name_that_nothing_binds_raises_before(files: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    text = "import torch\nfrom kit import *\n\nmodel = Old(3).cuda()\n"
    assert codes(tmp_path, {**files, "run.py": text}, "run.py") == expected


# ----------------------------------------------------------------------------------------------------------- a choice


@pytest.mark.parametrize(
    "lines, expected",
    [
        (
            "if int(opt.gpus[0]) >= 0:\n        opt.device = torch.device('cuda')\n    else:\n        opt.device = torch.device('cpu')",
            [],
        ),
        ("if opt.fast:\n        device = torch.device('cuda')\n    else:\n        device = 'cpu'", []),
        (
            "if opt.fast:\n        device = torch.device('cuda')\n    else:\n        device = torch.device('cuda:0')",
            ["TDL801"],
        ),
        ("device = torch.device('cuda')\n    if opt.fast:\n        other = torch.device('cpu')", ["TDL801"]),
    ],
)
def test_an_option_that_chooses_between_two_devices(lines: str, expected: list[str]) -> None:
    text = f"import torch\n\ndef place(opt):\n    {lines}\n    return opt\n"
    assert [one.code for one in check_source(text)] == expected


FLAGS = {
    'if args.mode == "gpu":': [],
    'if "gpu" != args.mode:': ["TDL801"],
    'if config.get("use_cuda"):': [],
    'if not config.get("use_cuda"):': ["TDL801"],
    'if config.get("verbose"):': ["TDL801"],
    "if is_dist_avail_and_initialized():": [],
}


@pytest.mark.parametrize("test", FLAGS)
def test_a_move_that_its_user_asks_for(test: str) -> None:
    text = f"import torch\n\ndef run(args, config, model):\n    {test}\n        model.cuda()\n    return model\n"
    assert [one.code for one in check_source(text)] == FLAGS[test]


SYNC = """
    import torch
    from meter import Meter
    from dist import is_dist_avail_and_initialized

    def gather(meters):
        {test}
            return
        return [meter.summary() for meter in meters]

    gather([Meter()])
    """
METER = """
    import torch

    class Meter:
        def summary(self):
            return torch.zeros(2).cuda()
    """


@pytest.mark.parametrize(
    ("test", "expected"), [("if not is_dist_avail_and_initialized():", []), ("if not meters:", ["TDL801"])]
)
def test_a_function_that_is_called_among_processes_alone(test: str, expected: list[str], tmp_path: Path) -> None:
    files = {"meter.py": METER, "run.py": SYNC.format(test=test), "dist.py": "def is_dist_avail_and_initialized(): ..."}
    assert codes(tmp_path, files, "meter.py") == expected
