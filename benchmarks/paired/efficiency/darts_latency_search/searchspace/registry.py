class Registry(dict):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def register(self, name):
        def deco(obj):
            if name in self:
                raise KeyError("duplicate %s %r" % (self.kind, name))
            self[name] = obj
            return obj
        return deco

    def build(self, cfg, **extra):
        cfg = dict(cfg)
        return self[cfg.pop("type")](**cfg, **extra)


OPS = Registry("operation")
COSTS = Registry("cost")
DATASETS = Registry("dataset")
