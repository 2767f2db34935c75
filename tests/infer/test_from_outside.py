"""What a function or class shows to whoever calls it from outside: defaults, what is set under a test, what is one of several."""

from __future__ import annotations

import ast

import pytest

from torchdevlint.infer.analysis import analyse
from torchdevlint.infer.relevance import is_worth_telling
from torchdevlint.program import from_ast

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn
import config
from somewhere import is_asked

def distance(x, y):
    return (x - y).pow(2)

def fill(kept, name):
    if not hasattr(kept, name):
        setattr(kept, name, 0)

def maybe_reset(kept, name):
    if is_asked():
        setattr(kept, name, 0)
"""

# Each case: its lines, in which `# open` marks what whoever gives a tensor on a GPU meets.
CASES = {
    "a function is its default where nobody gives one": """
        def encode(values: torch.Tensor, n, kernel=distance):
            return kernel(values.unsqueeze(-1), torch.linspace(0, 1, n))  # open

        def activate(values: torch.Tensor, n, act=F.relu):
            return act(values.unsqueeze(-1)) - torch.linspace(0, 1, n)  # open

        def double(values: torch.Tensor, n, act=lambda x: x * 2):
            return act(values.unsqueeze(-1)) - torch.linspace(0, 1, n)  # open

        def on_any(device=config.device):
            return torch.zeros(3, device=device) + torch.ones(3)  # open

        def there(values: torch.Tensor, n, kernel=distance):
            return kernel(values.unsqueeze(-1), torch.linspace(0, 1, n, device=values.device))
    """,
    "a device that whoever calls may name, and else is the CPU": """
        def some(x, device=None):
            device = device or "cpu"
            return torch.zeros(3, device=device) + torch.ones(3)  # open

        def asked(x, device=None):
            if device is None:
                device = torch.device("cpu")
                there = torch.zeros(3, device=device) + torch.ones(3)
            return torch.zeros(3, device=device) + torch.ones(3)  # open

        class Kept:
            def __init__(self, device=None):
                self.device = device if device is not None else "cpu"

            def draw(self):
                return torch.rand(3, device=self.device) * torch.ones(3)  # open

        class Told:
            def __init__(self):
                self.tell("cpu")

            def tell(self, place):
                self.place = place

            def draw(self):
                return torch.rand(3, device=self.place) * torch.ones(3)  # open

        class Fixed:
            def __init__(self):
                self._tell_once("cpu")

            def _tell_once(self, place):
                self.place = place

            def draw(self):
                return torch.rand(3, device=self.place) * torch.ones(3)
    """,
    "what a loop starts with": """
        def walk(x: torch.Tensor, f):
            kept = torch.zeros(3)  # open
            for _ in range(4):
                y = f(x)
                kept = torch.where(x > 0, y, kept)
            return kept

        def there(x: torch.Tensor, f):
            kept = torch.zeros(3, device=x.device)
            for _ in range(4):
                y = f(x)
                kept = torch.where(x > 0, y, kept)
            return kept
    """,
    "parts of a list that a star brings meet the others": """
        def stacked(xs: list[torch.Tensor]):
            return torch.stack([torch.zeros(3), *xs])  # open

        def behind(x: torch.Tensor):
            return torch.cat([*x.unbind(0), torch.zeros(3)])  # open

        def there(x: torch.Tensor):
            return torch.cat([*x.unbind(0), torch.zeros(3, device=x.device)])
    """,
    "what each turn of a loop adds meets what another one adds": """
        def filled(x: torch.Tensor):
            if torch.isnan(x).all():
                return torch.zeros(x.size(0))  # open
            return x.clone()

        def all_rows(x: torch.Tensor):
            return torch.stack([filled(row) for row in x.unbind(0)])

        def appended(x: torch.Tensor):
            out = []
            for row in x.unbind(0):
                if row.sum() > 0:
                    out.append(torch.zeros(3))  # open
                else:
                    out.append(row)
            return torch.stack(out)

        def all_alike(x: torch.Tensor, flag):
            return torch.stack([torch.zeros(3) if flag else row for row in x.unbind(0)])
    """,
    "a data type moves nothing": """
        def cast(x: torch.Tensor, precision=torch.float16):
            return x.to(precision) + torch.ones(3, dtype=precision)  # open

        def named(x, dtype):
            return torch.relu(x).to(dtype) + torch.ones(3, dtype=dtype)  # open

        def there(x, dtype):
            return torch.relu(x).to(dtype) + torch.ones(3, dtype=dtype, device=x.device)
    """,
    "what an unknown function gives, or another, is used as a tensor": """
        class Encoded(nn.Module):
            def __init__(self, encoder=None):
                super().__init__()
                self.encoder = (lambda x: x) if encoder is None else encoder

            def sample(self, n, context):
                return torch.rand(n, 3) < torch.sigmoid(self.encoder(context))  # open
    """,
    "an item by name of what a module is given is one that it computes with": """
        class Loss(nn.Module):
            def forward(self, outputs):
                values = outputs["values"]
                return values + torch.zeros(4)  # open

        class Counted(nn.Module):
            def forward(self, outputs):
                return outputs["values"] * torch.tensor(2.0)
    """,
    "what a test guards may not be set": """
        class Filled(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.beta = torch.ones(n)  # open
                fill(self, "beta")

            def forward(self, x):
                return x * self.beta

        class Reset(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.beta = torch.ones(n)  # open
                maybe_reset(self, "beta")

            def forward(self, x):
                return x * self.beta

        class Made(nn.Module):
            def __init__(self, n):
                super().__init__()
                fill(self, "beta")

            def forward(self, x):
                return x * self.beta
    """,
    "an option decides whether a module takes its values along": """
        class Values(nn.Module):
            def __init__(self, levels, is_learned=True):
                super().__init__()
                values = [torch.linspace(0, 1, level) for level in levels]  # open
                if is_learned:
                    self.values = nn.ParameterList([nn.Parameter(one) for one in values])
                else:
                    self.values = values

            def forward(self, z):
                return torch.relu(z) - self.values[0]

        class Buffered(nn.Module):
            def __init__(self, levels, is_learned=True):
                super().__init__()
                if is_learned:
                    self.values = nn.Parameter(torch.ones(levels))
                else:
                    self.register_buffer("values", torch.ones(levels))

            def forward(self, z):
                return torch.relu(z) - self.values
    """,
    "a tensor that is assigned to the name of an empty buffer becomes the buffer": """
        class Cells(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.register_buffer("rates", None)
                self.rates = torch.rand(n)
                self.kept = torch.rand(n)  # open

            def forward(self, x):
                return torch.relu(x) * self.rates

            def scaled(self, x):
                return torch.relu(x) * self.kept

        class Either(nn.Module):
            def __init__(self, n, is_scaled=True):
                super().__init__()
                if not is_scaled:
                    self.register_buffer("scale", None)
                    return
                scale = torch.arange(n) + 0.4  # open
                self.scale = scale

            def forward(self, x):
                return torch.relu(x) * self.scale if self.scale is not None else x
    """,
    "each turn of a loop has its own answer to what it counts": """
        def until(x: torch.Tensor, layers, is_dropped, at):
            empty = torch.full((3,), -1.0)  # open
            found = []
            for number, layer in enumerate(layers):
                if is_dropped and number > at:
                    found.append(empty)
                    continue
                found.append(x.sum(-1))
            return torch.stack(found)

        def counted(x: torch.Tensor, layers):
            empty, count = torch.full((3,), -1.0), 0  # open
            found = []
            for layer in layers:
                count += 1
                found.append(empty if count == 2 else x.sum(-1))
            return torch.stack(found)

        def always(x: torch.Tensor, layers, is_dropped, at):
            empty = torch.full((3,), -1.0)
            found = []
            for layer in layers:
                if is_dropped and at > 2:
                    found.append(empty)
                else:
                    found.append(x.sum(-1))
            return torch.stack(found)
    """,
    "what is said to be a number is where no tensor is": """
        def curve(n: int, scale: float = 2.0):
            return torch.sqrt(2 * n / torch.tensor(scale)) * torch.ones(3)

        def other(n):
            return torch.sqrt(2 * n / torch.tensor(2.0)) * torch.ones(3)  # open

        def part(scale):  # whatever the scale is, what it scales is on the CPU, and so is a part of that
            times = scale * 2 * torch.arange(5)
            return torch.cat([torch.sin(times[:2]), times.flatten(), torch.ones(1)])
    """,
    "what an attribute may hold without a dimension tells less than what it meets": """
        class Scaled(nn.Module):
            def __init__(self, scale):
                super().__init__()
                self.scale = torch.tensor(scale)

            def forward(self, x, mask):
                scale = torch.tan(self.scale)
                return (2 * scale * x.sum(dim=1, keepdim=True)).masked_fill(~mask, 0)
    """,
    "the first call of a method finds what the constructor left": """
        class Neuron(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("threshold", torch.ones(1))
                self.potential = torch.zeros(1)  # open

            def forward(self, x):
                if self.potential.shape != x.shape:
                    self.potential = torch.zeros_like(x, device=self.potential.device)  # open
                self.potential = config.step(self.potential - self.threshold, x)
                return self.potential

        class Kept(nn.Module):
            def __init__(self):
                super().__init__()
                self.past = torch.zeros(1)

            def forward(self, x):
                self.past = self.past.to(x.device)
                self.past = config.step(self.past + x)
                return self.past

        class Prepared(nn.Module):
            def __init__(self):
                super().__init__()
                self.past = torch.zeros(1)

            def prepare(self, x):
                self.past = torch.zeros_like(x)

            def forward(self, x):
                self.past = self.past + x
                return self.past

        class Told:
            def __init__(self):
                self.total = torch.zeros(3)  # open

            def add(self, x: torch.Tensor):
                self.total = config.merged(self.total + x)
    """,
    "an object of the project is a parameter of a constructor where nobody gives another one": """
        class Fourier(nn.Module):
            def forward(self, n, scale):
                return torch.cos(scale * n)

        class Layer(nn.Module):
            def __init__(self, basis=Fourier()):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(1))
                self.basis = basis

            def weights(self, n):
                return self.basis(torch.linspace(0, 1, n), self.scale)  # open

            def there(self, n):
                return self.basis(torch.linspace(0, 1, n, device=self.scale.device), self.scale)
    """,
    "what autograd calls is called with what somebody gives": """
        class Log(torch.autograd.Function):
            @staticmethod
            def forward(ctx, z):
                one = torch.tensor(1.0).expand_as(z)  # open
                there = torch.tensor(1.0, device=z.device).expand_as(z)
                return z.pow(2).mul(one) + z.mul(there)

        class Masked(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x: torch.Tensor, scale):
                ctx.mask = torch.ones(3)  # open
                ctx.there = torch.ones_like(x)
                ctx.save_for_backward(x, torch.ones(3, device=x.device))
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                x, there = ctx.saved_tensors
                grad = grad * ctx.mask * ctx.there + there
                return grad + torch.arange(3), x * torch.zeros(3)  # open

        class Apart(torch.autograd.Function):
            @staticmethod
            def forward(x: torch.Tensor):
                return x * 2

            @staticmethod
            def setup_context(ctx, inputs, output):
                x, = inputs
                ctx.save_for_backward(x)

            @staticmethod
            def backward(ctx, grad):
                x, = ctx.saved_tensors
                return x * torch.arange(3)  # open
    """,
    "what is made on the device of something says that another one is needed there": """
        def unknown(n):
            held = is_asked()
            rows = torch.arange(n, device=held.device)
            return rows + torch.arange(n)  # open

        class Held:
            def __init__(self, base):
                self.base = base

            def proven(self):
                held = self.base.lazy
                rows = torch.arange(4, device=held.device)
                return held[..., rows + torch.arange(4), 0]  # open

            def later(self):
                held = self.base.lazy
                rows = torch.arange(4, device=held.device)
                return rows + torch.arange(4)  # open

            @property
            def either(self):
                return self.base.lazy if is_asked() else super().either

            def one_of_them(self):
                held = self.either
                rows = torch.arange(4, device=held.device)
                return rows + torch.arange(4)  # open
    """,
    "an optimizer of one's own has groups of parameters, and a state of each": """
        class Own(torch.optim.Optimizer):
            def __init__(self, params, lr=0.1):
                super().__init__(params, dict(lr=lr))

            def step(self, closure=None):
                for group in self.param_groups:
                    for p in group["params"]:
                        state = self.state[p]
                        if len(state) == 0:
                            state["step"] = torch.tensor(0.0)
                            state["mean"] = torch.zeros(p.shape)  # open
                            state["square"] = torch.zeros_like(p)
                            state["last"] = torch.zeros(p.shape, device=p.device)
                        state["step"] += 1
                        state["mean"].mul_(0.9).add_(p.grad, alpha=0.1)
                        state["square"].mul_(0.9).addcmul_(p.grad, p.grad)
                        state["last"].copy_(p.grad)
                        p.data.add_(state["mean"] + state["last"], alpha=-group["lr"])

        class InGroups(torch.optim.optimizer.Optimizer):
            def __init__(self, params):
                torch.optim.Optimizer.__init__(self, params, {})

            def begin(self, group):
                for p in group["params"]:
                    if "mean" not in self.state[p]:
                        self.state[p]["mean"] = torch.zeros(p.shape)  # open

            def step(self):
                for group in self.param_groups:
                    self.begin(group)
                    for p in group["params"]:
                        p.add_(self.state[p]["mean"])
    """,
    "an array beside a tensor is a tensor": """
        def timesteps(t, dim):
            half = dim // 2
            freqs = torch.exp(torch.arange(0, half) / half)  # open
            return t[:, None].float() * freqs[None]

        def rays(n, c2w):
            rows = torch.linspace(0, 1, n)  # open
            return rows[:, None] * c2w[:3, :3]

        def scores(x):
            b, n, d = x.shape
            return x @ x.transpose(-1, -2) + torch.arange(n)  # open

        def scaled(n, alpha):
            return torch.arange(n) * alpha

        def first(sizes):
            return torch.ones(3) * sizes[0]
    """,
    "one tensor in the place of several is one": """
        def residual(net, x: torch.Tensor):
            u = net(x)
            return torch.autograd.grad(u, x, grad_outputs=torch.ones(u.shape), create_graph=True)  # open
    """,
    "an argument that indexes what is assigned tells whether the values must be there": """
        def route(x: torch.Tensor, mask: torch.Tensor):
            out = torch.zeros(x.shape)  # open
            out[mask] = x[mask]
            return out

        def positive(x: torch.Tensor):
            out = torch.zeros(x.shape)  # open
            chosen = x > 0
            out[chosen] = x[chosen]
            return out

        def copied(x: torch.Tensor, n: int):
            out = torch.zeros(10, 3)
            out[:n] = x
            return out.sum().item()
    """,
    "an attribute with the name data is no data of a tensor": """
        class Trainer:
            def __init__(self, data, names):
                self.data = data
                self.names = names
                self.weight = torch.ones(3)  # open

            def loss(self, x: torch.Tensor):
                return x * self.weight
    """,
    "a function that another one makes is called by whoever asked for it": """
        def make_loss(w):
            weight = torch.tensor(w)  # open

            def loss(x: torch.Tensor, y: torch.Tensor):
                return (weight.view(1, -1) * (x - y)).mean()

            return loss

        def make_there(n, device):
            weight = torch.ones(n, device=device)

            def loss(x: torch.Tensor):
                return (weight * x).mean()

            return loss

        def timed(function):
            def wrapper(*args, **options):
                return function(*args, **options)

            return wrapper
    """,
    "a constructor that takes a device is called without one as well": """
        class Gated(nn.Module):
            def __init__(self, n, device=None):
                super().__init__()
                made = {"device": device}
                self.gate = nn.Parameter(torch.ones(n, **made))
                self.table = torch.arange(n, **made)  # open
                self.index = torch.zeros(1, **made)

            def rows(self, n):
                return torch.arange(n, device=self.gate.device)

            def forward(self, x):
                if self.index.shape[0] != x.shape[0]:
                    self.index = self.rows(x.shape[0])
                return self.gate * x + self.index + self.table

        class Needed(nn.Module):
            def __init__(self, n, device):
                super().__init__()
                self.table = torch.arange(n, device=device)

            def forward(self, x):
                return x + self.table
    """,
}


@pytest.mark.parametrize("name", CASES)
def test_who_calls_from_outside_meets(name: str) -> None:
    code = "\n".join(line.removeprefix("        ") for line in CASES[name].strip("\n").splitlines())
    unit = analyse(from_ast.lower(ast.parse(HEAD + code)))
    found = {fault.place.op.node.lineno for fault in unit.decided()}
    expected = {at for at, line in enumerate((HEAD + code).splitlines(), 1) if line.endswith("# open")}
    assert found == expected


@pytest.mark.parametrize(
    ("read", "is_told"),
    [
        ("model(x.cuda()).numpy()", True),
        ("model(x.cuda()).data.numpy()", True),
        ("model(x.cuda())[0].numpy()", True),
        ("model(x.cuda()).detach().numpy()", True),
        ("distance.forward(model(x.cuda()), model(x.cuda())).numpy()", True),
        ("model(x.cuda()).cpu().numpy()", False),
        ("model(x).numpy()", False),
        ("model(x.cpu()).numpy()", False),
    ],
)
def test_what_is_computed_from_what_is_on_a_gpu_is_there(read: str, is_told: bool) -> None:
    text = f"def run(model, x, distance):\n    return {read}\n"
    faults = [one for one in analyse(from_ast.lower(ast.parse(text))).decided() if is_worth_telling(one)]
    assert [one.kind for one in faults] == ["host"] * is_told


@pytest.mark.parametrize(
    ("result", "is_told"),
    [
        ("torch.relu(x) * mask", True),
        ("(torch.relu(x) * mask).trace()", True),  # the sum of a diagonal
        ("(torch.relu(x) * mask).to(torch.float64)", True),
        ("(torch.relu(x) * mask).to(x.dtype)", True),
        ("(torch.relu(x) * mask).to(dtype=kind)", True),
        ("(torch.relu(x) * mask).to(device)", False),
        ("(torch.relu(x) * mask).to(device, x.dtype)", False),
        ("torch.jit.trace(model, torch.relu(x) * mask)", False),
    ],
)
def test_what_becomes_of_a_result_shows_whether_it_is_made_on_the_cpu(result: str, is_told: bool) -> None:
    text = f"import torch\ndef run(x, model, device, kind):\n    mask = torch.ones(3)\n    return {result}\n"
    faults = [one for one in analyse(from_ast.lower(ast.parse(text))).decided() if is_worth_telling(one)]
    assert bool(faults) is is_told


def test_who_spreads_out_what_nobody_knows_is_not_asked_in_place_of_a_method() -> None:
    text = """
import torch

class Rows:
    def add(self, value: torch.Tensor):
        return value.clone().numpy()

    def extend(self, *rows):
        for row in zip(*rows):
            self.add(*row)
"""
    faults = [one for one in analyse(from_ast.lower(ast.parse(text))).decided() if is_worth_telling(one)]
    assert [(one.kind, one.is_passed_on) for one in faults] == [("host", False)]


@pytest.mark.parametrize(
    ("loop", "is_told"),
    [("net.cpu(); collect(reward); net.cuda()", False), ("collect(reward)", True), ("collect(abs)", True)],
)
def test_a_callback_is_called_in_the_state_that_its_program_is_in(loop: str, is_told: bool) -> None:
    text = f"""
import torch
net = torch.nn.Linear(3, 1)
net.cuda()

def reward(state):
    return net(torch.tensor([state, 0.0, 1.0])).item()

def collect(custom):
    return [custom(step) for step in range(10)]

for turn in range(10):
    {loop}
"""
    faults = [one for one in analyse(from_ast.lower(ast.parse(text))).decided() if is_worth_telling(one)]
    assert [one.verdict for one in faults] == ["broken"] * is_told
