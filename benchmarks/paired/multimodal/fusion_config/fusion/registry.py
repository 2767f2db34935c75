class Registry(dict):
    """Names to classes; `build` takes a mapping with a `type` key."""

    def register(self, cls):
        self[cls.__name__] = cls
        return cls

    def build(self, spec, **extra):
        spec = dict(spec)
        return self[spec.pop("type")](**spec, **extra)
