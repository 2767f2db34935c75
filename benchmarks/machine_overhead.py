"""What the virtual machine costs: the same work on plain torch and on its cuda, in two processes, one thread each.

usage: python benchmarks/machine_overhead.py [--json OUT.json]
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def best(call: Callable[[], object], number: int, repeat: int = 7) -> float:
    """Microseconds of processor time a call, the best of ``repeat`` rounds (other programs may share the cores)."""
    for _ in range(max(3, number // 10)):
        call()
    seconds = []
    for _ in range(repeat):
        begin = time.process_time()
        for _ in range(number):
            call()
        seconds.append((time.process_time() - begin) / number)
    return min(seconds) * 1e6


def measure(device: str) -> dict[str, float]:
    """Microseconds of each piece of work on a device."""
    import torch
    import torch.nn as nn
    import torch.nn.functional as F

    torch.set_num_threads(1)
    x, w = torch.randn(8, 8, device=device), torch.randn(8, 8, device=device)
    leaf = torch.randn(8, 8, device=device, requires_grad=True)

    def training(model: Any, optimizer: Any, data: Any, target: Any) -> Callable[[], None]:
        def step() -> None:
            optimizer.zero_grad()
            F.cross_entropy(model(data), target).backward()
            optimizer.step()

        return step

    mlp = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8)).to(device)
    vectors, classes = torch.randn(16, 32, device=device), torch.randint(0, 8, (16,), device=device)
    mlp_step = training(mlp, torch.optim.AdamW(mlp.parameters(), foreach=True), vectors, classes)
    layers = (nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.Flatten(), nn.Linear(16 * 28 * 28, 10))
    cnn = nn.Sequential(*layers).to(device)
    images, labels = torch.randn(16, 3, 32, 32, device=device), torch.randint(0, 10, (16,), device=device)
    cnn_step = training(cnn, torch.optim.SGD(cnn.parameters(), lr=0.1), images, labels)
    return {
        "add": best(lambda: x + w, 5000),
        "add a number": best(lambda: x + 1, 5000),
        "matrix product": best(lambda: x @ w, 5000),
        "index (view)": best(lambda: x[0], 5000),
        ".device": best(lambda: x.device, 5000),
        "zeros": best(lambda: torch.zeros(2, device=device), 2000),
        ".to, nothing to do": best(lambda: x.to(device), 5000),
        "item": best(lambda: x[0, 0].item(), 2000),
        "multiply, sum, backward": best(lambda: (leaf * w).sum().backward(), 500),
        "MLP training step, AdamW": best(mlp_step, 100),
        "small CNN training step": best(cnn_step, 20),
    }


def start_up(code: str, repeat: int = 3) -> float:
    """Seconds of processor time that a fresh process needs for the code, the best of a few."""
    seconds = []
    for _ in range(repeat):
        done = subprocess.run(
            [sys.executable, "-c", f"import time\n{code}\nprint(time.process_time())"],
            capture_output=True,
            text=True,
            check=True,
        )
        seconds.append(float(done.stdout))
    return min(seconds)


def child(where: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, "--child", where], capture_output=True, text=True, check=True)
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--child", choices=("plain", "machine"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.child:
        if options.child == "machine":
            from torchdevlint.machine import Shape, start

            start(Shape(gpus=1))
        print(json.dumps(measure("cpu" if options.child == "plain" else "cuda")))
        return
    plain, machine = child("plain"), child("machine")
    torch_alone = start_up("import torch")
    with_machine = start_up("import torch\nfrom torchdevlint.machine import Shape, start\nstart(Shape(1))")
    print(f"{'':28}{'plain us':>12}{'machine us':>12}{'ratio':>8}")
    for name, value in plain.items():
        print(f"{name:28}{value:12.2f}{machine[name]:12.2f}{machine[name] / value:8.2f}")
    print(f"start-up: torch alone {torch_alone:.2f} s, with the machine {with_machine:.2f} s")
    if options.json:
        import torch

        facts = {"torch": torch.__version__, "python": platform.python_version(), "machine": platform.machine()}
        result = {**facts, "plain_us": plain, "machine_us": machine, "start_up_s": [torch_alone, with_machine]}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
