"""Packages and extensions that run on CUDA alone, each with its source.

Left out, as they have builds or fallbacks for other machines: xformers (torch operators where it has no kernels), `_C` of torchvision and detectron2
(built for the CPU too), onnxruntime.
"""

from __future__ import annotations

# A file that imports one of these holds kernels, even where the import is conditional.
KERNEL_LANGUAGES = (
    "triton",
    "cupy",
    "numba.cuda",
    "pycuda",
    "tilelang",
    "cutlass",
    "cuda.tile",
    "torch.utils.cpp_extension",
)
# A file that cannot be imported without one of these is silent in the rules about other machines.
CUDA_PACKAGES = (
    "flash_attn",  # flash_attn/flash_attn_interface.py: import flash_attn_2_cuda
    "tensorrt",  # NVIDIA's runtime for its GPUs
    "torch_tensorrt",  # the same, for torch
    "apex",  # apex/amp/_initialize.py: check_models, check_optimizers want cuda tensors
    "spconv",  # spconv/core_cc: kernels of cumm for CUDA; the build for the CPU is for debugging
    "MinkowskiEngine",  # README: CUDA is required unless built with --cpu_only
)
# The same, where a finding is a note.
CUDA_LIBRARIES = (
    "setGPU",  # setGPU.py: asks the driver for the GPU with the least memory in use as it is imported
    "transformer_engine",  # transformer_engine/pytorch: import transformer_engine_torch, built with nvcc
    "mamba_ssm",  # mamba_ssm/ops/selective_scan_interface.py: import selective_scan_cuda; mamba_ssm/ops/triton
    "causal_conv1d",  # causal_conv1d/cpp_functions.py: import causal_conv1d_cuda
    "tinycudann",  # tinycudann/modules.py: raises EnvironmentError without CUDA
    "nvdiffrast",  # nvdiffrast/torch/ops.py: compiles .cu sources, tensors must be on CUDA
    "torch2trt",  # torch2trt/torch2trt.py: import tensorrt
    "pytorch_quantization",  # NVIDIA/TensorRT/tools/pytorch-quantization: import cuda_ext
    "neural_renderer",  # neural_renderer/rasterize.py: import neural_renderer.cuda.rasterize
    "pynvml",  # NVIDIA's management library
    "cuml",  # RAPIDS: built on CUDA, as are cudf and cugraph
    "cudf",
    "cugraph",
    "correlation_package",  # NVIDIA/flownet2-pytorch, networks/correlation_package/setup.py: CUDAExtension
    "channelnorm_package",  # the same
    "resample2d_package",  # the same
    "bitsandbytes",  # kernels for CUDA; builds for other machines came with 0.43
    "triton_python_backend_utils",  # a model of NVIDIA's Triton Inference Server, which places it by its configuration
    "lietorch",  # princeton-vl/lietorch, setup.py: CUDAExtension
    "droid_backends",  # princeton-vl/DROID-SLAM, setup.py: CUDAExtension
    "diff_gaussian_rasterization",  # graphdeco-inria/diff-gaussian-rasterization, setup.py: CUDAExtension
    "diff_surfel_rasterization",  # hbb1/diff-surfel-rasterization, setup.py: CUDAExtension
    "simple_knn",  # graphdeco-inria, submodules/simple-knn/setup.py: CUDAExtension
    "pointnet2_ops",  # erikwijmans/Pointnet2_PyTorch, pointnet2_ops_lib/setup.py: CUDAExtension
    "MultiScaleDeformableAttention",  # fundamentalvision/Deformable-DETR, models/ops/setup.py: raises NotImplementedError without CUDA
)
# What starts CUDA as soon as it is called, in libraries that run elsewhere too.
STARTS_CUDA = frozenset({"fairseq.utils.CudaEnvironment"})  # fairseq/utils.py: torch.cuda.current_device()
# What the driver reads once, when it starts.
VISIBLE_DEVICES = frozenset(
    {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}
)
# Libraries that start work on CUDA by themselves as a rule, and run elsewhere in special builds.
CUDA_RUNTIMES = ("deepspeed", "vllm", "bitsandbytes", "torch._inductor")
# Extensions by their very names: apex's (apex/multi_tensor_apply, apex/__init__.py), mmcv's and others' `_ext`.
EXTENSIONS = frozenset({"amp_C", "apex_C", "_ext", "_cuda_ext"})
# `to_cuda`, `is_cuda`, `requires_cuda`: words before `_cuda` that make a function's name, not an extension's.
_VERBS = frozenset(
    "to is use uses using has no not try maybe get check with without require requires required need needs set init setup move assert if on for test skip "
    "torch empty temporary enable disable".split()
)
# Functions that load an extension: mmcv/utils/ext_loader.py.
LOADS_EXTENSION = frozenset({"load_ext"})
# Collectives, without underscores; the second kind only of a module for distributed work.
COLLECTIVES = frozenset({"allreduce", "allgather", "allgatherintotensor", "reducescatter", "reducescattertensor"})
COLLECTIVES_OF_DIST = frozenset({"broadcast", "gather", "scatter", "reduce"})


def is_extension(dotted: str) -> bool:
    """True for the dotted name of a compiled extension for CUDA, or of something in it: `correlation_cuda`, `ops.bias_act_cuda.forward`, `amp_C`."""
    return any(_is_extension(part) for part in dotted.split("."))


def _is_extension(name: str) -> bool:
    words = name.removesuffix("_ext").split("_")
    return name in EXTENSIONS or (
        len(words) > 1 and words[-1] == "cuda" and words[-2] not in _VERBS and bool(words[-2])
    )


# Other frameworks with tensors, devices and layers of their own.
OTHER_FRAMEWORKS = frozenset(
    "paddle oneflow jittor mindspore tensorflow keras mxnet chainer flax haiku equinox tinygrad mlx".split()
)
