import functools
from dataclasses import dataclass
from typing import Callable, Dict, Tuple

CASES: Dict[str, "Case"] = {}


@dataclass(frozen=True)
class Case:
    name: str
    shape: Tuple[int, ...]
    build: Callable
    train: bool
    tags: Tuple[str, ...]


def benchmark(shape, train=True, tags=()):
    """Register a zero-argument module factory as a benchmark case."""

    def deco(fn):
        CASES[fn.__name__] = Case(fn.__name__, tuple(shape), fn, train, tuple(tags))

        @functools.wraps(fn)
        def wrapper():
            return fn()

        return wrapper

    return deco


def select(pattern="", tag=None):
    for name in sorted(CASES):
        case = CASES[name]
        if pattern in name and (tag is None or tag in case.tags):
            yield case
