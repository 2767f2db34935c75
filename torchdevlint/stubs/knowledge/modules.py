"""Classes: modules, optimizers, tokenizers, loaders, by their dotted names.

Sources: `torch.nn`, `torch.optim` of torch 2.13 (Adagrad alone makes state at construction: `torch/optim/adagrad.py`); transformers 5.23;
lightning 2.6; RULES.md TDL201, TDL401, Appendix A.
"""

from __future__ import annotations

import re

MODULE_BASES = frozenset(
    {
        "torch.nn.Module",
        "torch.nn.modules.Module",
        "torch.nn.modules.module.Module",
        "torch.jit.ScriptModule",
        "lightning.LightningModule",
        "lightning.pytorch.LightningModule",
        "pytorch_lightning.LightningModule",
        "pytorch_lightning.core.LightningModule",
        "lightning.pytorch.core.LightningModule",
        "transformers.PreTrainedModel",
        "transformers.modeling_utils.PreTrainedModel",
        "torchmetrics.Metric",
        "torchmetrics.metric.Metric",
        "fairseq.models.BaseFairseqModel",
        "gpytorch.Module",
        "gpytorch.kernels.Kernel",
        "gpytorch.models.ExactGP",
        "pyro.nn.PyroModule",
        "torch_geometric.nn.MessagePassing",
        "torch_geometric.nn.conv.MessagePassing",
        "detectron2.modeling.Backbone",
        "mmengine.model.BaseModule",
        "mmcv.runner.BaseModule",
    }
)
# Bases of torch itself that define no `device` and no `to` of their own.
PLAIN_BASES = frozenset(
    "torch.nn." + name for name in "Module Sequential ModuleList ModuleDict ParameterList ParameterDict".split()
)
# The metrics of pytorch-ignite (a dotted name under these): no modules. `Metric(device=torch.device("cpu"))` keeps the device as `self._device`, on which
# updates are accumulated; `iteration_completed` gives `update` the engine's output, `(y_pred, y)` by default, as it is (ignite/metrics/metric.py of 0.5.3).
IGNITE_METRICS = ("ignite.metrics.", "ignite.contrib.metrics.")
LIGHTNING_BASES = frozenset(base for base in MODULE_BASES if base.endswith("LightningModule"))


OPTIMIZER_PREFIXES = (
    "torch.optim.",
    "torch_optimizer.",
    "apex.optimizers.",
    "bitsandbytes.optim.",
    "pytorch_optimizer.",
    "timm.optim.",
    "lion_pytorch.",
)
OTHER_OPTIMIZERS = frozenset(
    {"transformers.AdamW", "transformers.optimization.AdamW", "transformers.Adafactor", "pytorch_transformers.AdamW"}
)
NOT_OPTIMIZERS = ("lr_scheduler", "swa_utils")
# State exists as soon as the optimizer is built.
EAGER_OPTIMIZERS = frozenset({"torch.optim.Adagrad"})
# No state at all unless momentum is asked for.
STATELESS_OPTIMIZERS = frozenset({"torch.optim.SGD"})

