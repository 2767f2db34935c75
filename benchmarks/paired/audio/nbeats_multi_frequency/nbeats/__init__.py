"""A small N-BEATS library: one shared trunk, one adapter per sampling frequency."""
from .blocks import GenericBlock, SeasonalityBlock, TrendBlock
from .ensemble import BaggedForecaster
from .losses import MASELoss, smape
from .model import MultiFrequencyNBeats, NBeatsConfig
