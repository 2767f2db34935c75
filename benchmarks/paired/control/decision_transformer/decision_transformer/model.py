import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, dim, n_head, dropout):
        super().__init__()
        self.ln_1 = nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, n_head, dropout=dropout, batch_first=True)
        self.ln_2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim), nn.Dropout(dropout))

    def forward(self, x, mask):
        h = self.ln_1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.ln_2(x))


class DecisionTransformer(nn.Module):
    """
    This model uses a causal transformer to model (Return_1, state_1, action_1, Return_2, state_2, ...)
    """

    def __init__(self, state_dim, act_dim, hidden_size, max_length, max_ep_len=64, n_layer=2, n_head=2, dropout=0.1):
        super().__init__()
        self.state_dim = state_dim
        self.act_dim = act_dim
        self.max_length = max_length
        self.n_head = n_head
        self.embed_timestep = nn.Embedding(max_ep_len, hidden_size)
        self.embed_return = nn.Linear(1, hidden_size)
        self.embed_state = nn.Linear(state_dim, hidden_size)
        self.embed_action = nn.Linear(act_dim, hidden_size)
        self.embed_ln = nn.LayerNorm(hidden_size)
        self.blocks = nn.ModuleList([Block(hidden_size, n_head, dropout) for _ in range(n_layer)])
        self.predict_action = nn.Sequential(nn.Linear(hidden_size, act_dim), nn.Tanh())
        causal = torch.ones(3 * max_length, 3 * max_length, dtype=torch.bool).triu(1)
        self.register_buffer("causal", causal)

    def forward(self, states, actions, returns_to_go, timesteps, attention_mask):
        batch_size, seq_length = states.shape[0], states.shape[1]
        time_embeddings = self.embed_timestep(timesteps)
        stacked = torch.stack([
            self.embed_return(returns_to_go) + time_embeddings,
            self.embed_state(states) + time_embeddings,
            self.embed_action(actions) + time_embeddings,
        ], dim=2).reshape(batch_size, 3 * seq_length, -1)
        x = self.embed_ln(stacked)

        n = 3 * seq_length
        keep = attention_mask.bool().repeat_interleave(3, dim=1)
        blocked = self.causal[:n, :n] | ~keep[:, None, :]
        # a padded position may look at itself, otherwise its softmax is empty
        blocked = blocked & ~torch.eye(n, dtype=torch.bool, device=blocked.device)
        blocked = blocked.repeat_interleave(self.n_head, dim=0)
        for block in self.blocks:
            x = block(x, blocked)
        x = x.reshape(batch_size, seq_length, 3, -1)
        return self.predict_action(x[:, :, 1])

    def get_action(self, states, actions, returns_to_go, timesteps):
        # we don't care about the past rewards in this model
        states = states.reshape(1, -1, self.state_dim)[:, -self.max_length:]
        actions = actions.reshape(1, -1, self.act_dim)[:, -self.max_length:]
        returns_to_go = returns_to_go.reshape(1, -1, 1)[:, -self.max_length:]
        timesteps = timesteps.reshape(1, -1)[:, -self.max_length:]

        # pad all tokens to sequence length
        n, pad = states.shape[1], self.max_length - states.shape[1]
        attention_mask = torch.cat([torch.zeros(pad), torch.ones(n)])
        attention_mask = attention_mask.to(dtype=torch.long, device=states.device).reshape(1, -1)
        states = torch.cat([torch.zeros((1, pad, self.state_dim), device=states.device), states], dim=1)
        actions = torch.cat([torch.zeros((1, pad, self.act_dim), device=actions.device), actions], dim=1)
        returns_to_go = torch.cat(
            [torch.zeros((1, pad, 1), device=returns_to_go.device), returns_to_go], dim=1)
        timesteps = torch.cat(
            [torch.zeros((1, pad), dtype=torch.long, device=timesteps.device), timesteps], dim=1)

        action_preds = self.forward(states, actions, returns_to_go, timesteps, attention_mask)
        return action_preds[0, -1]
