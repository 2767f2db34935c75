"""Loads of published files are notes; the same loads of a user's files are warnings."""

from __future__ import annotations

import textwrap

import pytest

from torchdevlint import check_source
from torchdevlint.findings import Severity

PUBLISHED = {
    "of a hub": """
        from huggingface_hub import hf_hub_download
        def weights(name):
            path = hf_hub_download(name, "pytorch_model.bin")
            return torch.load(path, weights_only=True)
        """,
    "of the package": """
        FOLDER = os.path.dirname(__file__)
        TABLE = os.path.join(FOLDER, "table.pt")
        def table():
            return torch.load(TABLE)
        """,
    "downloaded when absent": """
        def detector(folder):
            path = os.path.join(folder, "mlsd_large.pth")
            if not os.path.exists(path):
                load_file_from_url(URL, model_dir=folder)
            return torch.load(path)
        """,
    "by a function of the file": """
        def find(name):
            return hf_hub_download("nets/nets", name)
        def weights():
            return torch.load(find("decoder.pth"))
        """,
    "by every caller in the file": """
        class Edges(torch.nn.Module):
            def __init__(self, path):
                super().__init__()
                self.load_state_dict(torch.load(path))
        def edges(folder):
            path = os.path.join(folder, "edges.pth")
            if not os.path.exists(path):
                load_file_from_url(URL, model_dir=path)
            return Edges(path)
        """,
    "by the default in a folder for such": """
        class Encoder:
            def __init__(self, path="pretrain/base.pt"):
                self.checkpoint = torch.load(path)
        """,
    "of the package, by a Path": """
        from pathlib import Path
        WEIGHTS = Path(__file__).resolve().parent / "tables" / "weights.pt"
        def weights():
            return torch.load(str(WEIGHTS))
        """,
    "in the folder of torch.hub": """
        def backbone(name):
            return torch.load(os.path.expanduser("~/.cache/torch/hub/checkpoints/" + URLS[name].split("/")[-1]))
        """,
    "in a folder for such": """
        def weights():
            return torch.load("nets/pretrained_models/base.ckpt")
        """,
    "that no call gives": """
        class Net(torch.nn.Module):
            def init_weights(self, pretrained=""):
                if os.path.isfile(pretrained):
                    self.load_state_dict(torch.load(pretrained))
        def net():
            model = Net()
            model.init_weights()
            return model
        """,
    "that no call gives with this ending": """
        class Net(torch.nn.Module):
            def restore(self, folder, name="base"):
                if name.endswith(".pth"):
                    weights = torch.load(folder + name)
                else:
                    weights = fetch(name)
                self.load_state_dict(weights)
        def net():
            model = Net()
            model.restore("nets", name="large")
            model.restore("nets")
            return model
        """,
    "that the file saves from the CPU": """
        def save(net, path):
            torch.save(net.cpu().state_dict(), path)
        def load(net, path):
            net.load_state_dict(torch.load(path))
        """,
    "of an engine": """
        from torch2trt import TRTModule
        def engine(trt_file):
            model = TRTModule()
            model.load_state_dict(torch.load(trt_file))
            return model
        """,
    "that the training of this run gave": """
        class Instructor:
            def run(self):
                path = self._train(self.optimizer)
                self.model.load_state_dict(torch.load(path))
        """,
    "that this run has written": """
        def train(model, optimizer, batches, folder):
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
                stop(model, folder)
            model.load_state_dict(torch.load(folder + "/checkpoint.pth"))
        """,
    "by the name of an architecture": """
        def features(net):
            net.load_state_dict(torch.load("models/vgg_normalised.pth"))
        """,
    "with a hash": """
        def weights():
            return torch.load("resnet18-5c106cde.pth")
        """,
}

FREE = {
    "downloaded, as DataParallel saved it": """
        def detector(net, folder):
            path = os.path.join(folder, "mlsd_large.pth")
            if not os.path.exists(path):
                load_file_from_url(URL, model_dir=folder)
            state = torch.load(path)["state_dict"]
            net.load_state_dict({key.replace("module.", ""): value for key, value in state.items()})
        """,
    "of settings that are read where none are given": """
        def evaluate(net, configs=None):
            configs = read_configs() if configs is None else configs
            checkpoint = torch.load(configs.evaluate.best_checkpoint)
            net.load_state_dict(checkpoint.pop("model"))
        def main():
            evaluate(make())
        """,
    "a name": """
        def weights(path):
            return torch.load(path)
        """,
    "a choice": """
        def weights(path=None):
            if path is None:
                path = hf_hub_download("nets/nets", "weights.pth")
            return torch.load(path)
        """,
    "of the package, by the caller's name": """
        FOLDER = os.path.dirname(__file__)
        def weights(name):
            return torch.load(os.path.join(FOLDER, name + ".pt"))
        """,
    "below the package, by an option": """
        FOLDER = os.path.dirname(__file__)
        @click.command()
        @click.option("--checkpoint")
        def main(checkpoint):
            net = make()
            net.load_state_dict(torch.load(os.path.join(FOLDER, checkpoint)))
        main()
        """,
    "by one of the callers": """
        class Edges(torch.nn.Module):
            def __init__(self, path):
                super().__init__()
                self.load_state_dict(torch.load(path))
        def edges():
            return Edges(hf_hub_download("nets/nets", "edges.pth"))
        def mine(path):
            return Edges(path)
        """,
    "saved from the CPU, and as it is": """
        def save(net, optimizer, path):
            torch.save(net.cpu().state_dict(), path)
            torch.save(optimizer.state_dict(), path + ".optimizer")
        def load(net, path):
            net.load_state_dict(torch.load(path))
        """,
    "given by one call": """
        class Net(torch.nn.Module):
            def init_weights(self, pretrained=""):
                if os.path.isfile(pretrained):
                    self.load_state_dict(torch.load(pretrained))
        def net(path):
            model = Net()
            model.init_weights(path)
            model.init_weights()
            return model
        """,
    "with this ending, by one call": """
        class Net(torch.nn.Module):
            def restore(self, folder, name="base"):
                weights = torch.load(folder + name) if name.endswith(".pth") else fetch(name)
                self.load_state_dict(weights)
        def net():
            model = Net()
            model.restore("nets", name="large.pth")
            return model
        """,
    "before the training": """
        def train(model, optimizer, batches, path):
            model.load_state_dict(torch.load(path))
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
        """,
    "of a run, with the architecture in its name": """
        def restore(net):
            net.load_state_dict(torch.load("runs/resnet18_best.pth"))
        """,
    "a setting for pretrained weights": """
        def weights(args):
            return torch.load(args.pretrained)
        """,
    "a literal": """
        def weights():
            return torch.load("checkpoint.pth")
        """,
}


def severities(text: str) -> list[Severity]:
    source = "import os\nimport torch\n" + textwrap.dedent(text)
    return [
        finding.severity
        for finding in check_source(source, level="info", select=["TDL101"])
        if finding.code == "TDL101"
    ]


@pytest.mark.parametrize("text", PUBLISHED.values(), ids=PUBLISHED)
def test_a_published_file_is_a_note(text: str) -> None:
    assert severities(text) == [Severity.INFO]


@pytest.mark.parametrize("text", FREE.values(), ids=FREE)
def test_a_file_of_the_user_is_a_warning(text: str) -> None:
    assert severities(text) == [Severity.WARNING]
