import numpy as np


class DampedPendulum:
    """Torque-limited pendulum with units chosen badly on purpose (degrees, milli-rad/s)."""

    state_dim, action_dim = 3, 1
    max_torque = 2.0

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.theta = self.rng.uniform(-np.pi, np.pi)
        self.omega = self.rng.uniform(-1, 1)
        return self.observe()

    def observe(self):
        return np.array([100 * np.cos(self.theta), 100 * np.sin(self.theta), 1000 * self.omega], dtype=np.float32)

    def step(self, a):
        a = float(np.clip(a, -self.max_torque, self.max_torque))
        self.omega += 0.05 * (15.0 * np.sin(self.theta) + 3.0 * a - 0.1 * self.omega)
        self.omega = np.clip(self.omega, -8, 8)
        self.theta += 0.05 * self.omega
        return self.observe()


def swingup_cost(obs, act):
    """Works for NumPy arrays and tensors alike."""
    return (1.0 - obs[..., 0] / 100.0) + 0.02 * (obs[..., 2] / 1000.0) ** 2 + 0.001 * act[..., 0] ** 2
