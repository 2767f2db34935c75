from dreamlet.models.rssm import RSSM, RSSMState
from dreamlet.models.heads import Decoder, Encoder, RewardHead

__all__ = ["RSSM", "RSSMState", "Encoder", "Decoder", "RewardHead"]
