_REGISTRY = {}


def register(kind, name):
    def deco(obj):
        _REGISTRY[(kind, name)] = obj
        return obj

    return deco


def build(kind, spec, **extra):
    spec = dict(spec)
    name = spec.pop("name")
    try:
        cls = _REGISTRY[(kind, name)]
    except KeyError:
        known = sorted(n for k, n in _REGISTRY if k == kind)
        raise ValueError(f"unknown {kind} {name!r}, have {known}") from None
    return cls(**spec, **extra)
