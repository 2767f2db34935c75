import torch
import yaml


class AttrDict(dict):
    __getattr__ = dict.__getitem__

    @classmethod
    def wrap(cls, obj):
        if isinstance(obj, dict):
            return cls({k: cls.wrap(v) for k, v in obj.items()})
        return obj


def load_config(path):
    with open(path) as f:
        cfg = AttrDict.wrap(yaml.safe_load(f))
    torch.manual_seed(cfg.seed)
    return cfg


def resolve_device(name):
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)
