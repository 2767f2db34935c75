import torch
import torch.nn as nn


class ResnetBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.conv_block = nn.Sequential(
            nn.ReflectionPad2d(1), nn.Conv2d(dim, dim, 3), nn.InstanceNorm2d(dim), nn.ReLU(True),
            nn.ReflectionPad2d(1), nn.Conv2d(dim, dim, 3), nn.InstanceNorm2d(dim))

    def forward(self, x):
        return x + self.conv_block(x)


def define_G(ngf, n_blocks, gpu_ids):
    layers = [nn.Conv2d(3, ngf, 3, 2, 1), nn.InstanceNorm2d(ngf), nn.ReLU(True)]
    layers += [ResnetBlock(ngf) for _ in range(n_blocks)]
    layers += [nn.ConvTranspose2d(ngf, ngf, 4, 2, 1), nn.ReLU(True), nn.Conv2d(ngf, 3, 3, 1, 1), nn.Tanh()]
    return init_net(nn.Sequential(*layers), gpu_ids)


def define_D(ndf, gpu_ids):
    net = nn.Sequential(
        nn.Conv2d(3, ndf, 4, 2, 1), nn.LeakyReLU(0.2, True),
        nn.Conv2d(ndf, ndf * 2, 4, 2, 1), nn.InstanceNorm2d(ndf * 2), nn.LeakyReLU(0.2, True),
        nn.Conv2d(ndf * 2, 1, 3, 1, 1))
    return init_net(net, gpu_ids)


def init_net(net, gpu_ids, init_gain=0.02):
    if len(gpu_ids) > 0:
        assert torch.cuda.is_available()
        net.to(gpu_ids[0])
    for m in net.modules():
        if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
            nn.init.normal_(m.weight.data, 0.0, init_gain)
            nn.init.constant_(m.bias.data, 0.0)
    return net


class GANLoss(nn.Module):
    def __init__(self, target_real_label=1.0, target_fake_label=0.0):
        super().__init__()
        self.register_buffer('real_label', torch.tensor(target_real_label))
        self.register_buffer('fake_label', torch.tensor(target_fake_label))
        self.loss = nn.MSELoss()

    def __call__(self, prediction, target_is_real):
        target_tensor = self.real_label if target_is_real else self.fake_label
        return self.loss(prediction, target_tensor.expand_as(prediction))
