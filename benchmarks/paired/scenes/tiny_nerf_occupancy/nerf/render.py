import torch


def stratified(near, far, n_samples, n_rays, device, perturb=True):
    edges = torch.linspace(near, far, n_samples + 1, device=device)
    lower, upper = edges[:-1], edges[1:]
    u = torch.rand(n_rays, n_samples, device=device) if perturb else 0.5
    return (lower + (upper - lower) * u).expand(n_rays, n_samples)


def composite(sigma, rgb, t, far, white_bg=True):
    delta = torch.cat([t[:, 1:], torch.full_like(t[:, :1], far)], dim=-1) - t
    alpha = 1.0 - torch.exp(-sigma * delta)
    trans = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], -1), -1)[:, :-1]
    weights = alpha * trans
    color = (weights[..., None] * rgb).sum(1)
    depth = (weights * t).sum(1)
    if white_bg:
        color = color + (1 - weights.sum(1, keepdim=True))
    return color, depth, weights


def render_rays(field, grid, origins, dirs, near, far, n_samples=24, perturb=True):
    t = stratified(near, far, n_samples, origins.shape[0], origins.device, perturb)
    pts = origins[:, None] + dirs[:, None] * t[..., None]
    occupied = grid.query(pts)
    sigma = origins.new_zeros(t.shape)
    rgb = origins.new_zeros(*t.shape, 3)
    if occupied.any():
        view = dirs[:, None].expand_as(pts)[occupied]
        s, c = field(pts[occupied], view)
        sigma[occupied] = s
        rgb[occupied] = c
    return composite(sigma, rgb, t, far)


@torch.no_grad()
def render_image(field, grid, origins, dirs, near, far, chunk=128):
    """Rays may live on the host; the frame that comes back always does."""
    device = next(field.parameters()).device
    frames, depths = [], []
    for o, d in zip(origins.split(chunk), dirs.split(chunk)):
        color, depth, _ = render_rays(field, grid, o.to(device), d.to(device), near, far, perturb=False)
        frames.append(color.cpu())
        depths.append(depth.cpu())
    return torch.cat(frames), torch.cat(depths)
