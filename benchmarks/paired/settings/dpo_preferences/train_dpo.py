import argparse
import dataclasses

import torch
from torch.utils.data import DataLoader, random_split

from rlhf.lm import GRULM
from rlhf.preferences import PROMPT, VOCAB, Preferences
from rlhf.trainer import PreferenceTrainer, Settings


def settings_from_cli():
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    for f in dataclasses.fields(Settings):
        kind = (lambda s: s.lower() in ("1", "true", "yes")) if f.type is bool else f.type
        parser.add_argument("--" + f.name.replace("_", "-"), type=kind, default=f.default)
    return Settings(**vars(parser.parse_args()))


def main():
    torch.manual_seed(11)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train, held = random_split(Preferences(200), [160, 40])
    loader = DataLoader(train, batch_size=32, shuffle=True)
    prompts = torch.stack([held[i]["chosen"][:PROMPT] for i in range(len(held))])

    trainer = PreferenceTrainer(GRULM(VOCAB), settings_from_cli(), device)
    trainer.sft(loader)
    trainer.fit(loader, prompts)


if __name__ == "__main__":
    main()
