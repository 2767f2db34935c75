import torch
from omegaconf import OmegaConf

from data import build_loaders
from engine import EarlyStopping, History, Loop
from net import GapFiller, masked_mse


def main():
    cfg = OmegaConf.merge(OmegaConf.load("config.yaml"), OmegaConf.from_cli())
    torch.manual_seed(cfg.seed)
    name = cfg.device
    if name == "auto":
        name = "cuda:0" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)

    train, val, test = build_loaders(cfg.data)
    model = GapFiller(cfg.data.features, **cfg.model).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.optim.lr, betas=tuple(cfg.optim.betas))
    loop = Loop(model, optimizer, masked_mse, device,
                callbacks=[History(), EarlyStopping(**cfg.early_stopping)])
    loop.fit(train, val, cfg.max_epochs)
    print("%s: test loss %.4f" % (cfg.experiment, loop.evaluate(test)))


if __name__ == "__main__":
    main()
