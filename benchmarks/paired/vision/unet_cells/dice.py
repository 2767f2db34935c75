import torch
import torch.nn.functional as F


def multiclass_dice(probs, onehot, epsilon=1e-6):
    inter = 2 * (probs * onehot).sum(dim=(-1, -2))
    sets = probs.sum(dim=(-1, -2)) + onehot.sum(dim=(-1, -2))
    return ((inter + epsilon) / (sets + epsilon)).mean()


def dice_loss(logits, target):
    onehot = F.one_hot(target, logits.shape[1]).permute(0, 3, 1, 2).float()
    return 1 - multiclass_dice(F.softmax(logits, dim=1), onehot)


@torch.no_grad()
def dice_score(logits, target):
    n = logits.shape[1]
    pred = F.one_hot(logits.argmax(1), n).permute(0, 3, 1, 2).float()
    gt = F.one_hot(target, n).permute(0, 3, 1, 2).float()
    # compute the Dice score, ignoring background
    return multiclass_dice(pred[:, 1:], gt[:, 1:])
