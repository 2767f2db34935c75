from .backbone import SmallResNet
from .pcb import PCB
from .global_net import GlobalNet

__factory = {
    'pcb': PCB,
    'global': GlobalNet,
}


def get_names():
    return list(__factory.keys())


def init_model(name, *args, **kwargs):
    if name not in __factory:
        raise KeyError("Unknown model: {}".format(name))
    return __factory[name](*args, **kwargs)
