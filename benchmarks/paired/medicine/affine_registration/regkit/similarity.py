METRICS = {}


def metric(fn):
    METRICS[fn.__name__] = fn
    return fn


@metric
def mse(a, b):
    return ((a - b) ** 2).mean()


@metric
def ncc(a, b, eps=1e-5):
    a, b = a - a.mean(), b - b.mean()
    return 1 - (a * b).sum() / ((a * a).sum().sqrt() * (b * b).sum().sqrt() + eps)
