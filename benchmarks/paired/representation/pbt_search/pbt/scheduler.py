import random
from typing import List

from . import hparams
from .worker import Worker


class PBTScheduler:
    def __init__(self, workers: List[Worker], quantile: float, rng: random.Random):
        self.workers = workers
        self.n_cut = max(1, int(quantile * len(workers)))
        self.rng = rng

    def exploit_and_explore(self) -> None:
        ranked = sorted(self.workers, key=lambda w: w.score, reverse=True)
        top, bottom = ranked[: self.n_cut], ranked[-self.n_cut :]
        for loser in bottom:
            winner = self.rng.choice(top)
            if winner.score <= loser.score:
                continue
            loser.restore(winner.path, hparams.explore(winner.hp, self.rng))
            print(f"   worker {loser.wid} <- worker {winner.wid}, lr {loser.hp['lr']:.4f}")

    def run(self, rounds: int, steps: int) -> Worker:
        for r in range(rounds):
            for w in self.workers:
                w.train_slice(steps)
                w.evaluate()
                w.save()
            print(f"round {r}: " + " ".join(f"{w.score:.2f}" for w in self.workers))
            if r < rounds - 1:
                self.exploit_and_explore()
        return max(self.workers, key=lambda w: w.score)
