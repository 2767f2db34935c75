import logging
import warnings

import lightning as L

from callbacks import FreezeUntil, PrintMetrics
from datamodule import MoonsDataModule
from module import MoonsClassifier

warnings.filterwarnings("ignore", message=".*does not have many workers.*")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def main() -> None:
    L.seed_everything(1, verbose=False)
    trainer = L.Trainer(
        max_epochs=2,
        accelerator="auto",
        devices=1,
        gradient_clip_val=1.0,
        num_sanity_val_steps=0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[PrintMetrics(), FreezeUntil("head", 0)],
    )
    trainer.fit(MoonsClassifier(), datamodule=MoonsDataModule())


if __name__ == "__main__":
    main()
