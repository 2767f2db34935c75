from loadcast.models.tcn import TCN

__all__ = ["TCN"]
