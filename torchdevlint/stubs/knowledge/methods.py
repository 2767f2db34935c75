"""Methods of tensors, modules and optimizers by what they do with devices.

Sources: `torch/_tensor_docs.py`, `torch/nn/modules/module.py`, `torch/optim/optimizer.py` of torch 2.13; RULES.md, Appendices A and B.
"""

from __future__ import annotations


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


MOVES = _names("to cuda cpu xpu mps npu hpu")
CASTS = _names("float double half bfloat16 int long short bool byte char type")

# One other tensor, checked by a TensorIterator (one 0-dim CPU input is let through).
TENSOR_POINTWISE = _names(
    "add sub subtract mul multiply div divide true_divide floor_divide remainder fmod pow maximum minimum fmax fmin where lerp addcmul "
    "addcdiv eq ne lt le gt ge logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor atan2 masked_fill xlogy hypot "
    "add_ sub_ mul_ div_ pow_ addcmul_ addcdiv_ lerp_ masked_fill_ remainder_ fmod_ logical_and_ logical_or_"
)
# Others must be on the very device.
TENSOR_STRICT = _names(
    "matmul mm bmm mv dot inner outer ger addmm addmm_ addmv baddbmm gather scatter scatter_ scatter_add scatter_add_ index_select index_add "
    "index_add_ index_copy index_copy_ index_fill index_fill_ index_put index_put_ take take_along_dim masked_select masked_scatter "
    "masked_scatter_ cross tensordot kron cdist scatter_reduce scatter_reduce_"
)
# Give something else than a tensor on the receiver's device.
TENSOR_SCALARS = _names(
    "item dim ndimension numel nelement stride storage_offset element_size get_device is_contiguous is_floating_point data_ptr __len__"
)
TENSOR_HOST = _names("tolist")
TENSOR_SIZES = _names("size")
# Usage that only a tensor has (an ndarray has `reshape`, `sum`, `shape`, ... too, so they are not here).
TENSOR_ONLY = _names(
    "view unsqueeze unsqueeze_ permute contiguous detach detach_ requires_grad_ backward masked_fill masked_fill_ scatter_ scatter_add_ "
    "index_select gather type_as new_zeros new_ones new_full new_empty new_tensor expand expand_as view_as bmm mm matmul narrow unbind "
    "chunk softmax log_softmax sigmoid relu tanh numel dim size new clamp clamp_ is_cuda get_device grad_fn retain_grad data_ptr "
    "scatter_add index_add_ unfold topk log1p exp erf addmm addcmul_ mul_ add_ sub_ div_ zero_ fill_ copy_ normal_ uniform_ "
    "logsumexp sqrt rsqrt argsort logical_not is_floating_point element_size storage pin_memory record_stream nelement"
)
# Also of ndarrays, data frames and others: weak evidence.
TENSOR_WEAK = _names(
    "shape dtype device reshape sum mean max min flatten transpose float long int half double to cuda cpu numpy item T ndim squeeze abs"
)
# What models have as well.
OF_MODULES_TOO = MOVES | CASTS | _names("device dtype")
# Usage that only a module has.
MODULE_ONLY = _names(
    "parameters named_parameters modules named_modules children named_children buffers named_buffers register_buffer register_forward_hook "
    "eval train zero_grad requires_grad_ module load_from_checkpoint gradient_checkpointing_enable forward"
)
# Sizes that the layers of torch.nn keep: with `weight`, they tell a layer.
LAYER_SIZES = _names(
    "in_features out_features in_channels out_channels kernel_size running_mean running_var num_features num_embeddings embedding_dim"
)
MODULE_STRONG = _names("parameters named_parameters modules named_modules children named_children named_buffers eval")
# Of models of other libraries: they give their inputs to layers as they are (transformers/generation/utils.py, models/clip/modeling_clip.py; clip/model.py).
FORWARD_LIKE = _names("generate get_text_features get_image_features get_audio_features encode_image encode_text")
OPTIMIZER_ONLY = _names("param_groups add_param_group")

NEW_LIKE = _names("new_zeros new_ones new_full new_empty new_tensor new_empty_strided new")
