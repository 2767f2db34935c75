import argparse
from dataclasses import dataclass, field, fields
from typing import Optional

import torch


@dataclass
class Params:
    n_items: int = 6
    n_weeks: int = 52
    context: int = 8
    horizon: int = 3
    emb_dim: int = 4
    lstm_hidden: int = 16
    lstm_layers: int = 2
    dropout: float = 0.1
    batch_size: int = 48
    epochs: int = 2
    lr: float = 5e-3
    samples: int = 10
    seed: int = 1
    device: Optional[torch.device] = field(default=None)


def from_cli() -> Params:
    parser = argparse.ArgumentParser()
    for f in fields(Params):
        if f.name != 'device':
            parser.add_argument('--' + f.name.replace('_', '-'), type=type(f.default), default=f.default)
    parser.add_argument('--no-cuda', action='store_true')
    ns = vars(parser.parse_args())
    no_cuda = ns.pop('no_cuda')
    params = Params(**ns)
    params.device = torch.device('cuda' if torch.cuda.is_available() and not no_cuda else 'cpu')
    return params
