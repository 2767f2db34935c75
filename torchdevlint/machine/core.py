"""Starting the machine in this process, and what it tells about the program that runs on it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import torch

from torchdevlint.machine import dispatch, errors, hazards, ledger, notes, op_rules, selftest
from torchdevlint.machine.places import FaultPlaces, Place
from torchdevlint.machine.shape import Shape
from torchdevlint.machine.state import STATE, after_fork_in_child
from torchdevlint.machine.tags import install_default, tag_of

TESTED_RELEASES = frozenset({"2.6", "2.12", "2.13", "2.14", "2.15"})
"""The releases of torch that the machine's tests ran on."""


class MachineError(RuntimeError):
    """The machine cannot start here; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine of this process. All its lists grow while the program runs."""

    shape: Shape
    ledger: ledger.Ledger | None

    @property
    def hazards(self) -> list[hazards.Hazard]:
        """Silent faults: reads and writes of host memory while a copy was in flight."""
        return hazards.HAZARDS

    @property
    def faults(self) -> list[errors.Fault]:
        """Device errors that were raised, caught by the program or not."""
        return errors.FAULTS

    @property
    def unjudged(self) -> dict[str, Place | None]:
        """Operators that met mixed devices and whose checks nobody knows, with the line that first called each."""
        return dispatch.UNJUDGED

    @property
    def notes(self) -> list[str]:
        """Where the machine departs from a GPU in this run (torch.compile ran eagerly, ...)."""
        return notes.NOTES

    def where_born(self, tensor: Any) -> Place | None:
        """The user line that created the tensor's data, or the tensor that it was computed from."""
        return tag_of(tensor).born

    def where_moved(self, tensor: Any) -> Place | None:
        """The user line that last moved the tensor's data to another device; None when it never moved."""
        return tag_of(tensor).moved

    def places(self, error: BaseException) -> FaultPlaces | None:
        """The guilty lines of an error that the machine raised."""
        return getattr(error, errors.ATTRIBUTE, None)

    def forget(self) -> None:
        """Empty the lists and the ledger, to begin a new section (a test, a training step)."""
        for kept in (hazards.HAZARDS, errors.FAULTS, notes.NOTES):
            kept.clear()
        dispatch.UNJUDGED.clear()
        if self.ledger is not None:
            self.ledger.clear()


_started: list[Machine] = []


def current() -> Machine | None:
    """The machine of this process, if it has started."""
    return _started[0] if _started else None


def start(shape: Shape, *, ledger: bool = False) -> Machine:
    """Turn this process into a machine of this shape, before the program imports anything.

    With ``ledger``, copies and synchronisations are recorded (it costs time). Raises MachineError when a machine runs
    already or when the installed torch does not hold what the machine rests on.
    """
    if _started:
        raise MachineError(f"this process is a machine already: {_started[0].shape.describe()}")
    machine = Machine(shape, _start_ledger() if ledger and shape.gpus else None)
    if shape.gpus:
        _start_with_gpus(shape)
    else:
        from torchdevlint.machine.patches import no_gpu

        STATE.shape = shape
        install_default()
        no_gpu.install(shape.build)
    _started.append(machine)
    return machine


def _start_ledger() -> ledger.Ledger:
    ledger.RECORDER.ledger = ledger.Ledger()
    return ledger.RECORDER.ledger


def _start_with_gpus(shape: Shape) -> None:
    failed = selftest.failed_assumptions()
    if failed:
        reasons = "; ".join(failed)
        raise MachineError(f"torch {torch.__version__} does not hold what a virtual GPU rests on: {reasons}")
    try:
        rules = op_rules.load()
    except ImportError as error:
        raise MachineError(f"operator rules cannot be read ({error}): pip install pyyaml") from error
    except (OSError, ValueError) as error:
        raise MachineError(f"operator rules of torch {torch.__version__} cannot be read: {error}") from error
    release = ".".join(torch.__version__.split(".")[:2])
    if release not in TESTED_RELEASES:
        notes.note(f"the virtual machine was not tested on torch {release}: its self-test passed, so it starts")
    dispatch.RULES.update(rules.rules)
    errors.WORDING.different_from_others = rules.new_wording
    STATE.shape = shape
    install_default()
    from torchdevlint.machine import patches

    patches.install_all()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=after_fork_in_child)
        os.register_at_fork(after_in_child=dispatch.after_fork_in_child)
    dispatch.enter_thread()


__all__ = ["Machine", "MachineError", "current", "start"]
