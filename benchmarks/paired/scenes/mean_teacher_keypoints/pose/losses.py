import torch


def joints_mse(pred, target, weight):
    """weight: (B, K), zero for joints that are not seen or not labelled."""
    err = (pred - target).pow(2).mean(dim=(2, 3))
    return (err * weight).sum() / weight.sum().clamp_min(1.0)


def flip_consistency(student_out, teacher_out_flipped):
    return (student_out - torch.flip(teacher_out_flipped, dims=[3])).pow(2).mean()


def rampup(step, length):
    if step >= length:
        return 1.0
    return float(torch.exp(-5.0 * torch.tensor(1.0 - step / length) ** 2))
