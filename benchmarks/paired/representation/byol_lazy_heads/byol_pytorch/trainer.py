import torch
from torch.utils.data import DataLoader

from byol_pytorch.byol import BYOL


class BYOLTrainer:
    def __init__(self, net, dataset, *, image_size, hidden_layer, batch_size=16, learning_rate=3e-4, device=None):
        self.device = torch.device(device or ('cuda' if torch.cuda.is_available() else 'cpu'))
        self.net = net.to(self.device)
        self.byol = BYOL(self.net, image_size=image_size, hidden_layer=hidden_layer)
        self.optimizer = torch.optim.Adam(self.byol.parameters(), lr=learning_rate)
        self.dataloader = DataLoader(dataset, shuffle=True, batch_size=batch_size, drop_last=True)

    def fit(self, epochs):
        for epoch in range(epochs):
            total = 0.
            for images in self.dataloader:
                loss = self.byol(images.to(self.device))
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.byol.update_moving_average()
                total += loss.item()
            print(f'epoch {epoch}: loss {total / len(self.dataloader):.4f}')
        return self.net
