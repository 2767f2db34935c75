"""What a test tells of the two sides behind it, also where nobody knows how it comes out."""

from __future__ import annotations

import textwrap

import pytest

from torchdevlint import check_source

HEAD = """
import torch
from torch import nn

"""
OBJECTIVE = """
class Objective:
    def __init__(self):
        self.device = torch.device("cpu")

    def to(self, *args, **kwargs):
        self.device = torch.empty(1).to(*args, **kwargs).device
        return self

class Layer(nn.Module):
    def __init__(self, objective):
        super().__init__()
        self.objective = objective

    def to(self, *args, **kwargs):
        super().to(*args, **kwargs)
        self.objective.to(*args, **kwargs)
        return self
"""
MODE = """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--mode")
args = parser.parse_args()
model = nn.Linear(3, 3)
"""
PLACED_BY_FLAG = {
    "a setting is one value alone": MODE
    + """

if args.mode == "train":
    model.cuda()
if args.mode == "export":
    model(torch.rand(2, 3))
""",
    "a setting is one of several, and none of others": MODE
    + """

if args.mode in ("train", "tune"):
    model.cuda()
if args.mode in ["export", "show"]:
    model(torch.rand(2, 3))
""",
    "a setting is one of several but for one of them": MODE
    + """

if args.mode in ("train", "tune") and args.mode != "tune":
    model.cuda()
if args.mode != "train":
    model(torch.rand(2, 3))
""",
    "what a setting begins with": MODE
    + """

if args.mode == "train_large":
    model.cuda()
if not args.mode.startswith("train"):
    model(torch.rand(2, 3))
""",
    "a setting is one of those that are not refused": MODE
    + """

if args.mode == "train":
    model.cuda()
elif args.mode == "tune":
    model.cuda()
else:
    raise ValueError(args.mode)
if args.mode.startswith("export"):
    model(torch.rand(2, 3))
""",
    "an argument is one value alone": MODE
    + """

def run(mode):
    model = nn.Linear(3, 3)
    if mode == "train":
        model.cuda()
    if mode in ("export", "show"):
        model(torch.rand(2, 3))

run(args.mode)
""",
    "what a setting has chosen from a table": MODE
    + """

def on_gpu():
    return nn.Linear(3, 3).cuda()

def on_cpu():
    return nn.Linear(3, 3)

net = {"train": on_gpu, "export": on_cpu}[args.mode]()
if args.mode == "export":
    net(torch.rand(2, 3))
""",
    "a tensor is no object of a class of the project": """
class Window:
    def __init__(self, size):
        self.size = size

class Filter(nn.Module):
    def __init__(self, kernel):
        super().__init__()
        if isinstance(kernel, Window):
            self.kernel = kernel
        else:
            self.register_buffer("kernel", kernel)

    def forward(self, x):
        return torch.relu(x) * self.kernel

class Box(Filter):
    def __init__(self):
        super().__init__(torch.ones(3))

print(Box().cuda()(torch.rand(3).cuda()))
""",
    "a weight that a layer was given, and that a flag moves": """
import numpy as np

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 3)

    def load(self, weights):
        self.words.weight = nn.Parameter(weights)

def read(name):
    return torch.from_numpy(np.load(name)).float()

def run(args):
    net = Net()
    net.load(read(args.weights))
    if args.cuda:
        net.cuda()
    net.words(torch.zeros(3).long().cuda() if args.cuda else torch.zeros(3).long())

args = parse()
args.cuda = torch.cuda.is_available()
run(args)
""",
    "what is on the device of a model that a flag moves": """
def weights(x, mask):
    alpha = torch.ones(2, 3)
    if x.is_cuda:
        alpha = alpha.cuda()
    return alpha * mask

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)

    def forward(self, x, mask):
        return weights(self.first(x), mask)

class Reader:
    def __init__(self):
        self.use_cuda = False
        self.net = Net()

    def update(self, batch):
        if self.use_cuda:
            inputs = [e if e is None else e.cuda() for e in batch[:2]]
        else:
            inputs = [e if e is None else e for e in batch[:2]]
        return self.net(*inputs)

    def cuda(self):
        self.use_cuda = True
        self.net = self.net.cuda()

def main(args):
    reader = Reader()
    if args.cuda:
        reader.cuda()
    reader.update((torch.zeros(2, 3), torch.zeros(2, 3), 4))

main(parse())
""",
    "an object of the project that others move with what they are given": OBJECTIVE
    + """
objective = Objective()
Layer(objective).to("cuda")
print(torch.zeros(3, device=objective.device) + torch.ones(3, device="cuda"))
""",
    "what a flag moves, and an index made of it": """
import torch.nn.functional as F
from tqdm import tqdm

def loss_of(scores, target, weight=None):
    if OLD:
        log_p = F.log_softmax(scores, dim=1)
    mask = target >= 0
    target = target[mask]
    return F.nll_loss(log_p, target, weight=weight)

class Trainer:
    def __init__(self, cuda, loader):
        self.cuda = cuda
        self.loader = loader

    def train_epoch(self):
        for step, (data, target) in tqdm(enumerate(self.loader)):
            if self.cuda:
                data, target = data.cuda(), target.cuda()
            loss_of(score, target)

    def train(self):
        self.train_epoch()

class Labels(torch.utils.data.Dataset):
    def __getitem__(self, index):
        label = table["classes"][0].astype("int32")
        if self.transforms:
            return self.transform(image, label)

    def transform(self, image, label):
        return image, label

def main():
    cuda = torch.cuda.is_available()
    loader = torch.utils.data.DataLoader(Labels(), batch_size=1)
    trainer = Trainer(cuda=cuda, loader=loader)
    trainer.train()

main()
""",
    "a batch that a comprehension makes anew, and its names": """
from datasets import load_dataset
from torch.utils.data import DataLoader

model = load_model("large").to("cuda")
for batch in DataLoader(load_dataset("texts")["train"], batch_size=8):
    batch = {name: value.to("cuda") for name, value in batch.items()}
    model(**batch)
""",
    "an object of a class of the project that has a method of tensors": """
class Space:
    def __init__(self, parts):
        self.parts = parts
        self.device = torch.device("cpu")

    def copy(self) -> "Space":
        return type(self)(list(self.parts))

    def dim(self):
        return len(self.parts)

    def to(self, device):
        self.device = device

class Solver:
    def __init__(self, space: Space):
        self.space = space
        self.rows = self.space.dim()

def prepared(space: Space):
    other = space.copy()
    return other, Solver(other)

class Layer:
    def __init__(self, space: Space, device):
        self.space, self.device = space, device

    def forward(self):
        space, solver = prepared(self.space)
        space.to(self.device)
        return space, solver
""",
    "a part that something open was given before it moves": """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)
    def forward(self, x):
        return self.inner(x)

makers = {"net": lambda: nn.ModuleDict(), "parts": lambda path: {"encoder": Encoder()}}

def create():
    parts = makers["parts"]("p")
    net = makers["net"]()
    net.encoder = parts["encoder"]
    return net

def main():
    net = create()
    net.to(device="cuda" if torch.cuda.is_available() else "cpu")
    return net.encoder(torch.ones(3, 3).cuda())

main()
""",
    "a model that is sharded": """
from torch.distributed.fsdp import fully_shard

def run(model, inputs, mesh):
    fully_shard(model, mesh=mesh)
    return model(inputs)

def main(mesh, inputs):
    model = nn.Linear(8, 8)
    return run(model, inputs.cuda(), mesh)
""",
    "an element of a table under an index that may be a number": """
import numpy

class Scheduler:
    def __init__(self, betas):
        self.table = torch.cumprod(torch.tensor(betas), dim=0)

    def set_steps(self, count):
        self.steps = torch.from_numpy(numpy.asarray(list(range(count)))[::-3].copy())

    def step(self, output, at):
        return output * self.table[at].sqrt()

scheduler = Scheduler(numpy.linspace(0, 1, 50))
scheduler.set_steps(9)
x = torch.ones(3, device="cuda")
for at in scheduler.steps:
    x = scheduler.step(x, at)
""",
    "an array, or a tensor where the other one is": """
import numpy

def one_hot(labels, count):
    if isinstance(labels, torch.Tensor):
        return torch.zeros((count, 3), device=labels.device)
    return numpy.zeros((count, 3))

def stacked(source, data):
    return numpy.vstack((data, one_hot(source.labels(), 3)))
""",
    "a flag of two objects": """
class Codec:
    def __init__(self, config, centroids):
        self.use_gpu = config.gpus > 0
        self.centroids = centroids.cuda() if self.use_gpu else centroids.float()

    def looked_up(self, codes, out_device):
        return torch.cat([self.centroids[code].to(out_device) for code in codes.split(5)])

class Indexer:
    def __init__(self, config, rank):
        self.config, self.rank = config, rank
        self.use_gpu = self.config.gpus > 0

    def run(self, rows):
        return self.train(torch.zeros(4, 4), rows)

    def train(self, centroids, rows):
        if self.rank > 0:
            return None
        codec = Codec(self.config, centroids)
        codes = torch.zeros(3, dtype=torch.long, device="cuda" if self.use_gpu else "cpu")
        return codec.looked_up(codes, "cuda" if self.use_gpu else "cpu")
""",
    "what is made where one of two tensors is": """
import numpy

class Codec:
    def __init__(self, config, centroids):
        self.use_gpu = config.gpus > 0
        self.centroids = centroids.cuda() if self.use_gpu else centroids.float()

    def compress(self, rows):
        packed = []
        for row in rows.split(18):
            if self.use_gpu:
                row = row.cuda()
            rest = row - self.looked_up(row, out_device=row.device)
            packed.append(self.packed(rest).cpu())
        return torch.cat(packed)

    def packed(self, row):
        return row if self.use_gpu else torch.as_tensor(numpy.packbits(numpy.asarray(row.flatten())))

    def looked_up(self, codes, out_device):
        found = []
        for code in codes.split(20):
            if self.use_gpu:
                found.append(self.centroids[code.cuda().long()].to(out_device))
            else:
                found.append(self.centroids[code.long()].to(out_device))
        return torch.cat(found)
""",
    "a truth value that is compared": """
class Codec:
    def __init__(self, config, centroids):
        self.use_gpu = config.gpus > 0
        if self.use_gpu > 0:
            self.centroids = centroids.cuda()
        else:
            self.centroids = centroids.cpu()

    def looked_up(self, codes):
        if self.use_gpu == True:
            return self.centroids[codes.cuda()]
        return self.centroids[codes.cpu()]

def compressed(config, codes):
    return Codec(config, torch.randn(4, 4)).looked_up(codes)
""",
    "a wrapper of a module that a caller gives": """
class Wrapper(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

def shown(module, x):
    wrapper = Wrapper(module)
    return torch.ones(3, device=list(wrapper.parameters())[0].device) + x.cuda()
""",
    "an unknown model that a flag moves": """
def build(cfg):
    model = cfg.registry.get(cfg.name)(cfg)
    if cfg.gpus:
        model = model.cuda()
    return model

def run(cfg, rows):
    model = build(cfg)
    for row in rows:
        x = torch.zeros(3, 3)
        if cfg.gpus:
            x = x.cuda()
        model(x)
""",
    "an unknown model of each call": """
from models import known, kind_of

def load(path):
    return known[kind_of(path)](width=3)

def main():
    model = load("a")
    model(torch.zeros(2, 3))
    held = nn.ModuleList([])
    held.append(model)
    if torch.cuda.is_available():
        held.cuda()

if __name__ == "__main__":
    main()
""",
    "the index of a device, which is -1 on the CPU": """
def add(x):
    device = x.get_device()
    bias = torch.zeros(3)
    if device > -1:
        bias = bias.to(device)
    return x + bias

def add_at(x: torch.Tensor):
    bias = torch.zeros(3)
    return x + bias.to(x.device) if x.get_device() >= 0 else x + bias
""",
    "a wrapper that is made where there is a GPU": """
import sys

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

def build(name):
    return Net() if name else Net()

def main(args):
    use_gpu = torch.cuda.is_available() and not args.cpu
    net = build(args.name)
    if use_gpu:
        net = nn.DataParallel(net).cuda()
    for row in torch.zeros(4, 3):
        if use_gpu:
            row = row.cuda()
        net(row)

main(sys.argv)
""",
    "a copy that is made on one side": """
import copy, functools

def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper

class Net(nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.layers = nn.ModuleList()
        for kind in kinds:
            self.layers.append(nn.Linear(3, 3) if kind else nn.Bilinear(3, 3, 3))
        self.tied = nn.Linear(3, 3)
        if kinds:
            self.tied.weight = self.layers[0].weight

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.tied(x)

@timed
def fit(net, rows, device):
    best, lowest = None, 9.0
    for row in rows:
        loss = net(row.to(device)).sum()
        if loss.item() < lowest:
            lowest, best = loss.item(), copy.deepcopy(net).cpu()
    return best

@timed
def measure(net, row):
    return net(row)

def main(kinds):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rows = torch.zeros(4, 3)
    net = Net(kinds).to(device)
    best = fit(net, rows, device)
    measure(net, rows[0].to(device))
    measure(best, rows[0])

main(input())
""",
    "the values that a name may have": """
def train(rows, device):
    x = torch.zeros(3).to(device)
    for name in ["first", "second"]:
        try:
            x = next(rows)
        except StopIteration:
            if name == "first":
                rows = iter([torch.zeros(3)])
                x = next(rows)
            elif name == "second":
                rows = iter([torch.ones(3)])
                x = next(rows)
        weight = torch.ones(3)
        if name in ("first", "third"):
            y = x * weight
        elif name != "first":
            y = weight
        x = y.to(device)
    return x

print(train(iter([torch.zeros(3)]), torch.device("cuda")))
""",
    "a batch of tuples is a list": """
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, at):
        return torch.randn(3), 1

def train(device):
    for batch in DataLoader(Rows()):
        if isinstance(batch, list):
            images, _ = batch
        else:
            images = batch
        images = images.to(device)
""",
    "a parameter that was read before its module moved": """
net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
last = list(net.parameters())[-1]
net.to("cuda")
print(last * torch.ones(3, device="cuda"))

def main(device):
    net = nn.Linear(3, 3)
    weight = net.weight
    net = net.to(device)
    print(net(torch.randn(3, 3).to(device)) @ weight)
""",
    "an operator of modules": """
class Map(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)

    def __matmul__(self, other):
        return Chain(self, other) if isinstance(other, Map) else self.weight @ other

    def normal(self, inner):
        return self @ inner @ self

class Chain(Map):
    def __init__(self, *parts):
        super().__init__(torch.ones(3))
        self.parts = parts
""",
    "the tensors of a batch, in a comprehension": """
from torch.utils.data import DataLoader

class Rows:
    def __len__(self):
        return 3

    def __getitem__(self, at):
        return {"image": torch.randn(3), "mask": torch.ones(3).bool(), "name": "row"}

def collate(rows):
    return {"image": torch.stack([row["image"] for row in rows]), "mask": torch.stack([row["mask"] for row in rows]), "name": "rows"}

class Trainer:
    def __init__(self, device):
        self.device = device

    def placed(self, batch):
        return {key: value.to(self.device) if isinstance(value, torch.Tensor) else value for key, value in batch.items()}

    def train(self, loader):
        for batch in loader:
            batch = self.placed(batch)
            print(batch["image"][batch["mask"]])

Trainer(torch.device("cuda")).train(DataLoader(Rows(), collate_fn=collate))
""",
    "a number in a function that is given one of several": """
import numpy as np

def gather(infos, keys):
    for key in keys:
        for info in infos:
            value = info[key]
            if isinstance(value, (float, bool)):
                value = np.array([value])

gather([{"loss": torch.randn(3, device="cuda"), "rate": 1.0}], {"loss", "rate"})
""",
    "what a function gives back for a number": """
def as_tensor(x):
    if isinstance(x, float):
        return torch.tensor(x).cuda()
    return x

x = torch.randn(3, device="cuda")
for one in [x, 1.0]:
    print(x + as_tensor(one))
""",
    "a place by a default below zero": """
def place(x, gpu=-1):
    if gpu == -1:
        return x
    return x.cuda(gpu)

def run(net, gpus):
    if gpus:
        net.cuda()
    x = place(torch.randn(3, 3), 0) if gpus else torch.randn(3, 3)
    return net(x)

run(nn.Linear(3, 3), [0])
""",
    "two tensors that one try moves": """
a, b = torch.randn(3), torch.randn(3)
try:
    a = a.cuda()
    b = b.cuda()
except RuntimeError:
    a, b = a.cpu(), b.cpu()
print(a + b)
""",
    "what a handler makes anew": """
b = torch.randn(3)
try:
    a = torch.randn(3).cuda()
    b = b.cuda()
except RuntimeError:
    a = torch.randn(3)
print(a + b)
""",
    "a class that is_cuda chooses, behind a try": """
def add(x):
    return x + (torch.cuda.FloatTensor if x.is_cuda else torch.FloatTensor)(3)

x = torch.randn(3)
try:
    x = x.cuda()
except RuntimeError:
    pass
print(add(x))
""",
    "NumPy behind is_cuda of one of several": """
for x in [torch.randn(3), torch.randn(3, device="cuda")]:
    x = x.detach()
    if x.is_cuda:
        x = x.cpu()
    print(x.numpy())
""",
    "a list of GPUs": """
def start(net, gpu_ids):
    if len(gpu_ids) > 0:
        net.to(gpu_ids[0])
        net = nn.DataParallel(net, gpu_ids)
    return net

gpu_ids = [0] if torch.cuda.is_available() else []
net = start(nn.Linear(3, 3), gpu_ids)
if gpu_ids:
    x = torch.randn(3, 3, device="cuda")
else:
    x = torch.randn(3, 3)
print(net(x))
""",
    "an attribute that another function writes": """
class Agent:
    def __init__(self, model):
        self.model, self.gpu = model, -1

    def step(self):
        if self.gpu >= 0:
            state = torch.zeros(3).cuda()
        else:
            state = torch.zeros(3)
        return self.model(state)

def run(rank, gpus):
    gpu = gpus[rank]
    agent = Agent(nn.Linear(3, 3))
    agent.gpu = gpu
    if gpu >= 0:
        agent.model = agent.model.cuda()
    return agent.step()
""",
    "a comparison of devices": """
x = torch.randn(3, device="cuda")
bias = torch.randn(3)
if bias.device == x.device:
    x = x + bias
""",
    "a comparison in a function": """
def add(a, b):
    bias = torch.zeros(3)
    if bias.device == a.device:
        a = a + bias
    if a.device == b.device:
        return a + b
    return a

print(add(torch.ones(3, device="cuda"), torch.ones(3)))
""",
    "an instance of a module": """
class Trainer:
    def __init__(self):
        self.net, self.step, self.bias = nn.Linear(3, 3), 0, torch.zeros(3)

    def set_up(self):
        for name, value in self.__dict__.items():
            if isinstance(value, nn.Module):
                value.cuda()

def pick(given):
    part = given or torch.zeros(3)
    if not isinstance(part, nn.Module):
        return part
    part.cuda()
    return part

Trainer().set_up()
""",
    "no tensor at all": """
def add(x, bias):
    kept = bias if x.sum() > 0 else None
    if kept is None:
        kept = torch.zeros(3, device=x.device)
    return x + kept

print(add(torch.ones(3, device="cuda"), torch.ones(3, device="cuda")))
""",
    "one of several values, compared with the device of the other": """
def apply_nested(value, function):
    if isinstance(value, list):
        return [apply_nested(item, function) for item in value]
    return function(value) if torch.is_tensor(value) else value

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(3, 3)
        self.cache = {"bias": torch.ones(3)}

    def forward(self, scores):
        scores = self.project(scores)
        bias = apply_nested([[self.cache["bias"]], 1], lambda item: item.clone())[0][0]
        if bias.device == scores.device:
            scores = scores + bias
        return scores
""",
}
BROKEN = {
    "a setting that is one of several may be this one": MODE
    + """

if args.mode in ("train", "tune"):
    model.cuda()
if args.mode == "tune":
    model(torch.rand(2, 3))
""",
    "one of the settings that two tests ask for": MODE
    + """

if args.mode in ("train", "tune"):
    model.cuda()
if args.mode in ("tune", "show"):
    model(torch.rand(2, 3))
""",
    "what a setting may begin with": MODE
    + """

if args.mode == "train_large":
    model.cuda()
if args.mode.startswith("train"):
    model(torch.rand(2, 3))
""",
    "two settings of one value": MODE
    + """

parser.add_argument("--other")
if args.mode == "train":
    model.cuda()
if args.other == "export":
    model(torch.rand(2, 3))
""",
    "an attribute that has been set since": MODE
    + """

class Trainer:
    def __init__(self):
        self.model = nn.Linear(3, 3)
        self.mode = args.mode

    def run(self):
        if self.mode == "train":
            self.model.cuda()
            self.mode = "export"
        if self.mode == "export":
            self.model(torch.rand(2, 3))

Trainer().run()
""",
    "a tensor may be an object of a class that says itself what its objects are": """
class Meta(type):
    def __instancecheck__(cls, one):
        return isinstance(one, torch.Tensor)

class Window(metaclass=Meta):
    pass

class Filter(nn.Module):
    def __init__(self, kernel):
        super().__init__()
        if isinstance(kernel, Window):
            self.kernel = kernel
        else:
            self.register_buffer("kernel", kernel)

    def forward(self, x):
        return torch.relu(x) * self.kernel

print(Filter(torch.ones(3)).cuda()(torch.rand(3).cuda()))
""",
    "an object of the project that nobody has moved": OBJECTIVE
    + """
objective = Objective()
Layer(objective)
print(torch.zeros(3, device=objective.device) + torch.ones(3, device="cuda"))
""",
    "a truth value that is compared, the other way": """
class Codec:
    def __init__(self, config, centroids):
        self.use_gpu = config.gpus > 0
        self.centroids = centroids.cuda() if self.use_gpu < 1 else centroids.cpu()

    def looked_up(self, codes):
        return self.centroids[codes.cuda()] if self.use_gpu else self.centroids[codes.cpu()]

def compressed(config, codes):
    return Codec(config, torch.randn(4, 4)).looked_up(codes)
""",
    "an unknown model that a flag moves, and not its input": """
def run(cfg, rows):
    model = cfg.registry.get(cfg.name)(cfg)
    if cfg.gpus:
        model = model.cuda()
    for row in rows:
        model(torch.zeros(3, 3))
""",
    "a parameter of a module that nobody moved": """
net = nn.Linear(3, 3)
weight = net.weight
print(weight * torch.ones(3, device="cuda"))
""",
    "what a try moves alone": """
x = torch.randn(3)
try:
    x = x.cuda()
except RuntimeError:
    pass
print(x + torch.randn(3))
""",
    "a number below zero": """
def place(x, gpu):
    if gpu >= 0:
        x = x.cuda(gpu)
    return x

print(torch.randn(3, device="cuda") + place(torch.randn(3), -1))
""",
    "a depth that a recursion counts": """
def add(x, y, depth):
    if depth > 3:
        return x + y
    return add(x, y, depth + 1)

print(add(torch.randn(3, device="cuda"), torch.randn(3), 0))
""",
    "a column of a tensor of an open size": """
def table(size):
    return torch.zeros(size)

def add(x):
    return [x[:, step] + table((2, 5, 4))[:, step - 1] for step in range(2)]

print(add(torch.randn(2, 5, 4, device="cuda")))
""",
    "the length of a tuple": """
def place(x, gpus):
    return x.cuda() if len(gpus) > 0 else x

print(torch.randn(3, device="cuda") + place(torch.randn(3), ()))
""",
    "an instance of a tensor": """
def pick(given):
    part = given or torch.zeros(3)
    if isinstance(part, torch.Tensor):
        part.cuda()
    return part
""",
    "the other outcome of a comparison": """
def add(a, b):
    if a.device != b.device:
        return a + b
    return a

print(add(torch.ones(3, device="cuda"), torch.ones(3)))
""",
    "the other outcome of a comparison of one of several values": """
def apply_nested(value, function):
    if isinstance(value, list):
        return [apply_nested(item, function) for item in value]
    return function(value) if torch.is_tensor(value) else value

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(3, 3)
        self.cache = {"bias": torch.ones(3)}

    def forward(self, scores):
        scores = self.project(scores)
        bias = apply_nested([[self.cache["bias"]], 1], lambda item: item.clone())[0][0]
        if bias.device != scores.device:
            scores = scores + bias
        return scores
""",
    "a side that moves the other operand": """
import sys
gpu_ids = [int(one) for one in sys.argv[1:]]
net = nn.Linear(3, 3).cuda()
if gpu_ids:
    net = nn.DataParallel(net, gpu_ids)
print(net(torch.ones(3, 3)))
""",
}


