import logging
import os
import tempfile

import torch
from torch import nn, optim
from torch.utils.data import DataLoader

from dice import dice_loss, dice_score


class Trainer:
    def __init__(self, model, train_set, val_set, batch_size=6, lr=1e-2, device=None, checkpoint_dir=None):
        self.device = device or torch.device('cuda' if torch.cuda.is_available() else 'cpu')
        self.model = model.to(self.device)
        self.train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
        self.val_loader = DataLoader(val_set, batch_size=batch_size)
        self.optimizer = optim.RMSprop(self.model.parameters(), lr=lr, weight_decay=1e-8, momentum=0.5)
        self.scheduler = optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, 'max', patience=2)
        self.criterion = nn.CrossEntropyLoss(weight=train_set.class_weights().to(self.device))
        self.checkpoint_dir = checkpoint_dir or tempfile.mkdtemp()
        self.best = 0.0

    def fetch(self, batch):
        images = batch['image'].to(device=self.device, dtype=torch.float32)
        masks = batch['mask'].to(device=self.device, dtype=torch.long)
        return images, masks

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for batch in self.train_loader:
            images, masks = self.fetch(batch)
            logits = self.model(images)
            loss = self.criterion(logits, masks) + dice_loss(logits, masks)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            total += loss.item()
        return total / len(self.train_loader)

    def validate(self):
        self.model.eval()
        score = 0.0
        with torch.no_grad():
            for batch in self.val_loader:
                images, masks = self.fetch(batch)
                score += dice_score(self.model(images), masks)
        return score.item() / max(len(self.val_loader), 1)

    def fit(self, epochs):
        for epoch in range(1, epochs + 1):
            loss = self.train_epoch()
            score = self.validate()
            self.scheduler.step(score)
            logging.info('epoch %d: loss %.4f, dice %.4f', epoch, loss, score)
            if score >= self.best:
                self.best = score
                torch.save(self.model.state_dict(), os.path.join(self.checkpoint_dir, 'best.pth'))
        return self.best