WEIGHTED_LOSSES = frozenset(
    "torch.nn." + name
    for name in "CrossEntropyLoss NLLLoss BCELoss BCEWithLogitsLoss MultiMarginLoss MultiLabelSoftMarginLoss NLLLoss2d".split()
)
# Parts of torch.nn that hold no weights and take tensors of one device; an input on the CPU fails against parameters only.
LEAF_MODULES_WITH_WEIGHTS = frozenset(
    "torch.nn." + name
    for name in (
        "Linear Bilinear Embedding EmbeddingBag Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LSTM GRU RNN LSTMCell GRUCell "
        "RNNCell BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm GroupNorm MultiheadAttention Transformer TransformerEncoder TransformerDecoder "
        "TransformerEncoderLayer TransformerDecoderLayer PReLU"
    ).split()
)
# Layers whose `weight` is always a parameter, and those of them whose `bias` is one or None (torch/nn/modules/linear.py, conv.py, sparse.py, activation.py).
LAYERS_WITH_BIAS = frozenset(
    "torch.nn." + name
    for name in "Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d".split()
)
LAYERS_WITH_WEIGHT = LAYERS_WITH_BIAS | {"torch.nn.Embedding", "torch.nn.EmbeddingBag", "torch.nn.PReLU"}
# Layers that hold something where one of these arguments says so: its keyword, its place and its default.
_AFFINE, _TRACKED = ("affine", 3), ("track_running_stats", 4)
SWITCHES: dict[str, tuple[tuple[str, int, bool], ...]] = {
    **dict.fromkeys(("torch.nn.LayerNorm", "torch.nn.RMSNorm"), (("elementwise_affine", 2, True),)),
    "torch.nn.GroupNorm": ((*_AFFINE, True),),
    **{f"torch.nn.InstanceNorm{n}d": ((*_AFFINE, False), (*_TRACKED, False)) for n in (1, 2, 3)},
    **{f"torch.nn.BatchNorm{n}d": ((*_AFFINE, True), (*_TRACKED, True)) for n in (1, 2, 3)},
}
# Masks that are not read where they are causal and nothing is padded, by place and keyword (torch/nn/modules/transformer.py).
CAUSAL_MASKS: dict[str, tuple[int | str, ...]] = {
    "torch.nn.TransformerEncoder": (1, "mask"),
    "torch.nn.TransformerDecoder": (2, "tgt_mask"),
    "torch.nn.Transformer": (2, "src_mask", 3, "tgt_mask"),
}
# Hold neither parameters nor buffers (a loss: without weights): to move one does nothing, on no machine. Found by making each class of torch.nn 2.13.
EMPTY_MODULES = frozenset(
    "torch.nn." + name
    for name in (
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d "
        "AvgPool3d BCELoss BCEWithLogitsLoss CELU CTCLoss ChannelShuffle CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d "
        "ConstantPad3d CosineEmbeddingLoss CosineSimilarity CrossEntropyLoss CrossMapLRN2d Dropout Dropout1d Dropout2d Dropout3d ELU "
        "FeatureAlphaDropout Flatten Fold FractionalMaxPool2d FractionalMaxPool3d GELU GLU GaussianNLLLoss Hardshrink Hardsigmoid Hardswish Hardtanh "
        "HingeEmbeddingLoss HuberLoss Identity KLDivLoss L1Loss LPPool1d LPPool2d LPPool3d LeakyReLU LocalResponseNorm LogSigmoid LogSoftmax MSELoss "
        "MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish MultiLabelMarginLoss MultiLabelSoftMarginLoss "
        "MultiMarginLoss NLLLoss NLLLoss2d PairwiseDistance PixelShuffle PixelUnshuffle PoissonNLLLoss RReLU ReLU ReLU6 ReflectionPad1d ReflectionPad2d "
        "ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU SiLU Sigmoid SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin "
        "Softplus Softshrink Softsign Tanh Tanhshrink Threshold TripletMarginLoss TripletMarginWithDistanceLoss Unflatten Unfold Upsample "
        "UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d"
    ).split()
)
# The submodules of layers, by attribute (torch/nn/modules/activation.py, transformer.py, adaptive.py); those of a stack are copies of what it is given.
_FEED_FORWARD = {"self_attn": "MultiheadAttention", **dict.fromkeys(("linear1", "linear2"), "Linear")}
_NORMS = {"norm1": "LayerNorm", "norm2": "LayerNorm", **dict.fromkeys(("dropout", "dropout1", "dropout2"), "Dropout")}
_DECODER = {"multihead_attn": "MultiheadAttention", "norm3": "LayerNorm", "dropout3": "Dropout"}
SUBMODULES: dict[str, dict[str, str]] = {
    "torch.nn." + name: {attribute: "torch.nn." + cls for attribute, cls in held.items()}
    for name, held in {
        "MultiheadAttention": {"out_proj": "Linear"},
        "TransformerEncoderLayer": {**_FEED_FORWARD, **_NORMS},
        "TransformerDecoderLayer": {**_FEED_FORWARD, **_NORMS, **_DECODER},
        "TransformerEncoder": {"layers": "ModuleList"},
        "TransformerDecoder": {"layers": "ModuleList"},
        "Transformer": {"encoder": "TransformerEncoder", "decoder": "TransformerDecoder"},
        "AdaptiveLogSoftmaxWithLoss": {"head": "Linear", "tail": "ModuleList"},
    }.items()
}
STACKS = {
    "torch.nn.TransformerEncoder": ("encoder_layer", "torch.nn.TransformerEncoderLayer"),
    "torch.nn.TransformerDecoder": ("decoder_layer", "torch.nn.TransformerDecoderLayer"),
}
# Wrappers that bring inputs to the right device themselves (torch/nn/parallel), or replicate modules.
INPUT_MOVERS = frozenset(
    {
        "torch.nn.DataParallel",
        "torch.nn.parallel.DataParallel",
        "torch.nn.parallel.data_parallel.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
        "torch.nn.parallel.distributed.DistributedDataParallel",
        "torch.distributed.fsdp.FullyShardedDataParallel",
        "apex.parallel.DistributedDataParallel",
    }
)
PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.UninitializedParameter"})
BUFFERS = frozenset({"torch.nn.Buffer", "torch.nn.parameter.Buffer"})
LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})

