import torch
import torch.nn.functional as F


class SAETrainer:
    def __init__(self, sae, store, cfg):
        self.sae = sae.to(cfg.device)
        self.store, self.cfg = store, cfg
        self.opt = torch.optim.Adam(self.sae.parameters(), lr=cfg.lr, betas=(0.0, 0.999))
        self.steps_since_fired = torch.zeros(cfg.n_features, dtype=torch.long, device=cfg.device)

    def step(self):
        x = self.store.next_batch()
        x_hat, acts = self.sae(x)
        mse = F.mse_loss(x_hat, x)
        l1 = acts.abs().sum(-1).mean()
        loss = mse + self.cfg.l1 * l1
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.sae.normalize_decoder()

        fired = (acts.detach() > 0).any(0)
        self.steps_since_fired += 1
        self.steps_since_fired[fired] = 0
        return mse.item(), (acts > 0).float().sum(-1).mean().item()

    @torch.no_grad()
    def resample_dead(self):
        dead = (self.steps_since_fired >= self.cfg.dead_after).nonzero().squeeze(1)
        if dead.numel() == 0:
            return 0
        x = self.store.next_batch()
        err = (self.sae(x)[0] - x).pow(2).sum(-1)
        picks = torch.multinomial(err / err.sum(), dead.numel(), replacement=True)
        directions = F.normalize(x[picks] - self.sae.b_dec, dim=1)
        self.sae.W_dec.data[dead] = directions
        self.sae.W_enc.data[:, dead] = 0.2 * directions.t()
        self.sae.b_enc.data[dead] = 0.0
        self.steps_since_fired[dead] = 0
        return dead.numel()

    def train(self):
        for step in range(1, self.cfg.steps + 1):
            mse, l0 = self.step()
            if step % self.cfg.resample_every == 0:
                n = self.resample_dead()
                print(f"step {step}: mse {mse:.4f} L0 {l0:.1f} resampled {n}")
