import torch

from .inputs import example_input
from .measure import MacCounter, Stopwatch


class Runner:
    def __init__(self, repeats, warmup=1, seed=0):
        self.repeats = repeats
        self.warmup = warmup
        self.seed = seed
        self.reference = {}

    def run(self, case, device):
        torch.manual_seed(self.seed)
        module = case.build().to(device).train(case.train)
        x = example_input(case.shape, device)
        with torch.no_grad(), MacCounter(module) as macs:
            out = module(x)
        row = {"case": case.name, "device": str(device), "kmac": macs.total / 1e3}
        row["error"] = self._compare(case, out)

        forward = Stopwatch(device)
        backward = Stopwatch(device)
        for i in range(self.warmup + self.repeats):
            with forward.lap():
                out = module(x)
            if case.train:
                with backward.lap():
                    out.sum().backward()
                module.zero_grad(set_to_none=True)
            if i + 1 == self.warmup:
                forward.laps.clear()
                backward.laps.clear()
        row["fwd_us"] = forward.median_us
        row["bwd_us"] = backward.median_us if case.train else float("nan")
        return row

    def _compare(self, case, out):
        """Largest deviation from the first device that ran this case."""
        out = out.detach().to("cpu", torch.float64)
        ref = self.reference.setdefault(case.name, out)
        return (out - ref).abs().max().item()
