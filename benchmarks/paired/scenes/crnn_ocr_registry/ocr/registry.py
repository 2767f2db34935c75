class Registry(dict):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def register(self, cls):
        self[cls.__name__] = cls
        return cls

    def build(self, cfg, **extra):
        cfg = dict(cfg)
        kind = cfg.pop("type")
        if kind not in self:
            raise KeyError(f"{kind} is not in the {self.name} registry: {sorted(self)}")
        return self[kind](**cfg, **extra)


MODELS = Registry("models")
DATASETS = Registry("datasets")
DECODERS = Registry("decoders")
