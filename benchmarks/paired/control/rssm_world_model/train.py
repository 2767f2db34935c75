import torch
import torch.nn as nn
from torch.distributions import kl_divergence

from dreamlet.data import batches, bouncing_dot
from dreamlet.models import RSSM, Decoder, Encoder, RewardHead


class WorldModel(nn.Module):
    def __init__(self, action_dim: int, free_nats: float = 1.0):
        super().__init__()
        self.encoder = Encoder()
        self.rssm = RSSM(embed_dim=24, action_dim=action_dim)
        self.decoder = Decoder(self.rssm.feature_size)
        self.reward = RewardHead(self.rssm.feature_size)
        self.free_nats = free_nats

    def loss(self, frames, actions, rewards):
        prior, post = self.rssm.observe(self.encoder(frames), actions)
        recon = (self.decoder(post.features) - frames).pow(2).sum((-3, -2, -1)).mean()
        rew = (self.reward(post.features) - rewards).pow(2).mean()
        kl = kl_divergence(post.dist(), prior.dist()).sum(-1).mean().clamp(min=self.free_nats)
        return recon + rew + kl, {"recon": recon, "reward": rew, "kl": kl}

    @torch.no_grad()
    def dream(self, frames, actions, horizon):
        """open loop prediction of the rewards after the given frames"""
        _, post = self.rssm.observe(self.encoder(frames), actions[:, : frames.shape[1]])
        state = type(post)(post.mean[:, -1], post.std[:, -1], post.stoch[:, -1], post.deter[:, -1])
        out = []
        for t in range(frames.shape[1], frames.shape[1] + horizon):
            state = self.rssm.imagine_step(state, actions[:, t])
            out.append(self.reward(state.features))
        return torch.stack(out, dim=1)


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = bouncing_dot(episodes=12, length=14)
    model = WorldModel(action_dim=2).to(device)
    optim = torch.optim.Adam(model.parameters(), lr=2e-3, eps=1e-5)
    for step, batch in enumerate(batches(data, batch_size=6, steps=10, device=device)):
        loss, parts = model.loss(*batch)
        optim.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 100.0)
        optim.step()
        if step % 3 == 0:
            print(step, " ".join(f"{k} {v.item():.3f}" for k, v in parts.items()))
    frames, actions, rewards = (a[:4].to(device) for a in data)
    pred = model.dream(frames[:, :8], actions, horizon=6)
    print("open loop reward error %.4f" % (pred - rewards[:, 8:14]).abs().mean().item())


if __name__ == "__main__":
    main()
