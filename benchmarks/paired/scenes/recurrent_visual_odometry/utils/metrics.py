import numpy as np


def align_umeyama(src, dst):
    """Rigid alignment of two (N, 3) trajectories."""
    mu_s, mu_d = src.mean(0), dst.mean(0)
    u, _, vt = np.linalg.svd((dst - mu_d).T @ (src - mu_s))
    s = np.eye(3)
    if np.linalg.det(u) * np.linalg.det(vt) < 0:
        s[2, 2] = -1
    r = u @ s @ vt
    return (src - mu_s) @ r.T + mu_d


def ate_rmse(pred_poses, gt_poses):
    p = pred_poses[:, :3, 3].numpy().astype(np.float64)
    g = gt_poses[:, :3, 3].numpy().astype(np.float64)
    return float(np.sqrt(((align_umeyama(p, g) - g) ** 2).sum(-1).mean()))
