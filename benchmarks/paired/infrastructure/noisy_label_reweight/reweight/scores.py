import numpy as np
import torch


class SampleScores:
    """How far each training sample is to be trusted.

    Kept in numpy since the report and the pandas export read it too. A sample whose
    label the model keeps contradicting loses weight, down to `floor`.
    """

    def __init__(self, n, device, decay=0.5, floor=0.02):
        self.device = device
        self.decay = decay
        self.floor = floor
        self.trust = np.ones(n, dtype=np.float32)

    def weights(self, index):
        """Loss weights of a batch, on the training device."""
        table = torch.from_numpy(self.trust).to(self.device)
        return table[index]

    def update(self, index, agreement):
        """index, agreement: arrays; agreement is the probability of the given label."""
        old = self.trust[index]
        new = self.decay * old + (1 - self.decay) * agreement.astype(np.float32)
        self.trust[index] = np.maximum(new, self.floor)

    def summary(self, noisy):
        return "trust clean %.2f noisy %.2f" % (self.trust[~noisy].mean(), self.trust[noisy].mean())
