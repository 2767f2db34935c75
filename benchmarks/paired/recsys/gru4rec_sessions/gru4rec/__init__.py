"""Small session based recommender after Hidasi et al. (GRU4Rec)."""
from .batch import SessionBatch, collate_sessions
from .losses import get_loss
from .model import GRU4Rec
from .recommender import SessionRecommender

__version__ = "0.2.1"
__all__ = ["GRU4Rec", "SessionBatch", "SessionRecommender", "collate_sessions", "get_loss"]
