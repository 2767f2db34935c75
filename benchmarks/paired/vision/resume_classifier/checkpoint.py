import os

import torch


def save_checkpoint(folder, epoch, model, optimizer, best_acc):
    path = os.path.join(folder, 'checkpoint.pth.tar')
    torch.save({
        'epoch': epoch + 1,
        'state_dict': model.state_dict(),
        'optimizer': optimizer.state_dict(),
        'best_acc': best_acc,
    }, path)
    return path


def load_checkpoint(path, model, optimizer=None):
    if not os.path.isfile(path):
        raise FileNotFoundError("=> no checkpoint found at '{}'".format(path))
    checkpoint = torch.load(path, map_location='cpu')
    model.load_state_dict(checkpoint['state_dict'])
    if optimizer is not None:
        optimizer.load_state_dict(checkpoint['optimizer'])
    print("=> loaded checkpoint '{}' (epoch {})".format(os.path.basename(path), checkpoint['epoch']))
    return checkpoint['epoch'], checkpoint['best_acc']
