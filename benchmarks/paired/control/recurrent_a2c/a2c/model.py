import torch
import torch.nn as nn
import torch.nn.functional as F


class RecurrentPolicy(nn.Module):
    def __init__(self, num_inputs, num_actions, hidden_size=24):
        super(RecurrentPolicy, self).__init__()
        self.hidden_size = hidden_size
        self.embed = nn.Linear(num_inputs, hidden_size)
        self.gru = nn.GRUCell(hidden_size, hidden_size)
        self.critic_linear = nn.Linear(hidden_size, 1)
        self.dist_linear = nn.Linear(hidden_size, num_actions)
        for name, param in self.named_parameters():
            if 'bias' in name:
                nn.init.constant_(param, 0)
            elif 'gru' in name:
                nn.init.orthogonal_(param)

    def forward(self, inputs, rnn_hxs, masks):
        x = torch.tanh(self.embed(inputs))
        rnn_hxs = self.gru(x, rnn_hxs * masks)
        return self.critic_linear(rnn_hxs), self.dist_linear(rnn_hxs), rnn_hxs

    def act(self, inputs, rnn_hxs, masks):
        value, logits, rnn_hxs = self(inputs, rnn_hxs, masks)
        probs = F.softmax(logits, dim=1)
        action = probs.multinomial(1)
        return value, action, rnn_hxs

    def evaluate_sequence(self, obs, rnn_hxs, masks, actions):
        values, log_probs, entropies = [], [], []
        for t in range(actions.size(0)):
            value, logits, rnn_hxs = self(obs[t], rnn_hxs, masks[t])
            logp = F.log_softmax(logits, dim=1)
            values.append(value)
            log_probs.append(logp.gather(1, actions[t]))
            entropies.append(-(logp * logp.exp()).sum(1))
        return torch.stack(values), torch.stack(log_probs), torch.stack(entropies).mean()
