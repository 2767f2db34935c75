"""Fixed-point solvers; ``f`` maps (batch, features) to the same shape."""
import torch

_IDENTITIES = {}


def identity(like, size):
    """An identity matrix fit for ``like``; the solvers ask for the same few all the time."""
    key = (size, like.dtype, like.device)
    if key not in _IDENTITIES:
        _IDENTITIES[key] = torch.eye(size, dtype=like.dtype, device=like.device)
    return _IDENTITIES[key]


def picard(f, z, settings):
    for step in range(1, settings.max_iter + 1):
        new = f(z)
        residual = (new - z).norm() / new.norm().clamp_min(1e-8)
        z = new
        if residual.item() < settings.tol:
            break
    return z, step


def anderson(f, z, settings):
    history_z, history_f = [z], [f(z)]
    z = history_f[0]
    step = 1
    while step < settings.max_iter:
        step += 1
        image = f(z)
        history_z, history_f = (history_z + [z])[-settings.memory:], (history_f + [image])[-settings.memory:]
        residual = (image - z).norm() / image.norm().clamp_min(1e-8)
        if residual.item() < settings.tol:
            return image, step
        zs, fs = torch.stack(history_z, 1), torch.stack(history_f, 1)
        g = fs - zs
        gram = torch.bmm(g, g.transpose(1, 2))
        gram = gram / gram.diagonal(dim1=1, dim2=2).mean(1).clamp_min(1e-12).view(-1, 1, 1)
        system = gram + settings.ridge * identity(gram, gram.shape[1])
        ones = gram.new_ones(gram.shape[0], gram.shape[1], 1)
        alpha = torch.linalg.solve(system, ones)
        alpha = alpha / alpha.sum(1, keepdim=True)
        z = ((1 - settings.beta) * alpha * zs + settings.beta * alpha * fs).sum(1)
    return z, step


SOLVERS = {"picard": picard, "anderson": anderson}


def compare_on_linear(size=8, seed=0, settings=None):
    """Iterations that each solver takes on a small contraction (always on the host)."""
    g = torch.Generator().manual_seed(seed)
    a = torch.randn(size, size, generator=g)
    a = 0.8 * a / torch.linalg.matrix_norm(a, 2)
    b = torch.randn(3, size, generator=g)
    exact = torch.linalg.solve(torch.eye(size) - a, b.T).T
    report = {}
    for name, solver in SOLVERS.items():
        z, steps = solver(lambda u: u @ a.T + b, torch.zeros_like(b), settings)
        report[name] = (steps, (z - exact).abs().max().item())
    return report
