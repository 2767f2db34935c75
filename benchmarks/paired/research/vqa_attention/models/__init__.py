REGISTRY = {}


def register(name):
    def wrap(cls):
        REGISTRY[name] = cls
        return cls
    return wrap


from models import san, updn  # noqa: E402,F401


def build(cfg, vocab_size, v_dim):
    return REGISTRY[cfg['model']](cfg, vocab_size, v_dim)
