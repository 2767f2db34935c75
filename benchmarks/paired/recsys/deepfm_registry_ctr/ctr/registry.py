class Registry(dict):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def register(self, name):
        def wrap(cls):
            if name in self:
                raise KeyError(f"{self.kind} '{name}' already registered")
            self[name] = cls
            return cls
        return wrap


MODELS = Registry("model")


def build_model(cfg, schema):
    cfg = dict(cfg)
    name = cfg.pop("name")
    try:
        cls = MODELS[name]
    except KeyError:
        raise KeyError(f"unknown model {name!r}, have {sorted(MODELS)}") from None
    return cls(schema, **cfg)
