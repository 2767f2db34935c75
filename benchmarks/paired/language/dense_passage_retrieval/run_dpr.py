import os

import torch

from dpr.data import SyntheticQA
from dpr.encoder import BiEncoder
from dpr.trainer import Trainer


def get_device() -> torch.device:
    local_rank = int(os.environ.get("LOCAL_RANK", 0))
    if torch.cuda.is_available():
        torch.cuda.set_device(local_rank)
        return torch.device("cuda", local_rank)
    return torch.device("cpu")


if __name__ == "__main__":
    torch.manual_seed(13)
    data = SyntheticQA()
    trainer = Trainer(BiEncoder(data.vocab_size), data, device=get_device())
    trainer.fit(epochs=4)
    for name, value in trainer.evaluate().items():
        print(f"{name}: {value:.3f}")
