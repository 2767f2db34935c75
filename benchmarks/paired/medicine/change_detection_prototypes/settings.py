"""Defaults live here, anything can be overridden with dotted keys on the command line."""
import copy

import torch
import yaml

DEFAULTS = yaml.safe_load("""
seed: 5
device: auto
scene:
  tiles: 16
  labelled: 6
  size: 16
  bands: 4
net:
  type: siamese_unet
  width: 8
  embed: 8
loss:
  type: prototype_pseudo
  momentum: 0.7
  temperature: 0.2
  weight: 0.5
  threshold: 0.6
train:
  epochs: 3
  batch: 4
  lr: 0.003
""")


def load_settings(overrides):
    s = copy.deepcopy(DEFAULTS)
    for item in overrides:
        key, value = item.split("=", 1)
        node = s
        *path, last = key.split(".")
        for p in path:
            node = node[p]
        node[last] = yaml.safe_load(value)
    if s["device"] == "auto":
        s["device"] = "cuda" if torch.cuda.is_available() else "cpu"
    return s
