import copy

import torch as th
from torch.optim import RMSprop

from modules.qmix import QMixer


class QLearner:
    def __init__(self, mac, args):
        self.args = args
        self.mac = mac
        self.mixer = QMixer(args)
        self.target_mixer = copy.deepcopy(self.mixer)
        self.target_mac = copy.deepcopy(mac)
        self.updates = 0

    def cuda(self):
        self.mac.cuda()
        self.target_mac.cuda()
        self.mixer.cuda()
        self.target_mixer.cuda()

    def setup_optimiser(self):
        self.params = list(self.mac.parameters()) + list(self.mixer.parameters())
        self.optimiser = RMSprop(params=self.params, lr=self.args.lr)

    def _unroll(self, mac, obs):
        hidden = mac.init_hidden(obs.size(0), obs)
        out = []
        for t in range(obs.size(1)):
            q, hidden = mac(obs[:, t], hidden)
            out.append(q)
        return th.stack(out, dim=1)

    def train(self, batch):
        obs, actions, rewards, terminated = batch["obs"], batch["actions"], batch["reward"], batch["terminated"]
        state = obs.flatten(2)

        qvals = self._unroll(self.mac, obs)
        chosen = th.gather(qvals[:, :-1], dim=3, index=actions.unsqueeze(3)).squeeze(3)
        with th.no_grad():
            target_q = self._unroll(self.target_mac, obs)[:, 1:]
            best = qvals[:, 1:].argmax(dim=3, keepdim=True)
            target_q = th.gather(target_q, 3, best).squeeze(3)
            target_tot = self.target_mixer(target_q, state[:, 1:])
            targets = rewards.unsqueeze(2) + self.args.gamma * (1 - terminated.unsqueeze(2)) * target_tot
        q_tot = self.mixer(chosen, state[:, :-1])
        loss = (q_tot - targets).pow(2).mean()

        self.optimiser.zero_grad()
        loss.backward()
        grad_norm = th.nn.utils.clip_grad_norm_(self.params, self.args.grad_norm_clip)
        self.optimiser.step()

        self.updates += 1
        if self.updates % self.args.target_update_interval == 0:
            self.target_mac.load_state_dict(self.mac.state_dict())
            self.target_mixer.load_state_dict(self.mixer.state_dict())
        return loss.item(), float(grad_norm)
