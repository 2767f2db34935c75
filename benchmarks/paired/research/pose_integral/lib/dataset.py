import numpy as np
import torch
from torch.utils.data import Dataset

from lib.heatmap import draw_gaussians


class StickFigures(Dataset):
    def __init__(self, args, split):
        self.args = args
        self.split = split
        rng = np.random.RandomState(3 if split == 'train' else 4)
        n = 32 if split == 'train' else 8
        self.joints = rng.uniform(4, args.input_res - 4, (n, args.num_joints, 2)).astype(np.float32)
        self.noise = rng.randn(n, 3, args.input_res, args.input_res).astype(np.float32) * 0.1

    def __len__(self):
        return len(self.joints)

    def __getitem__(self, index):
        img = torch.from_numpy(self.noise[index].copy())
        for k, (x, y) in enumerate(self.joints[index].astype(int)):
            img[k % 3, y - 1:y + 2, x - 1:x + 2] += 1.0 + 0.5 * k
        ratio = self.args.output_res / self.args.input_res
        joints = torch.from_numpy(self.joints[index]) * ratio
        sample = {'input': img, 'joints': joints, 'index': index}
        if self.args.loss == 'heatmap':
            sample['target'] = draw_gaussians(joints, self.args.output_res)
        return sample
