import torch
import torch.nn.functional as F

from .box_utils import decode, nms


class Detect(object):
    """Decodes the location predictions and runs nms per class."""

    def __init__(self, num_classes, top_k, conf_thresh, nms_thresh, variance):
        self.num_classes = num_classes
        self.top_k = top_k
        self.conf_thresh = conf_thresh
        self.nms_thresh = nms_thresh
        self.variance = variance

    def __call__(self, loc, conf, priors):
        conf = F.softmax(conf, dim=-1).data.cpu()
        loc, priors = loc.data.cpu(), priors.data.cpu()
        results = []
        for i in range(loc.size(0)):
            boxes = decode(loc[i], priors, self.variance)
            dets = []
            for cl in range(1, self.num_classes):
                mask = conf[i, :, cl] > self.conf_thresh
                if not mask.any():
                    continue
                b, s = boxes[mask], conf[i, :, cl][mask]
                for k in nms(b, s, self.nms_thresh, self.top_k):
                    dets.append([cl, s[k].item()] + b[k].tolist())
            results.append(dets)
        return results
