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


# What people call a loss: the last resort, never for errors.
LOSS_NAME = re.compile(
    r"(?:\A|[._])(?:\w*criterion\w*|crit|loss_?f(?:n|ct|unc|unction)?|loss_?function|objective_fn)\Z", re.IGNORECASE
)
MODEL_NAME = re.compile(
    r"(?:\A|[._])(?:model|net|network|encoder|decoder|policy|actor|critic|backbone|generator|discriminator|\w*embeddings?)\Z",
    re.IGNORECASE,
)
# `get_model()`, `self.build_network()`: what does something with a model is none.
_ABOUT_A_MODEL = re.compile(
    r"(?:\A|\.)_*(?:get|load|build|make|create|init|setup|set|define|save|resume|restore|convert|wrap|prepare|new|find|freeze|unfreeze|train|fit|test|eval|export|compile"
    r"|update|register|configure|reset|select|choose|log|print|add|instantiate|construct|initialize|unwrap|clone|copy|fetch|download|read)_\w+\Z"
)


@lru_cache(maxsize=4096)
def is_loss_name(place: str) -> bool:
    """True for the name of a loss function, by the custom of the field."""
    return bool(LOSS_NAME.search(place))


@lru_cache(maxsize=4096)
def is_model_name(place: str) -> bool:
    """True for the name of a model, or of a part of one, by the custom of the field."""
    return bool(MODEL_NAME.search(place)) and not _ABOUT_A_MODEL.search(place)


# Holds where a test found no accelerator: tensors stay on the CPU there, and rightly so.
ABSENT = "no accelerator"

FLAG_NAME = re.compile(
    r"cuda|gpu|device|(?<![a-z])(?:mps|npu|mlu|musa|hpu|sdaa)(?![a-z])|xpu|accelerat|distributed|dist_avail|nccl|half|fp16|amp\b"
    r"|(?:\A|\.)model_parallel\Z",  # set by `parallelize()` of transformers, which spreads a model over CUDA devices
    re.IGNORECASE,
)
GPU_NAME = re.compile(r"cuda|gpu", re.IGNORECASE)
NEGATED_NAME = re.compile(
    r"(?:\A|_|\.)(?:no|without|disable|force_cpu|cpu)(?:_|\Z)|no_cuda|nocuda|cpu_only|use_cpu|\Acpu\Z|\.cpu\Z",
    re.IGNORECASE,
)
# What an option for the index of a GPU says for none (as CUDA_VISIBLE_DEVICES does), as a number and as texts.
NO_GPU = (-1, "-1", "", "none")
