import torch

from gail import Discriminator, GaussianPolicy, Trainer


def step(state, action):
    pos, vel = state.chunk(2, dim=1)
    vel = 0.8 * vel + 0.3 * action.clamp(-2, 2)
    return torch.cat([pos + 0.3 * vel, vel], dim=1)


def expert_data(n_traj=24, horizon=16):
    state = torch.randn(n_traj, 2)
    states, actions = [], []
    for _ in range(horizon):
        action = -1.5 * state[:, :1] - 1.0 * state[:, 1:] + 0.1 * torch.randn(n_traj, 1)
        states.append(state)
        actions.append(action)
        state = step(state, action)
    return {"state": torch.cat(states), "action": torch.cat(actions)}


if __name__ == "__main__":
    torch.manual_seed(0)
    dev = "cuda" if torch.cuda.is_available() else "cpu"
    trainer = Trainer(GaussianPolicy(2, 1, 24), Discriminator(3, 24), expert_data(), step, dev)
    for it, d_loss, dist in trainer.train(5):
        print(f"iter {it} disc loss {d_loss:.3f} distance at the end {dist:.3f}")
