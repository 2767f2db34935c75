import torch


class NegativeSampler:
    """Draws node pairs that are not edges of the graph.

    Known edges are hashed to ``src * N + dst`` so that membership is one isin().
    The sampler keeps its own generator, so resuming a run repeats the same negatives.
    """

    def __init__(self, num_nodes, edges, seed=0, device="cpu"):
        self.num_nodes = num_nodes
        self.device = torch.device(device)
        both = torch.cat([edges, edges.flip(0)], dim=1)
        self.known = (both[0] * num_nodes + both[1]).unique().to(self.device)
        self.generator = torch.Generator(device=self.device)
        self.generator.manual_seed(seed)

    def state_dict(self):
        return {"rng": self.generator.get_state()}

    def load_state_dict(self, state):
        self.generator.set_state(state["rng"])

    def sample(self, count, max_tries=10):
        found, missing = [], count
        for _ in range(max_tries):
            pairs = torch.randint(
                self.num_nodes, (2, 2 * missing), generator=self.generator, device=self.device
            )
            code = pairs[0] * self.num_nodes + pairs[1]
            ok = (pairs[0] != pairs[1]) & ~torch.isin(code, self.known)
            pairs = pairs[:, ok][:, :missing]
            found.append(pairs)
            missing -= pairs.size(1)
            if missing == 0:
                break
        return torch.cat(found, dim=1)
