"""TDL806: autocast wants the name of a device type."""

import torch

CODE = "TDL806"
SHAPES = ("1", "cpu")
EXPECT = r"Expected `device_type` of type `str`"


DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def fault() -> None:
    with torch.autocast(DEVICE):
        pass


def repair() -> str:
    with torch.autocast(DEVICE.type):
        return "the context is entered"
