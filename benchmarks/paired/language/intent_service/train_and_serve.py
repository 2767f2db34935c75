from __future__ import annotations

import os
import tempfile

import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader

from intents import IntentModel, IntentPredictor, WordTokenizer
from scripts.data import make_dataset


def train(path: str, epochs: int = 4) -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    samples, intents = make_dataset(96)
    tokenizer = WordTokenizer.train(text for text, _ in samples)

    def collate(batch):
        texts, labels = zip(*batch)
        return tokenizer(texts), torch.tensor(labels)

    loader = DataLoader(samples, batch_size=16, shuffle=True, collate_fn=collate)
    model = IntentModel(len(tokenizer), len(intents)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        correct = 0
        for enc, labels in loader:
            enc, labels = enc.to(device), labels.to(device)
            logits = model(enc.input_ids, enc.attention_mask)
            loss = F.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            correct += (logits.argmax(-1) == labels).sum().item()
        print(f"epoch {epoch} loss {loss.item():.3f} acc {correct / len(samples):.3f}")
    torch.save({"model": model.state_dict(), "vocab": tokenizer.itos[3:], "intents": intents}, path)


def main() -> None:
    torch.manual_seed(4)
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "intents.pt")
        train(path)
        predictor = IntentPredictor(path)
    questions = ["a table for 4 at noon", "hello there", "please cancel", "open at 8 pm?", "reserve for 2"]
    for text, (intent, p) in zip(questions, predictor.predict(questions)):
        print(f"{text:24s} {intent:14s} {p:.2f}")


if __name__ == "__main__":
    main()
