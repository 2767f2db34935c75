from .config import AudioConfig, ModelConfig, TrainConfig

__all__ = ["AudioConfig", "ModelConfig", "TrainConfig"]
