import torch
import torch.nn.functional as F

from .warp import warp


class FlowTrainer:
    def __init__(self, model, device, lr, callbacks=(), photo_weight=0.2, gamma=0.6):
        self.device = device
        self.model = model.to(device)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.opt, 0.9)
        self.callbacks = list(callbacks)
        self.photo_weight = photo_weight
        self.gamma = gamma

    def sequence_loss(self, flows, gt):
        total = 0.0
        for k, f in enumerate(reversed(flows)):
            scale = f.shape[-1] / gt.shape[-1]
            target = F.interpolate(gt, size=f.shape[-2:], mode="area") * scale
            total = total + self.gamma ** k * (f - target).abs().mean()
        return total

    def step(self, batch):
        im1, im2, gt = (x.to(self.device) for x in batch)
        flows = self.model(im1, im2)
        photo = (warp(im2, flows[-1]) - im1).abs().mean()
        loss = self.sequence_loss(flows, gt) + self.photo_weight * photo
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            losses = [self.step(batch) for batch in loader]
            self.scheduler.step()
            logs = {"loss": sum(losses) / len(losses)}
            for cb in self.callbacks:
                cb.on_epoch_end(self, epoch, logs)
            print(f"epoch {epoch}: " + " ".join(f"{k}={v:.4f}" for k, v in logs.items()))
