import numpy as np
import torch
import torch.nn as nn

from transformer.Layers import EncoderLayer, DecoderLayer


def get_pad_mask(seq, pad_idx):
    return (seq != pad_idx).unsqueeze(-2)


def get_subsequent_mask(seq):
    ''' For masking out the subsequent info. '''
    sz_b, len_s = seq.size()
    subsequent_mask = (1 - torch.triu(torch.ones((1, len_s, len_s), device=seq.device), diagonal=1)).bool()
    return subsequent_mask


class PositionalEncoding(nn.Module):
    def __init__(self, d_hid, n_position=200):
        super().__init__()
        self.register_buffer('pos_table', self._get_sinusoid_encoding_table(n_position, d_hid))

    def _get_sinusoid_encoding_table(self, n_position, d_hid):
        def get_position_angle_vec(position):
            return [position / np.power(10000, 2 * (hid_j // 2) / d_hid) for hid_j in range(d_hid)]

        table = np.array([get_position_angle_vec(pos_i) for pos_i in range(n_position)])
        table[:, 0::2] = np.sin(table[:, 0::2])
        table[:, 1::2] = np.cos(table[:, 1::2])
        return torch.FloatTensor(table).unsqueeze(0)

    def forward(self, x):
        return x + self.pos_table[:, :x.size(1)].clone().detach()


class Transformer(nn.Module):
    def __init__(self, n_src_vocab, n_trg_vocab, src_pad_idx, trg_pad_idx, d_model=16, d_inner=32,
                 n_layers=1, n_head=2, d_k=8, d_v=8, dropout=0.1, n_position=50, share_prj=True):
        super().__init__()
        self.src_pad_idx, self.trg_pad_idx = src_pad_idx, trg_pad_idx
        self.src_emb = nn.Embedding(n_src_vocab, d_model, padding_idx=src_pad_idx)
        self.trg_emb = nn.Embedding(n_trg_vocab, d_model, padding_idx=trg_pad_idx)
        self.position_enc = PositionalEncoding(d_model, n_position)
        self.dropout = nn.Dropout(dropout)
        self.enc_stack = nn.ModuleList([EncoderLayer(d_model, d_inner, n_head, d_k, d_v, dropout)
                                        for _ in range(n_layers)])
        self.dec_stack = nn.ModuleList([DecoderLayer(d_model, d_inner, n_head, d_k, d_v, dropout)
                                        for _ in range(n_layers)])
        self.trg_word_prj = nn.Linear(d_model, n_trg_vocab, bias=False)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
        if share_prj:
            self.trg_word_prj.weight = self.trg_emb.weight

    def encode(self, src_seq, src_mask):
        x = self.dropout(self.position_enc(self.src_emb(src_seq)))
        for layer in self.enc_stack:
            x, _ = layer(x, mask=src_mask)
        return x

    def decode(self, trg_seq, trg_mask, enc_output, src_mask):
        x = self.dropout(self.position_enc(self.trg_emb(trg_seq)))
        for layer in self.dec_stack:
            x, _ = layer(x, enc_output, slf_mask=trg_mask, enc_mask=src_mask)
        return x

    def forward(self, src_seq, trg_seq):
        src_mask = get_pad_mask(src_seq, self.src_pad_idx)
        trg_mask = get_pad_mask(trg_seq, self.trg_pad_idx) & get_subsequent_mask(trg_seq)
        enc_output = self.encode(src_seq, src_mask)
        dec_output = self.decode(trg_seq, trg_mask, enc_output, src_mask)
        return self.trg_word_prj(dec_output).view(-1, self.trg_word_prj.weight.size(0))
