import argparse

import torch
from torch.utils.data import DataLoader, Dataset

from ssd import AnchorGenerator, MultiBoxLoss, TinySSD


class Rectangles(Dataset):
    def __init__(self, n, size=32):
        self.n, self.size = n, size

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        img = 0.1 * torch.rand(3, self.size, self.size, generator=g)
        boxes, labels = [], []
        for _ in range(int(torch.randint(1, 3, (1,), generator=g))):
            w, h = torch.randint(8, 16, (2,), generator=g).tolist()
            x = int(torch.randint(0, self.size - w, (1,), generator=g))
            y = int(torch.randint(0, self.size - h, (1,), generator=g))
            c = int(torch.randint(0, 3, (1,), generator=g))
            img[c, y:y + h, x:x + w] = 1.0
            boxes.append([x, y, x + w, y + h])
            labels.append(c)
        return img, torch.tensor(boxes).float() / self.size, torch.tensor(labels)


def collate(batch):
    images, boxes, labels = zip(*batch)
    return torch.stack(images), list(zip(boxes, labels))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--lr", type=float, default=5e-3)
    args = p.parse_args()

    torch.manual_seed(0)
    args.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    loader = DataLoader(Rectangles(48), args.batch_size, shuffle=True, collate_fn=collate)
    model = TinySSD(num_classes=3, anchors=AnchorGenerator(scales=(0.3, 0.5))).to(args.device)
    criterion = MultiBoxLoss().to(args.device)
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)

    for epoch in range(args.epochs):
        model.train()
        for images, targets in loader:
            images = images.to(args.device)
            targets = [(b.to(args.device), l.to(args.device)) for b, l in targets]
            loss = criterion(*model(images), targets)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch}  loss {loss.item():.3f}")

    found = model.predict(images)
    print("boxes per image:", [len(b) for b, _, _ in found])


if __name__ == "__main__":
    main()
