from __future__ import annotations

from typing import Sequence

import torch

from intents.model import IntentModel
from intents.tokenizer import WordTokenizer


class IntentPredictor:
    """Loads a checkpoint and answers with (intent, confidence) pairs."""

    def __init__(self, checkpoint: str, device: str | None = None, threshold: float = 0.2):
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        state = torch.load(checkpoint, map_location=self.device)
        self.intents: list[str] = state["intents"]
        self.tokenizer = WordTokenizer(state["vocab"])
        self.model = IntentModel(len(self.tokenizer), len(self.intents)).to(self.device)
        self.model.load_state_dict(state["model"])
        self.model.eval()
        self.threshold = threshold

    @torch.inference_mode()
    def predict(self, texts: Sequence[str], batch_size: int = 4) -> list[tuple[str, float]]:
        answers: list[tuple[str, float]] = []
        for i in range(0, len(texts), batch_size):
            batch = self.tokenizer(texts[i:i + batch_size])
            batch = batch.to(self.device)
            probs = self.model(batch.input_ids, batch.attention_mask).softmax(dim=-1)
            for p, k in zip(*(t.tolist() for t in probs.max(dim=-1))):
                answers.append((self.intents[k] if p >= self.threshold else "fallback", p))
        return answers
