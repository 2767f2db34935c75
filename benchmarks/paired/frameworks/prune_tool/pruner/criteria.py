"""Importance scores in numpy: each takes a 2-d weight and gives an array of its shape."""
import numpy as np

CRITERIA = {}


def criterion(fn):
    CRITERIA[fn.__name__] = fn
    return fn


@criterion
def magnitude(weight, rng):
    return np.abs(weight)


@criterion
def row_relative(weight, rng):
    return np.abs(weight) / (np.linalg.norm(weight, axis=1, keepdims=True) + 1e-8)


@criterion
def chance(weight, rng):
    return rng.random(weight.shape)
