"""Functions of torch by what they do with devices.

Sources: `torch/utils/_device.py` (`_device_constructors`) for the factories; `aten/src/ATen/native/native_functions.yaml` for which
operators check their arguments (a TensorIterator allows one 0-dim CPU input, the dispatcher's common-device check allows none);
RULES.md TDL505 for the functions that broadcast before they check.
"""

from __future__ import annotations


def _names(prefix: str, words: str) -> frozenset[str]:
    return frozenset(prefix + word for word in words.split())


# Size is the first argument or spread over the positional ones.
SIZED_FACTORIES = _names("torch.", "zeros ones empty rand randn") | {
    "torch.full",
    "torch.empty_strided",
    "torch.empty_permuted",
}
# Rank is fixed by the function.
RANKED_FACTORIES = {
    **dict.fromkeys(
        _names(
            "torch.",
            "arange linspace logspace randperm range bartlett_window blackman_window hamming_window hann_window kaiser_window "
            "fft.fftfreq fft.rfftfreq",
        ),
        1,
    ),
    **dict.fromkeys(
        _names("torch.", "eye tril_indices triu_indices vander nn.Transformer.generate_square_subsequent_mask"), 2
    ),
}
# Data is the first argument; a tensor keeps its device in `as_tensor` and `asarray`.
DATA_FACTORIES = _names("torch.", "tensor as_tensor asarray scalar_tensor")
RANDINT = frozenset({"torch.randint"})
SPARSE_FACTORIES = _names("torch.", "sparse_coo_tensor sparse_csr_tensor")
# No `device=`: always the host.
HOST_FACTORIES = _names("torch.", "from_numpy frombuffer") | _names(
    "torch.",
    "Tensor FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor ShortTensor CharTensor ByteTensor BoolTensor",
)
LEGACY_CONSTRUCTORS = frozenset(name for name in HOST_FACTORIES if name.endswith("Tensor"))
RANDOM_FACTORIES = _names("torch.", "rand randn randint randperm normal")
FACTORIES = SIZED_FACTORIES | frozenset(RANKED_FACTORIES) | DATA_FACTORIES | RANDINT | SPARSE_FACTORIES
LIKE_FACTORIES = _names("torch.", "zeros_like ones_like empty_like full_like rand_like randn_like randint_like")
# Factories that give the same numbers on every device.
DETERMINISTIC_FACTORIES = (FACTORIES | HOST_FACTORIES) - RANDOM_FACTORIES

# A TensorIterator checks: tensors must share a device, 0-dim CPU inputs are let through.
POINTWISE = _names(
    "torch.",
    "add sub subtract mul multiply div divide true_divide floor_divide remainder fmod pow float_power maximum minimum fmax fmin "
    "where lerp addcmul addcdiv eq ne lt le gt ge equal isclose logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor "
    "atan2 arctan2 hypot copysign logaddexp logaddexp2 xlogy dist heaviside nextafter masked_fill clamp max min allclose",
)
# The dispatcher's common-device check, or a broadcast before the check: no exemption for 0-dim tensors.
STRICT = _names(
    "torch.",
    "matmul mm bmm mv dot vdot inner outer ger addmm addmv addbmm baddbmm einsum tensordot kron cross cdist gather scatter "
    "scatter_add index_select index_add index_copy index_put take take_along_dim masked_select masked_scatter cat concat concatenate stack "
    "hstack vstack dstack column_stack bucketize searchsorted isin complex polar conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
    "embedding layer_norm batch_norm cosine_similarity "
    "stft istft addr quantile nanquantile chain_matmul block_diag "
    "linalg.solve linalg.lstsq linalg.multi_dot linalg.cross triangular_solve cholesky_solve",
) | _names(
    "torch.nn.functional.",
    "linear bilinear embedding embedding_bag conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d batch_norm layer_norm "
    "group_norm instance_norm grid_sample affine_grid cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss "
    "binary_cross_entropy binary_cross_entropy_with_logits kl_div cosine_embedding_loss cosine_similarity pairwise_distance "
    "margin_ranking_loss triplet_margin_loss multi_margin_loss poisson_nll_loss gaussian_nll_loss ctc_loss scaled_dot_product_attention "
    "multi_head_attention_forward prelu",
)
# Arguments that may stay on the CPU in a strict function, with their positions: ctc_loss moves the targets and reads the lengths
# (aten/src/ATen/native/LossCTC.cpp); in_proj_weight is an empty placeholder where the projections are given apart (torch/nn/functional.py).
HOST_ARGUMENTS: dict[str, dict[str, int]] = {
    "torch.nn.functional.ctc_loss": {"targets": 1, "input_lengths": 2, "target_lengths": 3},
    "torch.nn.CTCLoss": {"targets": 1, "input_lengths": 2, "target_lengths": 3},
    "torch.nn.functional.multi_head_attention_forward": {"in_proj_weight": 5},
}
# Results that are no tensors.
NON_TENSOR = _names(
    "torch.",
    "is_tensor is_floating_point is_complex is_grad_enabled numel save manual_seed set_grad_enabled no_grad enable_grad set_printoptions "
    "get_default_dtype set_default_dtype set_num_threads get_num_threads equal allclose initial_seed seed compile finfo iinfo Size typename",
)
LOSS_FUNCTIONS = _names(
    "torch.nn.functional.",
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div "
    "multi_margin_loss multilabel_soft_margin_loss poisson_nll_loss",
)
# Full reductions without `dim` give a 0-dim tensor.
REDUCTIONS = frozenset(
    "sum mean prod max min std var norm median any all argmax argmin amax amin logsumexp nansum nanmean trace".split()
)

LOADS = frozenset({"torch.load", "torch.serialization.load"})
SAVES = frozenset({"torch.save", "torch.serialization.save"})
# What reads a sharded checkpoint into tensors on the CPU and saves them, as (source, destination): torch/distributed/checkpoint/format_utils.py.
CONVERSIONS = frozenset({"torch.distributed.checkpoint.format_utils.dcp_to_torch_save"})

# Tests of the machine: what a true result says is there.
AVAILABILITY = {
    "torch.cuda.is_available": "cuda",
    "torch.cuda.device_count": "cuda",
    "torch.backends.mps.is_available": "mps",
    "torch.backends.mps.is_built": "mps",
    "torch.backends.cuda.is_built": "cuda",
    "torch.mps.is_available": "mps",
    "torch.xpu.is_available": "xpu",
    "torch.accelerator.is_available": "accelerator",
    "torch.cuda.is_bf16_supported": "cuda",
    "torch.npu.is_available": "npu",
    "transformers.utils.is_torch_cuda_available": "cuda",
    "torch.distributed.is_available": "",
    # Branches for exporters, where devices are baked in on purpose.
    "torch.jit.is_tracing": "tracing",
    "torch.jit.is_scripting": "tracing",
    "torch.onnx.is_in_onnx_export": "tracing",
    "torch.compiler.is_compiling": "tracing",
    "torch.compiler.is_dynamo_compiling": "tracing",
    "transformers.utils.is_torch_fx_proxy": "tracing",
    "transformers.utils.import_utils.is_torch_fx_proxy": "tracing",
    "transformers.file_utils.is_torch_fx_proxy": "tracing",
}
