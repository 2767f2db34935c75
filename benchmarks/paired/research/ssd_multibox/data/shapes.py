import numpy as np
import torch
import torch.utils.data as data


class ShapesDetection(data.Dataset):
    def __init__(self, n, cfg, seed=0):
        self.size = cfg['min_dim']
        self.num_objects = cfg['num_classes'] - 1
        self.rng = np.random.RandomState(seed)
        self.items = [self._make() for _ in range(n)]

    def _make(self):
        img = self.rng.randn(3, self.size, self.size).astype(np.float32) * 0.1
        target = []
        for _ in range(self.rng.randint(1, 3)):
            w, h = self.rng.randint(6, 14, 2)
            x, y = self.rng.randint(0, self.size - 14, 2)
            c = self.rng.randint(self.num_objects)
            img[c, y:y + h, x:x + w] += 1.0
            target.append([x / self.size, y / self.size, (x + w) / self.size, (y + h) / self.size, c])
        return img, np.array(target, dtype=np.float32)

    def __getitem__(self, index):
        img, gt = self.items[index]
        return torch.from_numpy(img), gt

    def __len__(self):
        return len(self.items)


def detection_collate(batch):
    """Images are stacked, the annotations stay a list because their number differs."""
    targets, imgs = [], []
    for sample in batch:
        imgs.append(sample[0])
        targets.append(torch.FloatTensor(sample[1]))
    return torch.stack(imgs, 0), targets
