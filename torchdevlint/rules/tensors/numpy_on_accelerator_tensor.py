"""TDL509."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchdevlint.findings import Severity
from torchdevlint.fixes.grounds import Ground
from torchdevlint.flow.calls import MODEL_NAME
from torchdevlint.flow.facts import Facts
from torchdevlint.flow.knowledge.tensor_attributes import TENSOR_ATTRIBUTES
from torchdevlint.flow.module_calls import takes_array
from torchdevlint.flow.values import Evidence, Kind, Value, element_of
from torchdevlint.program import ir
from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.order import block_of, deciding_sides
from torchdevlint.rules.premises import Premise, premise_of, premise_of_attribute
from torchdevlint.rules.rule import ERROR, INFO, WARNING, Mention, NodeFix, Report, on_any_call, on_method
from torchdevlint.rules.structure import draws, operations
from torchdevlint.rules.surroundings import (
    in_data_folder,
    in_program_for_the_host,
    in_project_for_the_host,
    in_tests,
    in_unnamed_code,
    in_unreachable_code,
)
from torchdevlint.rules.wording import is_data_code

_HOST_ROOTS = ("numpy", "pandas", "matplotlib", "sklearn", "scipy", "cv2", "seaborn", "PIL", "faiss", "skimage")
# In a file that imports one of these, an argument's `.numpy()` is another library's, or of a tensor that a test made on the CPU.
_HOST_PROGRAMS = ("tensorflow", "jax", "unittest", "pytest")
# Host functions that read a shape or a type only, or that call `.numpy(force=True)` themselves.
_HARMLESS = frozenset(
    {
        "numpy.shape",
        "numpy.ndim",
        "numpy.size",
        "numpy.prod",
        "numpy.isscalar",
        "numpy.random.seed",
        "scipy.sparse.coo_matrix",
    }
)
# Positional arguments that are read with `__index__`, `len` or `iter`, which a tensor on an accelerator answers, and never made an array of
# (each tried with NumPy 2.4 and a tensor whose `__array__` raises; numpy/lib/_shape_base_impl.py, `array_split`, iterates over the indices).
_READ_AS_INDEX = {
    **dict.fromkeys(("split", "array_split", "hsplit", "vsplit", "dsplit"), (1,)),
    **dict.fromkeys(("zeros", "ones", "empty", "full", "identity"), (0,)),
    **dict.fromkeys(("eye", "tri"), (0, 1, 2)),
    **dict.fromkeys(
        ("reshape", "broadcast_to", "resize", "expand_dims", "concatenate", "stack", "diag", "tril", "triu"), (1,)
    ),
    **dict.fromkeys(("swapaxes", "moveaxis"), (1, 2)),
    **dict.fromkeys(("linspace", "logspace", "random.uniform", "random.normal"), (2,)),
    **dict.fromkeys(("random.rand", "random.randn", "random.random", "random.random_sample"), (0, 1, 2)),
    **dict.fromkeys(("float64", "double", "iterable"), (0,)),
}
_INDEX_KEYWORDS = frozenset("axis shape newshape indices_or_sections num k N M size minlength".split())
_RAISED = 'On an accelerator it raises "can\'t convert cuda:0 device type tensor to numpy".'


class NumpyOnAcceleratorTensor(Inferred):
    """Finds accelerator tensors that are given to NumPy and other host libraries.

    ## What it does
    Follows tensors that come from a moved model, a module's parameters or a move to a device, to `.numpy()`, `np.*`, matplotlib,
    pandas, scikit-learn, `PIL.Image.fromarray` without `.cpu()` in between.

    ## Why is this bad?
    Host libraries read host memory. On an accelerator the line raises `TypeError: can't convert cuda:0 device type tensor to numpy. Use
    Tensor.cpu() to copy the tensor to host memory first.`

    ## Example
        scores = model(images.to(device))
        best = scores.argmax(1).numpy()

    ## Use instead
        best = scores.argmax(1).cpu().numpy()

    ## When it stays silent
    `.cpu()`, `.numpy(force=True)`, `.tolist()`, `.item()`; tensors whose device is unknown or the CPU; what NumPy reads as an index or a shape;
    the side of a test that says CPU; what the program treats as an array. It is a note for an argument of which nothing else is known, in a
    function that draws, and in a project where the callers give the argument on the CPU.

    ## Fix safety
    Inserting `.cpu()` is safe: on the CPU it returns the tensor itself. `.detach()` is added where the tensor may require grad.

    ## Proof
    A module's output on an accelerator raises in `.numpy()`; with `.cpu()` it gives the CPU run's values.

    ## References
    torch/csrc/utils/tensor_numpy.cpp.
    """

    code, name, severity = "TDL509", "numpy-on-accelerator-tensor", ERROR
    quiet_in = (in_program_for_the_host, in_tests, in_data_folder, in_unreachable_code)
    doubtful_in = (in_unnamed_code, in_project_for_the_host)
    fixable = "safe"

    @on_method("numpy", "__array__")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = facts.receiver(call)
        value = facts.value(register)
        force = call.argument("force", 0)
        if force is not None and facts.constant(force) is not False:
            return
        severity = _severity(value, facts)
        guessed = severity in (None, INFO)
        if severity in (None, INFO) and (
            _comes_detached(register, value, facts) or _is_model_output(register, value, facts)
        ):
            severity = INFO if draws(facts) and not value.device.name.startswith("next(") else WARNING
        if severity is not None and _is_of_fitted_model(value, facts):
            severity = INFO
        if (guessed and _is_brought_to_host(register, facts)) or _is_beside_cuda(call, facts):
            return
        if severity is WARNING and _is_kept_on_host(register, facts):
            return
        if severity is None or facts.in_try_catching("TypeError", "RuntimeError", "Exception"):
            return
        detach = value.needs_grad and not facts.no_grad
        spelled = facts.place(register)
        yield self.report(
            call,
            f"{f'`{spelled}`' if spelled else 'this tensor'} may be on {_where(value)}, and `.numpy()` reads host memory; "
            f"call `.{'detach().' if detach else ''}cpu()` first",
            detail=_RAISED,
            severity=severity,
            related=(Mention(value.moved, "here it was moved or made"),) if value.moved is not None else (),
            fix=lambda: _insert_cpu(call, detach),
            holds=lambda: value.moved is not None or not facts.given_on_host(value.device),
            rests_on=_premise(register, value, facts) if guessed else premise_of(value, facts),
        )

    @on_any_call
    def check_host_library(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        name = facts.qualified(call.function)
        if name is None or not name.startswith(_HOST_ROOTS) or name in _HARMLESS:
            return
        indices = _READ_AS_INDEX.get(name.removeprefix("numpy."), ())
        for position, argument in enumerate(call.arguments[:3]):
            if argument.star:
                return
            if argument.keyword in _INDEX_KEYWORDS or (argument.keyword is None and position in indices):
                continue
            value = facts.value(argument.value)
            listed = value.kind is Kind.LIST and value.element is not None
            if listed:
                value = element_of(value)
            is_array = not listed and _is_used_as_array(argument.value, facts)
            severity = _severity(value, facts, implicit=True) if not is_array else None
            if severity is not None and _is_of_fitted_model(value, facts):
                severity = INFO
            if severity is None:
                continue
            spelled = facts.place(argument.value)
            written = facts.definition(argument.value)
            detach = value.needs_grad and not facts.no_grad
            yield self.report(
                written if written is not None else call,
                f"{_subject(spelled, listed)} may be on {_where(value)}, and `{_short(name)}` reads host memory; "
                f"add `.{'detach().' if detach else ''}cpu()`{' to each' if listed else ''}",
                detail=_RAISED,
                severity=severity,
                related=(Mention(value.moved, "here it was moved or made"),) if value.moved is not None else (),
                fix=lambda written=written, detach=detach, listed=listed: (
                    None if listed else _wrap_cpu(written, detach)
                ),  # type: ignore[misc]
                rests_on=premise_of(value, facts),
            )
            return


def _short(name: str) -> str:
    """The last two parts of a function's name: `pyplot.plot`."""
    return ".".join(name.split(".")[-2:])


