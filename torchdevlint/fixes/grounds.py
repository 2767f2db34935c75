"""Why a fix is safe, or why it is not: the named conditions of DESIGN.md's definition, of which every fix cites one.

*Safe*: on every machine where the old program ran without the fault, the new one gives the same results; where the old line failed or did
nothing at all, the new one does what the line says. Whoever writes a fix proves one of the safe grounds for it, or takes an unsafe one.
"""

from __future__ import annotations

import enum

from torchdevlint.findings import Applicability


class Ground(enum.Enum):
    """One condition; its value is the sentence that it states."""

    # Safe.
    OLD_LINE_RAISED = "wherever the new line does something else than the old one, the old line raised"
    MOVE_DOES_NOTHING = "where the program ran, the tensor is there already and the move returns the tensor itself"
    FACTORY_ON_CPU = "a deterministic factory gives the same values on the other device, and on the CPU nothing changes"
    OLD_LINE_DID_NOTHING = "the old line had no effect, and the new one does what it says"
    COPIED_BY_RECEIVER = "whoever takes the values copies them to the device of its own"
    SAME_OPERATION = "another spelling of the same operation, which every torch of the project has"
    ORDER_ALONE = "the same statements in another order, and nothing between them reads what they bind"

    # Unsafe.
    CHANGES_A_RUN = "a program that runs may compute something else, or on another device"
    WAKES_CODE = "what raised or was never reached runs from now on"
    UNSEEN_CODE = "code that is not seen may rely on the old behaviour, or not know the new one"
    UNKNOWN_KIND = "nothing tells that what the edit names is of the kind that it needs"
    NEEDS_NEWER_TORCH = "the project may run on a torch that does not have it"
    AWAITS_A_GPU = "what it rests on has not been seen on a real GPU"

    @property
    def applicability(self) -> Applicability:
        """Whether `--fix` applies it without a person reading it."""
        return Applicability.SAFE if self in _SAFE else Applicability.UNSAFE


_SAFE = frozenset(
    {
        Ground.OLD_LINE_RAISED,
        Ground.MOVE_DOES_NOTHING,
        Ground.FACTORY_ON_CPU,
        Ground.OLD_LINE_DID_NOTHING,
        Ground.COPIED_BY_RECEIVER,
        Ground.SAME_OPERATION,
        Ground.ORDER_ALONE,
    }
)
