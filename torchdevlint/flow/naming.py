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


def follows_a_tensor(device: str) -> bool:
    """True for `x.device`, which is wherever that tensor is; an option or the object itself names a device of its own."""
    return device.endswith(".device") and not device.startswith(("self.", "args.", "config.", "cfg.", "opt."))
