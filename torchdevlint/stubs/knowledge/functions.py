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

# Full reductions without `dim` give a 0-dim tensor.
REDUCTIONS = frozenset(
    "sum mean prod max min std var norm median any all argmax argmin amax amin logsumexp nansum nanmean trace".split()
)

LOADS = frozenset({"torch.load", "torch.serialization.load"})
SAVES = frozenset({"torch.save", "torch.serialization.save"})
# Keyword and position of the device (torch/serialization.py, torch/jit/_serialization.py, torch/hub.py; safetensors).
DEVICES_OF_LOADS = {
    "torch.load": ("map_location", 1),
    "torch.serialization.load": ("map_location", 1),
    "torch.jit.load": ("map_location", 1),
    "torch.hub.load_state_dict_from_url": ("map_location", 2),
    "torch.utils.model_zoo.load_url": ("map_location", 2),
    "torchvision.models.utils.load_state_dict_from_url": ("map_location", 2),
    "safetensors.torch.load_file": ("device", 1),
    "safetensors.safe_open": ("device", 2),
}

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
# Calls that show that a program means to run without an accelerator as well.
ASKING = tuple(name for name, tested in AVAILABILITY.items() if tested and not name.endswith("device_count"))

# How many dimensions results have where that is not those of the operands together ("joined"), one word for each result: a number, "1+" for one or
# more; "first" or "last" for those of that operand, "first+" for as many or more, "first-1" for one less, and "joined-1" likewise; "reduced" by `dim`,
# and over so many of the last dimensions where none is named (0: all); "product" of matrices; "pattern" of einsum. Found by running the samples of
# torch.testing._internal.common_methods_invocations; tests/stubs/test_ranks.py does so again.
RANKS: dict[str, str] = {
    "squeeze": "squeezed",
    **dict.fromkeys(("einsum", "einops.rearrange", "einops.reduce", "einops.repeat", "einops.einsum"), "pattern"),
    **dict.fromkeys("view reshape expand repeat broadcast_to as_strided".split(), "size"),
    **dict.fromkeys("cat bmm cdist".split(), "joined"),
    **dict.fromkeys("matmul inner linalg.matmul".split(), "product"),
    **dict.fromkeys(
        "sum mean prod max min median nanmedian any all argmax argmin amax amin aminmax nansum nanmean norm logsumexp std var std_mean "
        "var_mean count_nonzero hash_tensor quantile nanquantile linalg.norm linalg.vector_norm sparse.sum masked.sum special.logsumexp".split(),
        "reduced0",
    ),
    **dict.fromkeys("mode kthvalue trapezoid trapz linalg.vecdot".split(), "reduced1"),
    "linalg.matrix_norm": "reduced2",
    **dict.fromkeys("dist dot vdot trace nn.functional.linear_cross_entropy".split(), "0"),
    **dict.fromkeys(
        "cov corrcoef searchsorted tensordot linalg.multi_dot frobenius_norm nuclear_norm native_norm kl_div ctc_loss cosine_embedding_loss "
        "hinge_embedding_loss margin_ranking_loss poisson_nll_loss triplet_margin_loss binary_cross_entropy_with_logits".split(),
        "0+",
    ),
    **dict.fromkeys("addmv mv masked_select histc histogram ravel pdist".split(), "1"),
    **dict.fromkeys("flatten diag take_along_dim repeat_interleave values crow_indices col_indices".split(), "1+"),
    **dict.fromkeys("linalg.solve linalg.tensorsolve".split(), "1+"),
    **dict.fromkeys(
        "addbmm addr argwhere nonzero nonzero_static outer ger diagflat combinations indices vander".split(), "2"
    ),
    "nn.functional.embedding_bag": "2",
    **dict.fromkeys(
        "index_add index_copy index_fill index_reduce index_select put as_strided_scatter bucketize prelu bilinear conv1d conv2d conv3d "
        "conv_transpose1d conv_transpose2d conv_transpose3d nn.functional.linear nn.functional.scaled_dot_product_attention".split(),
        "first",
    ),
    "take": "last",
    **dict.fromkeys("tile unflatten".split(), "first+"),
    **dict.fromkeys(
        "unsqueeze diag_embed unfold view_as_real nn.functional.one_hot nn.functional.embedding nn.functional.fold "
        "nn.functional.affine_grid linalg.vander".split(),
        "first+1",
    ),
    **dict.fromkeys(
        "diagonal select unbind view_as_complex nn.functional.unfold linalg.diagonal linalg.eigvals linalg.eigvalsh linalg.svdvals".split(),
        "first-1",
    ),
    **dict.fromkeys("cosine_similarity pairwise_distance".split(), "joined-1"),
    **dict.fromkeys("det logdet linalg.cond linalg.det linalg.matrix_rank linalg.slogdet slogdet".split(), "first-2"),
    **dict.fromkeys("svd linalg.svd".split(), "first first-1 first"),
    **dict.fromkeys("linalg.eig linalg.eigh".split(), "first-1 first"),
    **dict.fromkeys("geqrf linalg.lu_factor linalg.ldl_factor".split(), "first first-1"),
    **dict.fromkeys("linalg.lu_factor_ex linalg.ldl_factor_ex".split(), "first first-1 first-2"),
    **dict.fromkeys("linalg.inv_ex linalg.cholesky_ex".split(), "first first-2"),
    "linalg.solve_ex": "1+ 0+",
    "linalg.lstsq": "1+ 0+ 0+ 1+",
    "nn.functional.multi_head_attention_forward": "first 2+",
    **dict.fromkeys(
        (
            f"nn.functional.{name}"
            for name in "multi_margin_loss multilabel_margin_loss triplet_margin_with_distance_loss".split()
        ),
        "loss",
    ),
}

# Managers and decorators under which nothing that is computed requires grad.
WITHOUT_GRADIENTS = frozenset(
    ("torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad", "torch.autograd.inference_mode")
)
