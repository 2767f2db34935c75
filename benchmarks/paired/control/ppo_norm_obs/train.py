import torch

from algo.policy import ActorCritic
from algo.ppo import PPO
from common.running_stats import RunningStats
from common.vec_env import VecTracker


def main(iterations: int = 8) -> None:
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    env = VecTracker(num_envs=8)
    stats = RunningStats(env.obs_dim)
    stats.update(env.reset())
    policy = ActorCritic(env.obs_dim, env.act_dim, stats, device)
    algo = PPO(policy, env, stats)
    for it in range(iterations):
        reward = algo.train_iteration()
        print(f"iteration {it}  mean reward {reward:.3f}  "
              f"obs mean {[round(m, 1) for m in policy.obs_mean.tolist()]}")


if __name__ == "__main__":
    main()
