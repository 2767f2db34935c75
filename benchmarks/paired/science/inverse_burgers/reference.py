"""Reference solution of  u_t + l1 u u_x = l2 u_xx  by finite differences."""
import numpy as np


def solve_burgers(l1, l2, nx=101, nt=400, t_end=0.5):
    x = np.linspace(-1, 1, nx)
    dx, dt = x[1] - x[0], t_end / nt
    u = -np.sin(np.pi * x)
    out = [u.copy()]
    for _ in range(nt):
        flux = np.zeros_like(u)
        flux[1:-1] = l1 * u[1:-1] * (u[2:] - u[:-2]) / (2 * dx)
        diff = np.zeros_like(u)
        diff[1:-1] = l2 * (u[2:] - 2 * u[1:-1] + u[:-2]) / dx ** 2
        u = u + dt * (diff - flux)
        u[0] = u[-1] = 0.0
        out.append(u.copy())
    return x, np.linspace(0, t_end, nt + 1), np.array(out)


def observations(n, l1, l2, noise=0.0, seed=0):
    rng = np.random.RandomState(seed)
    x, t, u = solve_burgers(l1, l2)
    i, j = rng.randint(0, len(t), n), rng.randint(0, len(x), n)
    X = np.stack([x[j], t[i]], axis=1)
    U = u[i, j][:, None]
    U = U + noise * U.std() * rng.randn(*U.shape)
    return X.astype(np.float32), U.astype(np.float32)
