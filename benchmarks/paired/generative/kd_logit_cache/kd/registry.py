class Registry(dict):
    def register(self, name):
        def deco(obj):
            self[name] = obj
            return obj
        return deco

    def build(self, cfg):
        cfg = dict(cfg)
        return self[cfg.pop("type")](**cfg)


MODELS = Registry()
LOSSES = Registry()
