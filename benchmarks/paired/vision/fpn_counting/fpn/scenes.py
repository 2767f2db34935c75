import torch


def make_scene(size, generator):
    n = int(torch.randint(1, 9, (1,), generator=generator))
    image = 0.1 * torch.randn(3, size, size, generator=generator)
    density = torch.zeros(1, size, size)
    pos = torch.randint(2, size - 2, (n, 2), generator=generator)
    for y, x in pos.tolist():
        image[:, y - 2:y + 3, x - 2:x + 3] += 0.8
        density[0, y, x] += 1
    return image, density


def make_batch(n, size=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    images, densities = zip(*[make_scene(size, g) for _ in range(n)])
    return torch.stack(images), torch.stack(densities)
