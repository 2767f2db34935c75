from .sac import SACAgent

__all__ = ["SACAgent"]
