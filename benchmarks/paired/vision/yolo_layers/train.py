import argparse
import random

import torch

from models.yolo import Model
from utils.general import load_cfg, select_device, synthetic_batch, xywh2xyxy
from utils.loss import ComputeLoss


def train(cfg, device):
    hyp = cfg['train']
    model = Model(cfg).to(device)
    compute_loss = ComputeLoss(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=hyp['lr'], momentum=0.9, nesterov=True)
    model.train()
    for i in range(hyp['iters']):
        imgs, targets = synthetic_batch(hyp['batch_size'], cfg['img_size'], cfg['nc'])
        imgs = imgs.to(device, non_blocking=True)
        loss, items = compute_loss(model(imgs), targets.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f'iter {i}: ' + ' '.join(f'{n} {v:.3f}' for n, v in zip(('box', 'obj', 'cls'), items.tolist())))
    return model


@torch.no_grad()
def detect(model, cfg, device):
    model.eval()
    imgs, _ = synthetic_batch(2, cfg['img_size'], cfg['nc'])
    pred, _ = model(imgs.to(device))
    for i, p in enumerate(pred):
        p = p[p[:, 4] > cfg['detect']['conf_thres']]
        boxes = xywh2xyxy(p[:, :4])
        print(f'image {i}: {len(p)} candidates', boxes[:2].round().int().tolist())


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--cfg', default='cfg/tiny.yaml')
    parser.add_argument('--device', default='', help='cuda device, i.e. 0 or cpu')
    opt = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    dev = select_device(opt.device)
    config = load_cfg(opt.cfg)
    detect(train(config, dev), config, dev)
