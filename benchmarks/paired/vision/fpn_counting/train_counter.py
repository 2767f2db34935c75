import torch
import torch.nn.functional as F

from fpn.counter import DensityCounter
from fpn.scenes import make_batch


def device_of(module):
    return next(module.parameters()).device


def level_loss(pred, density):
    """Sum-pool the density map to the resolution of the prediction."""
    factor = density.shape[-1] // pred.shape[-1]
    pooled = F.avg_pool2d(density, factor) * factor ** 2
    return F.mse_loss(pred, pooled)


def step(model, images, densities):
    dev = device_of(model)
    images, densities = images.to(dev), densities.to(dev)
    preds = model(images)
    loss = sum(level_loss(p, densities) for p in preds.values())
    counts = preds["p2"].sum(dim=(1, 2, 3))
    mae = (counts - densities.sum(dim=(1, 2, 3))).abs().mean()
    return loss, mae


def main(iters=8, batch=8):
    torch.manual_seed(0)
    model = DensityCounter()
    if torch.cuda.is_available():
        model = model.cuda()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for it in range(iters):
        loss, mae = step(model, *make_batch(batch, seed=it))
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("iter %d loss %.4f mae %.2f" % (it, loss.item(), mae.item()))

    model.eval()
    with torch.no_grad():
        _, mae = step(model, *make_batch(16, seed=999))
    print("held-out mae %.2f" % mae.item())


if __name__ == "__main__":
    main()
