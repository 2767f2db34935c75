"""Pipelines of generators: source | stage | stage, started anew by each iteration."""
import functools


class Pipeline:
    def __init__(self, source, stages=()):
        self.source = source
        self.stages = tuple(stages)

    def __or__(self, step):
        return Pipeline(self.source, self.stages + (step,))

    def __iter__(self):
        flow = iter(self.source())
        for step in self.stages:
            flow = step(flow)
        return flow


def stage(fn):
    """Makes stage(options)(flow) from a generator function fn(flow, options)."""
    @functools.wraps(fn)
    def make(*args, **kwargs):
        return lambda flow: fn(flow, *args, **kwargs)
    return make
