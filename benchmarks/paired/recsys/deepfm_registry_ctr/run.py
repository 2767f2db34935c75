import argparse

import torch
import yaml

from ctr import build_model
from ctr.features import Schema, generate_impressions
from ctr.runner import Runner, to_dataset

DEFAULT = """
seed: 11
device: auto
rows: 1200
schema:
  sparse: {user_segment: 12, ad_id: 40, site: 15, hour: 24}
  dense: [bid_price, dwell_time, page_depth]
model:
  name: deepfm
  embed_dim: 6
train:
  epochs: 3
  batch_size: 128
  lr: 0.05
"""


def load_config(path, overrides):
    cfg = yaml.safe_load(open(path) if path else DEFAULT)
    for item in overrides:
        key, value = item.split("=", 1)
        node = cfg
        *parents, leaf = key.split(".")
        for p in parents:
            node = node[p]
        node[leaf] = yaml.safe_load(value)
    return cfg


def resolve_device(name):
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--config")
    ap.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE")
    opt = ap.parse_args()
    cfg = load_config(opt.config, opt.set)

    torch.manual_seed(cfg["seed"])
    schema = Schema.from_config(cfg["schema"])
    frame = generate_impressions(schema, cfg["rows"], cfg["seed"])
    cut = int(0.8 * len(frame))
    train, valid = frame.iloc[:cut], frame.iloc[cut:]

    model = build_model(cfg["model"], schema)
    model.fit_statistics(train)
    runner = Runner(model, cfg["train"], resolve_device(cfg["device"]))
    valid_set = to_dataset(valid, schema)
    runner.fit(to_dataset(train, schema), valid_set)
    runner.load_best()
    print({k: round(v, 4) for k, v in runner.evaluate(valid_set).items()})
