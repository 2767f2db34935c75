"""TDL811."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.program import ir
from torchdevlint.rules.rule import WARNING, Mention, Report, Rule, on_call, on_file, on_method, on_op
from torchdevlint.rules.structure import variable_set

_INDEX = re.compile(r"(?:cuda|xpu|hip):(\d{1,9})\Z")  # what is longer is no index: TDL512


class DeviceIndexOutOfRange(Rule):
    """Finds literal indices of GPUs that many machines do not have.

    ## What it does
    Reports `"cuda:1"` and above in device positions, outside of tests of the number of GPUs. Where the same file sets
    `CUDA_VISIBLE_DEVICES` to one GPU it is a warning.

    ## Why is this bad?
    `RuntimeError: CUDA error: invalid device ordinal` on a machine with fewer GPUs. `CUDA_VISIBLE_DEVICES` renumbers from 0: with
    `"2"` there is one GPU, and it is `cuda:0`. Elsewhere it is an info: who writes an index mostly knows the machine.

    ## Example
        os.environ["CUDA_VISIBLE_DEVICES"] = "2"
        model.to("cuda:2")

    ## Use instead
        os.environ["CUDA_VISIBLE_DEVICES"] = "2"
        model.to("cuda:0")

    ## When it stays silent
    Behind a test that speaks of the number of GPUs.

    ## Fix safety
    There is no automatic fix.

    ## Proof
    On a machine with one GPU the line raises.

    ## References
    CUDA programming guide (CUDA_VISIBLE_DEVICES).
    """

    code, name, severity = "TDL811", "device-index-out-of-range", WARNING

    def __init__(self) -> None:
        self._places: list[tuple[ir.Op, int]] = []
        self._single: ir.Op | None = None

    @on_op(ir.StoreSubscript)
    def note_variable(self, op: ir.StoreSubscript, facts: Facts) -> None:
        if variable_set(op, facts) == "CUDA_VISIBLE_DEVICES":
            value = facts.constant(op.value)
            self._single = op if isinstance(value, str) and value.isdigit() else None

    @on_call("torch.device", "torch.cuda.set_device")
    @on_method("to", "cuda")
    def note_device(self, call: ir.Call, facts: Facts) -> None:
        callee, register = facts.callee(call), call.argument("device", 0)
        device = facts.definition(register)
        number = facts.definition(call.argument("index", 1) if callee == "torch.device" else register)
        if _counted(facts):
            return
        if isinstance(device, ir.Constant) and isinstance(device.value, str):
            match = _INDEX.match(device.value)
            if match is not None and int(match[1]) > 0:
                self._places.append((device, int(match[1])))
        if callee != ".to" and isinstance(number, ir.Constant) and type(number.value) is int and number.value > 0:
            self._places.append((call, number.value))

    @on_file
    def tell(self, facts: Facts) -> Iterator[Report]:
        for op, index in self._places:
            if self._single is not None:
                yield self.report(
                    op,
                    f"line {{0}} leaves one GPU visible, so `cuda:{index}` does not exist; use index 0",
                    detail='It raises "CUDA error: invalid device ordinal".',
                    related=(Mention(self._single, "here the variable is set"),),
                )
            else:
                yield self.report(
                    op,
                    f"a machine with fewer than {index + 1} GPUs has no `cuda:{index}`; test `torch.cuda.device_count()` first",
                    detail='There this raises "CUDA error: invalid device ordinal".',
                    case="a machine with more GPUs runs it",
                )


def _counted(facts: Facts) -> bool:
    """True where the file asks how many GPUs there are."""
    return facts.mentions("device_count", "n_gpu", "num_gpus", "n_gpus")
