class Callback:
    def on_level(self, reg, scale):
        pass

    def on_step(self, reg, loss):
        """Return True to leave the level."""
        return False


class Trace(Callback):
    def __init__(self):
        self.losses = []
        self.thetas = []

    def on_step(self, reg, loss):
        self.losses.append(loss)
        self.thetas.append(reg.theta.detach().cpu().clone())


class EarlyStop(Callback):
    def __init__(self, patience, min_delta=1e-5):
        self.patience, self.min_delta = patience, min_delta

    def on_level(self, reg, scale):
        self.best, self.bad = float("inf"), 0

    def on_step(self, reg, loss):
        if loss < self.best - self.min_delta:
            self.best, self.bad = loss, 0
        else:
            self.bad += 1
        return self.bad >= self.patience
