import numpy as np


class runningScore(object):
    def __init__(self, n_classes):
        self.n_classes = n_classes
        self.confusion_matrix = np.zeros((n_classes, n_classes))

    def update(self, label_trues, label_preds):
        for lt, lp in zip(label_trues, label_preds):
            mask = (lt >= 0) & (lt < self.n_classes)
            idx = self.n_classes * lt[mask].astype(int) + lp[mask]
            self.confusion_matrix += np.bincount(idx, minlength=self.n_classes ** 2).reshape(self.n_classes, -1)

    def get_scores(self):
        hist = self.confusion_matrix
        acc = np.diag(hist).sum() / hist.sum()
        with np.errstate(invalid='ignore', divide='ignore'):
            iu = np.diag(hist) / (hist.sum(axis=1) + hist.sum(axis=0) - np.diag(hist))
        return {'Overall Acc': acc, 'Mean IoU': np.nanmean(iu)}, dict(enumerate(iu))

    def reset(self):
        self.confusion_matrix[:] = 0