def _subject(spelled: str, listed: bool) -> str:
    if listed:
        return f"tensors in `{spelled}`" if spelled else "tensors in this list"
    return f"`{spelled}`" if spelled else "this tensor"


def _where(value: Value) -> str:
    if value.attribute and value.attribute != "module":
        return "the module's device"
    if value.device.place == "acc":
        return f"`{value.device.name}`"
    if value.device.name == "self":
        return "the module's device"
    return f"`{value.device.name}`" if value.device.name else "an accelerator"


def _severity(value: Value, facts: Facts, *, implicit: bool = False) -> Severity | None:
    """How sure it is that the tensor is on an accelerator: moved here, or made by a module; None when it is not known."""
    if (
        value.kind is not Kind.TENSOR
        or value.others
        or not value.device.may_be_accelerator
        or value.evidence < Evidence.USAGE
    ):
        return None
    if value.device.place == "acc":
        return ERROR
    name = value.device.name
    if value.moved is not None:
        return ERROR if value.evidence >= Evidence.USAGE else WARNING
    if name == "self":
        return WARNING if facts.frame is not None and facts.body.name != "__init__" else None
    if name.startswith("next(") and value.evidence < Evidence.STRONG:
        return None  # the output of a model that nothing here has moved
    # An argument: the caller decides where it lives.
    if name.endswith(".device") and not implicit and not is_data_code(facts) and not facts.imports(*_HOST_PROGRAMS):
        # A flag such as `as_numpy` is for callers who know where their tensors are.
        asked = any(
            "numpy" in p.name or p.name.startswith("np_") or p.name.endswith("_np") for p in facts.body.parameters
        )
        return None if asked else INFO
    return None


