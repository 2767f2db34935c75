import random
from collections import deque

import torch as th


class EpisodeBuffer:
    def __init__(self, size):
        self.episodes = deque(maxlen=size)

    def insert(self, episode):
        self.episodes.append({k: th.as_tensor(v) for k, v in episode.items()})

    def can_sample(self, batch_size):
        return len(self.episodes) >= batch_size

    def sample(self, batch_size, device):
        chosen = random.sample(list(self.episodes), batch_size)
        return {k: th.stack([e[k] for e in chosen]).to(device) for k in chosen[0]}
