"""Deployment artefacts: batch norms folded into convolutions, float16 storage."""
import copy
import io
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from nets import Residual, WaveNetLite


@dataclass
class Artefact:
    blob: bytes
    max_error: float

    @property
    def kilobytes(self):
        return len(self.blob) / 1024


def fold_norms(model: nn.Module) -> nn.Module:
    for block in model.modules():
        if isinstance(block, Residual) and not isinstance(block.norm, nn.Identity):
            block.conv = fuse_conv_bn_eval(block.conv, block.norm)
            block.norm = nn.Identity()
    return model


def to_deployable(model: nn.Module) -> nn.Module:
    """A host copy in eval mode, the form in which models leave training."""
    return copy.deepcopy(model).cpu().eval()


def compact(state: dict) -> dict:
    return {k: v.half() if v.is_floating_point() else v for k, v in state.items()}


def export(model: nn.Module, example: torch.Tensor) -> Artefact:
    plain = to_deployable(model)
    folded = fold_norms(copy.deepcopy(plain))
    example = example.cpu()
    with torch.no_grad():
        error = (folded(example) - plain(example)).abs().max().item()
    buffer = io.BytesIO()
    torch.save({"config": model.config, "weights": compact(folded.state_dict())}, buffer)
    return Artefact(buffer.getvalue(), error)


def reopen(artefact: Artefact, device="cpu") -> nn.Module:
    content = torch.load(io.BytesIO(artefact.blob), map_location="cpu")
    model = fold_norms(WaveNetLite(**content["config"]).eval())
    model.load_state_dict(content["weights"])
    return model.to(device)
