from typing import Tuple

import lightning as L
import torch
from torch import Tensor, nn
from torchmetrics import MetricCollection
from torchmetrics.classification import MulticlassAccuracy, MulticlassF1Score

Batch = Tuple[Tensor, Tensor]


class MoonsClassifier(L.LightningModule):
    def __init__(self, hidden: int = 32, classes: int = 3, lr: float = 1e-2) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.backbone = nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, classes)
        self.loss = nn.CrossEntropyLoss()
        base = MetricCollection({
            "acc": MulticlassAccuracy(classes, average="micro"),
            "f1": MulticlassF1Score(classes),
        })
        self.stage_metrics = nn.ModuleDict({
            "fit": base.clone(prefix="train/"),
            "val": base.clone(prefix="val/"),
        })

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.backbone(x))

    def _shared_step(self, batch: Batch, stage: str) -> Tensor:
        x, y = batch
        logits = self(x)
        loss = self.loss(logits, y)
        self.stage_metrics[stage].update(logits, y)
        self.log(f"{stage}/loss", loss, on_step=False, on_epoch=True, batch_size=len(y))
        return loss

    def _flush(self, stage: str) -> None:
        metrics = self.stage_metrics[stage]
        self.log_dict(metrics.compute())
        metrics.reset()

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        return self._shared_step(batch, "fit")

    def on_train_epoch_end(self) -> None:
        self._flush("fit")

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        self._shared_step(batch, "val")

    def on_validation_epoch_end(self) -> None:
        self._flush("val")

    def configure_optimizers(self):
        opt = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=self.trainer.max_epochs)
        return {"optimizer": opt, "lr_scheduler": sched}
