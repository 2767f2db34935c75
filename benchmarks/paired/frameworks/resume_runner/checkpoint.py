"""Checkpoints on disk: atomic writes, a limit on how many are kept, a manifest."""
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch


@dataclass
class Manifest:
    latest: str = ""
    kept: list = field(default_factory=list)
    best_metric: float = float("inf")


class CheckpointManager:
    def __init__(self, folder, keep: int = 2):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.keep = keep
        self._index = self.folder / "manifest.json"
        self.manifest = Manifest()
        if self._index.exists():
            self.manifest = Manifest(**json.loads(self._index.read_text()))

    def save(self, step: int, payload: dict, metric: float):
        name = f"step_{step:06d}.pt"
        tmp = self.folder / (name + ".tmp")
        torch.save(payload, tmp)
        os.replace(tmp, self.folder / name)
        self.manifest.latest = name
        self.manifest.kept.append(name)
        self.manifest.best_metric = min(self.manifest.best_metric, metric)
        while len(self.manifest.kept) > self.keep:
            (self.folder / self.manifest.kept.pop(0)).unlink(missing_ok=True)
        self._index.write_text(json.dumps(asdict(self.manifest)))

    def load(self, device):
        """The latest payload with its weights mapped to device, or None."""
        if not self.manifest.latest:
            return None
        path = self.folder / self.manifest.latest
        payload = torch.load(path, map_location="cpu")
        for part in ("model", "average"):
            payload[part] = {k: v.to(device) for k, v in payload[part].items()}
        return payload
