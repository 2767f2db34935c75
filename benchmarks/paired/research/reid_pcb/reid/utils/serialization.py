import os
import os.path as osp
import shutil

import torch


def save_checkpoint(state, is_best, save_dir, filename='checkpoint.pth.tar'):
    if not osp.exists(save_dir):
        os.makedirs(save_dir)
    path = osp.join(save_dir, filename)
    torch.save(state, path)
    if is_best:
        shutil.copy(path, osp.join(save_dir, 'best_model.pth.tar'))
    return path
