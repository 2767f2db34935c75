from tagger.model import BiLSTMCRF
from tagger.vocab import Vocab

__all__ = ["BiLSTMCRF", "Vocab"]
