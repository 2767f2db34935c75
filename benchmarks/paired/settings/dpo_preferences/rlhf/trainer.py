from dataclasses import dataclass

import torch
import torch.nn.functional as F

from rlhf.functional import LOSSES, move, pair_logp
from rlhf.preferences import reward
from rlhf.reference import FrozenReference


@dataclass
class Settings:
    loss: str = "dpo"
    beta: float = 0.3
    smoothing: float = 0.02
    sft_epochs: int = 1
    epochs: int = 3
    lr: float = 5e-3
    sft_weight: float = 0.05
    reference_device: str = "cpu"
    weight_by_gap: bool = True


class PreferenceTrainer:
    def __init__(self, policy, settings, device):
        self.policy, self.cfg, self.device = policy.to(device), settings, device
        self.loss_fn = LOSSES[settings.loss]
        self.opt = torch.optim.Adam(self.policy.parameters(), lr=settings.lr)
        self.reference = None

    def _step(self, loss):
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def _lm_loss(self, ids):
        logits, _ = self.policy(ids[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())

    def sft(self, loader):
        for epoch in range(self.cfg.sft_epochs):
            losses = [self._step(self._lm_loss(move(b, self.device)["chosen"])) for b in loader]
            print(f"sft {epoch}: {sum(losses) / len(losses):.3f}")

    def fit(self, loader, prompts):
        self.reference = FrozenReference(self.policy, self.cfg.reference_device)
        for epoch in range(self.cfg.epochs):
            total = agree = seen = 0
            for batch in loader:
                batch = move(batch, self.device)
                ref = self.reference.logp(batch, like=self.device)
                pol = pair_logp(self.policy, batch)
                loss, margin = self.loss_fn(pol, ref, self.cfg.beta, self.cfg.smoothing)
                if self.cfg.weight_by_gap:
                    loss = loss * batch["gap"].clamp(max=2.0)
                loss = loss.mean() + self.cfg.sft_weight * self._lm_loss(batch["chosen"])
                total += self._step(loss) * len(margin)
                agree += (margin > 0).sum().item()
                seen += len(margin)
            print(f"{self.cfg.loss} {epoch}: loss {total / seen:.3f} agree {agree / seen:.2f} "
                  f"reward {self.sample_reward(self.policy, prompts):.2f} "
                  f"(reference {self.sample_reward(self.reference.net, prompts):.2f})")

    @staticmethod
    def sample_reward(net, prompts, steps=5):
        return reward(net.generate(prompts, steps).cpu()).mean().item()
