"""nanoGPT: its model, its training script with a resumed run, its sampling script."""

import sys
from pathlib import Path

from harness import devices, from_another_machine, part, run_script, stub

PROJECT = "karpathy+nanoGPT"
PATHS = ["."]
PRELOAD = ["numpy"]

_SMALL = [
    "--n_layer=1", "--n_head=2", "--n_embd=16", "--block_size=8", "--batch_size=2", "--eval_iters=1", "--eval_interval=1", "--compile=False", "--max_iters=2",
    "--gradient_accumulation_steps=1", "--dataset=fake", "--dtype=float32", "--always_save_checkpoint=True", "--out_dir=out",
]  # fmt: skip


def _folder() -> Path:
    import model

    return Path(model.__file__).parent


def _data() -> None:
    import pickle

    import numpy as np

    Path("data/fake").mkdir(parents=True)
    for name in ("train", "val"):
        np.random.randint(0, 20, 200).astype(np.uint16).tofile(f"data/fake/{name}.bin")
    letters = "abcdefghijklmnopqrst\n"
    meta = {"vocab_size": 21, "stoi": {c: i for i, c in enumerate(letters)}, "itos": dict(enumerate(letters))}
    Path("data/fake/meta.pkl").write_bytes(pickle.dumps(meta))


def _train(*more: str) -> None:
    for name in ("model", "configurator"):
        sys.modules.pop(name, None)
    (Path("configurator.py")).write_text((_folder() / "configurator.py").read_text())
    run_script(_folder() / "train.py", [*_SMALL, *more])


@part
def train():
    _data()
    _train()


@part
def resume():
    _data()
    _train()
    from_another_machine("out/ckpt.pt")
    _train("--init_from=resume", "--max_iters=3")


@part
def sample():
    _data()
    stub("tiktoken", get_encoding=None)
    _train()
    from_another_machine("out/ckpt.pt")
    run_script(
        _folder() / "sample.py",
        ["--out_dir=out", "--num_samples=1", "--max_new_tokens=4", "--compile=False", "--dtype=float32"],
    )


@part
def model():
    import torch
    from model import GPT, GPTConfig

    net = GPT(GPTConfig(block_size=8, vocab_size=11, n_layer=1, n_head=1, n_embd=8)).to("cuda")
    index = torch.zeros(2, 8, dtype=torch.long, device="cuda")
    logits, loss = net(index, index)
    loss.backward()
    net.transformer.h[0].attn.flash = False
    net.transformer.h[0].attn.register_buffer("bias", torch.ones(1, 1, 8, 8, device="cuda"))
    net(index)
    return devices(net, logits, net.generate(index, 2))
