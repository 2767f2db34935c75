"""What functions of torch's accelerator modules raise where there is no such accelerator (tried on the CPU wheel of torch 2.13)."""

from __future__ import annotations

_NO_CUDA = '"Torch not compiled with CUDA enabled"'
_DUMMY = '"Tried to instantiate dummy base class"'
_NO_NVTX = '"NVTX functions not installed"'
_NO_MPS = '"without MPS backend"'
_NO_XPU = '"Torch not compiled with XPU enabled"'


def _names(prefix: str, words: str, error: str) -> dict[str, str]:
    return {prefix + word: error for word in words.split()}


def _lacks(name: str) -> str:
    return f"\"module 'torch._C' has no attribute '{name}'\""


RAISING = {
    **_names(
        "torch.cuda.",
        "synchronize current_device get_device_name get_device_properties get_device_capability mem_get_info default_stream current_stream "
        "get_rng_state initial_seed ipc_collect init current_blas_handle set_per_process_memory_fraction can_device_access_peer cudart "
        "profiler.start profiler.stop",
        _NO_CUDA,
    ),
    **_names("torch.cuda.", "Event CUDAGraph graph_pool_handle", _DUMMY),
    **_names("torch.cuda.nvtx.", "range_push range_pop mark range", _NO_NVTX),
    **_names("torch.cuda.", "Stream", '"torch.cuda.Stream requires CUDA support"'),
    **_names(
        "torch.cuda.",
        "reset_peak_memory_stats reset_max_memory_allocated reset_max_memory_cached",
        _lacks("_cuda_resetPeakMemoryStats"),
    ),
    **_names("torch.cuda.", "reset_accumulated_memory_stats", _lacks("_cuda_resetAccumulatedMemoryStats")),
    **_names("torch.cuda.", "memory_snapshot", _lacks("_cuda_memorySnapshot")),
    **_names("torch.cuda.", "set_device", _lacks("_cuda_setDevice")),
    "torch.cuda.memory_summary": "KeyError: 'allocated_bytes.all.current'",
    **_names(
        "torch.mps.",
        "empty_cache synchronize get_rng_state seed current_allocated_memory driver_allocated_memory recommended_max_memory Event",
        _NO_MPS,
    ),
    **_names("torch.xpu.", "synchronize current_device get_device_name get_device_properties set_device", _NO_XPU),
}
