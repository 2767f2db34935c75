import torch


def skew(v):
    z = torch.zeros_like(v[..., 0])
    x, y, w = v.unbind(-1)
    return torch.stack([z, -w, y, w, z, -x, -y, x, z], dim=-1).view(*v.shape[:-1], 3, 3)


def so3_exp(phi):
    theta = phi.norm(dim=-1, keepdim=True).clamp_min(1e-8)[..., None]
    k = skew(phi)
    eye = torch.eye(3, dtype=phi.dtype, device=phi.device)
    return eye + (theta.sin() / theta) * k + ((1 - theta.cos()) / theta ** 2) * (k @ k)


def pose_vec_to_mat(vec):
    """(..., 6) [translation, axis-angle] -> (..., 4, 4)."""
    mat = torch.zeros(*vec.shape[:-1], 4, 4, dtype=vec.dtype, device=vec.device)
    mat[..., :3, :3] = so3_exp(vec[..., 3:])
    mat[..., :3, 3] = vec[..., :3]
    mat[..., 3, 3] = 1.0
    return mat


def integrate(rel):
    """(T, 4, 4) relative motions -> (T + 1, 4, 4) poses in the first frame."""
    pose = torch.eye(4, dtype=rel.dtype, device=rel.device)
    out = [pose]
    for m in rel:
        pose = pose @ m
        out.append(pose)
    return torch.stack(out)