def _is_of_fitted_model(value: Value, facts: Facts) -> bool:
    """True for what is where a model is that Lightning has fitted: it is back on the CPU (lightning/pytorch/strategies/strategy.py, `teardown`)."""
    fits = facts.mentions("Trainer") and facts.mentions("fit") and facts.imports("lightning", "pytorch_lightning")
    return fits and (value.device.name.startswith("next(") or "model" in value.device.name)


def _root(register: ir.Register | None, facts: Facts) -> tuple[ir.Op | None, list[object]]:
    """What a chain of methods and subscripts starts from, and the constant keys on the way."""
    keys: list[object] = []
    for _ in range(12):
        op = facts.definition(register)
        if isinstance(op, ir.Call):
            method = facts.definition(op.function)
            if not isinstance(method, ir.Attribute) or facts.qualified(op.function) is not None:
                return op, keys
            register = method.object
        elif isinstance(op, ir.Subscript):
            keys.append(facts.constant(op.index))
            register = op.object
        else:
            return op, keys
    return None, keys


def _is_kept_on_host(register: ir.Register | None, facts: Facts) -> bool:
    """True for parts that a training loop leaves on the CPU: `batch["meta"]["scale"]`, anything two keys deep."""
    _, keys = _root(register, facts)
    named = [key for key in keys if isinstance(key, str)]
    return len(named) > 1 or any("meta" in key or "info" in key for key in named)


def _speaks_of_devices(facts: Facts) -> bool:
    """True when the file shows any sign that something is moved; a program without one stays on the CPU."""
    return facts.mentions("cuda", "device", "accelerator", "accelerate") or facts.imports(
        "lightning", "pytorch_lightning", "accelerate"
    )


def _is_given(register: ir.Register | None, facts: Facts) -> bool:
    """True when the chain starts from an argument or from self: the caller decides where it lives."""
    root, _ = _root(register, facts)
    names = {parameter.name for parameter in facts.body.parameters}
    while isinstance(root, ir.Attribute):
        root = facts.definition(root.object)
    return isinstance(root, ir.Load) and root.name in names


def _is_used_as_array(register: ir.Register, facts: Facts) -> bool:
    """True for parts of a name of which something is read that no tensor has: `depth.astype(...)`."""
    written = facts.definition(register)
    while isinstance(written, ir.Subscript):
        written = facts.definition(written.object)
    if not isinstance(written, ir.Load):
        return False
    return not facts.analysis.index_of(facts.body).use(written.name).attributes <= TENSOR_ATTRIBUTES


def _is_beside_cuda(call: ir.Call, facts: Facts) -> bool:
    """True on the side of a flag for CUDA that says no: `if args.use_cuda: ... else: mask.numpy()`."""
    at = block_of(facts.body, call)
    return at is not None and any(
        not side and re.search(r"cuda|gpu", facts.place(test)) for test, side in deciding_sides(facts.body, at)
    )


def _is_brought_to_host(register: ir.Register | None, facts: Facts) -> bool:
    """True for parts of a name that some path binds to what `.cpu()` gave: `if self.cuda: loss = loss.cpu()`."""
    root, _ = _root(register, facts)
    return isinstance(root, ir.Load) and any(
        isinstance(op, ir.Store)
        and op.name == root.name
        and isinstance(made := facts.definition(op.value), ir.Call)
        and facts.callee(made) == ".cpu"
        for op in operations(facts.body)
    )


