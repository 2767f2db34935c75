import torch
import torch.nn as nn


class ComputeLoss:
    """Objectness, class and box loss; the targets are rows of (image, class, x, y, w, h), in pixels"""

    def __init__(self, model):
        device = next(model.parameters()).device
        self.BCEcls = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.5], device=device))
        self.BCEobj = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0], device=device))
        det = model.detect
        self.na, self.nc, self.nl, self.anchors, self.stride = det.na, det.nc, det.nl, det.anchors, det.stride

    def __call__(self, p, targets):
        device = targets.device
        lcls, lbox, lobj = (torch.zeros(1, device=device) for _ in range(3))
        for i, pi in enumerate(p):
            tobj = torch.zeros_like(pi[..., 0])
            ratio = targets[:, None, 4:6] / self.anchors[i][None]
            ok = torch.max(ratio, 1 / ratio).max(2)[0] < 4.0
            t_idx, a = ok.nonzero(as_tuple=True)
            if len(t_idx):
                t = targets[t_idx]
                gxy = t[:, 2:4] / self.stride[i]
                gij = gxy.long()
                b, c = t[:, 0].long(), t[:, 1].long()
                gi = gij[:, 0].clamp(0, pi.shape[3] - 1)
                gj = gij[:, 1].clamp(0, pi.shape[2] - 1)
                ps = pi[b, a, gj, gi]
                pxy = ps[:, :2].sigmoid() * 2 - 0.5
                pwh = (ps[:, 2:4].sigmoid() * 2) ** 2 * self.anchors[i][a]
                lbox += ((pxy - (gxy - gij)) ** 2).mean() + ((pwh - t[:, 4:6]) / t[:, 4:6]).abs().mean()
                onehot = torch.zeros_like(ps[:, 5:])
                onehot[range(len(t_idx)), c] = 1.0
                lcls += self.BCEcls(ps[:, 5:], onehot)
                tobj[b, a, gj, gi] = 1.0
            lobj += self.BCEobj(pi[..., 4], tobj)
        return (lbox + lobj + lcls), torch.cat((lbox, lobj, lcls)).detach()
