from intents.model import IntentModel
from intents.predictor import IntentPredictor
from intents.tokenizer import Encoding, WordTokenizer

__all__ = ["Encoding", "IntentModel", "IntentPredictor", "WordTokenizer"]
