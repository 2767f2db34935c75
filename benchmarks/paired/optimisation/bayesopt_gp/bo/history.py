"""What has been evaluated so far.  The objective is numpy code, so this stays on the host."""
import json

import torch


class History:
    def __init__(self, dtype=torch.float64):
        self.dtype = dtype
        self._x, self._y = [], []

    def append(self, x, value):
        self._x.append(torch.as_tensor(x, dtype=self.dtype).cpu())
        self._y.append(float(value))

    def inputs(self):
        return torch.stack(self._x)

    def values(self):
        return torch.tensor(self._y, dtype=self.dtype).unsqueeze(1)

    def best(self):
        i = max(range(len(self._y)), key=self._y.__getitem__)
        return self._x[i], self._y[i]

    def dump(self, limit=3):
        x, y = self.best()
        return json.dumps({"n": len(self), "best": round(y, 4), "x": [round(v, 3) for v in x.tolist()]})

    def __len__(self):
        return len(self._y)
