import torch


def get_device():
    return torch.device('cuda' if torch.cuda.is_available() else 'cpu')


def denorm(x):
    return ((x + 1) / 2).clamp_(0, 1)


def inf_batches(images, batch_size):
    while True:
        for idx in torch.randperm(len(images)).split(batch_size):
            if len(idx) == batch_size:
                yield images[idx]


def gradient_images(n, size):
    """smooth colour gradients, in [-1, 1]"""
    ramp = torch.linspace(-1, 1, size)
    a = torch.rand(n, 3, 1, 1) * 2 - 1
    b = torch.rand(n, 3, 1, 1) * 2 - 1
    return torch.tanh(2 * (a * ramp.view(1, 1, -1, 1) + b * ramp.view(1, 1, 1, -1)))
