import argparse
import logging
import tempfile

import torch

from kws import AudioConfig, ModelConfig, TrainConfig
from kws.dataset import KEYWORDS, build_loaders, class_weights
from kws.features import MFCC
from kws.model import KeywordNet
from kws.trainer import Trainer


def resolve_device(name):
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)


def export_latency_model(path, audio_cfg, model_cfg):
    """The device in the field has no GPU, so the exported net is checked on the CPU."""
    model = KeywordNet(MFCC(audio_cfg), len(KEYWORDS), model_cfg)
    model.load_state_dict(torch.load(path, map_location="cpu")["model"])
    model.eval()
    with torch.no_grad():
        probs = model(torch.randn(1, audio_cfg.clip_samples)).softmax(-1)
    return KEYWORDS[int(probs.argmax())], probs.max().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--device", default="auto")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")

    audio_cfg, model_cfg = AudioConfig(), ModelConfig()
    with tempfile.TemporaryDirectory() as out_dir:
        cfg = TrainConfig(epochs=args.epochs, batch_size=args.batch_size,
                          device=args.device, out_dir=out_dir)
        torch.manual_seed(cfg.seed)
        device = resolve_device(cfg.device)

        train_loader, val_loader = build_loaders(audio_cfg, cfg.batch_size, cfg.seed)
        frontend = MFCC(audio_cfg).fit_stats(train_loader)
        model = KeywordNet(frontend, len(KEYWORDS), model_cfg)
        trainer = Trainer(model, cfg, class_weights(train_loader.dataset), device)
        trainer.fit(train_loader, val_loader)
        word, p = export_latency_model(out_dir + "/best.pt", audio_cfg, model_cfg)
        print(f"exported model says {word} ({p:.2f})")


if __name__ == "__main__":
    main()
