import numpy as np
import torch


class SegmentTree():
    def __init__(self, size):
        self.index = 0
        self.size = size
        self.full = False
        self.tree_start = 2 ** (size - 1).bit_length() - 1
        self.sum_tree = np.zeros((self.tree_start + size,), dtype=np.float32)
        self.data = [None] * size
        self.max = 1.0

    def update(self, tree_index, value):
        self.sum_tree[tree_index] = value
        while tree_index > 0:
            tree_index = (tree_index - 1) // 2
            left = 2 * tree_index + 1
            right = self.sum_tree[left + 1] if left + 1 < len(self.sum_tree) else 0
            self.sum_tree[tree_index] = self.sum_tree[left] + right
        self.max = max(self.max, value)

    def append(self, data, value):
        self.data[self.index] = data
        self.update(self.index + self.tree_start, value)
        self.index = (self.index + 1) % self.size
        self.full = self.full or self.index == 0

    def find(self, value):
        i = 0
        while 2 * i + 1 < len(self.sum_tree):
            left = 2 * i + 1
            if value <= self.sum_tree[left]:
                i = left
            else:
                value -= self.sum_tree[left]
                i = left + 1
        return self.sum_tree[i], i - self.tree_start, i

    def total(self):
        return self.sum_tree[0]


class ReplayMemory():
    def __init__(self, args, capacity):
        self.device = args.device
        self.capacity = capacity
        self.discount = args.discount
        self.n = args.multi_step
        self.priority_weight = args.priority_weight
        self.priority_exponent = args.priority_exponent
        self.transitions = SegmentTree(capacity)

    def append(self, state, action, reward, terminal):
        state = state.to(dtype=torch.float32, device=torch.device('cpu'))
        self.transitions.append((state, action, reward, not terminal), self.transitions.max)

    def _n_step(self, idx):
        R, nonterminal, steps = 0.0, 1.0, 0
        for k in range(self.n):
            _, _, r, alive = self.transitions.data[(idx + k) % self.capacity]
            R += self.discount ** k * r
            steps = k + 1
            if not alive:
                nonterminal = 0.0
                break
        next_state = self.transitions.data[(idx + steps) % self.capacity][0]
        return R, next_state, nonterminal

    def _valid(self, idx):
        held = self.capacity if self.transitions.full else self.transitions.index
        return idx < held and (self.transitions.index - idx) % self.capacity > self.n

    def sample(self, batch_size):
        p_total = self.transitions.total()
        segment = p_total / batch_size
        picked = []
        for i in range(batch_size):
            while True:
                prob, idx, tree_idx = self.transitions.find(np.random.uniform(i * segment, (i + 1) * segment))
                if prob > 0 and self._valid(idx):
                    break
                segment_start = np.random.randint(batch_size)
                prob, idx, tree_idx = self.transitions.find((segment_start + np.random.rand()) * segment)
                if prob > 0 and self._valid(idx):
                    break
            picked.append((prob, idx, tree_idx))
        probs, idxs, tree_idxs = zip(*picked)

        states = torch.stack([self.transitions.data[i][0] for i in idxs]).to(device=self.device)
        actions = torch.tensor([self.transitions.data[i][1] for i in idxs], dtype=torch.int64, device=self.device)
        returns, next_states, nonterminals = zip(*[self._n_step(i) for i in idxs])
        returns = torch.tensor(returns, dtype=torch.float32, device=self.device)
        next_states = torch.stack(next_states).to(device=self.device)
        nonterminals = torch.tensor(nonterminals, dtype=torch.float32, device=self.device).unsqueeze(1)

        probs = np.array(probs, dtype=np.float32) / p_total
        capacity = self.capacity if self.transitions.full else self.transitions.index
        weights = (capacity * probs) ** -self.priority_weight
        weights = torch.tensor(weights / weights.max(), dtype=torch.float32, device=self.device)
        return tree_idxs, states, actions, returns, next_states, nonterminals, weights

    def update_priorities(self, idxs, priorities):
        for idx, priority in zip(idxs, priorities):
            self.transitions.update(idx, (priority + 1e-6) ** self.priority_exponent)
