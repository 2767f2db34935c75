import torch
from torch.optim import AdamW
from torch.utils.data import DataLoader

from imputer.ema import EMA


class ImputationTrainer:
    def __init__(self, model, config):
        self.config = config
        self.device = torch.device(config['device'] if torch.cuda.is_available() else 'cpu')
        self.model = model.to(self.device)
        self.ema = EMA(model, config['ema_decay'])
        self.optimizer = AdamW(self.model.parameters(), lr=config['lr'], weight_decay=1e-6)

    def _unpack(self, batch):
        return [item.to(self.device) for item in batch]

    def _random_conditioning(self, observed):
        keep = torch.rand(observed.shape[0], 1, 1, device=observed.device)
        return observed * (torch.rand_like(observed) < keep).float()

    def train(self, dataset):
        loader = DataLoader(dataset, self.config['batch_size'], shuffle=True)
        for epoch in range(self.config['epochs']):
            self.model.train()
            total = 0.0
            for batch in loader:
                x, observed, _ = self._unpack(batch)
                loss = self.model.loss(x, observed, self._random_conditioning(observed))
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.ema.update(self.model)
                total += loss.item()
            print('epoch %d avg loss %.4f' % (epoch, total / len(loader)))

    def evaluate(self, dataset):
        self.ema.apply_shadow(self.model)
        self.model.eval()
        abs_err, count = 0.0, 0.0
        for batch in DataLoader(dataset, self.config['batch_size']):
            x, observed, cond = self._unpack(batch)
            filled = self.model.impute(x, cond)
            held_out = observed - cond
            abs_err += ((filled - x).abs() * held_out).sum().item()
            count += held_out.sum().item()
        self.ema.restore(self.model)
        return abs_err / count
