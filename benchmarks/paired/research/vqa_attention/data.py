import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from utils.text import Vocab

COLORS = ['red', 'green', 'blue', 'black']
THINGS = ['cat', 'dog', 'bus', 'cup', 'tree', 'kite']
ANSWERS = COLORS + THINGS + ['yes', 'no']


class ToyVQA(Dataset):
    def __init__(self, n, cfg, vocab, seed, v_dim=10, max_boxes=6):
        self.vocab, self.v_dim, self.max_boxes = vocab, v_dim, max_boxes
        rng = np.random.RandomState(seed)
        self.items = []
        for i in range(n):
            nb = rng.randint(2, max_boxes + 1)
            objs = [(rng.randint(len(COLORS)), rng.randint(len(THINGS))) for _ in range(nb)]
            c, t = objs[0]
            if rng.rand() < 0.5:
                q, a = 'what color is the %s' % THINGS[t], COLORS[c]
            else:
                q, a = 'is there a %s %s' % (COLORS[c], THINGS[t]), 'yes'
            self.items.append((i, objs, q, a))
        self.boxes = rng.rand(n, max_boxes, 4).astype(np.float32)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        qid, objs, q, a = self.items[i]
        feat = torch.zeros(len(objs), self.v_dim)
        for k, (c, t) in enumerate(objs):
            feat[k, c] = feat[k, len(COLORS) + t] = 1.0
        target = torch.zeros(len(ANSWERS))
        target[ANSWERS.index(a)] = 1.0
        return qid, feat, torch.from_numpy(self.boxes[i, :len(objs)]), self.vocab.encode(q), target, q


def collate(batch):
    qid, feat, boxes, tokens, target, text = zip(*batch)
    pad = torch.nn.utils.rnn.pad_sequence
    return {
        'qid': list(qid),
        'text': list(text),
        'image': {
            'features': pad(feat, batch_first=True),
            'boxes': pad(boxes, batch_first=True),
            'num_boxes': torch.tensor([f.size(0) for f in feat]),
        },
        'question': {
            'tokens': pad(tokens, batch_first=True),
            'length': torch.tensor([len(t) for t in tokens]),
        },
        'target': torch.stack(target),
    }


def get_loader(cfg, split, vocab):
    ds = ToyVQA(64 if split == 'train' else 24, cfg, vocab, seed=5 if split == 'train' else 6)
    return DataLoader(ds, cfg['batch_size'], shuffle=split == 'train', collate_fn=collate)


def get_vocab():
    words = 'what color is the there a'.split() + COLORS + THINGS
    return Vocab(words)
