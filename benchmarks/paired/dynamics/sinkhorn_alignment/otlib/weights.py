import math

import torch


_cache = {}


def log_weights_like(points):
    """log(1/n) repeated n times; the same few sizes are asked for over and over."""
    key = (points.size(0), points.dtype, points.device)
    if key not in _cache:
        _cache[key] = points.new_full((points.size(0),), -math.log(points.size(0)))
    return _cache[key]