def told(text: str, level: str = "warning") -> list[str]:
    """The codes of what is told of a program, but for what concerns machines without a GPU."""
    return [one.code for one in check_source(HEAD + textwrap.dedent(text), "program.py", level=level, ignore=["TDL8"])]


@pytest.mark.parametrize("case", PLACED_BY_FLAG)
def test_what_a_flag_places_is_where_its_program_chose(case: str) -> None:
    assert told(PLACED_BY_FLAG[case]) == []


@pytest.mark.parametrize("case", BROKEN)
def test_what_no_side_places_is_told(case: str) -> None:
    assert told(BROKEN[case], "info")


def test_nothing_comes_out_of_what_does_not_meet() -> None:
    """Where the array would be given back the subtraction has failed already."""
    text = """
class Whitening:
    def __init__(self, mean):
        self.mean = torch.from_numpy(mean).view(1, -1)

    def to_cuda(self):
        self.mean = self.mean.cuda()

    def apply(self, x):
        is_array = not isinstance(x, torch.Tensor)
        if is_array:
            x = torch.from_numpy(x)
        x = x - self.mean
        return x.numpy() if is_array else x
"""
    assert told(text) == ["TDL505"]


def test_a_flag_that_one_of_several_words_sets_is_one_condition_for_all_that_read_it() -> None:
    text = """
import argparse

def str2bool(string):
    if string == "True" or string == "true" or string == "TRUE":
        return True
    else:
        return False

class Data:
    def __init__(self):
        self.gpu = False
    def read_config(self, config_file):
        config = config_file_to_dict(config_file)
        the_item = 'gpu'
        if the_item in config:
            self.gpu = str2bool(config[the_item])

class CRF(nn.Module):
    def __init__(self, tagset_size, gpu):
        super().__init__()
        self.gpu = gpu
    def decode(self, feats, mask):
        back_points = []
        for i in range(5):
            back_points.append(feats.clone())
        pad_zero = torch.zeros(3, 4).long()
        if self.gpu:
            pad_zero = pad_zero.cuda()
        back_points.append(pad_zero)
        back_points = torch.cat(back_points).view(3, 4, 5)
        last = mask.view(3, 1, 1)
        back_points.scatter_(1, last, 0)

class Model(nn.Module):
    def __init__(self, data):
        super().__init__()
        self.gpu = data.gpu
        self.crf = CRF(3, self.gpu)
    def forward(self, x, mask):
        return self.crf.decode(x, mask)

def batchify(gpu):
    x = torch.zeros(3, 4)
    mask = torch.zeros(3, 4).byte()
    if gpu:
        x = x.cuda()
        mask = mask.cuda()
    return x, mask

def train(data):
    model = Model(data)
    x, mask = batchify(data.gpu)
    model(x, mask)

if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--config', default='None')
    args = parser.parse_args()
    data = Data()
    data.gpu = torch.cuda.is_available()
    if args.config == 'None':
        data.a = 1
    else:
        data.read_config(args.config)
    train(data)
"""
    assert "TDL515" not in told(text, "info")
