"""Class methods that make a model of a class of the project, as classes of transformers, diffusers and huggingface_hub inherit them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.infer import classes, devices
from torchdevlint.infer.values import NOWHERE, UNKNOWN, Cls, DoubleStar, Ext, Partial, Ref, Star, Value, alternatives

if TYPE_CHECKING:
    from torchdevlint.infer.analysis import Analysis
    from torchdevlint.infer.library import Call

# Of PreTrainedModel (transformers/modeling_utils.py), which gives the class its configuration, and of what gives it keywords alone
# (diffusers/models/modeling_utils.py, huggingface_hub/hub_mixin.py).
_WITH_CONFIG, _WITH_KEYWORDS = (
    "transformers.PreTrainedModel.from_pretrained",
    "huggingface_hub.ModelHubMixin.from_pretrained",
)
_MIXINS = ("ModelHubMixin", "ModelMixin")
# What says how the weights are loaded, and is not given to the class.
_OF_LOADING = frozenset(
    "state_dict cache_dir from_tf from_flax force_download resume_download proxies output_loading_info local_files_only use_auth_token token "
    "revision trust_remote_code torch_dtype dtype low_cpu_mem_usage device_map max_memory offload_folder offload_state_dict offload_buffers "
    "load_in_8bit load_in_4bit quantization_config subfolder commit_hash variant adapter_kwargs adapter_name use_flash_attention_2 "
    "attn_implementation use_safetensors weights_only ignore_mismatched_sizes pretrained_model_name_or_path tp_plan key_mapping".split()
)


def maker_of(analysis: Analysis, cls: Cls, name: str) -> Value | None:
    """`Net.from_pretrained` of a class that inherits it from one of these libraries; None for anything else."""
    if name != "from_pretrained":
        return None
    for base in classes.foreign_bases_of(analysis, cls.cls):
        last = base.rpartition(".")[2]
        if last.endswith(_MIXINS):
            return Partial(Ext(_WITH_KEYWORDS), (cls,), ())
        if last == "PreTrainedModel" or (base.startswith("transformers.") and analysis.stubs.module_class(base)):
            return Partial(Ext(_WITH_CONFIG), (cls,), ())
    return None


def _made(call: Call, args: list[Value], given: dict[str, Value]) -> Value:
    from torchdevlint.infer.modules import is_placed_by_keywords

    made = call.ctx.call(call.at(0), args, given, call.site)
    is_spread = any(isinstance(one, (Star, DoubleStar)) for one in call.args)
    if is_spread or is_placed_by_keywords(call.keywords):  # a `device_map` may be among them
        for one in alternatives(made):
            if isinstance(one, Ref):
                devices.move_module(call.ctx, one, NOWHERE)
    return made


def _with_config(call: Call) -> Value:
    """`cls(config, *args, **keywords)`, on the CPU."""
    given = {name: value for name, value in call.keywords.items() if name not in _OF_LOADING}
    config = given.pop("config", UNKNOWN)
    rest = list(call.args[2:] if "pretrained_model_name_or_path" not in call.keywords else call.args[1:])
    return _made(call, [config, *rest], given)


def _with_keywords(call: Call) -> Value:
    """`cls(**keywords)`, on the CPU; what the configuration tells beside them nobody knows."""
    return _made(call, [], {name: value for name, value in call.keywords.items() if name not in _OF_LOADING})


ROWS = {_WITH_CONFIG: _with_config, _WITH_KEYWORDS: _with_keywords}
