from typing import Any, Dict, Tuple

import torch


class VecTask:
    """Base class of the tasks: all buffers live on the simulation device."""

    def __init__(self, cfg: Dict[str, Any], sim_device: str, rl_device: str):
        self.cfg = cfg
        self.device = sim_device
        self.rl_device = rl_device
        self.num_envs = cfg["numEnvs"]
        self.num_obs = cfg["numObservations"]
        self.num_actions = cfg["numActions"]
        self.max_episode_length = cfg["maxEpisodeLength"]
        self.clip_obs = cfg.get("clipObservations", 5.0)
        self.allocate_buffers()

    def allocate_buffers(self):
        self.obs_buf = torch.zeros((self.num_envs, self.num_obs), device=self.device, dtype=torch.float)
        self.rew_buf = torch.zeros(self.num_envs, device=self.device, dtype=torch.float)
        self.reset_buf = torch.ones(self.num_envs, device=self.device, dtype=torch.long)
        self.progress_buf = torch.zeros(self.num_envs, device=self.device, dtype=torch.long)

    def reset_idx(self, env_ids: torch.Tensor) -> None:
        raise NotImplementedError

    def pre_physics_step(self, actions: torch.Tensor) -> None:
        raise NotImplementedError

    def post_physics_step(self) -> None:
        raise NotImplementedError

    def _obs(self) -> torch.Tensor:
        return torch.clamp(self.obs_buf, -self.clip_obs, self.clip_obs).to(self.rl_device)

    def reset(self) -> torch.Tensor:
        self.reset_idx(torch.arange(self.num_envs, device=self.device))
        self.compute_observations()
        return self._obs()

    def step(self, actions: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        self.pre_physics_step(actions.to(self.device))
        self.post_physics_step()
        return self._obs(), self.rew_buf.clone().to(self.rl_device), self.reset_buf.clone().to(self.rl_device)
