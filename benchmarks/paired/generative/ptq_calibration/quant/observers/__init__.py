from .base import Observer
from .histogram import EntropyObserver
from .minmax import MinMaxObserver

OBSERVERS = {"minmax": MinMaxObserver, "entropy": EntropyObserver}


def make_observer(kind, **kwargs):
    try:
        return OBSERVERS[kind](**kwargs)
    except KeyError:
        raise ValueError(f"unknown observer {kind!r}, choose from {sorted(OBSERVERS)}") from None
