import logging
import os

import torch

logger = logging.getLogger(__name__)


class Callback:
    def on_step(self, trainer):
        pass

    def on_episode_end(self, trainer, ret):
        pass


class LossLogger(Callback):
    def __init__(self, every=5):
        self.every = every
        self.returns = []

    def on_episode_end(self, trainer, ret):
        self.returns.append(ret)
        if len(self.returns) % self.every == 0:
            recent = sum(self.returns[-self.every:]) / self.every
            logger.info("episode %d  return %.3f  loss %.4f", len(self.returns), recent, trainer.last_loss)


class EvalAndCheckpoint(Callback):
    """Greedy evaluation every few episodes; single-observation forwards are faster on the host."""

    def __init__(self, eval_env, folder, every=4, n_episodes=2, min_delta=0.0):
        self.eval_env = eval_env
        self.folder = folder
        self.every = every
        self.n_episodes = n_episodes
        self.min_delta = min_delta
        self.best = float("-inf")
        self.count = 0

    def _rollout(self, agent):
        obs, done, total = self.eval_env.reset(), False, 0.0
        while not done:
            obs, reward, done = self.eval_env.step(agent.act(obs))
            total += reward
        return total

    def on_episode_end(self, trainer, ret):
        self.count += 1
        if self.count % self.every:
            return
        agent = trainer.agent
        agent.q.eval().to("cpu")
        score = sum(self._rollout(agent) for _ in range(self.n_episodes)) / self.n_episodes
        if score > self.best + self.min_delta:
            self.best = score
            path = os.path.join(self.folder, "best.pt")
            torch.save({"q": agent.q.state_dict(), "score": score}, path)
            logger.info("new best %.3f -> %s", score, path)
        agent.q.train().to(agent.device)
