"""Reference solution of u_t + u u_x = nu u_xx on [-1, 1] (finite differences, NumPy)."""
import numpy as np
from scipy.stats import qmc


def solve_burgers(p):
    x = np.linspace(-1.0, 1.0, p.nx)
    dx, dt = x[1] - x[0], p.t_max / p.nt
    u = -np.sin(np.pi * x)
    frames = [u.copy()]
    for _ in range(p.nt):
        ux = np.zeros_like(u)
        uxx = np.zeros_like(u)
        ux[1:-1] = (u[2:] - u[:-2]) / (2 * dx)
        uxx[1:-1] = (u[2:] - 2 * u[1:-1] + u[:-2]) / dx**2
        u = u + dt * (p.nu * uxx - u * ux)
        u[0] = u[-1] = 0.0
        frames.append(u.copy())
    t = np.linspace(0.0, p.t_max, p.nt + 1)
    return x, t, np.stack(frames)


def draw_measurements(x, t, u, n, noise, rng):
    ti = rng.integers(0, len(t), n)
    xi = rng.integers(0, len(x), n)
    obs = u[ti, xi] * (1.0 + noise * rng.standard_normal(n))
    return np.stack([t[ti], x[xi]], 1).astype(np.float32), obs.astype(np.float32)[:, None]


def collocation(n, t_max, seed):
    pts = qmc.LatinHypercube(d=2, seed=seed).random(n)
    return qmc.scale(pts, [0.0, -1.0], [t_max, 1.0]).astype(np.float32)
