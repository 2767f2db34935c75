"""TDL303."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.devices import CPU
from torchdevlint.facts.facts import AttributeStore, ClassSummary, Facts
from torchdevlint.facts.values import Evidence, Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import WARNING, Mention, NodeFix, Report, Rule, on_any_call, on_class, on_method
from torchdevlint.rules.structure import is_made_of, tensors_within
from torchdevlint.rules.wording import kept_in_container

_TEXT = '"Encountered different devices in metric calculation"'


class MetricNotMoved(Rule):
    """Finds torchmetrics metrics that stay on the CPU while predictions do not.

    ## What it does
    Reports a metric object that is made in a function, never moved, and updated with tensors that were moved to a device or come from a
    moved model; and metrics kept in a plain
    list or dict of a module.

    ## Why is this bad?
    A metric is an `nn.Module` with states on a device of its own. The update raises `RuntimeError: Encountered different devices in metric
    calculation`; in a plain
    list or dict `.to(device)` of the module does not reach it.

    ## Example
        accuracy = torchmetrics.Accuracy(task="multiclass", num_classes=10)
        accuracy.update(model(images.to(device)), labels.to(device))

    ## Use instead
        accuracy = torchmetrics.Accuracy(task="multiclass", num_classes=10).to(device)

    ## When it stays silent
    Metrics that are direct attributes of a module, or in a `ModuleList`, `ModuleDict` or `MetricCollection`; inputs that are brought to
    the CPU; a container whose items a loop of the class moves; `torchmetrics.functional`.

    ## Fix safety
    Safe: a list becomes `nn.ModuleList`, a dict with string keys `nn.ModuleDict`, a local metric is moved with `.to(device)` where a
    device is in scope: on the CPU nothing changes, elsewhere
    the update failed. A metric's states are not part of the state dict unless asked for.

    ## Proof
    Needs torchmetrics, which is no dependency of this program: no proof is claimed.

    ## References
    torchmetrics/metric.py (_wrap_update).
    """

    code, name, severity = "TDL303", "metric-not-moved", WARNING
    needs = ("torchmetrics",)
    fixable = "safe"

    @on_any_call
    def check_call(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        yield from self._updated(call, facts.value(call.function), facts)

    @on_method("update", "forward")
    def check_update(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        yield from self._updated(call, facts.value(facts.receiver(call)), facts)

    def _updated(self, call: ir.Call, metric: Value, facts: Facts) -> Iterator[Report]:
        made = metric.origin
        if not _is_metric(metric) or not isinstance(made, ir.Call) or not facts.makes(made) or metric.attribute:
            return
        if facts.frame.module_device(metric) is not CPU:
            return
        for argument in call.arguments:
            for value in tensors_within(facts.value(argument.value)):
                if (
                    value.others
                    or not value.device.may_be_accelerator
                    or value.moved is None
                    or value.evidence < Evidence.USAGE
                ):
                    continue
                device = facts.nearest_device(made)
                yield self.report(
                    made,
                    f"this metric is on the CPU and gets a tensor on `{value.device.name}` on line {{0}}; "
                    f"move it with `.to({device or 'device'})`",
                    detail=f"On an accelerator that raises {_TEXT}.",
                    related=(Mention(call, "here it is updated"),),
                    fix=lambda device=device: _move(made, device),  # type: ignore[misc]
                )
                return

    @on_class
    def check_class(self, summary: ClassSummary, facts: Facts) -> Iterator[Report]:
        if not summary.is_module:
            return
        for name, stores in summary.stores.items():
            for store in stores if not _moves_items(summary, name, facts) else ():
                held = store.value.held
                if store.value.kind in (Kind.LIST, Kind.TUPLE, Kind.DICT) and held and all(map(_is_metric, held)):
                    container = "ModuleDict" if store.value.kind is Kind.DICT else "ModuleList"
                    display = facts.analysis.index_of(store.body).definitions[store.op.value]
                    assert display is not None
                    yield self.report(
                        display,
                        f"`.to(device)` does not reach the metrics in the plain {store.value.kind.value} `self.{name}`; "
                        f"keep them in `nn.{container}`",
                        detail=f"They stay on the CPU when the module moves, and updating them raises {_TEXT}.",
                        fix=lambda store=store, container=container: _register(store, container, facts),  # type: ignore[misc]
                    )
                    break


def _moves_items(summary: ClassSummary, name: str, facts: Facts) -> bool:
    """True when a method moves what `self.name` holds, one by one: `for metric in self.losses.values(): metric.to(...)`."""
    for body in summary.cls.methods.values():
        lookup = Lookup.of(body)
        wanted = {read.dst for read in lookup.attributes(name)}
        moved = (move.object for way in ("to", "cuda") for move in lookup.attributes(way) if wanted)
        if any(is_made_of(one, wanted, body, facts) for one in moved):
            return True
    return False


def _is_metric(value: Value) -> bool:
    return value.kind is Kind.MODULE and value.symbol.startswith("torchmetrics.") and "functional" not in value.symbol


def _move(made: ir.Call, device: str | None) -> NodeFix | None:
    edits = builders.wrap_method(made, "to", device) if device else None
    return NodeFix(Ground.MOVE_DOES_NOTHING, f"Move it to `{device}`", edits)


def _register(store: AttributeStore, container: str, facts: Facts) -> NodeFix | None:
    keys = [key for key, _ in store.value.entries]
    if store.value.kind is Kind.DICT and not (keys and all(isinstance(key, str) and "." not in key for key in keys)):
        return None
    return kept_in_container(store, container, Ground.MOVE_DOES_NOTHING, facts)
