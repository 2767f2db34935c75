import copy

import torch
from torch import nn
import torch.nn.functional as F

from byol_pytorch.utils import default, flatten, get_module_device, set_requires_grad, singleton


def loss_fn(x, y):
    x = F.normalize(x, dim=-1, p=2)
    y = F.normalize(y, dim=-1, p=2)
    return 2 - 2 * (x * y).sum(dim=-1)


class RandomApply(nn.Module):
    def __init__(self, fn, p):
        super().__init__()
        self.fn = fn
        self.p = p

    def forward(self, x):
        if torch.rand(1).item() > self.p:
            return x
        return self.fn(x)


class Jitter(nn.Module):
    def forward(self, x):
        gain = 0.6 + 0.8 * torch.rand(x.size(0), 1, 1, 1, device=x.device)
        return x * gain + 0.05 * torch.randn_like(x)


class HorizontalFlip(nn.Module):
    def forward(self, x):
        return x.flip(-1)


class EMA:
    def __init__(self, beta):
        self.beta = beta

    def update_average(self, old, new):
        return new if old is None else old * self.beta + (1 - self.beta) * new


def update_moving_average(ema_updater, ma_model, current_model):
    for current_params, ma_params in zip(current_model.parameters(), ma_model.parameters()):
        ma_params.data = ema_updater.update_average(ma_params.data, current_params.data)


def MLP(dim, projection_size, hidden_size=64):
    return nn.Sequential(
        nn.Linear(dim, hidden_size),
        nn.BatchNorm1d(hidden_size),
        nn.ReLU(inplace=True),
        nn.Linear(hidden_size, projection_size),
    )


class NetWrapper(nn.Module):
    """Reads the hidden layer of the base network with a hook; the projector is made at the
    first forward, once the width of that layer is known."""

    def __init__(self, net, projection_size, projection_hidden_size, layer=-2):
        super().__init__()
        self.net = net
        self.layer = layer
        self.projector = None
        self.projection_size = projection_size
        self.projection_hidden_size = projection_hidden_size
        self.hidden = {}
        self.hook_registered = False

    def _find_layer(self):
        if isinstance(self.layer, str):
            return dict(self.net.named_modules()).get(self.layer, None)
        return [*self.net.children()][self.layer]

    def _hook(self, _, input, output):
        self.hidden[input[0].device] = flatten(output)

    def _register_hook(self):
        layer = self._find_layer()
        assert layer is not None, f'hidden layer ({self.layer}) not found'
        layer.register_forward_hook(self._hook)
        self.hook_registered = True

    @singleton('projector')
    def _get_projector(self, hidden):
        _, dim = hidden.shape
        projector = MLP(dim, self.projection_size, self.projection_hidden_size)
        return projector.to(hidden)

    def get_representation(self, x):
        if not self.hook_registered:
            self._register_hook()
        self.hidden.clear()
        _ = self.net(x)
        hidden = self.hidden[x.device]
        self.hidden.clear()
        return hidden

    def forward(self, x):
        representation = self.get_representation(x)
        return self._get_projector(representation)(representation), representation


class BYOL(nn.Module):
    def __init__(self, net, image_size, hidden_layer=-2, projection_size=32, projection_hidden_size=64,
                 augment_fn=None, moving_average_decay=0.99):
        super().__init__()
        self.net = net
        self.augment = default(augment_fn, nn.Sequential(
            RandomApply(Jitter(), p=0.8),
            RandomApply(HorizontalFlip(), p=0.5),
        ))
        self.online_encoder = NetWrapper(net, projection_size, projection_hidden_size, layer=hidden_layer)
        self.target_encoder = None
        self.target_ema_updater = EMA(moving_average_decay)

        device = get_module_device(net)
        self.online_predictor = MLP(projection_size, projection_size, projection_hidden_size)
        self.to(device)
        # send a mock image tensor to instantiate the singletons
        self.forward(torch.randn(2, 3, image_size, image_size, device=device))

    @singleton('target_encoder')
    def _get_target_encoder(self):
        target_encoder = copy.deepcopy(self.online_encoder)
        set_requires_grad(target_encoder, False)
        return target_encoder

    def update_moving_average(self):
        assert self.target_encoder is not None, 'target encoder has not been created yet'
        update_moving_average(self.target_ema_updater, self.target_encoder, self.online_encoder)

    def forward(self, x):
        images = torch.cat((self.augment(x), self.augment(x)), dim=0)
        online_projections, _ = self.online_encoder(images)
        pred_one, pred_two = self.online_predictor(online_projections).chunk(2, dim=0)
        with torch.no_grad():
            target_projections, _ = self._get_target_encoder()(images)
            proj_one, proj_two = target_projections.detach().chunk(2, dim=0)
        return (loss_fn(pred_one, proj_two) + loss_fn(pred_two, proj_one)).mean()
