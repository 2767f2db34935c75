import random

import torch
from torch.utils.data import DataLoader

from graphs import FAMILIES, GraphBatch, random_graph
from layers import GraphClassifier
from trainer import Trainer

SEED = 0
HIDDEN = 16
EPOCHS = 3


def main():
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    data = [random_graph(rng) for _ in range(72)]
    train, test = data[:54], data[54:]

    train_loader = DataLoader(train, batch_size=18, shuffle=True, collate_fn=GraphBatch.from_list)
    test_loader = DataLoader(test, batch_size=18, collate_fn=GraphBatch.from_list)

    model = GraphClassifier(train[0].x.shape[1], HIDDEN, len(FAMILIES))
    trainer = Trainer(model)
    for epoch in range(1, EPOCHS + 1):
        loss = trainer.train_one_epoch(train_loader)
        print(f"epoch {epoch:02d} loss {loss:.4f} test acc {trainer.accuracy(test_loader):.3f}")


if __name__ == "__main__":
    main()
