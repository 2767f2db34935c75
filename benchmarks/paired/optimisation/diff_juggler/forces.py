import torch

FORCES = []


def force(function):
    FORCES.append(function)
    return function


@force
def body(scene, x, v):
    return scene.constants["gravity"] - scene.constants["drag"] * v


@force
def elastic(scene, x, v):
    springs = scene.springs
    a, b = springs.index.unbind(1)
    delta = x[b] - x[a]
    length = delta.norm(dim=1, keepdim=True).clamp_min(1e-6)
    direction = delta / length
    closing = ((v[b] - v[a]) * direction).sum(1, keepdim=True)
    pull = (springs.stiffness * (length - springs.rest.unsqueeze(1)) + springs.damping * closing) * direction
    return torch.zeros_like(x).index_add(0, a, pull).index_add(0, b, -pull)


@force
def contact(scene, x, v):
    total = torch.zeros_like(x)
    for plane in scene.planes:
        depth = (plane.offset - x @ plane.normal).clamp_min(0).unsqueeze(1)
        speed = (v @ plane.normal).unsqueeze(1)
        push = plane.stiffness * depth - 2.0 * speed * (depth > 0)
        slide = v - speed * plane.normal
        total = total + push.clamp_min(0) * plane.normal - plane.friction * push.detach().clamp(0, 20) * torch.tanh(slide)
    return total


def acceleration(scene, x, v):
    return sum(function(scene, x, v) for function in FORCES)
