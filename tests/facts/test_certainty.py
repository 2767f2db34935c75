"""What an abstract value must not claim, each beside the nearest case in which it may."""

from __future__ import annotations

import textwrap

import pytest

from torchdevlint import check_source

IMPORTS = """
import numpy as np
import torch
from torch import nn
"""

TOLD = {
    "a module that a function gives back after its caller moved it": (
        "TDL401",
        """
        def initialize(model):
            for p in model.parameters():
                p.data.zero_()
            return model

        net = nn.Linear(3, 3).cuda()
        print(initialize(net)(torch.ones(2, 3)))
        """,
    ),
    "a file of a run's progress that may be a checkpoint": (
        "TDL101",
        """
        def restore(self, folder):
            self.agent.load_state_dict(torch.load(folder + "/agent.pt"))
            self.progress = torch.load(folder + "/checkpoint.pt")
        """,
    ),
    "a device that an option of the constructor gives": (
        "TDL608",
        """
        class Net(nn.Module):
            def __init__(self, device="cpu"):
                super().__init__()
                self.device = device

            def forward(self, x):
                return x + torch.zeros(3, device=self.device)
        """,
    ),
    "a row that a module gets": (
        "TDL504",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(3, 3)

            def forward(self, rows):
                out = torch.zeros(3)
                return self.head(out)
        """,
    ),
    "a discarded move of what a module computes": (
        "TDL501",
        """
        def run(net: nn.Module, x: torch.Tensor, device):
            made = net(x)
            made.to(device)
            return made
        """,
    ),
    "a branch that may be taken": (
        "TDL801",
        """
        def place(x, rows):
            if rows > 3:
                return x.cuda()
        """,
    ),
    "a device that a module's method leaves to the default": (
        "TDL517",
        """
        def table(n, device="cpu"):
            return torch.arange(n, device=device)

        class Net(nn.Module):
            def encode(self, x, device):
                return x.to(device) + table(3)
        """,
    ),
    "a parameter without a gradient that a module keeps": (
        "TDL601",
        """
        class Net(nn.Module):
            def __init__(self, mask):
                super().__init__()
                self.mask = nn.Parameter(mask, requires_grad=False).to("cuda")
        """,
    ),
    "an input that follows the machine, beside a model that nobody moves": (
        "TDL801",
        """
        def evaluate(model: nn.Module, loader):
            for images in loader:
                if torch.cuda.is_available():
                    images = images.cuda()
                model(images)
        """,
    ),
    "a move in a function of a file without another framework": (
        "TDL801",
        """
        def place(x):
            return x.cuda()
        """,
    ),
    "a method of a module that places something": (
        "TDL605",
        """
        class Net(nn.Module):
            def batch(self, x):
                return x.to("mps")
        """,
    ),
    "a deprecated name beside another warning that is ignored": (
        "TDL805",
        """
        import warnings
        warnings.filterwarnings("ignore", message="`torch.cuda.amp.GradScaler.*")

        def run(model, x):
            with torch.cuda.amp.autocast():
                return model(x)
        """,
    ),
    "a state that was loaded before the move": (
        "TDL202",
        """
        def resume(state):
            model = nn.Linear(3, 3)
            optimizer = torch.optim.Adam(model.parameters())
            optimizer.load_state_dict(state)
            model.cuda()
            return model, optimizer
        """,
    ),
    "a guard that is one of two": (
        "TDL801",
        """
        def place(x, wanted):
            if any([torch.cuda.is_available(), wanted]):
                return x.cuda()
        """,
    ),
    "a submodule that is moved whenever a flag is off": (
        "TDL606",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(3, 3)
                self.frozen = False

            def forward(self, x):
                if not self.frozen:
                    self.head.to(x.device)
                return self.head(x)
        """,
    ),
    "a scaler for one of two formats": (
        "TDL805",
        """
        def scaler(kit):
            return torch.amp.GradScaler("cuda") if kit.requires("int8") else torch.cuda.amp.GradScaler()
        """,
    ),
    "a wait behind a move to any device": (
        "TDL807",
        """
        def timed(model, inputs, device):
            model.to(device)
            torch.cuda.synchronize()
            return model(inputs)
        """,
    ),
    "an option that may name no GPU by another text": (
        "TDL801",
        """
        def resume(args, state):
            if args.visible_gpus == "-1":
                for key, value in state.items():
                    state[key] = value.cuda()
        """,
    ),
    "an argument that forward computes with": (
        "TDL504",
        """
        class Poses(nn.Module):
            def __init__(self, count):
                super().__init__()
                self.poses = nn.Parameter(torch.zeros(count, 6))

            def forward(self, rows):
                return self.poses[rows] * rows.unsqueeze(-1)

            def first(self):
                return self(torch.arange(3))
        """,
    ),
    "a parameter that is cast to half": (
        "TDL601",
        """
        class Net(nn.Module):
            def __init__(self, x):
                super().__init__()
                self.scale = nn.Parameter(torch.zeros(3), requires_grad=False).to(torch.float16)
        """,
    ),
    "a copy that nothing waits for": (
        "TDL901",
        """
        def counts(a: torch.Tensor, b: torch.Tensor):
            first = a.to("cpu", non_blocking=True)
            second = b.to("cpu", non_blocking=True)
            return first.tolist(), second.tolist()
        """,
    ),
    "a submodule that is moved": (
        "TDL606",
        """
        class Net(nn.Module):
            def __init__(self, place):
                super().__init__()
                self.place = place
                self.conv = nn.Conv1d(3, 3, 3)

            def forward(self, x):
                return self.conv.to(x.device)(x)
        """,
    ),
    "the items of two displays are known": (
        "TDL402",
        """
        def pair(a, b):
            return [a] + [{"b": b}]

        def use(a, b):
            first, second = pair(a, b)
            return second.cpu()
        """,
    ),
    "the array that is tiled": (
        "TDL509",
        """
        def parts(values, device):
            values = values.to(device)
            return np.tile(values + 1, 2)
        """,
    ),
    "a class of this file with weights below": (
        "TDL602",
        """
        class Inner(nn.Module):
            def __init__(self):
                super().__init__()
                self.pool = nn.AvgPool1d(2)
                self.linear = nn.Linear(2, 2)

        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = [Inner() for _ in range(3)]

            def forward(self, x):
                return [part(x) for part in self.parts]
        """,
    ),
    "a class of this file that calls what it was given": (
        "TDL602",
        """
        class Residual(nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner

            def forward(self, x):
                return x + self.inner(x)

        class Outer(nn.Module):
            def __init__(self, make):
                super().__init__()
                self.parts = [Residual(make()) for _ in range(3)]

            def forward(self, x):
                return [part(x) for part in self.parts]
        """,
    ),
    "a view of another shape": (
        "TDL504",
        """
        class Net(nn.Module):
            def forward(self, x: torch.Tensor, bits):
                return x.view(-1) + torch.tensor(bits).view(1)
        """,
    ),
    "a class that is given no device": (
        "TDL517",
        """
        class Block(nn.Module):
            def __init__(self, size, device=None):
                super().__init__()
                self.layer = nn.Linear(size, size, device=device)

        def build(size, device):
            return Block(size)
        """,
    ),
    "a dispatched model that is moved behind it": (
        "TDL403",
        """
        from accelerate import dispatch_model

        def place(model, device, plan):
            model = dispatch_model(model, plan)
            model = model.to(device)
            return model
        """,
    ),
    "a loop's input that nothing moves": (
        "TDL401",
        """
        def play(env):
            model = nn.Linear(3, 3)
            model.cuda()
            state = torch.from_numpy(env.reset())
            while True:
                action = model(state)
                state = torch.from_numpy(env.step(action))
        """,
    ),
    "a collective of a file that speaks of no backend": (
        "TDL704",
        """
        import torch.distributed as dist

        def total(value, device):
            tensor = torch.tensor([value, 1.0])
            dist.all_reduce(tensor)
            return tensor.to(device)
        """,
    ),
    "a discarded cast of what is only asked for its type": (
        "TDL501",
        """
        def cast(x: torch.Tensor):
            x.to(torch.float16)
            return x
        """,
    ),
    "lengths that are moved with the inputs": (
        "TDL514",
        """
        from torch.nn.utils.rnn import pack_padded_sequence

        def step(images, captions: torch.Tensor, device):
            images = images.to(device)
            lengths = (captions != 0).sum(dim=1).to(device)
            return pack_padded_sequence(images, lengths)
        """,
    ),
    "a model that a save moves": (
        "TDL109",
        """
        def train(model, epochs, path):
            for epoch in range(epochs):
                model.train()
                torch.save(model.cpu(), path)
        """,
    ),
    "an attribute that nothing registers": (
        "TDL603",
        """
        class System(nn.Module):
            def __init__(self):
                super().__init__()
                self.masses = torch.ones(3)

            def forward(self, x: torch.Tensor):
                return x * self.masses
        """,
    ),
    "a load of a model's state": (
        "TDL101",
        """
        def resume(model, path):
            model.load_state_dict(torch.load(path))
        """,
    ),
    "a load of a state that a generator made": (
        "TDL101",
        """
        def resume(model, folder):
            generator_state = torch.load(folder / "generator_state.pth")
            model.load_state_dict(generator_state)
        """,
    ),
    "a device that a class of the file is given": (
        "TDL801",
        """
        class Sampler:
            def __init__(self, device):
                self.seed = torch.zeros(1, device=device)

        def choose():
            return Sampler(device="cuda")
        """,
    ),
    "an output of a model that NumPy repeats": (
        "TDL509",
        """
        def draw(images, device):
            model = nn.Linear(3, 3).to(device)
            depth = model(images.to(device))
            return np.repeat(depth, 3)
        """,
    ),
    "a mask that is read on both machines": (
        "TDL509",
        """
        def draw(images, device):
            model = nn.Linear(3, 3).to(device)
            mask = model(images.to(device))
            return mask.numpy()
        """,
    ),
    "letters that are given to a layer": (
        "TDL504",
        """
        class Words(nn.Module):
            def __init__(self):
                super().__init__()
                self.letters = nn.LSTM(3, 3)

            def forward(self, word):
                return self.letters(torch.zeros(2, 3))
        """,
    ),
    "a tensor beside a text": (
        "TDL509",
        """
        import cv2
        def show(frame, images, device):
            model = nn.Linear(3, 3).to(device)
            probs = model(images.to(device))
            cv2.putText(frame, probs[0], (20, 20))
        """,
    ),
    "an input that forward computes with": (
        "TDL504",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)

            def forward(self, x, device):
                x = self.linear(x)
                return x.to(device)

        def run(device):
            net = Net().to(device)
            return net(torch.zeros(2, 3), device)
        """,
    ),
    "labels beside a graph": (
        "TDL501",
        """
        from torch.utils.data import DataLoader

        def run(data, model, device):
            for graph, labels in DataLoader(data):
                print(graph.ndata)
                labels.to(device)
                loss = (model(graph) - labels.unsqueeze(-1)).abs().sum()
        """,
    ),
    "a tensor that was never moved, thrown away": (
        "TDL501",
        """
        def merge(x: torch.Tensor, y: torch.Tensor):
            loops = torch.zeros(3, 3)
            loops.to(x.device)
            return torch.cat((y, loops))
        """,
    ),
    "a list of tensors that a module keeps": (
        "TDL603",
        """
        class Net(nn.Module):
            def __init__(self, count):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.rows = [torch.ones(3) for _ in range(count)]

            def forward(self, x):
                return [self.linear(x) @ row for row in self.rows]
        """,
    ),
    "an empty table that a method gives": (
        "TDL504",
        """
        class Detector(nn.Module):
            def forward(self, heat: torch.Tensor):
                found = self.peaks(heat)
                return found + heat

            def peaks(self, heat: torch.Tensor):
                if len(heat) == 0:
                    return torch.empty(0, 3)
                return heat.amax(-1)
        """,
    ),
    "a local function whose default was read before the device was chosen": (
        "TDL517",
        """
        def unbind(values, device: torch.device):
            def empty(device=device):
                return torch.zeros(3, device=device)

            device = torch.device("cuda", 1)
            return [empty() for _ in values]
        """,
    ),
    "a module that moves samples, and is moved": (
        "TDL608",
        """
        class Collate(nn.Module):
            def __init__(self, transform=None, device="cpu"):
                super().__init__()
                self.transform = transform
                self.device = torch.device(device)

            def __call__(self, samples):
                return samples.to(self.device)


        def load(data, device):
            collate = Collate()
            collate.to(device)
            return torch.utils.data.DataLoader(data, collate_fn=collate)
        """,
    ),
    "a loader over a tensor that is made here": (
        "TDL401",
        """
        def test(points: torch.Tensor, device):
            model = nn.Linear(3, 2).to(device)
            for rows in torch.utils.data.DataLoader(torch.zeros(len(points), 3)):
                model(rows)
        """,
    ),
    "an index on the device that an object was asked for": (
        "TDL506",
        """
        class Learner:
            def __init__(self, size, device):
                self.device = torch.device(device)

            def count(self, chosen):
                counter = torch.zeros(10)
                return counter[chosen.long().to(self.device)]
        """,
    ),
    "samples on the device that a data set was asked for": (
        "TDL701",
        """
        class Rays(torch.utils.data.Dataset):
            def __init__(self, images, device):
                self.images = images
                self.device = device

            def __getitem__(self, number):
                return self.images[number], torch.arange(3, device=self.device)
        """,
    ),
    "a trial of a module": (
        "TDL401",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)

            def forward(self, x):
                return self.layer(x)

            def trial(self, device="cpu"):
                return self.layer(torch.rand(1, 3))
        """,
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_is_certain_is_told(name: str) -> None:
    code, source = TOLD[name]
    found = check_source(IMPORTS + textwrap.dedent(source), level="info")
    assert code in {finding.code for finding in found}


UNTOLD = {
    "another module of the function that made a moved one": (
        "TDL401",
        """
        def build():
            model = nn.Linear(3, 3)
            return model

        first = build()
        first.cuda()
        second = build()
        print(second(torch.ones(2, 3)))
        """,
    ),
    "a module that a function gives back, as it did one that was moved then": (
        "TDL401",
        """
        def initialize(model):
            for p in model.parameters():
                p.data.zero_()
            return model

        first = initialize(nn.Linear(3, 3)).eval().cuda()
        second = initialize(nn.Linear(3, 3))
        print(second(torch.ones(2, 3)))
        """,
    ),
    "a file of a count by its name": (
        "TDL101",
        """
        def restore(self, folder):
            self.agent.load_state_dict(torch.load(folder + "/agent.pt", map_location="cpu"))
            self.progress = torch.load(folder + "/global_steps.pt")
        """,
    ),
    "a device that the settings give": (
        "TDL608",
        """
        class Net(nn.Module):
            def __init__(self, settings):
                super().__init__()
                self.device = settings["device"]

            def forward(self, x):
                return x + torch.zeros(3, device=self.device)
        """,
    ),
    "the start of a sum that a module gets": (
        "TDL504",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(3, 3)

            def forward(self, rows):
                out = torch.tensor(0.0)
                for row in rows:
                    out = torch.add(out, row)
                return self.head(out)
        """,
    ),
    "a move of what is asked for its state": (
        "TDL501",
        """
        def run(net: nn.Module, state, device):
            made = net(**state)
            made.load_state_dict(state)
            made.to(device)
            return made
        """,
    ),
    "a branch that nobody takes": (
        "TDL801",
        """
        def place(x, rows):
            if False and rows > 3:
                return x.cuda()
        """,
    ),
    "a device that a module's constructor leaves to the default": (
        "TDL517",
        """
        def table(n, device="cpu"):
            return torch.arange(n, device=device)

        class Net(nn.Module):
            def __init__(self, device):
                super().__init__()
                self.register_buffer("table", table(3))
                self.scale = nn.Parameter(torch.ones(3, device=device))
        """,
    ),
    "a device that only a load gets": (
        "TDL517",
        """
        def restore(path, net, device="cpu"):
            state = torch.load(path, map_location=torch.device(device))
            net.load_state_dict(state["net"])
            return state["epoch"]

        def start(path, net, device):
            restore(path, net)
            return net.to(device)
        """,
    ),
    "a parameter without a gradient that no module keeps": (
        "TDL601",
        """
        class Feature:
            def __init__(self, mask):
                self.mask = nn.Parameter(mask, requires_grad=False).to("cuda")
        """,
    ),
    "an input that follows the machine, as the model does": (
        "TDL801",
        """
        def evaluate(model: nn.Module, loader):
            for images in loader:
                if torch.cuda.is_available():
                    images = images.cuda()
                model(images)

        def main(arch, loader):
            model = arch()
            if torch.cuda.is_available():
                model = model.cuda()
            evaluate(model, loader)
        """,
    ),
    "a method that moves the module to a device of its name": (
        "TDL605",
        """
        class Net(nn.Module):
            def mps(self):
                return self.to("mps")
        """,
    ),
    "a deprecated name whose warning is ignored": (
        "TDL805",
        """
        import warnings
        warnings.filterwarnings("ignore", message="`torch.cuda.amp.autocast.*is deprecated.*", category=FutureWarning)

        def run(model, x):
            with torch.cuda.amp.autocast():
                return model(x)
        """,
    ),
    "a state that is moved by hand before": (
        "TDL202",
        """
        def resume(state):
            model = nn.Linear(3, 3)
            optimizer = torch.optim.Adam(model.parameters())
            optimizer.load_state_dict(state)
            for entry in optimizer.state.values():
                for key, value in entry.items():
                    entry[key] = value.cuda()
            model.cuda()
            return model, optimizer
        """,
    ),
    "a guard among others in a list": (
        "TDL801",
        """
        def place(x, wanted):
            if all([torch.cuda.is_available(), wanted]):
                return x.cuda()
        """,
    ),
    "a submodule that is moved once": (
        "TDL606",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(3, 3)
                self.prepared = False

            def forward(self, x):
                if not self.prepared:
                    self.head.to(x.device)
                    self.prepared = True
                return self.head(x)
        """,
    ),
    "a scaler for the versions before a number": (
        "TDL805",
        """
        def scaler(kit):
            return torch.amp.GradScaler("cuda") if kit.requires("2.3.0") else torch.cuda.amp.GradScaler()
        """,
    ),
    "a wait behind a move to CUDA": (
        "TDL807",
        """
        def timed(model, inputs, device):
            model.cuda()
            torch.cuda.synchronize()
            return model(inputs)
        """,
    ),
    "an option that names no GPU by a text": (
        "TDL801",
        """
        def resume(args, state):
            if args.visible_gpus != "-1":
                for key, value in state.items():
                    state[key] = value.cuda()
        """,
    ),
    "an empty cache that another method fills": (
        "TDL504",
        """
        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.cache = (False, {"keys": torch.tensor([])})

            def forward(self, x):
                key = self.linear(x)
                return torch.cat((self.cache[1]["keys"], key), dim=1)
        """,
    ),
    "the indices of index_put_": (
        "TDL504",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)

            def forward(self, x):
                y = self.linear(x)
                return y.index_put_((torch.arange(3), torch.arange(3)), x.new_ones(3))
        """,
    ),
    "a parameter that was moved before": (
        "TDL601",
        """
        class Net(nn.Module):
            def __init__(self, device):
                super().__init__()
                self.nodes = nn.Parameter(torch.randn(3, 10).to(device), requires_grad=True).to(device)
        """,
    ),
    "a module that places itself by the same test": (
        "TDL605",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                if torch.cuda.is_available():
                    self.cuda()

            def forward(self, x):
                mask = torch.ones(3)
                if torch.cuda.is_available():
                    mask = mask.cuda()
                return self.linear(x) * mask
        """,
    ),
    "an input that goes by the model's flag": (
        "TDL401",
        """
        def train(model, data, args):
            x = torch.tensor(data)
            model.train()
            for _ in range(3):
                if args.gpu:
                    y = model(x.cuda())
                else:
                    y = model(x)
            if args.gpu:
                x = x.cuda()
            return model(x)
        """,
    ),
    "a model that Lightning has fitted": (
        "TDL509",
        """
        import pytorch_lightning as pl

        def embed(model, loader):
            trainer = pl.Trainer(max_epochs=1)
            trainer.fit(model, loader)
            found = []
            for x in loader:
                found.append(model.backbone(x.to(model.device)).flatten(start_dim=1).detach().numpy())
            return found
        """,
    ),
    "a length that a block gets": (
        "TDL504",
        """
        class Net(nn.Module):
            def __init__(self, block):
                super().__init__()
                self.blocks = nn.ModuleList([nn.TransformerEncoderLayer(8, 2) for _ in range(3)])

            def forward(self, x: torch.Tensor):
                seq_lens = torch.tensor([u.size(1) for u in x], dtype=torch.long)
                kwargs = dict(seq_lens=seq_lens)
                for block in self.blocks:
                    x = block(x, **kwargs)
                return x
        """,
    ),
    "a type that names a device": (
        "TDL504",
        """
        def vertices(offset: torch.Tensor):
            if offset.is_cuda:
                dtype = torch.cuda.FloatTensor
            else:
                dtype = torch.FloatTensor
            one = torch.ones(1).type(dtype)
            return offset.detach() * one
        """,
    ),
    "a container of transforms": (
        "TDL401",
        """
        from torchvision.transforms import Normalize, Resize, ToTensor

        class Prepare(nn.Module):
            def __init__(self, size):
                super().__init__()
                self.to_tensor = ToTensor()
                self.transforms = torch.jit.script(nn.Sequential(Resize((size, size)), Normalize([0.5], [0.5])))

            def forward_batch(self, images):
                return torch.stack([self.transforms(self.to_tensor(image)) for image in images])
        """,
    ),
    "a call on the side of other devices than the CPU": (
        "TDL807",
        """
        def evaluate(model, x, device):
            if device != torch.device("cpu"):
                torch.cuda.current_device()
            return model(x.to(device))
        """,
    ),
    "a program whose set-up demands CUDA": (
        "TDL801",
        """
        def build():
            if not torch.cuda.is_available():
                raise NotImplementedError("this needs a GPU")
            return nn.Linear(3, 3).cuda()

        def main():
            model = build()
            model(torch.zeros(1, 3).cuda())

        main()
        """,
    ),
    "what is built and moved in one expression": (
        "TDL517",
        """
        def load(path, device="cpu"):
            model = nn.Linear(3, 3)
            model.load_state_dict(torch.load(path, map_location=device))
            return model.to(device)

        class Encoder:
            def __init__(self, path, device):
                self.model = load(path).eval().requires_grad_(False).to(device)
        """,
    ),
    "what gets a model is none": (
        "TDL501",
        """
        class Trainer:
            def __init__(self, exp, device):
                self.exp, self.device = exp, device

            def before_train(self):
                model = self.exp.get_model()
                model.to(self.device)
                model = self.resume(model)
                self.model = model
        """,
    ),
    "an argument that forward only indexes with": (
        "TDL504",
        """
        class Poses(nn.Module):
            def __init__(self, count):
                super().__init__()
                self.poses = nn.Parameter(torch.zeros(count, 6))

            def forward(self, rows):
                return self.poses[rows, :]

            def first(self):
                return self(torch.arange(3))
        """,
    ),
    "the attention mask of a foreign model": (
        "TDL504",
        """
        class Captioner(nn.Module):
            def __init__(self, text_encoder):
                super().__init__()
                self.text_encoder = text_encoder

            def forward(self, input_ids: torch.Tensor):
                mask = torch.ones(input_ids.shape)
                return self.text_encoder(input_ids=input_ids.detach(), encoder_attention_mask=mask)
        """,
    ),
    "a parameter that is of this type already": (
        "TDL601",
        """
        class Net(nn.Module):
            def __init__(self, x):
                super().__init__()
                self.scale = nn.Parameter(torch.zeros(3)).to(torch.float32)
        """,
    ),
    "a constant that no module keeps": (
        "TDL601",
        """
        def newline(weights, device):
            return nn.Parameter(weights["newline"], requires_grad=False).to(device)
        """,
    ),
    "a copy that a blocking one waits for": (
        "TDL901",
        """
        def counts(a: torch.Tensor, b: torch.Tensor):
            first = a.to("cpu", non_blocking=True)
            second = b.to("cpu", non_blocking=False)
            return first.tolist(), second.tolist()
        """,
    ),
    "a cast by the name of a precision": (
        "TDL606",
        """
        class Net(nn.Module):
            def __init__(self, precision):
                super().__init__()
                self.precision = precision
                self.conv = nn.Conv1d(3, 3, 3)

            def forward(self, x):
                return self.conv.to(self.precision)(x)
        """,
    ),
    "a model that scatters its inputs": (
        "TDL401",
        """
        def infer(model, rows, device):
            stride = len(model.device_ids)
            x = torch.from_numpy(rows)
            model.eval()
            return model(x).to(device), stride
        """,
    ),
    "a program that moves nothing": (
        "TDL401",
        """
        def predict(net, rows):
            x = torch.from_numpy(rows)
            net.eval()
            return net(x)

        if __name__ == "__main__":
            predict(build(), np.ones((1, 3)))
        """,
    ),
    "batches of a data set of moved tensors": (
        "TDL401",
        """
        from torch.utils.data import DataLoader, TensorDataset

        def train(inputs, targets, device):
            model = nn.Linear(3, 3).to(device)
            for x, y in DataLoader(TensorDataset(inputs.to(device), targets.to(device))):
                print(model(x).sum())
        """,
    ),
    "a class that gets its device from a partial": (
        "TDL517",
        """
        from functools import partial

        class Block(nn.Module):
            def __init__(self, size, device=None):
                super().__init__()
                self.layer = nn.Linear(size, size, device=device)

        def build(size, device):
            make = partial(Block, device=device)
            return make(size)
        """,
    ),
    "a model that is dispatched or moved": (
        "TDL403",
        """
        from accelerate import dispatch_model

        def place(model, device, plan, offload):
            if offload:
                model = dispatch_model(model, plan)
            else:
                model = model.to(device)
            return model
        """,
    ),
    "a loop's input that is moved on the condition of the model": (
        "TDL401",
        """
        def play(env):
            model = nn.Linear(3, 3)
            if torch.cuda.is_available():
                model.cuda()
            state = torch.from_numpy(env.reset())
            while True:
                if torch.cuda.is_available():
                    state = state.cuda()
                action = model(state)
                state = torch.from_numpy(env.step(action))
        """,
    ),
    "a loss that is brought to the CPU where it may be elsewhere": (
        "TDL509",
        """
        def log(agent, writer, device):
            loss = agent.optimize()
            if agent.cuda:
                loss = loss.cpu()
            writer.add_scalar("loss", loss.detach().numpy())
        """,
    ),
    "a collective of a program that is started with Gloo": (
        "TDL704",
        """
        import torch.distributed as dist

        def total(value, device):
            tensor = torch.tensor([value, 1.0])
            dist.all_reduce(tensor)
            return tensor.to(device)

        def start(cluster):
            cluster.run(total, backend="gloo")
        """,
    ),
    "a discarded cast of a model, by what is read of it": (
        "TDL501",
        """
        def load(source, path):
            model = source.load(path)
            head = torch.empty(model.head.size, device=model.device, dtype=model.dtype)
            model = model.merge(head)
            model.to(torch.float16)
            return model
        """,
    ),
    "lengths that a model gives, perhaps as a list": (
        "TDL514",
        """
        from torch.nn.utils.rnn import pack_padded_sequence

        def step(decoder: nn.Module, images, captions, device):
            decoder = decoder.to(device)
            scores, lengths = decoder(images.to(device), captions.to(device))
            return pack_padded_sequence(scores, lengths)
        """,
    ),
    "a tensor that is saved from the CPU": (
        "TDL109",
        """
        def cache(points, path, count):
            for number in range(count):
                basis = points.encode(number)
                torch.save(basis.cpu(), path)
            return basis
        """,
    ),
    "an attribute that a method of the base registers": (
        "TDL603",
        """
        class System(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_uninitialized_buffer("masses", dtype=torch.long)
                self.masses = torch.ones(3)

            def forward(self, x: torch.Tensor):
                return x * self.masses
        """,
    ),
    "a load of a data loader's state": (
        "TDL101",
        """
        def resume(trainer, path):
            state = torch.load(path)
            trainer.train_dataloader.load_state_dict(state)
        """,
    ),
    "a load of the states of random generators": (
        "TDL101",
        """
        def resume(folder, rank, world_size):
            if world_size > 1:
                rng_file = folder / f"rng_state_{rank}.pth"
            else:
                rng_file = folder / "rng_state.pth"
            checkpoint_state = torch.load(rng_file)
            torch.random.set_rng_state(checkpoint_state["cpu"])
        """,
    ),
    "a device that a record keeps": (
        "TDL801",
        """
        from dataclasses import dataclass

        @dataclass
        class Target:
            device: str

        def choose():
            return Target(device="cuda")
        """,
    ),
    "an array that a model's own method gives": (
        "TDL509",
        """
        def draw(images, device):
            model = nn.Linear(3, 3).to(device)
            depth = model.infer(images.to(device))
            depth = depth.astype(np.uint8)
            return np.repeat(depth[..., np.newaxis], 3)
        """,
    ),
    "a mask that is read where there is no CUDA": (
        "TDL509",
        """
        def draw(args, images):
            model = nn.Linear(3, 3)
            if args.use_cuda:
                model.cuda()
                mask = model(images.cuda()).cpu().numpy()
            else:
                mask = model(images).numpy()
            return mask
        """,
    ),
    "letters that are given to a layer where there is no CUDA": (
        "TDL504",
        """
        class Words(nn.Module):
            def __init__(self):
                super().__init__()
                self.letters = nn.LSTM(3, 3)

            def forward(self, word):
                letters = torch.zeros(2, 3)
                if torch.cuda.is_available():
                    return self.letters(letters.cuda())
                else:
                    return self.letters(letters)
        """,
    ),
    "lengths that a layer slices with": (
        "TDL504",
        """
        class Pool(nn.Module):
            def __init__(self, pooling: nn.Module):
                super().__init__()
                self.pooling = pooling

            def forward(self, x: torch.Tensor):
                x_len = torch.LongTensor([2, 3])
                return self.pooling(x, x_len)
        """,
    ),
    "a tensor that a text is formatted with": (
        "TDL509",
        """
        import cv2
        def show(frame, images, device):
            model = nn.Linear(3, 3).to(device)
            probs = model(images.to(device))
            cv2.putText(frame, "prob: %.4f" % probs[0][0], (20, 20))
            cv2.putText(frame, f"prob: {probs[0][0]:.4f}", (20, 40))
            cv2.putText(frame, "prob: {:.4f}".format(probs[0][0]), (20, 60))
        """,
    ),
    "the output of a module of another file, which may be an array": (
        "TDL509",
        """
        from clusters import Clusters
        def labels(embeddings, device):
            cluster = Clusters(0.78).to(device)
            found = cluster(embeddings.cpu())
            if not isinstance(found, np.ndarray):
                found = np.array(found)
            return found
        """,
    ),
    "a function that a module keeps": (
        "TDL504",
        """
        def cosine(t):
            return torch.cos(t)

        class Net(nn.Module):
            def __init__(self, schedule):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.schedule = schedule
                if schedule is None:
                    self.schedule = cosine

            def forward(self, x):
                return self.linear(x) * 2

            def generate(self, steps: int):
                times = torch.linspace(0., 1., steps)
                return self.schedule(times[1:])
        """,
    ),
    "an input that forward moves": (
        "TDL401",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)

            def forward(self, x, device):
                if x is not None:
                    x = x.to(device)
                return self.linear(x)

        def run(device):
            net = Net().to(device)
            return net(torch.zeros(2, 3), device)
        """,
    ),
    "an input that forward does not read": (
        "TDL401",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)

            def forward(self, _):
                return self.linear(self.linear.weight)

        def run(device):
            net = Net().to(device)
            return net(torch.zeros(2, 3))
        """,
    ),
    "a cache that forward moves": (
        "TDL504",
        """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)

            def forward(self, x, cache):
                cache = cache.to(x.device)
                return torch.cat((cache, self.linear(x)))

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()

            def forward(self, x: torch.Tensor, cache: dict[str, torch.Tensor], layer: int):
                name = "layer_{}".format(layer)
                if name not in cache:
                    cache[name] = torch.zeros(2, 3)
                x, cache[name] = self.block(x, cache[name])
                return x
        """,
    ),
    "the features of a model that is given": (
        "TDL401",
        """
        import copy
        from torchvision.models.feature_extraction import create_feature_extractor

        def features(strategy, images):
            model = copy.deepcopy(strategy.model)
            extractor = create_feature_extractor(model, return_nodes=["fc"])
            return extractor(images.to(strategy.device))
        """,
    ),
    "a one-hot code on the device that a layer is given and moved to": (
        "TDL603",
        """
        class Layer(nn.Module):
            def __init__(self, device):
                super().__init__()
                self.device = device
                self.weight = nn.Parameter(torch.zeros(3, 3))
                self.codes = torch.eye(3).to(self.device)

            def forward(self, rows):
                return torch.mm(self.codes, self.weight)[rows]

        def train(options):
            model = Layer(options.device)
            return model.to(options.device)
        """,
    ),
    "a graph beside a graph": (
        "TDL501",
        """
        from torch.utils.data import DataLoader

        def run(data, model, device):
            for first, second in DataLoader(data):
                print(first.batch_size)
                first.to(device)
                second.to(device)
                loss = model(first) - model(second)
        """,
    ),
    "a tensor that was moved before, thrown away": (
        "TDL501",
        """
        def merge(x: torch.Tensor, y: torch.Tensor):
            loops = torch.zeros(3, 3)
            loops = loops.to(y.device).to(y.dtype)
            loops.to(x.device)
            return torch.cat((y, loops))
        """,
    ),
    "a list of tensors without elements": (
        "TDL504",
        """
        def rows(species: torch.Tensor, count: int):
            found = [torch.empty(0) for _ in range(count)]
            for number in range(count):
                found[number] = species[number]
            return found
        """,
    ),
    "a list of tensors without elements that a module keeps": (
        "TDL603",
        """
        class Net(nn.Module):
            def __init__(self, count):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.rows = [torch.empty(0) for _ in range(count)]

            def forward(self, x):
                return [self.linear(x) @ row for row in self.rows]
        """,
    ),
    "an empty row that a method gives": (
        "TDL504",
        """
        class Detector(nn.Module):
            def forward(self, heat: torch.Tensor):
                found = self.row(heat)
                return found + heat

            def row(self, heat: torch.Tensor):
                return torch.empty(0)
        """,
    ),
    "a model of another library, which is given an array": (
        "TDL509",
        """
        class Backend(nn.Module):
            def __init__(self, net, keras):
                super().__init__()
                self.net, self.keras = net, keras

            def forward(self, image):
                image = image.permute(0, 2, 3, 1).cpu().numpy()
                return (self.net(image, training=False) if self.keras else self.net(image)[0]).numpy()
        """,
    ),
    "a model of another library, which is given an array on a machine with a device": (
        "TDL509",
        """
        def predict(model, image, device):
            array = image.to(device).cpu().numpy()
            return model(array).numpy()
        """,
    ),
    "a local function whose default is the caller's device": (
        "TDL517",
        """
        def unbind(values, device: torch.device):
            def empty(device=device):
                return torch.zeros(3, device=device)

            return [empty() for _ in values]
        """,
    ),
    "a module that a loader calls": (
        "TDL608",
        """
        class Collate(nn.Module):
            def __init__(self, transform=None, device="cpu"):
                super().__init__()
                self.transform = transform
                self.device = torch.device(device)

            def __call__(self, samples):
                return samples.to(self.device)


        def load(data, device):
            return torch.utils.data.DataLoader(data, collate_fn=Collate(device=device))

        def load_others(data, transform, device):
            collate = Collate(transform, device)
            return torch.utils.data.DataLoader(data, collate_fn=collate)
        """,
    ),
    "results on two devices, told apart by the caller's flag": (
        "TDL504",
        """
        def crossings(first: torch.Tensor, second: torch.Tensor, points=False):
            found = torch.zeros(first.shape[0], dtype=torch.bool)
            if first.numel() == 0:
                return torch.empty((0, 2), device=first.device) if points else False
            if points:
                return first[first > second]
            return found
        """,
    ),
    "a loader whose collate function moves its batches": (
        "TDL401",
        """
        device = torch.device("cuda")
        model = nn.Linear(3, 2).to(device)


        def collate(samples):
            rows = torch.stack(samples).to(device)
            return rows


        def loaders(data):
            return torch.utils.data.DataLoader(data, collate_fn=collate)


        def test(dataloader):
            for rows in dataloader:
                model(rows)
        """,
    ),
    "a loader whose collate function calls one that moves its batches": (
        "TDL401",
        """
        device = torch.device("cuda")
        model = nn.Linear(3, 2).to(device)


        def collate(samples):
            rows = torch.stack(samples).cuda()
            return rows


        def loaders(data):
            return torch.utils.data.DataLoader(data, collate_fn=lambda samples: collate(samples))


        def test(dataloader):
            for rows in dataloader:
                model(rows)
        """,
    ),
    "a loader of a data set that was told a device": (
        "TDL401",
        """
        def test(path, device):
            model = nn.Linear(3, 2).to(device)
            data = Rows(path, device=device)
            for rows in torch.utils.data.DataLoader(data):
                model(rows)
        """,
    ),
    "a loader over a tensor of the caller": (
        "TDL401",
        """
        def test(points: torch.Tensor, device):
            model = nn.Linear(3, 2).to(device)
            for rows in torch.utils.data.DataLoader(points):
                model(rows)
        """,
    ),
    "an index where an object of another file keeps its entries": (
        "TDL506",
        """
        class Learner:
            def __init__(self, size):
                self.buffer = Buffer(size)

            def count(self, chosen):
                counter = torch.zeros(10)
                return counter[chosen.long().to(self.buffer.device)]
        """,
    ),
    "samples where the images of a data set are": (
        "TDL701",
        """
        class Rays(torch.utils.data.Dataset):
            def __init__(self, images, device):
                self.images = images
                self.device = device

            def __getitem__(self, number):
                return self.images[number], torch.arange(3, device=self.images.device)
        """,
    ),
    "what is deeper in what a model gives": (
        "TDL509",
        """
        class Pages(nn.Module):
            def __init__(self):
                super().__init__()
                self.detector = nn.Sequential(nn.Linear(3, 3))

            def forward(self, pages):
                found = self.detector(pages)
                return [np.asarray(cell["corners"]) for one in found for cell in one["cells"]]
        """,
    ),
    "a module that tests itself": (
        "TDL504",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)

            def forward(self, x):
                return self.layer(x)

            def test(self, device="cpu"):
                return self.layer(torch.rand(1, 3))
        """,
    ),
    "an array on the side on which the tensor is on the CPU, by a name": (
        "TDL509",
        """
        class Values(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("rows", torch.zeros(3))
                self.register_buffer("others", torch.zeros(3))

            def arrays(self, given: torch.Tensor):
                rows = self.rows
                where = rows.device.type
                if where == "cpu":
                    return rows.numpy()
                return rows.cpu().numpy()
        """,
    ),
}


@pytest.mark.parametrize("name", UNTOLD)
def test_what_is_not_certain_is_not_told(name: str) -> None:
    code, source = UNTOLD[name]
    found = check_source(IMPORTS + textwrap.dedent(source))
    assert code not in {finding.code for finding in found}


def test_a_variable_of_a_comprehension_is_called_as_it_is_written() -> None:
    """Its own name tells it apart from the variables around it."""
    text = "def ranges(rows):\n    return [torch.arange(3).to(one.device) for one in rows]\n"
    (finding,) = check_source(IMPORTS + text, level="info")
    assert finding.message.endswith("create it with `device=one.device`")
