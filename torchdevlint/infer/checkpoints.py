"""Files of weights: what public frameworks write into them, and by which words programs speak of them."""

from __future__ import annotations

import re

# Frameworks that save every tensor with `.cpu()`, by the key under which their files keep the weights:
# BasicSR (basicsr/models/base_model.py, `save_network`: `state_dict[key] = param.cpu()`; the keys are its `param_key`), on which Real-ESRGAN, GFPGAN,
# CodeFormer ("params_d" is its discriminator: basicsr/archs/vqgan_arch.py) and Restormer are built.
HOST_KEYS = frozenset({"params", "params_ema", "params_d"})

# Weights and the state of a training run.
CHECKPOINT = re.compile(
    r"model|net(?![a-z])|(?<![a-z])net|chkp|ckp|checkpoint|state|weight|param|pretrain|trained|snapshot|resume|restore|optim|actor|critic|policy"
    r"|generator|discriminator|encoder|decoder|backbone|(?<![a-z])ema(?![a-z])|agent|lora|adapter|teacher|student|best|epoch|unet|(?<![a-z])vae",
    re.IGNORECASE,
)
# Counters, and with them settings, that stand beside the weights in such a file.
COUNTS = frozenset("epoch step steps global_step iter iteration iterations".split())
COUNTERS = COUNTS | frozenset("args config cfg hparams arch version".split())
# Whose `state_dict()` holds plain values, by the last word of its name (torch/amp/grad_scaler.py, torch/optim/lr_scheduler.py).
PLAIN_STATE = re.compile(r"(?:scaler|scheduler|sched|dataloader|loader|sampler)\Z", re.IGNORECASE)
# What the CPU makes: samples and what is measured or counted over them.
DATA = re.compile(
    r"data|feat|embed|(?<![a-z])emb(?![a-z])|cache|statistic|stats|(?<![a-z])ids?(?![a-z])|ind(?:ex|ices)|meta|graph|docs?(?![a-z])|document|vector|latent"
    r"|caption|result|tensor|sample|batch|speaker|voice|profile|vocab|label|score|pred|mask|image|audio|wav|(?<![a-z])mels?(?![a-z])|triple|row(?![a-z])|replay|metric",
    re.IGNORECASE,
)
# What is measured of a model and kept beside its weights, as numbers, and who writes it down.
MEASURED = re.compile(r"metric|result|score|loss|acc(?![a-z])|accuracy|logger", re.IGNORECASE)
# Methods that a module has and a tensor or a dict has not.
MODULE_METHODS = frozenset(
    "eval train parameters named_parameters state_dict load_state_dict modules named_modules children zero_grad requires_grad_".split()
)
# Methods that a tensor has and neither a module nor a dict.
TENSOR_METHODS = frozenset(
    "numpy tolist item unsqueeze squeeze transpose permute view reshape repeat expand mean sum size dim numel".split()
)
