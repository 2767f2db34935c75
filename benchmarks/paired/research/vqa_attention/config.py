import json

DEFAULTS = {
    'model': 'stacked_attention',
    'emb_dim': 16,
    'hid_dim': 16,
    'glimpses': 2,
    'batch_size': 16,
    'epochs': 2,
    'lr': 3e-3,
    'grad_clip': 0.25,
    'num_answers': 12,
    'seed': 1204,
}


def load_config(path=None, **overrides):
    cfg = dict(DEFAULTS)
    if path:
        with open(path) as f:
            cfg.update(json.load(f))
    cfg.update({k: v for k, v in overrides.items() if v is not None})
    return cfg
