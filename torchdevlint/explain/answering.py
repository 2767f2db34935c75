"""From a text to the device error in it: which exception, which message, which cause, which line."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from torchdevlint.explain.judging import Verdict, judge
from torchdevlint.explain.log import Failure, Frame, Log, is_torch, read_log, users_frames
from torchdevlint.explain.messages import Sighting, recognise, recognise_on


@dataclass(frozen=True, slots=True)
class Answer:
    """The device error of a log. `streams` are the ranks that tell the same; `remarks` are further device messages of the log."""

    sighting: Sighting
    failure: Failure
    verdict: Verdict
    frames: tuple[Frame, ...]  # the user's, the innermost first
    streams: tuple[str, ...] = ()
    remarks: tuple[Sighting, ...] = ()


def read(text: str) -> Answer | None:
    """The device error that a text tells first, or None."""
    log = read_log(text)
    whole = " ".join(log.lines)
    told = [
        (failure, seen)
        for failure in log.failures
        if (seen := recognise_on(failure.message, _code(failure))) is not None
    ]
    if not told:
        bare = _bare(log, whole)
        if bare is None:
            return None
        told = [bare]
    failure, sighting = next((one for one in told if not one[0].kind.endswith("Warning")), told[0])
    streams = tuple(dict.fromkeys(one.stream for one, seen in told if one.stream and seen.cause == sighting.cause))
    remarks = tuple(_remarks(log, sighting))
    return Answer(sighting, failure, judge(sighting, failure, whole), users_frames(failure), streams, remarks)


def _code(failure: Failure) -> str:
    """The line of code that failed, outside of PyTorch."""
    return next((frame.text for frame in reversed(failure.frames) if not is_torch(frame)), "")


def _bare(log: Log, whole: str) -> tuple[Failure, Sighting] | None:
    """A message without the class of its exception, or one that was broken into lines; the last traceback may belong to it."""
    seen = recognise(whole)
    if seen is None:
        return None
    frames = next((failure.frames for failure in reversed(log.failures) if failure.frames), ())
    return Failure("", seen.text, frames), seen


_MOST_REMARKS = 500  # lines that are looked at
_REMARKABLE = frozenset(("architecture", "no-driver", "old-driver", "no-visible-gpu", "driver-state"))


def _remarks(log: Log, sighting: Sighting) -> list[Sighting]:
    """What else the log says of the machine: warnings in front of the error often name its reason."""
    found: dict[str, Sighting] = {}
    several = (line for line in log.lines if "CUDA" in line or "NVIDIA" in line)
    for line in itertools.islice(several, _MOST_REMARKS):
        seen = recognise(line)
        if seen is not None and seen.cause in _REMARKABLE and seen.cause != sighting.cause:
            found.setdefault(seen.cause, seen)
    return list(found.values())