_HF = r"(?:transformers|pytorch_transformers|pytorch_pretrained_bert|tokenizers)\."
TOKENIZER = re.compile(_HF + r"(?:.*\.)?\w*(?:Tokenizer|TokenizerFast|Processor|FeatureExtractor)\Z")
HF_MODEL = re.compile(
    r"(?:transformers|pytorch_transformers|peft)\.(?:.*\.)?(?:AutoModel\w*|AutoPeftModel\w*|\w+(?:Model|ForCausalLM|ForSequenceClassification|ForMaskedLM|"
    r"ForTokenClassification|ForQuestionAnswering|ForConditionalGeneration|LMHeadModel|ForImageClassification|ForCTC|Vision2Seq|ForVision2Seq|PreTrainedModel))\Z"
)


def is_optimizer(name: str) -> bool:
    """True for the dotted name of an optimizer class."""
    if name in OTHER_OPTIMIZERS:
        return True
    if not name.startswith(OPTIMIZER_PREFIXES):
        return False
    last = name.rpartition(".")[2]
    return last[:1].isupper() and not any(part in name for part in NOT_OPTIMIZERS)


def is_module_class(name: str) -> bool:
    """True for the dotted name of a class of torch.nn (or of torchvision and timm's factories) whose instances are modules."""
    if name.startswith("torch.nn."):
        last = name.rpartition(".")[2]
        return last[:1].isupper() and name not in PARAMETERS and name not in BUFFERS and last not in ("PackedSequence",)
    if name.startswith(("torchvision.models.", "segmentation_models_pytorch.")):
        last = name.rpartition(".")[2]
        return not last.isupper() and not last.endswith("_Weights") and not last.startswith(("get_", "list_"))
    return name in ("timm.create_model", "torch.hub.load") or (
        name.startswith("torchmetrics.") and name.rpartition(".")[2][:1].isupper()
    )


# By which names models of PyTorch and of transformers are given the tensors that they compute with.
MODEL_INPUTS = frozenset(
    "input input_ids inputs inputs_embeds attention_mask token_type_ids position_ids pixel_values labels decoder_input_ids decoder_attention_mask "
    "decoder_inputs_embeds encoder_hidden_states encoder_attention_mask hidden_states head_mask input_features input_values mask masks x y z t time "
    "timestep timesteps sample samples image images img imgs src tgt target targets query key value context cond condition noise latents states state "
    "edge_index edge_attr edge_weight node_features features adj audio waveform mel text tokens".split()
)
