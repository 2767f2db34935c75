from dataclasses import dataclass, field
from typing import List


@dataclass
class AudioConfig:
    sample_rate: int = 4000
    n_fft: int = 128
    hop_length: int = 64
    n_mels: int = 20
    n_mfcc: int = 12
    clip_seconds: float = 0.5

    @property
    def clip_samples(self) -> int:
        return int(self.sample_rate * self.clip_seconds)


@dataclass
class ModelConfig:
    channels: List[int] = field(default_factory=lambda: [16, 24])
    dropout: float = 0.1


@dataclass
class TrainConfig:
    epochs: int = 1
    batch_size: int = 16
    lr: float = 3e-3
    label_smoothing: float = 0.05
    device: str = "auto"
    out_dir: str = ""
    seed: int = 7
