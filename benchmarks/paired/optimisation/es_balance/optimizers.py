"""Gradient steps for flat numpy vectors, in place."""
import numpy as np


class Base:
    def __init__(self, params, lr, weight_decay=0.0):
        self.params, self.lr, self.weight_decay = params, lr, weight_decay
        self.t = 0

    def direction(self, grad):
        raise NotImplementedError

    def step(self, grad):
        self.t += 1
        grad = grad - self.weight_decay * self.params
        delta = self.lr * self.direction(grad)
        self.params += delta
        return float(np.linalg.norm(delta))


class Momentum(Base):
    def __init__(self, params, lr, weight_decay=0.0, beta=0.9):
        super().__init__(params, lr, weight_decay)
        self.beta, self.v = beta, np.zeros_like(params)

    def direction(self, grad):
        self.v = self.beta * self.v + (1 - self.beta) * grad
        return self.v


class Adam(Base):
    def __init__(self, params, lr, weight_decay=0.0, betas=(0.9, 0.99), eps=1e-8):
        super().__init__(params, lr, weight_decay)
        self.betas, self.eps = betas, eps
        self.m, self.v = np.zeros_like(params), np.zeros_like(params)

    def direction(self, grad):
        b1, b2 = self.betas
        self.m = b1 * self.m + (1 - b1) * grad
        self.v = b2 * self.v + (1 - b2) * grad ** 2
        m, v = self.m / (1 - b1 ** self.t), self.v / (1 - b2 ** self.t)
        return m / (np.sqrt(v) + self.eps)


CHOICES = {"adam": Adam, "momentum": Momentum}
