import torch
from torch.autograd import Variable

from layers.box_utils import jaccard
from ssd import build_ssd


def test_net(path, cfg, loader, cuda):
    net = build_ssd('test', cfg)
    net.load_state_dict(torch.load(path, map_location=lambda storage, loc: storage))
    net.eval()
    if cuda:
        net = net.cuda()
    hits, total, fp = 0, 0, 0
    for images, targets in loader:
        if cuda:
            images = images.cuda()
        with torch.no_grad():
            detections = net(Variable(images))
        for dets, gt in zip(detections, targets):
            total += gt.size(0)
            if not dets:
                continue
            dets = torch.Tensor(dets)
            iou = jaccard(gt[:, :4], dets[:, 2:])
            same = gt[:, 4:].long() + 1 == dets[:, 0].long().unsqueeze(0)
            found = ((iou > 0.5) & same).any(1).sum().item()
            hits += found
            fp += dets.size(0) - found
    print('recall %.3f, false positives %d' % (hits / float(total), fp))
