"""Methods of tensors, modules and optimizers by what they do with devices.

Sources: `torch/_tensor_docs.py`, `torch/nn/modules/module.py`, `torch/optim/optimizer.py` of torch 2.13; RULES.md, Appendices A and B.
"""

from __future__ import annotations


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


MOVES = _names("to cuda cpu xpu mps npu hpu")
CASTS = _names("float double half bfloat16 int long short bool byte char type")

# Usage that only a tensor has (an ndarray has `reshape`, `sum`, `shape`, ... too, so they are not here).
TENSOR_ONLY = _names(
    "view unsqueeze unsqueeze_ permute contiguous detach detach_ backward masked_fill masked_fill_ scatter_ scatter_add_ "
    "index_select gather type_as new_zeros new_ones new_full new_empty new_tensor expand expand_as view_as bmm mm matmul narrow unbind "
    "chunk softmax log_softmax sigmoid relu tanh numel dim size new clamp clamp_ is_cuda get_device grad_fn retain_grad data_ptr "
    "scatter_add index_add_ unfold topk log1p exp erf addmm addcmul_ mul_ add_ sub_ div_ zero_ fill_ copy_ normal_ uniform_ "
    "logsumexp sqrt rsqrt argsort logical_not is_floating_point element_size storage nelement"
)
# Of these, and of others that a tensor has, those that give no tensor; and those whose result is a tensor that carries no gradient.
GIVE_NO_TENSOR = _names(
    "numpy item tolist size dim ndimension numel nelement stride type backward data_ptr get_device element_size storage is_floating_point "
    "is_complex is_contiguous requires_grad_ register_hook retain_grad shape dtype device untyped_storage storage_offset is_cuda"
)
GIVE_NO_GRADIENT = _names("detach detach_ argmax argmin")
# Also of ndarrays, data frames and others: weak evidence.
TENSOR_WEAK = _names(
    "shape dtype device reshape sum mean max min flatten transpose float long int half double to cuda cpu numpy item T ndim squeeze abs"
)
# What models have as well.
OF_MODULES_TOO = MOVES | CASTS | _names("device dtype requires_grad_")
# Usage that only a module has.
MODULE_ONLY = _names(
    "parameters named_parameters modules named_modules children named_children buffers named_buffers register_buffer register_forward_hook "
    "eval train zero_grad module load_from_checkpoint gradient_checkpointing_enable forward"
)
# Sizes that the layers of torch.nn keep: with `weight`, they tell a layer.
LAYER_SIZES = _names(
    "in_features out_features in_channels out_channels kernel_size running_mean running_var num_features num_embeddings embedding_dim"
)
MODULE_STRONG = _names("parameters named_parameters modules named_modules children named_children named_buffers eval")
OPTIMIZER_ONLY = _names("param_groups add_param_group")
