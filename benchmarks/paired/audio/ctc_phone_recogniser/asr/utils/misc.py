import torch


def get_device(prefer_gpu=True):
    if prefer_gpu and torch.cuda.is_available():
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu")


class AverageMeter:
    def __init__(self):
        self.total, self.n = 0.0, 0

    def update(self, value, n=1):
        self.total += float(value) * n
        self.n += n

    @property
    def avg(self):
        return self.total / max(self.n, 1)
