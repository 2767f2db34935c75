from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

from a2c.arguments import get_args
from a2c.envs import RecallEnv, make_vec_envs
from a2c.model import RecurrentPolicy
from a2c.storage import RolloutStorage

args = get_args()


def main():
    torch.manual_seed(args.seed)
    torch.cuda.manual_seed_all(args.seed)
    device = torch.device("cuda:0" if args.cuda else "cpu")

    envs = make_vec_envs(args.num_processes, args.seed, device)
    obs_size = RecallEnv.num_cues + 1
    actor_critic = RecurrentPolicy(obs_size, RecallEnv.num_cues)
    actor_critic.to(device)
    optimizer = optim.RMSprop(actor_critic.parameters(), args.lr, eps=1e-5, alpha=args.alpha)

    rollouts = RolloutStorage(args.num_steps, args.num_processes, obs_size, actor_critic.hidden_size)
    rollouts.to(device)

    obs = envs.reset()
    rollouts.obs[0].copy_(obs)
    rnn_hxs = torch.zeros(args.num_processes, actor_critic.hidden_size, device=device)
    masks = torch.ones(args.num_processes, 1, device=device)
    episode_rewards = deque(maxlen=50)

    for j in range(args.num_updates):
        for step in range(args.num_steps):
            with torch.no_grad():
                value, action, rnn_hxs = actor_critic.act(obs, rnn_hxs, masks)

            obs, reward, done, infos = envs.step(action)
            episode_rewards.extend(reward[torch.from_numpy(done)].view(-1).tolist())

            # If done then clean the history of observations.
            masks = torch.FloatTensor([[0.0] if done_ else [1.0] for done_ in done]).to(device)
            rollouts.insert(step, obs, rnn_hxs, action, reward, masks)

        with torch.no_grad():
            next_value, _, _ = actor_critic(obs, rnn_hxs, masks)
        rollouts.compute_returns(next_value, args.gamma)

        values, log_probs, entropy = actor_critic.evaluate_sequence(
            rollouts.obs[:-1], rollouts.hidden[0], rollouts.masks[:-1], rollouts.actions)
        advantages = rollouts.returns[:-1] - values
        value_loss = advantages.pow(2).mean()
        action_loss = -(advantages.detach() * log_probs).mean()

        optimizer.zero_grad()
        (value_loss * args.value_loss_coef + action_loss - entropy * args.entropy_coef).backward()
        nn.utils.clip_grad_norm_(actor_critic.parameters(), args.max_grad_norm)
        optimizer.step()
        rollouts.after_update()

        if (j + 1) % args.log_interval == 0:
            print("Updates {}, mean reward of the last {} episodes {:.2f}, entropy {:.3f}, value loss {:.4f}".format(
                j + 1, len(episode_rewards), np.mean(episode_rewards), entropy.item(), value_loss.item()))


if __name__ == "__main__":
    main()
