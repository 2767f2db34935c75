class Registry(dict):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def register(self, name):
        def deco(obj):
            self[name] = obj
            return obj
        return deco

    def build(self, cfg, **extra):
        cfg = dict(cfg)
        name = cfg.pop("name")
        if name not in self:
            raise KeyError(f"unknown {self.kind} {name!r}, have {sorted(self)}")
        return self[name](**cfg, **extra)


NETS = Registry("net")
CALLBACKS = Registry("callback")
DATASETS = Registry("dataset")
