from .base import ContinualModel
from .der import Der, DerPP
from .sgd import Finetune

METHODS = {m.NAME: m for m in (Finetune, Der, DerPP)}


def get_method(name, **kwargs) -> ContinualModel:
    return METHODS[name](**kwargs)