def _premise(register: ir.Register | None, value: Value, facts: Facts) -> Premise:
    """Who decides where a tensor is of which nothing but its use is known: the caller that gives what it is a part of, or nobody who can be asked."""
    known = premise_of(value, facts)
    if known is not None:
        return known
    root, _ = _root(register, facts)
    name = ""
    while isinstance(root, ir.Attribute):
        name, root = root.name, facts.definition(root.object)
    names = {parameter.name for parameter in facts.body.parameters}
    if isinstance(root, ir.Load) and root.name == facts.analysis.index_of(facts.body).self_name:
        return premise_of_attribute(name, facts) or Premise(facts.body, root.name)
    return Premise(facts.body, root.name if isinstance(root, ir.Load) and root.name in names else "")


def _is_model_output(register: ir.Register | None, value: Value, facts: Facts) -> bool:
    """True for `self.model(x).numpy()` in a file that speaks of devices: the output is where the model is."""
    op = facts.definition(register)
    if not isinstance(op, ir.Call) or value.device.place in ("cpu", "meta") or not facts.mentions("cuda", "device"):
        return False
    if facts.frame is not None and takes_array(facts.frame, op):
        return False
    return bool(MODEL_NAME.search(facts.place(op.function))) and not facts.imports(*_HOST_PROGRAMS)


def _comes_detached(register: ir.Register | None, value: Value, facts: Facts) -> bool:
    """True for `.detach()...numpy()` without `.cpu()`: a tensor of a model's graph, on whatever device the model is."""
    if value.device.place in ("cpu", "meta") or value.others or facts.imports(*_HOST_PROGRAMS) or is_data_code(facts):
        return False
    for _ in range(8):
        op = facts.definition(register)
        if isinstance(op, ir.Call):
            method = facts.definition(op.function)
            if isinstance(method, ir.Attribute) and facts.qualified(op.function) is None:
                if method.name in ("cpu", "to", "tolist", "numpy", "resolve_conj"):
                    return False
                if method.name == "detach":
                    if _is_weight(method.object, facts):
                        return False
                    if facts.value(method.object).device.place in ("cpu", "meta") or _is_made_from_host(
                        method.object, facts
                    ):
                        return False
                    known = value.kind is Kind.TENSOR and value.device.name.endswith(".device")
                    return known or _is_given(register, facts) or _speaks_of_devices(facts)
                register = method.object
            elif (facts.qualified(op.function) or "").startswith("torch."):
                register = op.positional(0)
            else:
                return False
        elif isinstance(op, ir.Subscript):
            register = op.object
        else:
            return False
    return False


def _is_made_from_host(register: ir.Register, facts: Facts) -> bool:
    """True for what a call made of tensors that are all on the CPU: a function of another file, or a model that is there as well."""
    root, _ = _root(register, facts)
    if not isinstance(root, ir.Load):
        return isinstance(root, ir.Call) and _is_given_host_tensors(root, facts)
    for value in facts.index.bound_to(root.name):
        made = facts.definition(value)
        made = facts.definition(made.source) if isinstance(made, ir.Unpack) else made
        if isinstance(made, ir.Call) and _is_given_host_tensors(made, facts):
            return True
    return False


def _is_given_host_tensors(call: ir.Call, facts: Facts) -> bool:
    """True when tensors are among the arguments, and each of them is on the CPU."""
    given = [facts.value(argument.value) for argument in call.arguments if not argument.star]
    tensors = [value for value in given if value.kind is Kind.TENSOR]
    unknown = any(value.kind is Kind.UNKNOWN for value in given)
    return (
        bool(tensors) and not unknown and all(part.device.place == "cpu" for value in tensors for part in value.parts)
    )


def _is_weight(register: ir.Register, facts: Facts) -> bool:
    """True for `layer.weight`: who reads a layer's weights exports them, from a model on the CPU."""
    written = facts.definition(register)
    return isinstance(written, ir.Attribute) and written.name in ("weight", "bias")


def _insert_cpu(call: ir.Call, detach: bool) -> NodeFix | None:
    from torchdevlint.fixes import builders

    edits = builders.insert_method_before(call, "cpu") if not detach else builders.detach_to_host(call, receiver=True)
    return NodeFix(Ground.MOVE_DOES_NOTHING, "Copy it to host memory first", edits) if edits else None


def _wrap_cpu(op: ir.Op | None, detach: bool) -> NodeFix | None:
    from torchdevlint.fixes import builders

    edits = builders.wrap_method(op, "cpu") if not detach else builders.detach_to_host(op, receiver=False)
    return NodeFix(Ground.MOVE_DOES_NOTHING, "Copy it to host memory first", edits) if edits else None
