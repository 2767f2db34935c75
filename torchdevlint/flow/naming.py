"""What names say by custom: the last resort of typing, never enough for an error (RULES.md, Appendix B)."""

from __future__ import annotations

import re
from functools import lru_cache

DEVICE_NAME = re.compile(r"(?:\A|[._])(?:\w*device\w*|dev|gpu|gpu_id|cuda_device)\Z", re.IGNORECASE)
_NO_DEVICE = re.compile(r"devices|device_(?:count|ids|map|mesh|type|name)|num_device|n_device", re.IGNORECASE)
LOADER_NAME = re.compile(r"(?:\A|_|\.)(?:\w*_?(?:data)?loader|dl|train_dl|val_dl|valid_dl|test_dl)\Z", re.IGNORECASE)


@lru_cache(maxsize=4096)
def looks_like_device(path: str) -> bool:
    """True for a path that names a device by custom: `device`, `self.device`, `args.device`."""
    return bool(DEVICE_NAME.search(path)) and not _NO_DEVICE.search(path.rpartition(".")[2])


_INDEX_NAME = re.compile(r"(?:\A|[._])(?:gpu|gpu_?ids?|cuda_?id|rank|local_rank)\Z", re.IGNORECASE)


def names_index(path: str) -> bool:
    """True for a path that names the number of a GPU, or nothing: `args.gpu`. `torch.load` takes no number, and `.to(None)` moves nothing."""
    return bool(_INDEX_NAME.search(path))


# Who keeps the device that the program chose: the object itself, options, and what launches a run.
_OF_A_CHOICE = re.compile(
    r"(?:\A|[._])(?:self|cls|args?|opts?|options|config|cfg|conf|hparams|hps|params|settings|flags|context|ctx|accelerator|fabric|trainer)\.device\Z",
    re.IGNORECASE,
)


def follows_an_object(device: str) -> bool:
    """True for `x.device` and `self.images.device`, which are wherever that tensor is; options and the object itself name a device of their own."""
    return device.endswith(".device") and not _OF_A_CHOICE.search(device)


# What tells the variables of two comprehensions apart, and nobody wrote.
_OF_A_COMPREHENSION = re.compile(r"(?<=\w)@\d+")


def as_written(text: str) -> str:
    """The names in a text as the program spells them."""
    return _OF_A_COMPREHENSION.sub("", text)
