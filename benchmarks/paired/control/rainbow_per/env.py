import random

import torch


class Corridor():
    """Walk right to the end of a corridor; the first cell gives a small distraction."""

    def __init__(self, args, length=8):
        self.device = args.device
        self.length = length
        self.rng = random.Random(args.seed)

    def _state(self):
        s = torch.zeros(self.length + 1, device=self.device)
        s[self.pos] = 1
        s[-1] = self.t / 40
        return s

    def reset(self):
        self.pos, self.t = self.length // 3, 0
        return self._state()

    def step(self, action):
        if self.rng.random() < 0.1:
            action = 1 - action
        self.pos = max(0, min(self.length - 1, self.pos + (1 if action == 1 else -1)))
        self.t += 1
        reward = 1.0 if self.pos == self.length - 1 else (0.05 if self.pos == 0 else -0.01)
        done = self.pos == self.length - 1 or self.t >= 40
        return self._state(), reward, done

    def action_space(self):
        return 2

    def observation_size(self):
        return self.length + 1
