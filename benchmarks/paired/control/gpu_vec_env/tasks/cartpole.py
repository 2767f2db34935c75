import math

import torch

from tasks.vec_task import VecTask


class Cartpole(VecTask):
    num_dof = 2

    def __init__(self, cfg, sim_device, rl_device):
        cfg["numObservations"], cfg["numActions"] = 4, 1
        super().__init__(cfg, sim_device, rl_device)
        self.reset_dist = cfg["resetDist"]
        self.dof_pos = torch.zeros(self.num_envs, self.num_dof, device=self.device)
        self.dof_vel = torch.zeros(self.num_envs, self.num_dof, device=self.device)

    def reset_idx(self, env_ids):
        positions = 0.2 * (torch.rand((len(env_ids), self.num_dof), device=self.device) - 0.5)
        velocities = 0.5 * (torch.rand((len(env_ids), self.num_dof), device=self.device) - 0.5)
        self.dof_pos[env_ids, :] = positions[:]
        self.dof_vel[env_ids, :] = velocities[:]
        self.reset_buf[env_ids] = 0
        self.progress_buf[env_ids] = 0

    def pre_physics_step(self, actions):
        force = 10.0 * actions.squeeze(-1).clamp(-1, 1)
        theta, theta_dot = self.dof_pos[:, 1], self.dof_vel[:, 1]
        sin, cos = theta.sin(), theta.cos()
        temp = (force + 0.05 * theta_dot ** 2 * sin) / 1.1
        theta_acc = (9.8 * sin - cos * temp) / (0.5 * (4.0 / 3.0 - 0.1 * cos ** 2 / 1.1))
        x_acc = temp - 0.05 * theta_acc * cos / 1.1
        self.dof_vel += 0.02 * torch.stack([x_acc, theta_acc], dim=1)
        self.dof_pos += 0.02 * self.dof_vel

    def post_physics_step(self):
        self.progress_buf += 1
        env_ids = self.reset_buf.nonzero(as_tuple=False).squeeze(-1)
        if len(env_ids) > 0:
            self.reset_idx(env_ids)
        self.compute_observations()
        self.compute_reward()

    def compute_observations(self):
        self.obs_buf[:, 0::2] = self.dof_pos
        self.obs_buf[:, 1::2] = self.dof_vel

    def compute_reward(self):
        cart_pos, cart_vel, pole_angle, pole_vel = self.obs_buf.unbind(1)
        reward = 1.0 - pole_angle ** 2 - 0.01 * cart_vel.abs() - 0.005 * pole_vel.abs()
        lost = (cart_pos.abs() > self.reset_dist) | (pole_angle.abs() > math.pi / 6)
        self.rew_buf[:] = torch.where(lost, torch.full_like(reward, -2.0), reward)
        timeout = self.progress_buf >= self.max_episode_length - 1
        self.reset_buf[:] = (lost | timeout).long()
