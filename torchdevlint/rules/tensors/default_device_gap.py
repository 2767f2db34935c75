"""TDL516."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.program import ir
from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import WARNING, Mention, Report, on_call, on_file
from torchdevlint.stubs.knowledge import modules


class DefaultDeviceGap(Inferred):
    """Finds what a default device does not reach.

    ## What it does
    In a file that calls `torch.set_default_device` with an accelerator, reports `DataLoader(shuffle=True)` and `random_split` without a
    generator, and tensors of `torch.from_numpy`,
    `torch.frombuffer`, `torch.Tensor(...)` and `torch.FloatTensor(...)` that meet a tensor on an accelerator.

    ## Why is this bad?
    A sampler draws with a CPU generator on the default device: `RuntimeError: Expected a 'cuda' device type for generator but found
    'cpu'`. The legacy constructors and the
    NumPy bridge always use the CPU: `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        torch.set_default_device("cuda")
        loader = DataLoader(data, shuffle=True)

    ## Use instead
        loader = DataLoader(data, shuffle=True, generator=torch.Generator(device="cuda"))

    ## When it stays silent
    The default device is "cpu" or "meta"; a generator or sampler is given; the tensor is moved before it meets another.

    ## Fix safety
    A tensor is moved to where the other one is: safe where the program names that device. A generator is left to the author.

    ## Proof
    With an accelerator as the default device the loader raises at its first batch; with a generator on that device it works.

    ## References
    torch/utils/_device.py (_device_constructors); torch/utils/data/sampler.py (RandomSampler); pytorch #118084.
    """

    code, name, severity = "TDL516", "default-device-gap", WARNING
    fixable = "sometimes"

    def __init__(self) -> None:
        self._set: list[tuple[ir.Call, str]] = []
        self._loaders: list[tuple[ir.Call, str]] = []

    @on_call("torch.set_default_device")
    def note_default(self, call: ir.Call, facts: Facts) -> None:
        """Where the default device is set, and to what."""
        device = facts.device_of(call.argument("device", 0))
        if device.may_be_accelerator:
            self._set.append((call, device.name))

    @on_call(*sorted(modules.LOADERS))
    def note_loader(self, call: ir.Call, facts: Facts) -> None:
        """Loaders that shuffle without a generator."""
        if call.has_splat or call.keyword("generator") is not None or call.keyword("batch_sampler") is not None:
            return
        shuffle = call.argument("shuffle", 2)
        if shuffle is not None and facts.constant(shuffle) is True:
            self._loaders.append((call, "DataLoader"))

    @on_call("torch.utils.data.random_split")
    def note_split(self, call: ir.Call, facts: Facts) -> None:
        """Splits without a generator."""
        if not call.has_splat and call.argument("generator", 2) is None:
            self._loaders.append((call, "random_split"))

    @on_file
    def check(self, facts: Facts) -> Iterator[Report]:
        if not self._set:
            return
        default, device = self._set[0]
        note = (Mention(default, "here the default device is set"),)
        for call, what in self._loaders:
            yield self.report(
                call,
                f"`{what}` draws with a CPU generator, but the default device is `{device}`; give it a generator there",
                detail="The default device is set on line {0}: on an accelerator this raises \"Expected a 'cuda' device type for generator but "
                "found 'cpu'\". Pass `generator=torch.Generator(device=...)`.",
                related=note,
            )
