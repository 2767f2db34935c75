from mae.model import MaskedAutoencoder

__all__ = ["MaskedAutoencoder"]
