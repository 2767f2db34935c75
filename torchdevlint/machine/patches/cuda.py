"""torch.cuda: what it says about devices, and what it sets. Memory is not modelled: its figures are zero."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from torchdevlint.machine import hazards
from torchdevlint.machine.patches import replace
from torchdevlint.machine.patches.generator import check_state
from torchdevlint.machine.state import STATE, count_without_init, initialise, normal_device, visible_devices

NAME = "Virtual CUDA Device"
_MEMORY_BYTES = 16 << 30
_CAPABILITY = (8, 0)
_CUDA_VERSION = "12.8"


def is_available() -> bool:
    return visible_devices() > 0


def device_count() -> int:
    return count_without_init()


def current_device() -> int:
    initialise()
    return STATE.current.index


def is_initialized() -> bool:
    return STATE.initialised


def _lazy_init() -> None:
    initialise()


def init() -> None:
    initialise()


def _index(device: Any) -> int:
    """The index that a device argument names; negative ones change nothing, as in torch.cuda."""
    if isinstance(device, int) and device < 0:
        return -1
    index: int = normal_device("cuda" if device is None else device).index
    return index


def set_device(device: Any) -> None:
    index = _index(device)
    if index >= 0:
        STATE.current.index = index


class device:
    """`with torch.cuda.device(i)`: i is current inside; None and negative indices change nothing."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else _index(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = STATE.current.index
        if self.idx >= 0:
            STATE.current.index = self.idx

    def __exit__(self, *_: object) -> None:
        STATE.current.index = self.prev_idx


class device_of(device):
    """`with torch.cuda.device_of(tensor)`."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


def get_device_name(device: Any = None) -> str:
    _index(device)
    return NAME


def get_device_capability(device: Any = None) -> tuple[int, int]:
    _index(device)
    return _CAPABILITY


def get_device_properties(device: Any = None) -> Any:
    _index(device)
    return SimpleNamespace(
        name=NAME,
        major=_CAPABILITY[0],
        minor=_CAPABILITY[1],
        total_memory=_MEMORY_BYTES,
        multi_processor_count=108,
        max_threads_per_multi_processor=2048,
        regs_per_multiprocessor=65536,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=166912,
        warp_size=32,
        L2_cache_size=40 << 20,
        is_integrated=False,
        is_multi_gpu_board=False,
        gcnArchName="",
        uuid="00000000-0000-0000-0000-000000000000",
    )


def mem_get_info(device: Any = None) -> tuple[int, int]:
    _index(device)
    return _MEMORY_BYTES, _MEMORY_BYTES


def synchronize(device: Any = None) -> None:
    _index(device)
    hazards.synchronised("synchronize")


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    return _index(device) != _index(peer_device)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    return True


def is_current_stream_capturing() -> bool:
    return False


def get_arch_list() -> list[str]:
    return ["sm_80"]


def ipc_collect() -> None:
    return None


# Random numbers: all devices share the CPU's generator, so that a run gives the values of the CPU run.


def manual_seed(seed: int) -> None:
    return None


def manual_seed_all(seed: int) -> None:
    return None


def seed() -> None:
    return None


def seed_all() -> None:
    return None


def initial_seed() -> int:
    initialise()
    return torch.initial_seed()


def get_rng_state(device: Any = "cuda") -> Any:
    _index(device)
    return torch.get_rng_state()


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    _index(device)
    check_state(new_state, "torch.cuda.set_rng_state")
    torch.set_rng_state(new_state)


def get_rng_state_all() -> list[Any]:
    return [get_rng_state(index) for index in range(visible_devices())]


def set_rng_state_all(new_states: Any) -> None:
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


_RANDOM: tuple[Any, ...] = (
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    initial_seed,
    get_rng_state,
    set_rng_state,
    get_rng_state_all,
    set_rng_state_all,
)
_DEVICES: tuple[Any, ...] = (
    is_available,
    device_count,
    current_device,
    is_initialized,
    _lazy_init,
    init,
    set_device,
    device,
    device_of,
    get_device_name,
    get_device_capability,
    get_device_properties,
    synchronize,
    can_device_access_peer,
    is_bf16_supported,
    is_current_stream_capturing,
    get_arch_list,
    ipc_collect,
)
_MEMORY_BYTES_USED = (
    "memory_allocated",
    "max_memory_allocated",
    "memory_reserved",
    "max_memory_reserved",
    "memory_cached",
    "max_memory_cached",
    "utilization",
    "memory_usage",
    "temperature",
    "power_draw",
    "clock_rate",
)
_MEMORY_ACTIONS = (
    "empty_cache",
    "reset_peak_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_accumulated_memory_stats",
    "set_per_process_memory_fraction",
)


def _zero(name: str) -> Any:
    def figure(device: Any = None) -> int:
        return 0

    figure.__name__ = name
    return figure


def _nothing(name: str) -> Any:
    def action(*args: Any, **kwargs: Any) -> None:
        return None

    action.__name__ = name
    return action


def memory_stats(device: Any = None) -> dict[str, Any]:
    return {}


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    return "no memory figures: this is a virtual GPU\n"


class CUDAGraph:
    """torch.cuda.CUDAGraph: recorded kernels cannot be replayed here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("a virtual GPU cannot judge CUDA graphs")


def _nvtx(name: str) -> Any:
    def mark(*args: Any, **kwargs: Any) -> int:
        return 0

    mark.__name__ = name
    return mark


def install() -> None:
    """Patch torch.cuda, and the modules where its functions live."""
    random, memory = torch.cuda.random, torch.cuda.memory
    for function in _DEVICES:  # they ask C++ functions that a CPU build does not have
        replace(torch.cuda, function.__name__, function)
    for function in _RANDOM:
        replace(torch.cuda, function.__name__, function)
        replace(random, function.__name__, function)
    for function in (memory_stats, memory_summary, mem_get_info):
        replace(torch.cuda, function.__name__, function)
        replace(memory, function.__name__, function)
    for names, make in ((_MEMORY_BYTES_USED, _zero), (_MEMORY_ACTIONS, _nothing)):
        for name in names:
            made = make(name)
            for owner in (torch.cuda, memory):
                if hasattr(owner, name):
                    replace(owner, name, made)
    for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
        replace(torch.cuda.nvtx, name, _nvtx(name))
    replace(torch.cuda, "CUDAGraph", CUDAGraph)
    replace(torch.version, "cuda", _CUDA_VERSION)
    replace(torch.backends.cuda, "is_built", _is_built)  # the build of this shape has CUDA
    replace(torch.backends.cudnn, "is_acceptable", _not_acceptable)  # C++ would look for the cuDNN library
    replace(torch.backends.cudnn, "is_available", _is_built)


def _is_built() -> bool:
    return True


def _not_acceptable(tensor: Any) -> bool:
    return False
