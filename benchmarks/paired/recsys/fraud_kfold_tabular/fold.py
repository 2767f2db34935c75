import copy

import numpy as np
import torch
from sklearn.metrics import average_precision_score
from torch.utils.data import DataLoader, WeightedRandomSampler

from losses import FocalLoss
from net import FraudNet
from tabular import TableDataset


class FoldRunner:
    def __init__(self, encoder, args, device):
        self.encoder, self.args, self.device = encoder, args, device

    def setup(self, train_df):
        num, cat = self.encoder.fit(train_df).transform(train_df)
        y = train_df.fraud.to_numpy()
        self.model = FraudNet(num.shape[1], self.encoder.cardinalities).to(self.device)
        self.criterion = FocalLoss.balanced(y, self.args.gamma).to(self.device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.args.lr, weight_decay=1e-3)
        w = torch.where(torch.from_numpy(y) == 1, 3.0, 1.0)
        sampler = WeightedRandomSampler(w, len(w))
        return DataLoader(TableDataset(num, cat, y), self.args.batch_size, sampler=sampler, drop_last=True)

    def step(self, batch):
        batch = {k: v.to(self.device) for k, v in batch.items()}
        loss = self.criterion(self.model(batch["num"], batch["cat"]), batch["y"])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def run(self, train_df, valid_df):
        loader = self.setup(train_df)
        best_ap, best = -1.0, None
        for epoch in range(self.args.epochs):
            self.model.train()
            losses = torch.stack([self.step(b) for b in loader])
            ap = average_precision_score(valid_df.fraud, self.predict(valid_df))
            print(f"  epoch {epoch} loss {losses.mean().item():.4f} AP {ap:.4f}")
            if ap > best_ap:
                best_ap = ap
                best = copy.deepcopy(self.model).cpu()
        self.model = best.to(self.device)
        return best_ap, self.predict(valid_df)

    @torch.no_grad()
    def predict(self, df):
        self.model.eval()
        num, cat = self.encoder.transform(df)
        out = []
        for i in range(0, len(df), 512):
            logits = self.model(torch.from_numpy(num[i:i + 512]).to(self.device),
                                torch.from_numpy(cat[i:i + 512]).to(self.device))
            out.append(logits.softmax(1)[:, 1].cpu().numpy())
        return np.concatenate(out)
