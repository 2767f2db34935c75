# DAgger on a grid world with walls: the expert is breadth first search
import argparse
import collections
import random

import torch
import torch.nn as nn
import torch.utils.data as data

MOVES = [(0, 1), (0, -1), (1, 0), (-1, 0)]


class GridWorld:
    def __init__(self, size, wall_prob, rnd):
        self.size = size
        self.rnd = rnd
        self.wall_prob = wall_prob

    def reset(self):
        while True:
            self.walls = {(r, c) for r in range(self.size) for c in range(self.size)
                          if self.rnd.random() < self.wall_prob}
            free = [(r, c) for r in range(self.size) for c in range(self.size) if (r, c) not in self.walls]
            self.agent, self.goal = self.rnd.sample(free, 2)
            self.dist = self._distances()
            if self.agent in self.dist:
                return self.observe()

    def _inside(self, cell):
        return 0 <= cell[0] < self.size and 0 <= cell[1] < self.size and cell not in self.walls

    def _distances(self):
        dist = {self.goal: 0}
        queue = collections.deque([self.goal])
        while queue:
            cur = queue.popleft()
            for dr, dc in MOVES:
                nxt = (cur[0] + dr, cur[1] + dc)
                if self._inside(nxt) and nxt not in dist:
                    dist[nxt] = dist[cur] + 1
                    queue.append(nxt)
        return dist

    def observe(self):
        x = torch.zeros(3, self.size, self.size)
        for r, c in self.walls:
            x[0, r, c] = 1
        x[1, self.agent[0], self.agent[1]] = 1
        x[2, self.goal[0], self.goal[1]] = 1
        return x

    def expert(self):
        def cost(i):
            cell = (self.agent[0] + MOVES[i][0], self.agent[1] + MOVES[i][1])
            return self.dist.get(cell, 10 ** 6) if self._inside(cell) else 10 ** 6
        return min(range(4), key=cost)

    def step(self, a):
        nxt = (self.agent[0] + MOVES[a][0], self.agent[1] + MOVES[a][1])
        if self._inside(nxt):
            self.agent = nxt
        return self.observe(), self.agent == self.goal


class ConvPolicy(nn.Module):
    def __init__(self, size, n_actions=4):
        super(ConvPolicy, self).__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1)
        self.fc = nn.Linear(8 * size * size, n_actions)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        return self.fc(x.flatten(1))


def collect(env, policy, beta, episodes, max_steps, rnd):
    """roll out the mixture of expert and learner, label all states by the expert"""
    observations, labels = [], []
    success = 0
    policy.eval()
    for _ in range(episodes):
        obs = env.reset()
        for _ in range(max_steps):
            label = env.expert()
            observations.append(obs)
            labels.append(label)
            if rnd.random() < beta:
                action = label
            else:
                with torch.no_grad():
                    p = next(policy.parameters())
                    action = policy(obs.unsqueeze(0).to(p.device)).argmax(1).item()
            obs, done = env.step(action)
            if done:
                success += 1
                break
    return torch.stack(observations), torch.tensor(labels), success / episodes


def fit(policy, dataset, optimizer, device, epochs=2, batch_size=32):
    policy.train()
    criterion = nn.CrossEntropyLoss()
    loader = data.DataLoader(dataset, batch_size=batch_size, shuffle=True)
    total = correct = 0
    for _ in range(epochs):
        for obs, expert_action in loader:
            obs, expert_action = obs.to(device), expert_action.to(device)
            logits = policy(obs)
            loss = criterion(logits, expert_action)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            correct += (logits.argmax(1) == expert_action).sum().item()
            total += len(obs)
    return correct / total


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--size', type=int, default=6)
    parser.add_argument('--rounds', type=int, default=4)
    parser.add_argument('--episodes', type=int, default=6)
    opt = parser.parse_args()

    torch.manual_seed(0)
    rnd = random.Random(0)
    device = torch.device('cuda:0') if torch.cuda.is_available() else torch.device('cpu')
    env = GridWorld(opt.size, 0.15, rnd)
    policy = ConvPolicy(opt.size).to(device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)

    datasets = []
    for i in range(opt.rounds):
        obs, labels, success = collect(env, policy, 0.5 ** i, opt.episodes, 4 * opt.size, rnd)
        datasets.append(data.TensorDataset(obs, labels))
        acc = fit(policy, data.ConcatDataset(datasets), optimizer, device)
        print('round {} | states {:4d} | success {:.2f} | accuracy {:.3f}'.format(
            i, sum(len(d) for d in datasets), success, acc))
