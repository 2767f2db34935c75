"""A torchvision of random images, for scripts that only need batches of the right shape."""

import torch
from harness import stub
from torch import nn


class Fake(torch.utils.data.Dataset):
    """A few labelled random images."""

    shape, count = (1, 28, 28), 24

    def __init__(self, *arguments, transform=None, image_size=None, **options):
        self.transform = transform
        self.shape = image_size or self.shape
        self.targets = torch.arange(self.count) % 10
        self.data = torch.rand(self.count, *self.shape)
        if self.shape[0] == 1:
            self.data = self.data[:, 0]
        self.classes = list(range(10))

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index >= self.count:
            raise IndexError(index)
        image = self.data[index].reshape(self.shape)
        return (image if self.transform is None else self.transform(image)), int(self.targets[index])


class Fake3(Fake):
    """Coloured ones."""

    shape = (3, 32, 32)


class Same:
    """A transform that changes nothing."""

    def __init__(self, *arguments, **options):
        pass

    def __call__(self, image):
        return image


class Compose:
    """Transforms one after the other."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image


class Lambda(Compose):
    """A function as a transform."""

    def __init__(self, function):
        super().__init__([function])


class SmallResNet(nn.Module):
    """The outer shape of a residual network."""

    def __init__(self, num_classes=10, **options):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=4)
        self.layer1 = nn.Sequential(nn.BatchNorm2d(64), nn.ReLU())
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(64, num_classes)

    def forward(self, x):
        return self.fc(self.avgpool(self.layer1(self.conv1(x))).flatten(1))


def install():
    """Makes `import torchvision` give this."""
    names = "ToTensor Normalize Resize CenterCrop Pad RandomHorizontalFlip RandomCrop RandomResizedCrop".split()
    stub("torchvision.transforms", Compose=Compose, Lambda=Lambda, **dict.fromkeys(names, Same))
    stub("torchvision.transforms.functional", to_tensor=lambda image: image)
    stub("torchvision.datasets", MNIST=Fake, FakeData=Fake3, CIFAR10=Fake3, ImageFolder=Fake3)
    stub(
        "torchvision.utils",
        save_image=lambda tensor, *a, **k: tensor.detach().cpu().numpy(),
        make_grid=lambda tensor, *a, **k: tensor,
    )
    stub("torchvision.models", resnet18=SmallResNet, resnet50=SmallResNet)
    stub("torchvision", __version__="0.0")
