import torch

from .losses import PITLoss, reorder


@torch.inference_mode()
def separate_long(net, mix, chunk=256, device="cpu"):
    """Windowed overlap-add; the output of a whole song is held in RAM."""
    hop = chunk // 2
    window = torch.hann_window(chunk, periodic=True)
    out = torch.zeros(net.n_src, mix.numel() + chunk)
    prev = None
    for start in range(0, mix.numel(), hop):
        piece = mix[start:start + chunk]
        pad = chunk - piece.numel()
        piece = torch.nn.functional.pad(piece, (0, pad))
        est = net(piece.unsqueeze(0).to(device))[0].cpu()
        if prev is not None:
            sim = est[:, :hop] @ prev[:, hop:].T
            est = est[sim.argmax(0)]
        out[:, start:start + chunk] += est * window
        prev = est
    return out[:, :mix.numel()]


@torch.no_grad()
def evaluate(net, loader, device):
    net.eval()
    loss_fn = PITLoss()
    scores, rms = [], []
    for mix, ref in loader:
        est = net(mix.to(device)).cpu()
        loss, perm = loss_fn(est, ref, return_perm=True)
        aligned = reorder(est, perm)
        scores.append(-loss)
        rms.append((aligned - ref).pow(2).mean().sqrt())
    return torch.stack(scores).mean().item(), torch.stack(rms).mean().item()
