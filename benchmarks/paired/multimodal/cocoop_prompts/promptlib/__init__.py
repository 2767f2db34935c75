from .encoders import ImageEncoder, TextEncoder
from .prompts import ConditionalPromptLearner
from .tokenizer import WordTokenizer

__all__ = ["ImageEncoder", "TextEncoder", "ConditionalPromptLearner", "WordTokenizer"]
