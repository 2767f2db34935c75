import torch
import torch.nn.functional as F

from registry import LOSSES


@LOSSES.register
class PrototypePseudo:
    """Pseudo labels for unlabelled tiles from running class prototypes.

    The prototypes belong to the experiment and not to the network: they are
    written to the run file and shared with the (CPU only) annotation service.
    """

    def __init__(self, embed, momentum, temperature, weight, threshold, n_classes=2):
        self.momentum, self.temperature = momentum, temperature
        self.weight, self.threshold = weight, threshold
        self.prototypes = F.normalize(torch.randn(n_classes, embed), dim=1)
        self.seen = 0
        self.kept = 0.0

    @torch.no_grad()
    def update(self, feats, labels):
        feats = F.normalize(feats.permute(0, 2, 3, 1)[labels >= 0], dim=1)
        labels = labels[labels >= 0]
        protos = self.prototypes.to(feats.device)
        for c in labels.unique().tolist():
            mean = feats[labels == c].mean(0)
            protos[c].mul_(self.momentum).add_(mean, alpha=1 - self.momentum)
        protos.div_(protos.norm(dim=1, keepdim=True))
        self.prototypes.copy_(protos)
        self.seen += 1

    def __call__(self, logits, feats):
        protos = self.prototypes.to(feats.device)
        with torch.no_grad():
            sim = torch.einsum("bdhw,cd->bchw", F.normalize(feats, dim=1), protos)
            conf, pseudo = (sim / self.temperature).softmax(1).max(1)
            keep = conf > self.threshold
        self.kept = keep.float().mean().item()
        if not keep.any():
            return logits.sum() * 0
        return self.weight * F.cross_entropy(logits, pseudo, reduction="none")[keep].mean()

    def state_dict(self):
        return {"prototypes": self.prototypes.clone(), "seen": self.seen}
