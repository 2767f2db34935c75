from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

import processors


@dataclass
class SamplingConfig:
    max_tokens: int = 12
    num_samples: int = 2
    seed: int = 0
    greedy: bool = False
    processors: list = field(default_factory=list)

    @classmethod
    def from_dict(cls, raw):
        return cls(**raw)


@contextmanager
def evaluating(model):
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield model
    finally:
        model.train(was_training)


class RandomSource:
    """Independent, reproducible streams of random numbers, one for every purpose."""

    def __init__(self, seed, device):
        self.seed = seed
        self.device = torch.device(device)
        self._streams = {}

    def stream(self, purpose):
        if purpose not in self._streams:
            generator = torch.Generator(device=self.device)
            generator.manual_seed(self.seed + sum(map(ord, purpose)))
            self._streams[purpose] = generator
        return self._streams[purpose]


class Sampler:
    def __init__(self, model, config):
        self.model = model
        self.config = config
        self.chain = processors.build(config.processors)
        device = next(model.parameters()).device
        self.random = RandomSource(config.seed, device)

    def _choose(self, logits):
        if self.config.greedy:
            return logits.argmax(-1)
        probs = logits.softmax(-1)
        return torch.multinomial(probs, 1, generator=self.random.stream("tokens")).squeeze(1)

    def generate(self, images):
        with evaluating(self.model) as model:
            images = images.repeat_interleave(self.config.num_samples, dim=0)
            state, history = model.start(images)
            finished = torch.zeros(len(images), dtype=torch.bool, device=history.device)
            logprob = state.new_zeros(len(images))
            for _ in range(self.config.max_tokens):
                logits, state = model.step(history[:, -1], state)
                for process in self.chain:
                    logits = process(logits, history)
                token = self._choose(logits)
                token = torch.where(finished, model.EOS, token)
                gain = logits.log_softmax(-1).gather(1, token[:, None]).squeeze(1)
                logprob = logprob + gain.masked_fill(finished, 0.0)
                history = torch.cat([history, token[:, None]], dim=1)
                finished |= token == model.EOS
                if finished.all():
                    break
        shape = (-1, self.config.num_samples)
        return history[:, 1:].cpu().unflatten(0, shape), logprob.cpu().view(shape)
