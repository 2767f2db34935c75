_REGISTRY = {}


def register(kind, name):
    def wrap(obj):
        _REGISTRY.setdefault(kind, {})[name] = obj
        return obj
    return wrap


def build(kind, spec, **extra):
    spec = dict(spec)
    factory = _REGISTRY[kind][spec.pop("name")]
    return factory(**spec, **extra)
