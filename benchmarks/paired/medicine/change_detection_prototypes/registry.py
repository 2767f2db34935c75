class Registry(dict):
    def register(self, cls):
        name = "".join("_" + c.lower() if c.isupper() else c for c in cls.__name__).lstrip("_")
        self[name] = cls
        return cls

    def build(self, cfg, **extra):
        cfg = dict(cfg)
        return self[cfg.pop("type")](**cfg, **extra)


NETS = Registry()
LOSSES = Registry()
