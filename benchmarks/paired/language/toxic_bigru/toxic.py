# Toxic comments: 6 labels, very unbalanced. BiGRU + max/avg pooling baseline.
import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

LABELS = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]
MAX_FEATURES = 200
EMBED = 24
HIDDEN = 16
MAXLEN = 20
EPOCHS = 2


class CommentDataset(Dataset):
    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        self.x, self.y = [], []
        for _ in range(n):
            length = rng.randint(5, MAXLEN + 1)
            ids = rng.randint(10, MAX_FEATURES, length)
            y = np.zeros(len(LABELS), dtype=np.float32)
            for k in range(len(LABELS)):
                if rng.rand() < 0.3 / (1 + 0.5 * k):
                    y[k] = 1
                    ids[rng.randint(length)] = 1 + k
            self.x.append(ids)
            self.y.append(y)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]).long(), torch.from_numpy(self.y[i])

    def pos_weight(self, cap=20.0):
        y = np.stack(self.y)
        pos = y.sum(0)
        w = (len(y) - pos) / np.clip(pos, 1, None)
        return torch.tensor(np.clip(w, 1.0, cap), dtype=torch.float32)


def collate(samples):
    xs, ys = zip(*samples)
    return pad_sequence(xs, batch_first=True), torch.stack(ys)


class SpatialDropout(nn.Dropout1d):
    def forward(self, x):
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


class BiGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(MAX_FEATURES, EMBED, padding_idx=0)
        self.drop = SpatialDropout(0.2)
        self.gru = nn.GRU(EMBED, HIDDEN, bidirectional=True, batch_first=True)
        self.out = nn.Sequential(nn.Linear(HIDDEN * 4, 16), nn.ReLU(), nn.Linear(16, len(LABELS)))

    def forward(self, x):
        h, _ = self.gru(self.drop(self.embedding(x)))
        pad = (x == 0).unsqueeze(-1)
        h_max = h.masked_fill(pad, -1e4).max(1).values
        h_avg = h.masked_fill(pad, 0.0).sum(1) / (~pad).sum(1)
        return self.out(torch.cat([h_max, h_avg], 1))


def validate(model, loader, dev):
    model.eval()
    probs, truth = [], []
    with torch.no_grad():
        for x, y in loader:
            probs.append(model(x.to(dev)).sigmoid().cpu().numpy())
            truth.append(y.numpy())
    return roc_auc_score(np.concatenate(truth), np.concatenate(probs), average="macro")


def run():
    torch.manual_seed(0)
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    train_ds, valid_ds = CommentDataset(128, 0), CommentDataset(96, 1)
    train_dl = DataLoader(train_ds, 16, shuffle=True, collate_fn=collate, pin_memory=dev.type == "cuda")
    valid_dl = DataLoader(valid_ds, 32, collate_fn=collate)

    model = BiGRU().to(dev)
    pos_weight = train_ds.pos_weight().to(dev)
    criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, epochs=EPOCHS, steps_per_epoch=len(train_dl))
    print("positive weights:", dict(zip(LABELS, [round(w, 1) for w in pos_weight.tolist()])))

    for epoch in range(EPOCHS):
        model.train()
        losses = []
        for x, y in train_dl:
            x, y = x.to(dev, non_blocking=True), y.to(dev, non_blocking=True)
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: loss {np.mean(losses):.4f}  auc {validate(model, valid_dl, dev):.4f}")


if __name__ == "__main__":
    run()
