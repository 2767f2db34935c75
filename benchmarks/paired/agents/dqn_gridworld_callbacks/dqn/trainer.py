class Trainer:
    def __init__(self, env, agent, buffer, batch_size=32, warmup=64, callbacks=()):
        self.env = env
        self.agent = agent
        self.buffer = buffer
        self.batch_size = batch_size
        self.warmup = warmup
        self.callbacks = list(callbacks)
        self.last_loss = float("nan")
        self.total_steps = 0

    def _epsilon(self):
        return max(0.1, 1.0 - self.total_steps / 300.0)

    def fit(self, episodes):
        for _ in range(episodes):
            obs, done, ret = self.env.reset(), False, 0.0
            while not done:
                action = self.agent.act(obs, self._epsilon())
                next_obs, reward, done = self.env.step(action)
                self.buffer.push(obs, action, reward, next_obs, done)
                obs = next_obs
                ret += reward
                self.total_steps += 1
                if len(self.buffer) >= self.warmup:
                    self.last_loss = self.agent.update(self.buffer.sample(self.batch_size))
                for cb in self.callbacks:
                    cb.on_step(self)
            for cb in self.callbacks:
                cb.on_episode_end(self, ret)
