import torch
import torch.nn as nn
import torch.nn.functional as F


class PositionalEmbedding(nn.Module):
    def __init__(self, demb):
        super(PositionalEmbedding, self).__init__()
        inv_freq = 1 / (10000 ** (torch.arange(0.0, demb, 2.0) / demb))
        self.register_buffer('inv_freq', inv_freq)

    def forward(self, pos_seq):
        sinusoid_inp = torch.outer(pos_seq, self.inv_freq)
        return torch.cat([sinusoid_inp.sin(), sinusoid_inp.cos()], dim=-1)


class RelMultiHeadAttn(nn.Module):
    def __init__(self, n_head, d_model, dropout):
        super(RelMultiHeadAttn, self).__init__()
        self.n_head, self.d_head = n_head, d_model // n_head
        self.q_net = nn.Linear(d_model, d_model, bias=False)
        self.kv_net = nn.Linear(d_model, 2 * d_model, bias=False)
        self.r_net = nn.Linear(d_model, d_model, bias=False)
        self.o_net = nn.Linear(d_model, d_model, bias=False)
        self.norm = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)
        self.scale = 1 / (self.d_head ** 0.5)

    def _rel_shift(self, x):
        zero_pad = x.new_zeros((x.size(0), 1, *x.size()[2:]))
        x_padded = torch.cat([zero_pad, x], dim=1)
        x_padded = x_padded.view(x.size(1) + 1, x.size(0), *x.size()[2:])
        return x_padded[1:].view_as(x)

    def forward(self, w, r, r_w_bias, r_r_bias, attn_mask, mems):
        qlen, bsz = w.size(0), w.size(1)
        cat = torch.cat([mems, w], 0)
        klen = cat.size(0)
        q = self.q_net(w).view(qlen, bsz, self.n_head, self.d_head)
        k, v = self.kv_net(cat).chunk(2, dim=-1)
        k = k.view(klen, bsz, self.n_head, self.d_head)
        v = v.view(klen, bsz, self.n_head, self.d_head)
        r_k = self.r_net(r).view(klen, self.n_head, self.d_head)

        AC = torch.einsum('ibnd,jbnd->ijbn', q + r_w_bias, k)
        BD = self._rel_shift(torch.einsum('ibnd,jnd->ijbn', q + r_r_bias, r_k))
        score = (AC + BD) * self.scale
        score = score.masked_fill(attn_mask[:, :, None, None], -1e9)
        prob = self.drop(F.softmax(score, dim=1))
        vec = torch.einsum('ijbn,jbnd->ibnd', prob, v).reshape(qlen, bsz, -1)
        return self.norm(w + self.drop(self.o_net(vec)))


class DecoderLayer(nn.Module):
    def __init__(self, n_head, d_model, d_inner, dropout):
        super(DecoderLayer, self).__init__()
        self.attn = RelMultiHeadAttn(n_head, d_model, dropout)
        self.ff = nn.Sequential(nn.Linear(d_model, d_inner), nn.ReLU(), nn.Dropout(dropout),
                                nn.Linear(d_inner, d_model))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, *args):
        x = self.attn(x, *args)
        return self.norm(x + self.ff(x))


class MemTransformerLM(nn.Module):
    def __init__(self, n_token, n_layer=2, n_head=2, d_model=24, d_inner=48, dropout=0.1, mem_len=8):
        super(MemTransformerLM, self).__init__()
        self.n_layer, self.mem_len, self.d_model = n_layer, mem_len, d_model
        self.word_emb = nn.Embedding(n_token, d_model)
        self.pos_emb = PositionalEmbedding(d_model)
        self.drop = nn.Dropout(dropout)
        self.layers = nn.ModuleList([DecoderLayer(n_head, d_model, d_inner, dropout) for _ in range(n_layer)])
        self.r_w_bias = nn.Parameter(torch.zeros(n_head, d_model // n_head))
        self.r_r_bias = nn.Parameter(torch.zeros(n_head, d_model // n_head))
        self.crit = nn.Linear(d_model, n_token)

    def init_mems(self, bsz):
        p = next(self.parameters())
        return [p.new_zeros(0, bsz, self.d_model) for _ in range(self.n_layer)]

    def _update_mems(self, hids, mems):
        with torch.no_grad():
            return [torch.cat([m, h], dim=0)[-self.mem_len:].detach() for m, h in zip(mems, hids)]

    def forward(self, data, target, mems=None):
        qlen, bsz = data.size()
        if not mems:
            mems = self.init_mems(bsz)
        mlen = mems[0].size(0)
        klen = mlen + qlen
        word_emb = self.word_emb(data)
        dec_attn_mask = torch.triu(word_emb.new_ones(qlen, klen), diagonal=1 + mlen).bool()
        pos_seq = torch.arange(klen - 1, -1, -1.0, device=word_emb.device)
        pos_emb = self.drop(self.pos_emb(pos_seq))

        core_out = self.drop(word_emb)
        hids = []
        for layer, mem in zip(self.layers, mems):
            hids.append(core_out)
            core_out = layer(core_out, pos_emb, self.r_w_bias, self.r_r_bias, dec_attn_mask, mem)
        logits = self.crit(self.drop(core_out))
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), target.reshape(-1))
        return loss, self._update_mems(hids, mems)
