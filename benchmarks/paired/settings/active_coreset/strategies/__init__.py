from .base import Strategy, REGISTRY
from . import coreset, mc, simple  # noqa: F401


def build_strategy(name, **kw) -> Strategy:
    try:
        return REGISTRY[name](**kw)
    except KeyError:
        raise SystemExit(f"unknown strategy {name!r}, choose from {sorted(REGISTRY)}")
