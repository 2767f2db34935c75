"""Loads of what the CPU made, or of what nothing is known of, are notes; loads of weights are warnings."""

from __future__ import annotations

import textwrap

import pytest

from torchdevlint import check_source
from torchdevlint.findings import Severity

WEIGHTS = {
    "loaded into a module": """
        def restore(net, file):
            net.load_state_dict(torch.load(file))
        """,
    "called a model": """
        def show(file):
            model = torch.load(file)
            print(model)
        """,
    "used as a module": """
        def show(file):
            x = torch.load(file)
            x.eval()
        """,
    "read by the key of an optimizer": """
        def show(file):
            x = torch.load(file)
            print(x["optimizer"], x["loss"])
        """,
    "from a path of checkpoints": """
        def show(args):
            x = torch.load(args.checkpoint)
            print(x)
        """,
    "below what the settings of the training name": """
        def restore(net, settings):
            net.load_state_dict(torch.load(settings.get_string("train.expname") + "/5.pth"))
        """,
    "in a function for weights": """
        def read_weights(file):
            return torch.load(file)
        """,
    "in a file that restores others": """
        def show(file):
            x = torch.load(file)
            print(x)
        def restore(net, x):
            net.load_state_dict(x)
        """,
    "moved, and called a model": """
        def show(file, device):
            model = torch.load(file).to(device)
            print(model)
        """,
    "a model beside its statistics": """
        def show(file):
            policy, moments = torch.load(file)
            print(policy, moments)
        """,
    "saved by the same file, which uses CUDA": """
        def read(file):
            return torch.load(file)
        def encode(net, x, file):
            torch.save(net(x.cuda()), file)
        """,
    "with and without the key": """
        def restore(net, file):
            x = torch.load(file)
            net.load_state_dict(x["params"] if "params" in x else x)
        """,
    "read by a count, and called a checkpoint": """
        def last(file):
            checkpoint = torch.load(file)
            return checkpoint["epoch"], checkpoint["loss"]
        """,
    "given whole to what restores a model": """
        def read(file):
            stats = torch.load(file)
            rebuild_model(stats["kept"])
        """,
    "by an option that is called so": """
        def read():
            D = torch.load(argparse.ArgumentParser("of games").parse_args().checkpoint)
            return D
        """,
    "weights that are plotted, and restored": """
        def show(net, file):
            x = torch.load(file)
            plt.plot(x["curve"])
            net.load_state_dict(x["kept"])
        """,
}

NOTES = {
    "read by counts alone": """
        def last(file):
            info = torch.load(file)
            return info["epoch"], info["best_acc1"]
        """,
    "read by counts that say which": """
        def last(file):
            info = torch.load(file)
            return info["best_epoch"], info["best_loss"]
        """,
    "its measured values are given to what makes a model": """
        def read(file):
            stats = torch.load(file)
            rebuild_model(stats["metrics"])
        """,
    "a flag that speaks of a checkpoint": """
        def read(file):
            stats = torch.load(file)
            return stats["is_final_checkpoint"], stats["table"]
        """,
    "by an option of a program that is called so": """
        def read():
            D = torch.load(argparse.ArgumentParser("of checkpoints").parse_args().replay)
            return D
        """,
    "plotted": """
        def show():
            params, count = torch.load("record.pth")
            plt.plot(params, count)
        """,
    "written as JSON": """
        def show(file):
            params = torch.load(file)
            json.dump(params, open("params.json", "w"))
        """,
    "nothing tells": """
        def read(file):
            return torch.load(file)
        """,
    "read by the keys of an evaluation": """
        def draw(file):
            x = torch.load(file)
            return x["precision"], x["recall"], x["params"]
        """,
    "called features": """
        def read(file):
            features = torch.load(file)
            return features
        """,
    "a lone tensor that is moved at once": """
        def read(base, device):
            return use(torch.load(f"{base}_net/tone.pt").to(device))
        """,
    "a tensor for NumPy": """
        def read(model_file):
            return torch.load(model_file)[0].transpose(0, 1).numpy()
        """,
    "a list that is walked": """
        def walk(file):
            for line in torch.load(file):
                print(line)
        """,
    "a row of a data base": """
        def read(row: bytes):
            return torch.load(io.BytesIO(row))
        """,
    "by the key of a trainer that saves from the CPU": """
        def restore(net, file):
            net.load_state_dict(torch.load(file)["params_ema"])
        """,
    "by its key, through a name": """
        def restore(net, file):
            checkpoint = torch.load(file)
            net.load_state_dict(checkpoint["params"], strict=True)
        """,
    "by its key, which is chosen": """
        def restore(net, file, ema):
            loaded = torch.load(file)
            key = "params_ema" if "params_ema" in loaded else "params"
            net.load_state_dict(loaded[key])
        """,
}


def severities(text: str) -> set[Severity]:
    source = "import argparse, io, json\nimport torch\nimport matplotlib.pyplot as plt\n" + textwrap.dedent(text)
    return {finding.severity for finding in check_source(source, level="info", select=["TDL101"])}


@pytest.mark.parametrize("text", WEIGHTS.values(), ids=WEIGHTS)
def test_weights_are_a_warning(text: str) -> None:
    assert severities(text) == {Severity.WARNING}


@pytest.mark.parametrize("text", NOTES.values(), ids=NOTES)
def test_data_is_a_note(text: str) -> None:
    assert severities(text) == {Severity.INFO}
