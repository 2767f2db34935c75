"""What a test on the way here has told of the machine.

A guard is a word: a device type ("cuda"), "accelerator", "tracing", "flag" for a condition on a name that speaks of GPUs (`if args.cuda:`), which is taken
as the programmer's own test, "decorated", or `ABSENT` where no accelerator was found.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from torchdevlint.facts.devices import ACCELERATORS
from torchdevlint.facts.naming import (
    ABSENT,
    FLAG_NAME,
    GPU_NAME,
    NEGATED_NAME,
    NO_GPU,
)
from torchdevlint.facts.standing import Standing
from torchdevlint.infer.values import HOST, UNKNOWN, Const, Device, Ext, Term, Tup
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.stubs.knowledge.functions import AVAILABILITY


class Guarded(Standing):
    """A body at one moment, with the guards that hold there."""

    @cached_property
    def guards(self) -> frozenset[str]:
        """The guards that hold here."""
        found = set()
        text = " ".join(self.body.decorators).lower()
        if "skip" in text or "require" in text or "cuda" in text or "gpu" in text:
            found.add("decorated")
        for term, outcome in self.facts_held:
            found |= self._guards_of(term, outcome)
        return frozenset(found) | (self._guards_above(self.block.index) if self.block is not None else frozenset())

    @property
    def asked_machine(self) -> bool:
        """True where every test that tells of CUDA has asked the machine, and no tensor: `if torch.cuda.is_available():`."""
        asked = [
            term.op for term, outcome in self.facts_held if self._guards_of(term, outcome) & {"cuda", "accelerator"}
        ]
        return bool(asked) and all(op == "available" for op in asked)

    def _guards_above(self, number: int) -> frozenset[str]:
        """What the tests above a block say by the names in them, those of each block worked out once."""
        known: dict[int, frozenset[str]] = self.analysis.remembered.setdefault((Guarded, id(self.body)), {})
        cfg, passed = Cfg.of(self.body), list[int]()
        while number not in known and (decider := cfg.decider(number)) is not None:
            passed.append(number)
            number = decider[0]
        found = known.setdefault(number, frozenset())
        for block in reversed(passed):
            decider = cfg.decider(block)
            assert decider is not None
            found = known[block] = found | self._guards_written(decider[1], decider[2])
        return found

    def is_guarded(self, block: ir.Block, device_type: str) -> bool:
        """True when an availability test, a flag, or a handler of the error stands between the program and this block."""
        if self.guards & {device_type, "accelerator", "flag", "decorated"}:
            return True
        return any(
            t.part == "body"
            and {name.rpartition(".")[2] for name in t.catches}
            & {"RuntimeError", "AssertionError", "Exception", "BaseException"}
            for t in block.tries
        )

    def _guards_at(self, test: ir.Register) -> set[str]:
        """What holds where a test is true."""
        raw = self.walk.registers.get(test) if self.walk is not None else None
        found = self._guards_of(raw, True) if isinstance(raw, Term) and raw is not UNKNOWN else set()
        return found | self._guards_written(test, True)

    def _guards_written(self, test: ir.Register, outcome: bool) -> set[str]:
        """What a test says by the names in it, where its value is known or nothing that the inference keeps."""
        op = self.definitions[test]
        while isinstance(op, ir.Unary) and op.operator == "not":
            test, outcome = op.operand, not outcome
            op = self.definitions[test]
        raw = self.walk.registers.get(test, UNKNOWN) if self.walk is not None else UNKNOWN
        is_name = isinstance(op, (ir.Load, ir.Attribute))  # it says what it is for, whatever it was made of
        if not is_name and isinstance(raw, Term) and raw is not UNKNOWN and raw.op not in ("unknown", "binary"):
            return set()
        if isinstance(op, ir.Attribute) and op.name == "is_cuda":
            return {"cuda"} if outcome else set()
        if isinstance(op, ir.Call):
            written = self.definitions[op.function]
            listed = self.definitions[op.arguments[0].value] if len(op.arguments) == 1 else None
            if outcome and self.values[op.function].symbol == "builtins.all" and isinstance(listed, ir.Sequence):
                return {guard for one in listed.elements for guard in self._guards_at(one.value)}
            name = self.values[op.function].symbol or self.place(op.function)
            name = name or (written.name if isinstance(written, ir.Attribute) else "")
        elif isinstance(op, (ir.Load, ir.Attribute, ir.Subscript)):
            name = self.place(test) or (op.name if isinstance(op, ir.Attribute) else "")
        elif isinstance(op, ir.Compare):
            token, negated = self._compared(op)
            return {token} if token and outcome is not negated else set()
        else:
            return set()
        return self._flag(name, outcome)

    def _guards_of(self, term: Term, outcome: bool) -> set[str]:
        """What a condition of the inference says when it comes out this way."""
        if term.op == "available":
            kind = AVAILABILITY.get(term.args[0].value, "cuda")
            return {kind} if outcome else {ABSENT}
        if term.op == "is_cuda" or (term.op == "attribute" and term.args[1] == "is_cuda"):
            return {"cuda"} if outcome else set()
        if term.op == "binary" and any(isinstance(one, Term) and one.op == "available" for one in term.args[1:]):
            return {"cuda"} if outcome else {ABSENT}
        if term.op == "isinstance":
            classes = term.args[1].items if isinstance(term.args[1], Tup) else (term.args[1],)
            is_cuda = any(isinstance(one, Ext) and one.name.startswith("torch.cuda.") for one in classes)
            return {"cuda"} if is_cuda and outcome else set()
        if term.op == "binary" and term.args[0] == "lt":
            first, second = term.args[1:]
            return self._flag(self._name(second), outcome) | self._flag(self._name(first), not outcome)
        if term.op == "equal" or (term.op == "binary" and term.args[0] == "eq"):
            first, second = term.args[-2:]
            if isinstance(second, Const) and isinstance(second.value, str) and second.value.startswith("torch.cuda."):
                return {"cuda"} if outcome else set()
            text = second.value if isinstance(second, Const) else None
            if isinstance(text, str) and text.partition(":")[0] in ACCELERATORS:
                return {text.partition(":")[0]} if outcome else set()
            if text == "cpu" or second == Device(HOST):
                return set() if outcome else {"flag"}
            if text == "gpu":
                return {"flag"} if outcome else set()
            name = self._name(first)
            if FLAG_NAME.search(name):
                is_none = isinstance(second, Const) and (text is None or (type(text) is not bool and text in NO_GPU))
                absent = is_none or (isinstance(second, Const) and text in (0, False))
                return {"flag"} if outcome is not absent else {ABSENT} if is_none and GPU_NAME.search(name) else set()
            return set()
        if term.op == "is_none":
            name = self._name(term.args[0])
            if FLAG_NAME.search(name):
                return {"flag"} if not outcome else {ABSENT} if GPU_NAME.search(name) else set()
            return set()
        if term.op == "call":
            name = self._name(term.args[0])
            given = term.args[1]
            if name.endswith(".get") and given and isinstance(given[0], Const):
                name = str(given[0].value)  # `config.get("use_cuda")`
        else:
            name = self._name(term)
        return self._flag(name, outcome)

    def _compared(self, op: ir.Compare) -> tuple[str, bool]:
        """The guard that a comparison tells, and whether it holds when the comparison is false; ("", False) when it tells none."""
        if len(op.comparators) != 1:
            return "", False
        operator, right = op.operators[0], op.comparators[0]
        for register in (right, op.left):
            text = self.values[register].constant
            if isinstance(text, str) and text.partition(":")[0] in ACCELERATORS:
                return text.partition(":")[0], operator in ("!=", "not in", "is not")
            if isinstance(text, str) and text.startswith("torch.cuda."):
                return "cuda", operator == "!="
            if text == "cpu":
                return "flag", operator in ("==", "in", "is")
            if text == "gpu":
                return "flag", operator in ("!=", "not in", "is not")
        path = self._flag_path(op.left) or self._flag_path(right)
        if not path:
            return "", False
        constant = self.values[right].constant
        absent = (
            constant is None or constant is False or constant in NO_GPU or (constant == 0 and type(constant) is int)
        )
        if operator in ("==", "is"):
            return "flag", absent
        if operator in ("!=", "is not"):
            return "flag", not absent
        return "flag", operator in ("<", "<=")

    def _flag_path(self, register: ir.Register) -> str:
        op = self.definitions[register]
        if isinstance(op, ir.Call):
            first = op.positional(0)
            name = self.values[op.function].symbol
            return self._flag_path(first) if name in ("builtins.len", "builtins.str") and first is not None else ""
        path = self.place(register) or (op.name if isinstance(op, ir.Attribute) else "")
        if not path and isinstance(op, ir.Subscript):
            key = self.values[op.index].constant
            path = key if isinstance(key, str) else ""
        return path if FLAG_NAME.search(path) else ""

    def _flag(self, name: str, outcome: bool) -> set[str]:
        if NEGATED_NAME.search(name):
            outcome = not outcome
        elif not FLAG_NAME.search(name):
            return set()
        return {"flag"} if outcome else {ABSENT} if GPU_NAME.search(name) else set()

    def _name(self, value: Any) -> str:
        if isinstance(value, Ext):
            return value.name
        found = self.text(value)
        if not found and isinstance(value, Term) and value.op == "attribute":
            return str(value.args[1])
        if not found and isinstance(value, Term) and value.op == "item" and isinstance(value.args[1], Const):
            return str(value.args[1].value)
        if not found and isinstance(value, Term) and value.op == "binary":
            return self._name(value.args[1])
        return found
