import random
from collections import defaultdict

import numpy as np
import torch
from torch.utils.data import Dataset, DataLoader
from torch.utils.data.sampler import Sampler


class SyntheticMarket(object):
    """pid / camid layout of Market-1501 with random images."""

    def __init__(self, num_pids=6, per_cam=4, num_cams=2, size=(32, 16), seed=1):
        rng = np.random.RandomState(seed)
        self.num_train_pids = num_pids
        self.train, self.query, self.gallery = [], [], []
        proto = rng.randn(2 * num_pids, 3, *size).astype(np.float32)
        for pid in range(num_pids):
            for cam in range(num_cams):
                for _ in range(per_cam):
                    self.train.append((self._img(proto[pid], rng), pid, cam))
        for pid in range(num_pids, 2 * num_pids):
            self.query.append((self._img(proto[pid], rng), pid, 0))
            for _ in range(2):
                self.gallery.append((self._img(proto[pid], rng), pid, 1))

    @staticmethod
    def _img(base, rng):
        return base + 0.3 * rng.randn(*base.shape).astype(np.float32)


class ImageDataset(Dataset):
    def __init__(self, records, flip=False):
        self.records = records
        self.flip = flip

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        img, pid, camid = self.records[index]
        img = torch.from_numpy(img)
        if self.flip and random.random() < 0.5:
            img = img.flip(2)
        return img, pid, camid


class RandomIdentitySampler(Sampler):
    def __init__(self, records, num_instances=4):
        self.num_instances = num_instances
        self.index_dic = defaultdict(list)
        for index, (_, pid, _) in enumerate(records):
            self.index_dic[pid].append(index)
        self.pids = list(self.index_dic.keys())

    def __iter__(self):
        ret = []
        for i in torch.randperm(len(self.pids)).tolist():
            t = self.index_dic[self.pids[i]]
            ret.extend(np.random.choice(t, size=self.num_instances, replace=len(t) < self.num_instances).tolist())
        return iter(ret)

    def __len__(self):
        return len(self.pids) * self.num_instances


def get_loaders(dataset, args, pin_memory):
    train = DataLoader(ImageDataset(dataset.train, flip=True), batch_size=args.train_batch,
                       sampler=RandomIdentitySampler(dataset.train), pin_memory=pin_memory, drop_last=True)
    query = DataLoader(ImageDataset(dataset.query), batch_size=args.test_batch, pin_memory=pin_memory)
    gallery = DataLoader(ImageDataset(dataset.gallery), batch_size=args.test_batch, pin_memory=pin_memory)
    return train, query, gallery
