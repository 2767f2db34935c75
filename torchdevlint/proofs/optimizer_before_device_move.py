"""TDL203: an optimizer that is built before the move depends on `Module.to` keeping the Parameter objects.

On CUDA today `Module.to` keeps them, and this order works. Where a move replaces Parameters (XLA, and everywhere with
`set_overwrite_module_params_on_conversion`, which is what XLA does), the same order trains nothing, without an error. The proof shows
that second machine by switching the replacement on; it does not claim that the fault shows with PyTorch's default on CUDA.
"""

from collections.abc import Callable

import torch
from torch import nn

CODE = "TDL203"
SHAPES = ("1",)
EXPECT = r"where a move replaces Parameters, the step trains the model: False"


def step(model: nn.Module, optimizer: torch.optim.Optimizer) -> bool:
    before = model.weight.detach().clone()
    model(torch.ones(1, 2, device="cuda")).sum().backward()
    optimizer.step()
    return not torch.equal(before, model.weight)


def built_before() -> bool:
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.to("cuda")
    return step(model, optimizer)


def built_after() -> bool:
    model = nn.Linear(2, 2)
    model.to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return step(model, optimizer)


def tell(trains: Callable[[], bool]) -> str:
    today = trains()
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    return f"with PyTorch's default the step trains the model: {today}; where a move replaces Parameters, the step trains the model: {trains()}"


def fault() -> str:
    return tell(built_before)


def repair() -> str:
    return tell(built_after)
