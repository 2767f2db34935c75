"""Finds, repairs and proves device-placement faults in PyTorch code."""

__version__ = "0.1.0"
