from networks.fcn import FCN8
from networks.pspnet import PSPNet


def get_network(name, n_classes):
    if name == 'fcn8':
        return FCN8(n_classes)
    elif name == 'pspnet':
        return PSPNet(n_classes)
    raise ValueError('network {} not implemented'.format(name))
