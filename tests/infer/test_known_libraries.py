"""Libraries that stubs tell of: what is found in programs that use them, and what is left alone."""

from __future__ import annotations

import ast

import pytest

from torchdevlint import check_source
from torchdevlint.infer.analysis import analyse
from torchdevlint.infer.relevance import is_worth_telling
from torchdevlint.program import from_ast

IMPORTS = """
import torch
"""

# Each case: its lines, in which `# fault` marks where tensors meet that must not.
CASES = {
    "einx computes with several tensors where they are": """
        import einx
        from einx import less
        moved = torch.zeros(3, 4).cuda()
        einx.where("b, a b, -> a b", torch.ones(4) > 0, moved, 0.0)  # fault
        less("a b, b -> a b", moved, torch.arange(4))  # fault
        einx.sum("a [b]", moved) * torch.ones(3)  # fault
        einx.add("a b, -> a b", moved, 1.0)
        einx.dot("a b, b -> a", moved, torch.ones(4, device="cuda"))
    """,
    "models of a class of the project by from_pretrained": """
        from torch import nn
        from transformers.modeling_bert import BertPreTrainedModel, BertModel
        class Tagger(BertPreTrainedModel):
            def __init__(self, config, labels):
                super().__init__(config)
                self.bert = BertModel(config)
                self.head = nn.Linear(3, labels)
            def forward(self, ids):
                out = self.bert(ids)  # fault
                return (self.head(out[1]),) + out[2:]
        tagger = Tagger.from_pretrained("bert", config=object(), labels=3)
        tagger.cuda()
        tagger(torch.ones(2))
        out = tagger(torch.ones(2).cuda())
        out[0].numpy()  # fault
        first, *rest = out
        first.numpy()  # fault
        logits = out[:1]
        logits[0].numpy()  # fault
        out[0].cpu().numpy()
        placed = Tagger.from_pretrained("bert", device_map="auto", labels=3)
        placed(torch.ones(2).cuda())
    """,
    "a sparse tensor of an old constructor is where its values are": """
        rows, values = torch.zeros(2, 2).long().cuda(), torch.ones(2).cuda()
        torch.sparse.mm(torch.sparse.FloatTensor(rows, values, torch.Size([2, 2])), torch.ones(2, 2).cuda())
        torch.sparse.mm(torch.sparse.FloatTensor(rows, values, torch.Size([2, 2])), torch.ones(2, 2))  # fault
    """,
    "what distributions of numbers give for numbers has no dimension": """
        from torch.distributions import Normal
        moved = torch.zeros(3).cuda()
        Normal(0.0, 1.0).icdf(torch.tensor(0.5)) * moved
        Normal(0.0, 1.0).icdf(torch.tensor([0.5])) * moved  # fault
        Normal(torch.tensor(0.0), torch.tensor(1.0)).rsample() * moved
        Normal(torch.tensor(0.0), torch.tensor(1.0)).rsample((3,)) * moved  # fault
    """,
    "a layer of a model moves with whoever holds it": """
        from torchvision.models import resnet34
        class Holder(torch.nn.Module):
            def __init__(self):
                super().__init__()
                encoder = resnet34()
                self.stem = torch.nn.Sequential(encoder.conv1, encoder.bn1, encoder.relu)
                self.pool = encoder.maxpool
                self.rest = torch.nn.Sequential(*list(encoder.children())[4:-2])
            def forward(self, x):
                return self.rest(self.pool(self.stem(x)))
        images = torch.zeros(1, 3, 8, 8).cuda()
        moved = Holder()
        moved.to("cuda")
        moved(images)
        moved.stem(torch.zeros(1, 3, 8, 8))  # fault
        Holder().stem(images)  # fault
    """,
    "a layer of a model that holds nothing": """
        from torchvision.models import resnet34
        images = torch.zeros(1, 3, 8, 8).cuda()
        encoder = resnet34()
        encoder.maxpool(images)
        encoder.layer1[0].relu(images)
        encoder.layer1[0].conv1(images)  # fault
    """,
    "libraries that make arrays of what was moved": """
        import numpy as np
        import pandas as pd
        from scipy.stats import mode
        from sklearn.metrics import accuracy_score
        def show(x, names):
            moved = x.cuda()
            mode([moved, moved])  # fault
            mode(x)
            accuracy_score(x, moved)  # fault
            pd.DataFrame({"a": moved})  # fault
            pd.DataFrame({"a": moved.cpu(), "b": names})
            np.mean(moved)  # fault
            np.mean(x)
    """,
    "a timm model that was moved": """
        import timm
        model = timm.create_model("resnet18", pretrained=True)
        model.to("cuda")
        model(torch.zeros(1, 3, 8, 8))  # fault
        model(torch.zeros(1, 3, 8, 8).cuda())
    """,
    "a timm model that was not": """
        import timm
        model = timm.models.resnet18()
        model(torch.zeros(1, 3, 8, 8).cuda())  # fault
    """,
    "what a timm model gives is on its device": """
        import timm
        model = timm.create_model("resnet18").cuda()
        model(torch.zeros(1, 3, 8, 8).cuda()) + torch.zeros(1000)  # fault
    """,
    "a layer of timm without parameters": """
        from timm.layers import DropPath
        drop = DropPath(0.1)
        drop(torch.zeros(3).cuda()) + torch.zeros(3)  # fault
    """,
    "a segmentation model": """
        import segmentation_models_pytorch as smp
        model = smp.Unet("resnet34", classes=2).cuda()
        model(torch.zeros(1, 3, 64, 64))  # fault
    """,
    "kornia keeps the device": """
        import kornia
        images = torch.zeros(1, 3, 8, 8)
        kornia.filters.gaussian_blur2d(images.cuda(), (3, 3), (1.0, 1.0)) - images  # fault
        kornia.color.rgb_to_grayscale(images) - images
    """,
    "a transform of kornia without parameters": """
        from kornia.color import RgbToHsv
        images = torch.zeros(1, 3, 8, 8)
        RgbToHsv()(images.cuda()) - images  # fault
    """,
    "edges of a graph": """
        from torch_geometric.nn import GCNConv, global_mean_pool
        edges = torch.zeros(2, 4, dtype=torch.long)
        conv = GCNConv(16, 32).to("cuda")
        rows = conv(torch.zeros(3, 16).cuda(), edges.cuda())
        conv(torch.zeros(3, 16).cuda(), edges)  # fault
        global_mean_pool(rows, torch.zeros(3, dtype=torch.long))  # fault
    """,
    "a diffusion model": """
        from diffusers import UNet2DModel
        unet = UNet2DModel(sample_size=8).to("cuda")
        noise = torch.zeros(1, 3, 8, 8).cuda()
        step = torch.tensor(5)
        found = unet(noise, step).sample
        found - torch.zeros(1, 3, 8, 8)  # fault
        unet(noise, torch.tensor([5]))  # fault
        unet(noise.cpu(), step)  # fault
    """,
    "a language model from a checkpoint": """
        from transformers import BertModel
        model = BertModel.from_pretrained("bert-base-uncased")
        model.to("cuda")
        model(torch.zeros(1, 5, dtype=torch.long))  # fault
        model(torch.zeros(1, 5, dtype=torch.long).to(model.device))
        model.generate(torch.zeros(1, 5, dtype=torch.long))  # fault
        model.generate(torch.zeros(1, 5, dtype=torch.long, device="cuda"), max_length=torch.tensor(9))
    """,
    "a model whose parts the library places": """
        from transformers import AutoModel
        model = AutoModel.from_pretrained("bert-base-uncased", device_map="auto")
        model(torch.zeros(1, 5, dtype=torch.long))
    """,
    "a model with settings that nobody sees": """
        from transformers import AutoModelForCausalLM
        import settings
        model = AutoModelForCausalLM.from_pretrained("gpt2", **settings.OPTIONS)
        model(torch.zeros(1, 5, dtype=torch.long).cuda())
    """,
    "a model with adapters": """
        from peft import LoraConfig, get_peft_model
        from transformers import BertModel
        model = get_peft_model(BertModel.from_pretrained("bert-base-uncased"), LoraConfig())
        model.cuda()
        model(torch.zeros(1, 5, dtype=torch.long))  # fault
    """,
    "a transform has no device": """
        from torchvision import transforms

        class Reader(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.normalise = transforms.Normalize(0.5, 0.5)

            def read(self, image):
                return self.normalise(torch.zeros(3, 8, 8))
    """,
    "a container that accelerate moves": """
        from accelerate.utils import send_to_device
        batch = send_to_device({"x": torch.zeros(3)}, "cuda")
        batch["x"] + torch.zeros(3)  # fault
    """,
    "functions of torchmetrics": """
        from torchmetrics.functional.classification import multiclass_accuracy
        target = torch.zeros(3, dtype=torch.long)
        multiclass_accuracy(torch.zeros(3, 4).cuda(), target, num_classes=4)  # fault
        multiclass_accuracy(torch.zeros(3, 4), target, num_classes=4) + torch.zeros((), device="cuda")
    """,
    "what a part of a module gives is on the module's device": """
        from transformers import AutoModel

        class Classifier(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.encoder = AutoModel.from_pretrained("bert-base-uncased")

            def forward(self, ids):
                state = self.encoder(ids).last_hidden_state.mean(dim=1)
                return state + torch.zeros(768)  # fault
    """,
    "what a part of a module is given": """
        from transformers import AutoModel

        class Classifier(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.encoder = AutoModel.from_pretrained("bert-base-uncased")

            def forward(self, ids):
                mask = torch.ones(1, 5)
                return self.encoder(ids, attention_mask=mask)  # fault
    """,
    "einops keeps the device": """
        import einops
        from einops import rearrange, reduce
        from einops.layers.torch import Rearrange
        t, v, c = torch.ones(4, 4, device="cuda"), torch.ones(4, device="cuda"), torch.ones(4, 4)
        rearrange(c, "a b -> (a b)") + v  # fault
        rearrange(t, "a b -> b a") + t
        reduce(c, "a b ->", "mean") * t
        reduce(c, "a b -> a", "mean") * v  # fault
        einops.einsum(c, t, "a b, b c -> a c")  # fault
        packed, shapes = einops.pack([c, c], "* b")
        packed + t  # fault
        torch.nn.Sequential(Rearrange("a b -> b a"), torch.nn.Linear(4, 4)).cuda()(c)  # fault
        Rearrange("a b -> b a")(t) + t
    """,
    "images and sounds are read to the CPU": """
        import torchaudio, torchvision
        from torchvision import transforms
        t = torch.ones(3, 4, 4, device="cuda")
        transforms.Compose([transforms.ToTensor()])(image) + t  # fault
        transforms.Compose([transforms.ToTensor(), lambda x: x.cuda()])(image) + t
        transforms.functional.to_tensor(image) + t  # fault
        torchvision.io.read_image("a.png") + t  # fault
        torchvision.io.read_image("a.png").cuda() + t
        wave, rate = torchaudio.load("a.wav")
        wave + t  # fault
        wave.to(t.device) + t
    """,
    "weights of safetensors": """
        from safetensors.torch import load_file
        t = torch.ones(4, device="cuda")
        load_file("a")["x"] + t  # fault
        load_file("a", device="cuda")["x"] + t
        load_file("a", "cuda")["x"] + t
    """,
    "functorch, torch_scatter": """
        import functorch, torch_scatter
        t, i = torch.ones(4, device="cuda"), torch.zeros(4, dtype=torch.long)
        functorch.vmap(lambda a: a)(torch.ones(4)) + t  # fault
        torch_scatter.scatter(t, i)  # fault
        torch_scatter.scatter_mean(t, i.cuda()) + t
    """,
}


