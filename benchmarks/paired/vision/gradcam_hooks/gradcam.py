"""Grad-CAM on a small CNN, with forward/backward hooks.

Trains the network for a few steps on synthetic shapes, then writes the class
activation maps for a handful of images into a temporary folder as .npy files.
"""
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

CLASSES = ["square", "cross", "stripe"]


def draw(kind, size=24):
    img = np.random.rand(3, size, size).astype(np.float32) * 0.2
    y, x = np.random.randint(3, size - 11, 2)
    if kind == 0:
        img[:, y:y + 8, x:x + 8] += 0.8
    elif kind == 1:
        img[:, y + 3:y + 5, x:x + 8] += 0.8
        img[:, y:y + 8, x + 3:x + 5] += 0.8
    else:
        img[:, y:y + 2] += 0.8
    return img


def sample_batch(n):
    kinds = np.random.randint(0, len(CLASSES), n)
    images = np.stack([draw(k) for k in kinds])
    return torch.from_numpy(images), torch.from_numpy(kinds).long()


class SmallNet(nn.Module):
    def __init__(self, n_classes=3):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(),
        )
        self.head = nn.Linear(24, n_classes)

    def forward(self, x):
        x = self.features(x)
        return self.head(x.mean(dim=(2, 3)))


class GradCAM:
    def __init__(self, model, target_layer):
        self.model = model.eval()
        self.activations = None
        self.gradients = None
        self.handles = [
            target_layer.register_forward_hook(self._save_activation),
            target_layer.register_full_backward_hook(self._save_gradient),
        ]

    def _save_activation(self, module, inputs, output):
        self.activations = output.detach()

    def _save_gradient(self, module, grad_input, grad_output):
        self.gradients = grad_output[0].detach()

    def __call__(self, image, class_idx=None):
        device = next(self.model.parameters()).device
        image = image.unsqueeze(0).to(device)
        logits = self.model(image)
        if class_idx is None:
            class_idx = int(logits.argmax(dim=1))
        self.model.zero_grad()
        logits[0, class_idx].backward()

        weights = self.gradients.mean(dim=(2, 3), keepdim=True)
        cam = F.relu((weights * self.activations).sum(dim=1, keepdim=True))
        cam = F.interpolate(cam, size=image.shape[-2:], mode="bilinear", align_corners=False)
        cam = cam - cam.min()
        cam = cam / (cam.max() + 1e-8)
        return cam.squeeze().cpu().numpy(), class_idx

    def remove(self):
        for h in self.handles:
            h.remove()


def overlay(image, heatmap, alpha=0.4):
    base = image.numpy().transpose(1, 2, 0)
    colour = np.stack([heatmap, np.zeros_like(heatmap), 1.0 - heatmap], axis=-1)
    return np.clip((1 - alpha) * base + alpha * colour, 0.0, 1.0)


def fit(model, device, steps=8):
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(steps):
        x, y = sample_batch(16)
        x, y = x.to(device), y.to(device)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 4 == 0:
            print("step {:3d}  loss {:.4f}".format(step, loss.item()))


if __name__ == "__main__":
    np.random.seed(3)
    torch.manual_seed(3)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = SmallNet(len(CLASSES)).to(device)
    fit(model, device)

    cam = GradCAM(model, model.features[-1])
    images, kinds = sample_batch(4)
    with tempfile.TemporaryDirectory() as out_dir:
        for i in range(len(images)):
            heatmap, predicted = cam(images[i])
            picture = overlay(images[i], heatmap)
            np.save(os.path.join(out_dir, "cam_%02d.npy" % i), picture)
            peak = np.unravel_index(heatmap.argmax(), heatmap.shape)
            print("true {:7s} predicted {:7s} peak at {}".format(
                CLASSES[kinds[i]], CLASSES[predicted], tuple(int(p) for p in peak)))
        print(sorted(os.listdir(out_dir)))
    cam.remove()
