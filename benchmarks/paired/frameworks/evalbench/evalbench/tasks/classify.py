import numpy as np
import torch

from ..registry import inference, register


@register("classify", items=96, batch=32)
class Classify:
    def __init__(self, device, items, batch):
        self.device = device
        g = torch.Generator().manual_seed(11)
        self.centers = torch.randn(5, 16, generator=g)
        self.label = torch.randint(5, (items,), generator=g)
        self.x = self.centers[self.label] + 0.7 * torch.randn(items, 16, generator=g)
        self.batch = batch

    def batches(self):
        for i in range(0, len(self.x), self.batch):
            yield {"x": self.x[i:i + self.batch], "label": self.label[i:i + self.batch]}

    @inference
    def predict(self, model, batch):
        z = model(batch["x"])
        proto = model(self.centers.to(self.device))
        prob = (z @ proto.T).softmax(dim=-1)
        return {"prob": prob, "label": batch["label"]}

    def score(self, outputs):
        prob = np.concatenate([o["prob"].numpy() for o in outputs])
        label = np.concatenate([o["label"].numpy() for o in outputs])
        picked = prob[np.arange(len(label)), label]
        return {"accuracy": float((prob.argmax(1) == label).mean()),
                "nll": float(-np.log(picked + 1e-9).mean())}
