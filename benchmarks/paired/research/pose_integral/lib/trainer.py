import time

import torch
import torch.nn.functional as F

from lib.heatmap import hard_argmax, soft_argmax


class JointsLoss(torch.nn.Module):
    def __init__(self, args):
        super().__init__()
        self.kind = args.loss

    def forward(self, outputs, batch):
        loss = 0
        for out in outputs:
            if self.kind == 'integral':
                loss = loss + F.l1_loss(soft_argmax(out), batch['joints'])
            else:
                loss = loss + F.mse_loss(out, batch['target'])
        return loss


class Trainer(object):
    def __init__(self, args, model, optimizer=None):
        self.args = args
        self.model = model
        self.optimizer = optimizer
        self.loss = JointsLoss(args)

    def set_device(self, device):
        self.model = self.model.to(device)
        if self.optimizer is not None:
            for state in self.optimizer.state.values():
                for k, v in state.items():
                    if isinstance(v, torch.Tensor) and v.dim() > 0:
                        state[k] = v.to(device=device, non_blocking=True)

    def run_epoch(self, phase, epoch, loader):
        self.model.train(phase == 'train')
        total, pck, n, start = 0.0, 0.0, 0, time.time()
        preds = torch.zeros(len(loader.dataset), self.args.num_joints, 2)
        for batch in loader:
            index = batch.pop('index')
            batch = {k: v.to(self.args.device, non_blocking=True) for k, v in batch.items()}
            with torch.set_grad_enabled(phase == 'train'):
                outputs = self.model(batch['input'])
                loss = self.loss(outputs, batch)
            if phase == 'train':
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            decode = soft_argmax if self.args.loss == 'integral' else hard_argmax
            coords = decode(outputs[-1].detach())
            dist = (coords - batch['joints']).norm(dim=2)
            preds[index] = coords.cpu()
            total += loss.item() * len(index)
            pck += (dist < 2.0).float().mean(1).sum().item()
            n += len(index)
        print('%s epoch %d loss %.4f pck %.3f (%.1fs)' % (phase, epoch, total / n, pck / n, time.time() - start))
        return total / n, preds

    def train(self, epoch, loader):
        return self.run_epoch('train', epoch, loader)

    @torch.no_grad()
    def val(self, epoch, loader):
        return self.run_epoch('val', epoch, loader)
