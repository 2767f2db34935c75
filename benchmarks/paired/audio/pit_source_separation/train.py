import argparse

import torch
import yaml
from torch.utils.data import DataLoader

import separation.mixtures  # noqa: F401
import separation.nets  # noqa: F401
from separation.evaluate import evaluate, separate_long
from separation.losses import reorder
from separation.registry import build

DEFAULT = """
seed: 3
n_src: 2
batch_size: 4
epochs: 2
lr: 0.003
net: {name: conv_tasnet, filters: 16, hidden: 24, layers: 2}
loss: {name: pit_si_sdr, activity_weight: 0.1}
data: {name: tone_mixtures, length: 512, n_items: 24}
"""


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", help="yaml file, laid over the default one")
    ap.add_argument("--epochs", type=int)
    args = ap.parse_args()
    cfg = yaml.safe_load(DEFAULT)
    if args.config:
        with open(args.config) as fh:
            cfg.update(yaml.safe_load(fh))
    if args.epochs:
        cfg["epochs"] = args.epochs

    torch.manual_seed(cfg["seed"])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    net = build("net", cfg["net"], n_src=cfg["n_src"]).to(device)
    criterion = build("loss", cfg["loss"])
    optimizer = torch.optim.Adam(net.parameters(), cfg["lr"])
    dev_loader = DataLoader(build("data", cfg["data"], n_src=cfg["n_src"], seed=99), batch_size=4)

    for epoch in range(cfg["epochs"]):
        net.train()
        data = build("data", cfg["data"], n_src=cfg["n_src"], seed=epoch)
        for step, (mix, ref) in enumerate(DataLoader(data, cfg["batch_size"])):
            mix, ref = mix.to(device), ref.to(device)
            est = net(mix)
            loss, perm = criterion(est, ref, return_perm=True)
            optimizer.zero_grad()
            # mixture consistency on the aligned estimates
            residual = mix - reorder(est, perm).sum(1)
            (loss + 0.1 * residual.abs().mean()).backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimizer.step()
        sdr, rms = evaluate(net, dev_loader, device)
        print(f"epoch {epoch} train {loss.item():.2f} | dev SI-SDR {sdr:.2f} dB rms {rms:.3f}")

    song = torch.cat([mix for mix, _ in build("data", cfg["data"], n_src=cfg["n_src"])][:3])
    stems = separate_long(net, song, device=device)
    print("stems", tuple(stems.shape), stems.numpy().std(axis=1).round(3))


if __name__ == "__main__":
    main()
