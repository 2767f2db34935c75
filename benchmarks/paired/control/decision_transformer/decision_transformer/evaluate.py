import torch


@torch.no_grad()
def evaluate_episode_rtg(env, model, target_return, scale, device):
    model.eval()
    model.to(device=device)
    state = env.reset()

    states = torch.from_numpy(state).reshape(1, env.state_dim).to(device=device, dtype=torch.float32)
    actions = torch.zeros((0, env.act_dim), device=device, dtype=torch.float32)
    target = torch.tensor(target_return / scale, device=device, dtype=torch.float32).reshape(1, 1)
    timesteps = torch.tensor(0, device=device, dtype=torch.long).reshape(1, 1)

    episode_return, done = 0, False
    while not done:
        actions = torch.cat([actions, torch.zeros((1, env.act_dim), device=device)], dim=0)
        action = model.get_action(states, actions, target, timesteps)
        actions[-1] = action
        state, reward, done = env.step(action.cpu().numpy())

        cur_state = torch.from_numpy(state).to(device=device, dtype=torch.float32).reshape(1, env.state_dim)
        states = torch.cat([states, cur_state], dim=0)
        pred_return = target[0, -1] - reward / scale
        target = torch.cat([target, pred_return.reshape(1, 1)], dim=1)
        timesteps = torch.cat(
            [timesteps, torch.ones((1, 1), device=device, dtype=torch.long) * env.t], dim=1)
        episode_return += reward
    return episode_return
