class Registry(dict):
    def register(self, name):
        def wrap(obj):
            if name in self:
                raise KeyError(f"{name} is already registered")
            self[name] = obj
            return obj
        return wrap

    def build(self, name, **kwargs):
        return self[name](**kwargs)


BACKBONES = Registry()
LOSSES = Registry()
