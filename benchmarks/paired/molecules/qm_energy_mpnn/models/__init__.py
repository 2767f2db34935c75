from .mpnn import EnergyMPNN, build_model

__all__ = ["EnergyMPNN", "build_model"]
