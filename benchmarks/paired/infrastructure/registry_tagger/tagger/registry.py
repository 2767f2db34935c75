class Registry:
    def __init__(self, name):
        self.name = name
        self._items = {}

    def register(self, obj=None, *, name=None):
        def deco(o):
            key = name or o.__name__
            if key in self._items:
                raise KeyError(f"{key} is already registered in {self.name}")
            self._items[key] = o
            return o
        return deco(obj) if obj is not None else deco

    def build(self, cfg, **extra):
        cfg = dict(cfg)
        kind = cfg.pop("type")
        try:
            cls = self._items[kind]
        except KeyError:
            raise KeyError(f"{kind} is not in {self.name}: {sorted(self._items)}") from None
        return cls(**cfg, **extra)


MODELS = Registry("models")
LOSSES = Registry("losses")
HOOKS = Registry("hooks")
