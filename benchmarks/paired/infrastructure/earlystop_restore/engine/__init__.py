from .callbacks import Callback, CallbackList, EarlyStopping, History
from .loop import Loop

__all__ = ["Callback", "CallbackList", "EarlyStopping", "History", "Loop"]
