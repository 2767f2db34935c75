import torch
from torch.utils.data import DataLoader, TensorDataset

from metric.config import Config
from metric.evaluate import recall_at_k
from metric.loss import ProxyNCA
from metric.net import EmbeddingNet


def make_split(cfg: Config, seed: int) -> TensorDataset:
    g = torch.Generator().manual_seed(1234)
    mix = torch.randn(6, cfg.in_dim, generator=g)
    g.manual_seed(seed)
    centers = torch.randn(cfg.n_classes, 6, generator=g)
    y = torch.arange(cfg.n_classes).repeat_interleave(cfg.per_class)
    latent = centers[y] + 0.3 * torch.randn(len(y), 6, generator=g)
    x = torch.tanh(latent @ mix) + 0.3 * torch.randn(len(y), cfg.in_dim, generator=g)
    return TensorDataset(x, y)


def main(cfg: Config) -> None:
    torch.manual_seed(cfg.seed)
    train = DataLoader(make_split(cfg, 1), cfg.batch_size, shuffle=True)
    test = DataLoader(make_split(cfg, 2), 64)

    model = EmbeddingNet(cfg.in_dim, cfg.embed_dim).to(cfg.device)
    criterion = ProxyNCA(cfg.n_classes, cfg.embed_dim, cfg.scale, cfg.device)
    opt = torch.optim.Adam(
        [
            {"params": model.parameters(), "lr": cfg.lr_embed},
            {"params": criterion.parameters(), "lr": cfg.lr_proxy},
        ]
    )

    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for x, y in train:
            x, y = x.to(cfg.device), y.to(cfg.device)
            loss = criterion(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(x)
        r = recall_at_k(model, test, cfg.device)
        print(
            f"epoch {epoch} loss {total / len(train.dataset):.3f} "
            f"proxy cos {criterion.proxy_spread():+.3f} R@1 {r[1]:.3f} R@4 {r[4]:.3f}"
        )


if __name__ == "__main__":
    main(Config())
