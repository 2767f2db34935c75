import os

import torch


def save_checkpoint(work_dir, model, optimizer, mems, step, position):
    path = os.path.join(work_dir, 'checkpoint-last.pt')
    torch.save({
        'model': model.state_dict(),
        'optimizer': optimizer.state_dict(),
        'mems': mems,
        'step': step,
        'position': position,
    }, path)
    return path


def load_checkpoint(path, model, optimizer, device):
    """Restores the model and the optimizer in place, returns (mems, step, position)."""
    ckpt = torch.load(path, map_location='cpu')
    model.load_state_dict(ckpt['model'])
    optimizer.load_state_dict(ckpt['optimizer'])
    mems = [m.to(device) for m in ckpt['mems']]
    return mems, ckpt['step'], ckpt['position']
