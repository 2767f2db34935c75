import pandas as pd
import torch
from torch.utils.data import DataLoader

from loadcast.config import AttrDict, resolve_device
from loadcast.data import StandardScaler, WindowDataset
from loadcast.engine import build_model


class Forecaster:
    def __init__(self, model, scaler, cfg, device):
        self.model, self.scaler, self.cfg, self.device = model, scaler, cfg, device

    @classmethod
    def from_checkpoint(cls, path):
        ckpt = torch.load(path, map_location="cpu", weights_only=False)
        cfg = AttrDict.wrap(ckpt["cfg"])
        device = resolve_device(cfg.device)
        model = build_model(cfg)
        model.load_state_dict(ckpt["model"])
        model.to(device).eval()
        scaler = StandardScaler(**ckpt["scaler"]).to(device)
        return cls(model, scaler, cfg, device)

    @torch.no_grad()
    def predict(self, past):
        x = self.scaler.transform(past.to(self.device))
        column = list(self.cfg.data.columns).index(self.cfg.data.target)
        return self.scaler.inverse(self.model(x), column).cpu()

    def backtest(self, df):
        d = self.cfg.data
        ds = WindowDataset(df, d.context, d.horizon, d.stride, d.target)
        preds, actual = [], []
        for past, future in DataLoader(ds, batch_size=16):
            preds.append(self.predict(past))
            actual.append(future)
        err = (torch.cat(preds) - torch.cat(actual)).numpy()
        out = pd.DataFrame({"mae": abs(err).mean(0), "bias": err.mean(0)})
        out.index = [f"h+{i + 1}" for i in range(d.horizon)]
        return out
