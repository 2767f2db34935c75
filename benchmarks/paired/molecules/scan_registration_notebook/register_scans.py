# %% [markdown]
# # Learned correspondences + Kabsch on simulated depth scans
# kNN graphs and the nearest-neighbour refinement use SciPy; features and the soft assignment use torch.

# %%
import time

import numpy as np
import torch
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation
from torch import nn

torch.manual_seed(4)
rng = np.random.default_rng(4)
device = "cuda" if torch.cuda.is_available() else "cpu"

K = 8
N_POINTS = 96
N_PAIRS = 24
EPOCHS = 2
BATCH = 6


# %%
def make_pair():
    """Two noisy, partially overlapping views of one random superellipsoid cluster."""
    blobs = rng.normal(size=(4, 3)) * 0.6
    scale = rng.uniform(0.1, 0.4, (4, 3))
    which = rng.integers(0, 4, N_POINTS)
    d = rng.normal(size=(N_POINTS, 3))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    src = blobs[which] + scale[which] * d
    R = Rotation.from_euler("zyx", rng.uniform(-0.6, 0.6, 3)).as_matrix()
    t = rng.uniform(-0.3, 0.3, 3)
    perm = rng.permutation(N_POINTS)
    tgt = (src @ R.T + t)[perm] + rng.normal(scale=0.005, size=src.shape)
    return [a.astype(np.float32) for a in (src, tgt, R, t)] + [np.argsort(perm)]


def knn(points, k=K):
    """Indices of the k nearest neighbours of every point, (n, k)."""
    _, idx = cKDTree(points).query(points, k=k + 1)
    return idx[:, 1:]


class ScanPairs(torch.utils.data.Dataset):
    def __init__(self, n):
        self.pairs = [make_pair() for _ in range(n)]
        self.graphs = [(knn(p[0]), knn(p[1])) for p in self.pairs]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        src, tgt, R, t, match = self.pairs[i]
        return {
            "src": src, "tgt": tgt, "R": R, "t": t, "match": match,
            "src_knn": self.graphs[i][0], "tgt_knn": self.graphs[i][1],
        }


pairs = ScanPairs(N_PAIRS)
train_pairs, test_pairs = torch.utils.data.random_split(pairs, [18, 6])
train_loader = torch.utils.data.DataLoader(train_pairs, batch_size=BATCH, shuffle=True)
test_loader = torch.utils.data.DataLoader(test_pairs, batch_size=BATCH)


# %%
def neighbours(x, idx):
    """x (b, n, c), idx (b, n, k) -> (b, n, k, c)"""
    b, n, k = idx.shape
    flat = idx.reshape(b, n * k, 1).expand(-1, -1, x.shape[-1])
    return torch.gather(x, 1, flat).view(b, n, k, -1)


class EdgeConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * cin, cout), nn.LeakyReLU(0.2), nn.Linear(cout, cout))

    def forward(self, x, idx):
        nb = neighbours(x, idx)
        center = x.unsqueeze(2).expand_as(nb)
        return self.net(torch.cat([center, nb - center], -1)).amax(2)


class Descriptor(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.c1 = EdgeConv(3, width)
        self.c2 = EdgeConv(width, width)
        self.proj = nn.Linear(2 * width, 16)

    def forward(self, xyz, idx):
        xyz = xyz - xyz.mean(1, keepdim=True)
        a = torch.relu(self.c1(xyz, idx))
        b = torch.relu(self.c2(a, idx))
        return nn.functional.normalize(self.proj(torch.cat([a, b], -1)), dim=-1)


net = Descriptor().to(device)
log_tau = nn.Parameter(torch.tensor(-2.0, device=device))
opt = torch.optim.Adam([{"params": net.parameters()}, {"params": [log_tau], "lr": 1e-2}], lr=4e-3)


def scores(batch):
    fs = net(batch["src"], batch["src_knn"])
    ft = net(batch["tgt"], batch["tgt_knn"])
    return fs @ ft.transpose(1, 2) / log_tau.exp()


# %%
for epoch in range(EPOCHS):
    tic, total = time.time(), 0.0
    for batch in train_loader:
        batch = {k: v.to(device) for k, v in batch.items()}
        s = scores(batch)
        loss = nn.functional.cross_entropy(s.transpose(1, 2), batch["match"])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: nll {total / len(train_loader):.3f}  tau {log_tau.exp().item():.3f}  {time.time() - tic:.1f}s")


# %%
def kabsch(p, q, w):
    """Weighted rigid fit q ~ R p + t for one pair; tiny SVDs are faster on the host."""
    w = w / w.sum()
    pc, qc = (w[:, None] * p).sum(0), (w[:, None] * q).sum(0)
    H = ((p - pc) * w[:, None]).T @ (q - qc)
    U, _, Vt = torch.linalg.svd(H.double().cpu())
    D = torch.diag(torch.tensor([1.0, 1.0, torch.sign(torch.det(Vt.T @ U.T))], dtype=torch.float64))
    R = (Vt.T @ D @ U.T).float().to(p.device)
    return R, qc - R @ pc


def icp(src, tgt, R, t, iters=5, keep=0.8):
    """Trimmed point-to-point ICP starting from (R, t)."""
    tree = cKDTree(tgt.cpu().numpy())
    n_keep = int(keep * len(src))
    for _ in range(iters):
        moved = src @ R.T + t
        dist, nn_idx = tree.query(moved.cpu().numpy())
        order = np.argsort(dist)[:n_keep]
        sel = torch.from_numpy(order).to(src.device)
        hit = torch.from_numpy(nn_idx[order]).to(src.device)
        p = src.index_select(0, sel)
        q = tgt.index_select(0, hit)
        R, t = kabsch(p, q, torch.ones_like(p[:, 0]))
    return R, t


def rotation_error(R, R_true):
    cos = ((R.T @ R_true).trace() - 1) / 2
    return torch.rad2deg(torch.arccos(cos.clamp(-1, 1))).item()


net.eval()
report = []
with torch.no_grad():
    for batch in test_loader:
        batch = {k: v.to(device) for k, v in batch.items()}
        prob, best = scores(batch).softmax(-1).max(-1)
        hits = (best == batch["match"]).float().mean(1).cpu()
        for i in range(len(best)):
            src, tgt = batch["src"][i], batch["tgt"][i]
            R0, t0 = kabsch(src, tgt[best[i]], prob[i])
            R1, t1 = icp(src, tgt, R0, t0)
            report.append([
                hits[i].item(),
                rotation_error(R0, batch["R"][i]),
                rotation_error(R1, batch["R"][i]),
                (t1 - batch["t"][i]).norm().item(),
            ])

# %%
report = np.array(report)
print("match accuracy %.3f" % report[:, 0].mean())
print("rotation error: initial %.1f deg, after ICP %.1f deg" % (np.median(report[:, 1]), np.median(report[:, 2])))
print("translation error after ICP %.3f" % np.median(report[:, 3]))
