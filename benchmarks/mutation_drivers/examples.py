"""pytorch/examples: the scripts that train on images, graphs and games, with random data."""

from pathlib import Path

import torch
from harness import part, run_script

PROJECT = "pytorch+examples"
PATHS = ["."]
PRELOAD = ["numpy", "gymnasium"]


def _script(name, *arguments):
    import sys

    import fake_torchvision

    fake_torchvision.install()
    root = next(Path(p) for p in sys.path if (Path(p) / "mnist" / "main.py").exists())
    return run_script(root / name, arguments)


@part
def mnist():
    _script("mnist/main.py", "--dry-run", "--epochs=1", "--batch-size=8", "--save-model")


@part
def mnist_rnn():
    _script("mnist_rnn/main.py", "--dry-run", "--epochs=1", "--batch-size=8", "--accel", "--save-model")


@part
def forward_forward():
    _script("mnist_forward_forward/main.py", "--epochs=2", "--train_size=8", "--test_size=8", "--save_model")


@part
def siamese():
    _script("siamese_network/main.py", "--dry-run", "--epochs=1", "--batch-size=8", "--save-model")


@part
def vae():
    Path("results").mkdir()
    _script("vae/main.py", "--epochs=1", "--batch-size=8")


@part
def dcgan():
    _script(
        "dcgan/main.py",
        "--dataset=fake",
        "--accel",
        "--dry-run",
        "--batchSize=4",
        "--imageSize=64",
        "--ngf=4",
        "--ndf=4",
        "--niter=1",
        "--workers=0",
    )


@part
def gcn():
    _graph("gcn/main.py")


@part
def gat():
    _graph("gat/main.py")


def _graph(name):
    space = _script_module(name)
    net_kind = space.get("GCN") or space["GAT"]
    Path("cora").mkdir()
    names = "abcdefghij"
    rows = [[i + 10, *((i >> k) & 1 for k in range(4)), names[i % 3]] for i in range(10)]
    Path("cora/cora.content").write_text("\n".join("\t".join(map(str, row)) for row in rows))
    Path("cora/cora.cites").write_text("\n".join(f"{i + 10}\t{(i + 3) % 10 + 10}" for i in range(10)))
    features, labels, adjacency = space["load_cora"](device="cuda")
    net = (net_kind(4, 8, 3, True, 0.1) if "GCN" in space else net_kind(4, 8, 2, 3)).to("cuda")
    optimizer = torch.optim.Adam(net.parameters())
    index = torch.randperm(10).to("cuda")
    space["train_iter"](1, net, optimizer, torch.nn.NLLLoss(), (features, adjacency), labels, index[:5], index[5:], 1)


def _script_module(name):
    import harness

    return harness.run_script(_root() / name, name="example")


def _root():
    import sys

    return next(Path(p) for p in sys.path if (Path(p) / "mnist" / "main.py").exists())


@part
def super_resolution():
    import sys

    from harness import stub

    tensors = [(torch.rand(1, 8, 8), torch.rand(1, 16, 16)) for _ in range(4)]
    stub("data", get_training_set=lambda factor: tensors, get_test_set=lambda factor: tensors)
    sys.path.insert(0, str(_root() / "super_resolution"))
    _script("super_resolution/main.py", "--upscale_factor=2", "--accel", "--nEpochs=1", "--threads=0", "--batchSize=2")


@part
def actor_critic():
    _game("reinforcement_learning/actor_critic.py")


@part
def reinforce():
    _game("reinforcement_learning/reinforce.py")


def _game(name):
    import sys

    sys.argv = [name]
    space = _script_module(name)
    space["select_action"](space["env"].reset()[0])
    (space["model"] if "model" in space else space["policy"]).rewards.append(1.0)
    (space["model"] if "model" in space else space["policy"]).rewards.append(0.5)
    space["select_action"](space["env"].reset()[0])
    space["finish_episode"]()
