import json
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

import models
from data import ANSWERS, get_loader, get_vocab
from utils.misc import RunningMean, get_logger, to_device


def instance_bce(logits, labels):
    return F.binary_cross_entropy_with_logits(logits, labels) * labels.size(1)


def vqa_score(logits, labels):
    best = logits.argmax(1, keepdim=True)
    return labels.gather(1, best).sum()


class Engine(object):
    def __init__(self, cfg, device=None, out=None):
        self.cfg = cfg
        self.device = device or torch.device('cuda' if torch.cuda.is_available() else 'cpu')
        self.out = out or tempfile.mkdtemp(prefix='vqa_')
        self.log = get_logger('vqa')
        self.vocab = get_vocab()
        self.loaders = {s: get_loader(cfg, s, self.vocab) for s in ('train', 'val')}
        self.model = models.build(cfg, len(self.vocab), self.loaders['train'].dataset.v_dim).to(self.device)
        self.optim = torch.optim.Adamax(self.model.parameters(), lr=cfg['lr'])

    def fit(self):
        best = -1.0
        for epoch in range(self.cfg['epochs']):
            self.model.train()
            mean = RunningMean()
            for batch in self.loaders['train']:
                batch = to_device(batch, self.device)
                logits, _ = self.model(batch['image'], batch['question'])
                loss = instance_bce(logits, batch['target'])
                self.optim.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg['grad_clip'])
                self.optim.step()
                mean(loss.item(), logits.size(0))
            score = self.evaluate()
            self.log.info('epoch %d loss %.3f val score %.3f', epoch, mean.value, score)
            if score > best:
                best = score
                torch.save(self.model.state_dict(), os.path.join(self.out, 'model.pth'))
        return best

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        score = RunningMean()
        results = []
        for batch in self.loaders['val']:
            labels = batch['target']
            batch = to_device(batch, self.device)
            logits, att = self.model(batch['image'], batch['question'])
            logits = logits.cpu()
            score(vqa_score(logits, labels) / labels.size(0), labels.size(0))
            focus = att.mean(1).argmax(1).tolist()
            for qid, q, pred, box in zip(batch['qid'], batch['text'], logits.argmax(1).tolist(), focus):
                results.append({'question_id': qid, 'question': q, 'answer': ANSWERS[pred], 'box': box})
        with open(os.path.join(self.out, 'results.json'), 'w') as f:
            json.dump(results, f)
        return score.value
