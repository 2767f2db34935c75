import logging
from contextlib import contextmanager

import torch
from torch.utils.data import DataLoader

from network import DeepAR, gaussian_nll

logger = logging.getLogger(__name__)


@contextmanager
def evaluating(module):
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            yield module
    finally:
        module.train(was_training)


class DeepARForecaster:
    def __init__(self, n_series, n_cov, context, horizon, lr=5e-3, num_paths=20, device=None, seed=0):
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.context, self.horizon, self.num_paths = context, horizon, num_paths
        torch.manual_seed(seed)
        self.net = DeepAR(n_series, n_cov).to(self.device)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.shuffle_rng = torch.Generator().manual_seed(seed)
        self.path_rng = torch.Generator(device=self.device).manual_seed(seed + 1)

    def _unpack(self, batch):
        b = {k: v.to(self.device) for k, v in batch.items()}
        scaled = b["target"] / b["scale"].unsqueeze(1)
        return scaled, b["covariates"], b["series"], b["scale"]

    def fit(self, dataset, epochs, batch_size=64):
        loader = DataLoader(dataset, batch_size=batch_size, shuffle=True, generator=self.shuffle_rng)
        for epoch in range(epochs):
            running = 0.0
            for batch in loader:
                scaled, cov, series, _ = self._unpack(batch)
                (mu, sigma), _ = self.net(scaled, cov, series)
                loss = gaussian_nll(mu, sigma, scaled[:, 1:])
                self.opt.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
                self.opt.step()
                running += loss.item()
            logger.info("epoch %d nll %.4f", epoch, running / len(loader))

    def predict_paths(self, batch):
        """Monte Carlo paths, shape (num_paths, batch, horizon), in the original scale."""
        scaled, cov, series, scale = self._unpack(batch)
        c = self.context
        with evaluating(self.net) as net:
            _, state = net(scaled[:, :c], cov[:, :c], series)
            state = tuple(s.repeat(1, self.num_paths, 1) for s in state)
            last = scaled[:, c - 1].repeat(self.num_paths)
            rep_series = series.repeat(self.num_paths)
            out = []
            for h in range(self.horizon):
                cov_t = cov[:, c + h].repeat(self.num_paths, 1)
                mu, sigma, state = net.step(last, cov_t, rep_series, state)
                eps = torch.randn(mu.shape, generator=self.path_rng, device=mu.device)
                last = (mu + sigma * eps).clamp_min(0)
                out.append(last)
        paths = torch.stack(out, -1).view(self.num_paths, -1, self.horizon)
        return (paths * scale.view(1, -1, 1)).cpu()