@pytest.mark.parametrize("lines", CASES.values(), ids=CASES)
def test_what_is_found(lines: str) -> None:
    body = "\n".join(line[8:] for line in lines.splitlines())
    text = IMPORTS + body
    program = from_ast.lower(ast.parse(text))
    expected = [row for row, line in enumerate(text.splitlines(), start=1) if "# fault" in line]
    found = sorted(
        {fault.site.op.node.lineno for fault in analyse(program).decided() if fault.site.op.node is not None}
    )
    assert found == expected


IGNITE = """
import torch
from torch import nn
from ignite.engine import Engine, Events

device = torch.device("cuda")
model = nn.Linear(3, 1).to(device)
weight = torch.ones(3)
rows = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(8, 3)), batch_size=2)

def step(engine, batch):
    return model(batch[0]{move})

trainer = Engine(step)

@trainer.on(Events.EPOCH_COMPLETED, 3)
def log(engine, n):
    return weight + torch.zeros(n, device="{place}")

trainer.{call}
"""


@pytest.mark.parametrize(
    ("move", "place", "call", "count"),
    [
        ("", "cpu", "run(rows, max_epochs=1)", 1),
        (".to(device)", "cpu", "run(rows, max_epochs=1)", 0),
        (".to(device)", "cuda", "run(rows, max_epochs=1)", 1),
        ("", "cuda", "run(rows, max_epochs=1)", 2),
    ],
)
def test_an_engine_of_ignite_calls_its_function_and_handlers(move: str, place: str, call: str, count: int) -> None:
    text = IGNITE.format(move=move, place=place, call=call)
    faults = [one for one in analyse(from_ast.lower(ast.parse(text))).decided() if is_worth_telling(one)]
    assert [one.verdict for one in faults] == ["broken"] * count


def test_two_loaders_that_are_prepared_together_are_two() -> None:
    text = """
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 9
    def __getitem__(self, index):
        return torch.zeros(3)

class Names(Dataset):
    def __len__(self):
        return 9
    def __getitem__(self, index):
        return "a"

def main():
    accelerator = Accelerator()
    model = nn.Linear(3, 3)
    rows, names = accelerator.prepare(DataLoader(Rows()), DataLoader(Names()))
    for x in rows:
        model(x)

main()
"""
    assert [finding.code for finding in check_source(text)] == ["TDL401"]
