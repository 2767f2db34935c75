import math

from torch.optim.lr_scheduler import LambdaLR


def one_cycle(optimizer, peak, total_steps, warm=0.3):
    for g in optimizer.param_groups:
        g["lr"] = g["initial_lr"] = peak

    def scale(step):
        up = max(1, int(total_steps * warm))
        if step < up:
            return 0.1 + 0.9 * step / up
        t = (step - up) / max(1, total_steps - up)
        return 0.5 * (1 + math.cos(math.pi * min(1.0, t)))

    return LambdaLR(optimizer, scale)
