"""What the expression tells that made a value, where it says more than the inference: loaders and their batches, checkpoints, models by their use."""

from __future__ import annotations

from typing import Any

from torchdevlint.facts import loaders
from torchdevlint.facts.devices import CPU, SAVED, TOP, symbolic
from torchdevlint.facts.guards import Guarded
from torchdevlint.facts.naming import (
    is_loss_name,
    is_model_name,
)
from torchdevlint.facts.standing import Standing
from torchdevlint.facts.values import UNKNOWN as NO_VALUE
from torchdevlint.facts.values import Evidence, Kind, replace
from torchdevlint.facts.values import Value as View
from torchdevlint.infer.values import Func, Ref, Site, Term, Value
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs.knowledge import methods, modules
from torchdevlint.stubs.knowledge.functions import LOADS, WITHOUT_GRADIENTS
from torchdevlint.stubs.knowledge.tensor_attributes import TENSOR_ATTRIBUTES

_LOOPS = (ir.Unpack, ir.Iterate)
_ITERATORS = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})
_PLACING = ("device_map", "load_in_8bit", "load_in_4bit", "quantization_config")


class Made(Guarded):
    """A body at one moment, with what its expressions tell of their values."""

    @property
    def _end(self) -> Standing:
        """The body at its end, where what made a value is worked out once for all moments."""
        return self if self._at is None else self.analysis.frame_of(self.body)

    def _of_maker(self, raw: Value, view: View) -> View:
        """What is known of a value by the call that made it."""
        root, is_part = raw, False
        while isinstance(root, Term) and root.args and root.op in ("item", "element", "call", "moved"):
            is_part = is_part or root.op != "moved"
            if root.op == "call":
                method = root.args[0]
                if not isinstance(method, Term) or method.op != "attribute" or method.args[1] not in ("get", "pop"):
                    return view
                root = method
            root = root.args[0]
        site: Any = None
        if isinstance(root, Term) and root.op == "unknown":
            site = root.args[0]
        elif isinstance(root, Ref) and isinstance(root.place, tuple) and root is raw:
            site = root.place[0]
        if not isinstance(site, Site) or site.unit is not self._unit or site.body is None:
            return view
        if not isinstance(site.op, ir.Call):
            return view
        name = self.analysis.spelled(site.op.function, site.body)
        if name in LOADS:
            return self._loaded(site.op, site.body, view)
        return view if is_part else self._by_callee(site.op, site.body, name, view)

    def _by_callee(self, op: ir.Call, body: ir.Body, name: str, view: View) -> View:
        """What the call of a function of this name gives, where that says more than the inference."""
        last, plain = name.rpartition(".")[2], name.removesuffix(".from_pretrained")
        if last == "state_dict" and view.kind in (Kind.DICT, Kind.UNKNOWN):
            held = view.element or next((one for _, one in view.entries), NO_VALUE)
            return View(Kind.STATE_DICT, held.device, origin=op)
        if last in _ITERATORS and view.kind in (Kind.LIST, Kind.UNKNOWN):
            return View(Kind.PARAMETERS)
        if name == "torch.Generator":
            register = op.argument("device", 0)
            device = CPU if register is None else self.device_argument(register) if body is self.body else TOP
            return View(Kind.GENERATOR, device, origin=op)
        if last == "DataLoader":
            return self._loader(op, body, name)
        if modules.is_optimizer(name):
            return View(Kind.OPTIMIZER, symbol=name, origin=op, evidence=Evidence.STRONG)
        if modules.TOKENIZER.match(plain):
            return View(Kind.TOKENIZER, symbol=name)
        is_model = plain != name and modules.HF_MODEL.match(plain) is not None
        if is_model or last in ("load_checkpoint_and_dispatch", "dispatch_model"):
            return self._pretrained(op, plain, view, is_model=is_model)
        register = op.keyword("return_tensors")
        if register is not None and body is self.body and self.values[register].constant == "pt":
            return View(Kind.BATCH_ENCODING, CPU, origin=op, evidence=Evidence.STRONG, ref=f"#{op.dst}")
        return View(Kind.OTHER) if plain.endswith("Pipeline") else view

    def _pretrained(self, op: ir.Call, name: str, view: View, *, is_model: bool) -> View:
        """A model of Hugging Face's, with the symbol "dispatched" where its loader puts it where it likes."""
        is_dispatched = any(op.keyword(one) is not None for one in _PLACING) or op.has_splat or not is_model
        return View(
            Kind.MODULE,
            view.device if view.moved is not None else TOP if is_dispatched else CPU,
            ref=view.ref or f"{self.body.qualname}#{op.dst}",
            evidence=Evidence.STRONG,
            symbol="dispatched" if is_dispatched else name,
            origin=op,
            moved=view.moved,
        )

    def _loader(self, op: ir.Call, body: ir.Body, name: str) -> View:
        """A loader of batches, which come from the host unless the data set or the collate function put them elsewhere."""
        if loaders.may_place(self.analysis, self.analysis.index_of(body), op):
            return View(Kind.OTHER)
        if not name.startswith("torch."):
            may_place = loaders.may_place_of_project(self.analysis, name)
            return NO_VALUE if may_place else View(Kind.LOADER, evidence=Evidence.USAGE, symbol=name)
        data = op.argument("dataset", 0)
        if data is not None and body is self.body and self._is_placed(data):
            return View(Kind.OTHER)
        is_collated = op.keyword("collate_fn") is not None
        return View(Kind.LOADER, evidence=Evidence.USAGE if is_collated else Evidence.STRONG, symbol=name)

    def _is_placed(self, data: ir.Register) -> bool:
        """True for a data set of tensors that may be on an accelerator."""
        made = self.source(data)
        if isinstance(made, ir.Call) and self.analysis.spelled(made.function, self.body).endswith("TensorDataset"):
            return any(self.values[one.value].device.may_be_accelerator for one in made.arguments)
        held = self.values[data]
        return held.kind is Kind.TENSOR and held.device.may_be_accelerator

    def _loaded(self, op: ir.Call, body: ir.Body, view: View) -> View:
        register = op.argument("map_location", 1)
        if register is None:
            device = SAVED if not op.has_splat else TOP
        elif body is not self.body:
            device = TOP
        elif self.values[register].kind is Kind.NONE:
            device = SAVED
        else:
            device = self.device_argument(register)
        if view.moved is not None and isinstance(view.moved, ir.Call) and view.moved is not op:
            return replace(view, kind=Kind.CHECKPOINT, origin=op)
        return View(Kind.CHECKPOINT, device, origin=op)

    def _as_written(self, register: ir.Register, view: View) -> View:
        """What the expression tells that made a value of which less is known."""
        made = self.source(register)
        if isinstance(made, ir.Unpack):
            return self._unpacked(made, view)
        if isinstance(made, ir.Iterate):
            is_open = view.kind is Kind.UNKNOWN and view.moved is None
            return self._batch(made, made.iterable) or view if is_open else view
        if isinstance(made, ir.Subscript):
            return self._item(made, view)
        if not isinstance(made, ir.Call):
            return view
        if self.analysis.spelled(made.function, self.body) in LOADS:  # also where it is known what was saved there
            return self._loaded(made, self.body, view)
        if view.kind not in (Kind.UNKNOWN, Kind.TENSOR):
            return view
        found = self._called(made, view) if view.kind is Kind.UNKNOWN else self._tensor_of_call(made, view)
        return replace(found, needs_grad=False) if found.needs_grad and self.is_without_gradients(made) else found

    def is_without_gradients(self, op: ir.Op) -> bool:
        """True for an operation under `torch.no_grad()`, or in a function that is decorated with it."""
        block = Lookup.of(self.body).block(op)
        names = {
            self.analysis.spelled(written.function, self.body)
            for written in (self.definitions[one] for one in (block.withs if block is not None else ()))
            if isinstance(written, ir.Call)
        }
        names |= {self.analysis.resolve_text(text) for text in self.body.decorators}
        return not names.isdisjoint(WITHOUT_GRADIENTS)

    def _called(self, made: ir.Call, view: View) -> View:
        """What a call gives of which the inference knows nothing."""
        written = self.definitions[made.function]
        owner = self._end.values[written.object] if isinstance(written, ir.Attribute) else NO_VALUE
        if view.moved is made and (owner.kind is Kind.TENSOR or owner.group is not None):
            evidence = max(owner.evidence, Evidence.USAGE) if owner.kind is Kind.TENSOR else Evidence.NONE
            return replace(view, kind=owner.kind, group=owner.group, origin=owner.origin, evidence=evidence)
        output = self._output(made) if view.moved is None else None
        if output is not None:
            return output
        name = written.name if isinstance(written, ir.Attribute) else ""
        if owner.kind in (Kind.MODULE, Kind.OPTIMIZER) and name == "state_dict":
            return View(Kind.STATE_DICT, owner.device, origin=made)
        if owner.kind is Kind.MODULE and name in ("parameters", "buffers"):
            return View(Kind.PARAMETERS, owner.device)
        if owner.kind is Kind.TENSOR and view.moved is None and name in TENSOR_ATTRIBUTES - methods.GIVE_NO_TENSOR:
            keeps = owner.needs_grad and name not in methods.GIVE_NO_GRADIENT
            return replace(owner, rank=None, group=None, parameter="", needs_grad=keeps)
        first = made.positional(0)
        if first is not None and self.values[made.function].symbol == "builtins.next":
            given = self._end.values[first]
            if given.kind is Kind.PARAMETERS:
                return View(Kind.TENSOR, given.device, evidence=Evidence.USAGE)
        return view

    def _tensor_of_call(self, made: ir.Call, view: View) -> View:
        """A tensor that a call gives: whether it requires grad, and what brought it where it is."""
        written = self.definitions[made.function]
        asked = made.keyword("return_tensors")
        is_list = isinstance(written, ir.Attribute) and written.name == "encode"
        if asked is not None and not is_list and self.values[asked].constant == "pt":
            return View(Kind.BATCH_ENCODING, view.device, origin=made, moved=view.moved, evidence=Evidence.STRONG)
        owner = self._end.values[written.object] if isinstance(written, ir.Attribute) else NO_VALUE
        if view.moved is made and owner.group is not None:
            return replace(view, group=owner.group)
        device = made.keyword("device")
        if device is not None and view.device.place == "sym" and not view.device.name:
            view = replace(view, device=self.device_argument(device))
        if self.values[made.function].kind is Kind.MODULE:
            output = self._output(made) if view.device is TOP and view.moved is None else None
            is_there = view.moved is None and view.device.may_be_accelerator
            return output or replace(view, needs_grad=True, moved=made if is_there else view.moved)
        if isinstance(self._raw(made.function), Func):
            return replace(view, needs_grad=True)  # what it does inside is not looked at: it may
        keeps_grad = isinstance(written, ir.Attribute) and written.name not in methods.GIVE_NO_GRADIENT
        is_tracked = keeps_grad and owner.kind is Kind.TENSOR and owner.needs_grad
        return replace(view, needs_grad=True) if is_tracked else view

    def _output(self, made: ir.Call) -> View | None:
        """What a call of a model gives of which only its use or its name is known: it is where its inputs were brought."""
        callee, place = self.values[made.function], self.place(made.function)
        is_loss = is_loss_name(place)
        if callee.kind is not Kind.MODULE and not (callee.kind is Kind.UNKNOWN and (is_loss or is_a_model(place))):
            return None
        inputs = [self._end.values[one.value] for one in made.arguments if not one.star]
        if any(one.kind is Kind.NDARRAY for one in inputs):
            return None
        moved = next((one for one in inputs if one.moved is not None and one.device.may_be_accelerator), None)
        evidence = max(min(callee.evidence, Evidence.USAGE), Evidence.NAME)
        if moved is not None:
            evidence = max(evidence, Evidence.USAGE)
            return View(
                Kind.TENSOR, moved.device, rank=0 if is_loss else None, moved=made, evidence=evidence, needs_grad=True
            )
        if is_loss:
            return View(Kind.TENSOR, rank=0, evidence=evidence, needs_grad=True)
        device = callee.device
        if device is TOP and callee.ref and "#" not in callee.ref and "[" not in callee.ref:
            device = symbolic(f"next({callee.ref}.parameters()).device")
        is_placed = device.may_be_accelerator and (device.chosen or not device.name.startswith("next("))
        return View(Kind.TENSOR, device, evidence=evidence, moved=made if is_placed else None, needs_grad=True)

    def _batch(self, made: ir.Iterate | ir.Unpack, loader: ir.Register | None) -> View | None:
        """What a loader gives."""
        of = self.values[loader] if loader is not None else NO_VALUE
        if of.kind is not Kind.LOADER:
            return None
        is_object = any(
            not self.index.use(name).attributes <= TENSOR_ATTRIBUTES for name in self.index.names_of(made.dst)
        )
        in_place = of.symbol.startswith("torch_geometric.") or is_object
        return View(Kind.BATCH_ENCODING if in_place else Kind.BATCH, CPU, origin=made, evidence=of.evidence)

    def _taken_along(self, made: ir.Unpack) -> ir.Register | None:
        """The iterable whose item `enumerate` or `zip` gives at this place."""
        loop = self.definitions[made.source]
        call = self.definitions[loop.iterable] if isinstance(loop, ir.Iterate) else None
        if not isinstance(call, ir.Call) or made.starred:
            return None
        match self.values[call.function].symbol:
            case "builtins.enumerate":
                return call.positional(0) if made.index == 1 else None
            case "builtins.zip":
                return call.positional(made.index)
        return None

    def _unpacked(self, made: ir.Unpack, view: View) -> View:
        source = self.definitions[made.source]
        elements = source.elements if isinstance(source, ir.Sequence) else ()
        if len(elements) == made.count and not made.starred and not any(one.starred for one in elements):
            return self._end.values[elements[made.index].value]
        batch = self._batch(made, self._taken_along(made)) if view.kind is Kind.UNKNOWN and view.moved is None else None
        if batch is not None:
            return batch
        of = self._end.values[made.source]
        if view.kind is Kind.UNKNOWN and of.kind is Kind.BATCH and not made.starred:
            device = view.device if view.moved is not None else of.device
            return View(Kind.TENSOR, device, origin=made, moved=view.moved, evidence=of.evidence, group=of.origin)
        loader = self._end.values[source.iterable] if isinstance(source, ir.Iterate) else NO_VALUE
        if view.kind is Kind.UNKNOWN and view.moved is None and loader.kind is Kind.LOADER and not made.starred:
            # of a sample that is seen
            return View(Kind.TENSOR, CPU, origin=made, evidence=loader.evidence, group=source)
        if view.kind is Kind.UNKNOWN:
            return replace(view, group=source)
        if view.kind is Kind.TENSOR and isinstance(source, ir.Iterate):
            is_batch = self._end.values[source.iterable].kind is Kind.LOADER
            return replace(view, origin=made, group=source) if is_batch and view.moved is None else view
        if view.kind is Kind.TENSOR and isinstance(source, ir.Call) and isinstance(self._raw(source.function), Func):
            return replace(view, needs_grad=True)  # what it does inside is not looked at: it may
        return view

    def _item(self, made: ir.Subscript, view: View) -> View:
        of = self._end.values[made.object]
        if of.kind is Kind.CHECKPOINT and view.moved is None:
            return of
        if of.kind in (Kind.BATCH, Kind.BATCH_ENCODING) and view.kind in (Kind.UNKNOWN, Kind.TENSOR):
            is_encoding = of.kind is Kind.BATCH_ENCODING and of.moved is None
            origin = made if is_encoding and of.origin is not None else of.origin
            moved = view.moved or of.moved
            device = view.device if view.moved is not None else of.device
            evidence = min(of.evidence, Evidence.USAGE)
            return View(Kind.TENSOR, device, origin=origin, moved=moved, evidence=evidence, group=of.origin)
        loop = self.source(made.object)
        if of.kind is Kind.TENSOR and of.moved is None and view.kind is Kind.TENSOR and isinstance(loop, _LOOPS):
            return replace(view, origin=loop, group=loop, evidence=Evidence.USAGE)
        owner = self.place(made.object)
        if view.kind is Kind.UNKNOWN and owner and isinstance(self.values[made.index].constant, str):
            return replace(view, group=owner)
        return view

    def refs_of(self, register: ir.Register | None, deep: int = 5) -> set[str]:
        """The modules whose parameters a value holds."""
        made = self.definitions[register] if register is not None else None
        if deep == 0:
            return set()
        if isinstance(made, ir.Load):
            stored = self.index.bound_to(made.name)
            return {ref for one in stored for ref in self.refs_of(one, deep - 1)}
        if isinstance(made, ir.Call):
            written = self.definitions[made.function]
            if isinstance(written, ir.Attribute) and written.name in ("parameters", "named_parameters"):
                owner = self.values[written.object]
                return {owner.ref} if owner.kind is Kind.MODULE and owner.ref else set()
            return {ref for one in made.arguments for ref in self.refs_of(one.value, deep - 1)}
        if isinstance(made, ir.Sequence):
            return {ref for one in made.elements for ref in self.refs_of(one.value, deep - 1)}
        if isinstance(made, ir.Mapping):
            return {ref for one in made.values for ref in self.refs_of(one, deep - 1)}
        if isinstance(made, ir.Binary):
            return self.refs_of(made.left, deep - 1) | self.refs_of(made.right, deep - 1)
        if isinstance(made, ir.Comprehension):
            return self.refs_of(made.value, deep - 1)
        return set()


def is_a_model(place: str) -> bool:
    """True for the name of a model; a class gives a model, no tensor."""
    return is_model_name(place) and not place.rpartition(".")[2][0].isupper()
