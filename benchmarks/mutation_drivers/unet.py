"""Pytorch-UNet: training, evaluation and prediction on random images."""

import sys
from pathlib import Path

import torch
from harness import part, stub

PROJECT = "milesial+Pytorch-UNet"
PATHS = ["."]
PRELOAD = ["numpy", "tqdm"]


class _Images(torch.utils.data.Dataset):
    mask_values = [0, 1]

    def __init__(self, *arguments):
        pass

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index >= 4:
            raise IndexError(index)
        return {"image": torch.rand(3, 16, 16), "mask": torch.randint(0, 2, (16, 16))}

    @staticmethod
    def preprocess(values, image, scale, is_mask):
        return torch.rand(3, 16, 16).numpy()


class _Wandb:
    class config:
        update = staticmethod(lambda *a, **k: None)

    log = staticmethod(lambda *a, **k: None)


def _modules():
    import fake_torchvision

    fake_torchvision.install()
    stub("wandb", init=lambda **k: _Wandb, Image=lambda x: x, Histogram=lambda x: x.numpy())
    stub("utils.data_loading", BasicDataset=_Images, CarvanaDataset=_Images)
    del sys.modules["utils"].__path__
    sys.modules["utils"].__path__ = [str(next(Path(p) for p in sys.path if (Path(p) / "unet").exists()) / "utils")]
    import os

    os.cpu_count = lambda: 0


def _train(classes):
    _modules()
    import train
    from unet import UNet

    device = torch.device("cuda")
    net = UNet(n_channels=3, n_classes=classes, bilinear=True).to(device)
    train.train_model(model=net, device=device, epochs=1, batch_size=2, val_percent=0.5)
    return net


@part
def several_classes():
    _train(2)


@part
def one_class():
    _train(1)


@part
def predict():
    _modules()
    sys.modules.setdefault("utils.utils", stub("utils.utils", plot_img_and_mask=None))
    import predict as script
    from PIL import Image
    from unet import UNet

    device = torch.device("cuda")
    net = UNet(n_channels=3, n_classes=2).to(device)
    script.predict_img(net=net, full_img=Image.new("RGB", (16, 16)), device=device)
