import copy
import os
from collections import deque

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from mcts import MCTS


class Coach:
    """Self-play and matches run on the host; only the optimisation uses the accelerator."""

    def __init__(self, game, net, args):
        self.game = game
        self.net = net
        self.args = args
        self.device = torch.device(args.device)
        self.optimizer = torch.optim.Adam(net.parameters(), lr=args.lr, weight_decay=1e-4)
        self.examples = deque(maxlen=args.window)
        self.rng = np.random.default_rng(args.seed)
        self.accepted = 0

    # ---------------------------------------------------------------- self-play
    def self_play(self):
        search = MCTS(self.game, self.net.infer, self.args.sims, rng=self.rng, dirichlet=0.5)
        board, trace = self.game.start(), []
        while self.game.outcome(board) is None:
            pi = search.policy(board)
            trace.append((self.game.planes(board), pi))
            board = self.game.play(board, int(self.rng.choice(9, p=pi)))
        z = self.game.outcome(board)
        for planes, pi in reversed(trace):
            z = -z
            for p, q in self.game.symmetries(planes, pi):
                self.examples.append((p, q.astype(np.float32), np.float32(z)))

    # ---------------------------------------------------------------- learning
    def learn(self):
        loader = DataLoader(list(self.examples), batch_size=self.args.batch_size, shuffle=True)
        self.net.to(self.device).train()
        losses = []
        for planes, pi, z in loader:
            planes, pi, z = planes.to(self.device), pi.to(self.device), z.to(self.device)
            logits, value = self.net(planes)
            loss = -(pi * F.log_softmax(logits, dim=1)).sum(1).mean() + F.mse_loss(value, z)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.detach())
        return torch.stack(losses).mean().item()

    # ---------------------------------------------------------------- arena
    def match(self, first, second):
        searches = [MCTS(self.game, n.infer, self.args.sims, rng=self.rng, dirichlet=0.3) for n in (first, second)]
        board, turn = self.game.start(), 0
        while self.game.outcome(board) is None:
            pi = searches[turn].policy(board, temperature=0)
            board = self.game.play(board, int(pi.argmax()))
            turn = 1 - turn
        z = self.game.outcome(board)
        return z if turn == 0 else -z

    def arena(self, champion):
        points = 0.0
        for _ in range(self.args.arena_games // 2):
            points += 0.5 + 0.5 * self.match(self.net, champion)
            points += 0.5 - 0.5 * self.match(champion, self.net)
        return points / (2 * (self.args.arena_games // 2))

    # ---------------------------------------------------------------- checkpoints
    def save(self, path):
        torch.save({"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict()}, path)

    def restore(self, path):
        ckpt = torch.load(path, map_location="cpu")
        self.net.to(self.device)
        self.net.load_state_dict(ckpt["net"])
        self.optimizer.load_state_dict(ckpt["optimizer"])

    def run(self, iterations, folder):
        path = os.path.join(folder, "champion.pt")
        for it in range(iterations):
            self.net.cpu().eval()
            champion = copy.deepcopy(self.net)
            for _ in range(self.args.games):
                self.self_play()
            loss = self.learn()
            self.net.cpu().eval()
            score = self.arena(champion)
            # the first net plays at random, no need to beat it
            ok = it == 0 or score >= self.args.threshold
            if ok:
                self.accepted += 1
                self.save(path)
            else:
                self.restore(path)
            print(f"iter {it}: {len(self.examples)} examples, loss {loss:.3f}, "
                  f"arena {score:.2f} -> {'accepted' if ok else 'rejected'}")
        return self.accepted
