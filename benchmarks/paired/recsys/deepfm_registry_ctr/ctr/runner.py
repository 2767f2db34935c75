import io

import torch
from sklearn.metrics import log_loss, roc_auc_score
from torch.utils.data import DataLoader, TensorDataset


def to_dataset(frame, schema):
    sparse = torch.tensor(frame[[f.name for f in schema.sparse]].to_numpy())
    dense = torch.tensor(frame[[f.name for f in schema.dense]].to_numpy())
    return TensorDataset(sparse, dense, torch.tensor(frame["click"].to_numpy()))


class Runner:
    def __init__(self, model, cfg, device):
        self.model, self.cfg, self.device = model.to(device), cfg, device
        self.opt = torch.optim.Adagrad(model.parameters(), lr=cfg["lr"])
        self.best_auc, self.best_state = 0.0, None

    def fit(self, train, valid):
        loader = DataLoader(train, batch_size=self.cfg["batch_size"], shuffle=True, drop_last=True)
        for epoch in range(self.cfg["epochs"]):
            self.model.train()
            seen = []
            for batch in loader:
                sparse, dense, y = [b.to(self.device) for b in batch]
                loss, prob = self.model(sparse, dense, y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                seen.append((prob.cpu(), batch[2]))
            p, t = map(torch.cat, zip(*seen))
            auc = self.evaluate(valid)["auc"]
            print(f"[{epoch}] train auc {roc_auc_score(t, p):.4f}  valid auc {auc:.4f}")
            if auc > self.best_auc:
                self.best_auc = auc
                self.best_state = io.BytesIO()
                torch.save(self.model.state_dict(), self.best_state)
        return self

    def load_best(self):
        self.best_state.seek(0)
        self.model.load_state_dict(torch.load(self.best_state, map_location=self.device))

    @torch.no_grad()
    def evaluate(self, dataset):
        self.model.eval()
        probs, labels = [], []
        for sparse, dense, y in DataLoader(dataset, batch_size=256):
            probs.append(self.model(sparse.to(self.device), dense.to(self.device)).cpu())
            labels.append(y)
        p, t = torch.cat(probs).double().numpy(), torch.cat(labels).numpy()
        return {"auc": roc_auc_score(t, p), "logloss": log_loss(t, p)}
