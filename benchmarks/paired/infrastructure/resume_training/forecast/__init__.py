"""Short-term load forecasting with a small GRU."""

__version__ = "0.2.0"
