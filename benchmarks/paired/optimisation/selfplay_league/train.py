import argparse
import random
from collections import deque

import numpy as np
import torch
import torch.nn.functional as F

import game
from league import League
from mcts import Search
from net import Evaluator, PolicyValueNet


class Learner:
    def __init__(self, device, lr=2e-3):
        self.device = device
        self.net = PolicyValueNet().to(device)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=lr, momentum=0.9)

    def step(self, samples):
        boards, policies, values = zip(*samples)
        x = torch.from_numpy(np.stack(boards)).to(self.device)
        pi = torch.from_numpy(np.stack(policies)).to(self.device)
        z = torch.tensor(values, dtype=torch.float32, device=self.device)
        logits, v = self.net(x)
        loss = -(pi * F.log_softmax(logits, dim=1)).sum(1).mean() + F.mse_loss(v, z)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def self_play(search, rng):
    board, record = game.start(), []
    while game.outcome(board) is None:
        counts = search.visit_counts(board)
        record.append((game.encode(board), counts))
        board = game.play(board, int(rng.choice(game.ACTIONS, p=counts / counts.sum())))
    value, out = game.outcome(board), []
    for encoded, counts in reversed(record):
        value = -value
        out.append((encoded, counts, value))
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--generations", type=int, default=3)
    parser.add_argument("--games", type=int, default=6)
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--simulations", type=int, default=12)
    parser.add_argument("--cpu", action="store_true")
    args = parser.parse_args()

    random.seed(0)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    use_gpu = torch.cuda.is_available() and not args.cpu
    learner = Learner(torch.device("cuda" if use_gpu else "cpu"))
    league = League(args.simulations, rng)
    league.add(learner.net, "random")
    memory = deque(maxlen=2000)
    for generation in range(args.generations):
        search = Search(Evaluator(learner.net), args.simulations, rng=rng)
        for _ in range(args.games):
            memory.extend(self_play(search, rng))
        losses = [learner.step(random.sample(memory, min(32, len(memory))))
                  for _ in range(args.updates)]
        score = league.match(learner.net)
        league.add(learner.net, f"gen{generation}")
        print(f"gen {generation}: loss {np.mean(losses):.3f} score {score:.2f} pool {len(league.members)}")


if __name__ == "__main__":
    main()
