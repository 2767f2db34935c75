import argparse
import logging
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("knn")


def parse():
    p = argparse.ArgumentParser("Weighted k-NN evaluation of a metric learning encoder")
    p.add_argument("--dim", default=24, type=int)
    p.add_argument("--emb", default=8, type=int)
    p.add_argument("--classes", default=5, type=int)
    p.add_argument("--per_class", default=30, type=int)
    p.add_argument("--epochs", default=2, type=int)
    p.add_argument("--margin", default=0.2, type=float)
    p.add_argument("--nb_knn", default=[1, 5, 10], nargs="+", type=int)
    p.add_argument("--temperature", default=0.07, type=float)
    p.add_argument("--seed", default=0, type=int)
    p.add_argument("--gpu", default=0, type=int)
    return p.parse_args()


def make_split(args, proto, n):
    labels = torch.arange(args.classes).repeat_interleave(n)
    x = proto[labels] + 1.3 * torch.randn(len(labels), args.dim)
    return TensorDataset(x, labels)


class Encoder(nn.Module):
    def __init__(self, dim, emb):
        super().__init__()
        self.fc1 = nn.Linear(dim, 32)
        self.fc2 = nn.Linear(32, emb)

    def forward(self, x):
        return F.normalize(self.fc2(F.relu(self.fc1(x))), dim=-1)


def batch_hard_triplet(emb, labels, margin):
    dist = torch.cdist(emb, emb)
    same = labels[:, None] == labels[None, :]
    hardest_pos = (dist * same).max(dim=1).values
    hardest_neg = dist.masked_fill(same, float("inf")).min(dim=1).values
    return F.relu(hardest_pos - hardest_neg + margin).mean()


@torch.no_grad()
def extract_features(model, loader, device):
    model.eval()
    feats, labels = [], []
    for x, y in loader:
        feats.append(model(x.to(device, non_blocking=True)))
        labels.append(y.to(device, non_blocking=True))
    return torch.cat(feats), torch.cat(labels)


@torch.no_grad()
def knn_classifier(train_feats, train_labels, test_feats, test_labels, k, T, num_classes):
    top1, top3, total = 0.0, 0.0, 0
    train_feats = train_feats.t()
    for feats, targets in zip(test_feats.split(32), test_labels.split(32)):
        similarity = torch.mm(feats, train_feats)
        distances, indices = similarity.topk(k, largest=True, sorted=True)
        retrieved = train_labels[indices]

        one_hot = F.one_hot(retrieved, num_classes).float()
        weights = distances.div(T).exp_().unsqueeze(-1)
        votes = (one_hot * weights).sum(dim=1)
        _, predictions = votes.sort(1, True)

        correct = predictions.eq(targets.view(-1, 1))
        top1 += correct[:, :1].sum().item()
        top3 += correct[:, :3].sum().item()
        total += targets.size(0)
    return 100.0 * top1 / total, 100.0 * top3 / total


def main():
    args = parse()
    torch.manual_seed(args.seed)
    device = torch.device(f"cuda:{args.gpu}" if torch.cuda.is_available() else "cpu")

    proto = torch.randn(args.classes, args.dim)
    train_set = make_split(args, proto, args.per_class)
    test_set = make_split(args, proto, args.per_class // 2)
    train_loader = DataLoader(train_set, batch_size=50, shuffle=True)

    model = Encoder(args.dim, args.emb).to(device)
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    stats = defaultdict(list)
    for epoch in range(args.epochs):
        model.train()
        for x, y in train_loader:
            x, y = x.to(device), y.to(device)
            loss = batch_hard_triplet(model(x), y, args.margin)
            opt.zero_grad()
            loss.backward()
            opt.step()
            stats[epoch].append(loss.item())
        log.info("epoch %d triplet loss %.4f", epoch, sum(stats[epoch]) / len(stats[epoch]))

    bank_loader = DataLoader(train_set, batch_size=64)
    test_loader = DataLoader(test_set, batch_size=64)
    train_feats, train_labels = extract_features(model, bank_loader, device)
    test_feats, test_labels = extract_features(model, test_loader, device)
    log.info("feature bank %s", tuple(train_feats.shape))

    for k in args.nb_knn:
        top1, top3 = knn_classifier(train_feats, train_labels, test_feats, test_labels,
                                    k, args.temperature, args.classes)
        log.info("%d-NN: top1 %.2f top3 %.2f", k, top1, top3)


if __name__ == "__main__":
    main()
