import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import config


class Encoder(nn.Module):
    def __init__(self):
        super(Encoder, self).__init__()
        self.embedding = nn.Embedding(config.vocab_size, config.emb_dim)
        self.lstm = nn.LSTM(config.emb_dim, config.hidden_dim, batch_first=True, bidirectional=True)
        self.W_h = nn.Linear(config.hidden_dim * 2, config.hidden_dim * 2, bias=False)

    def forward(self, input, seq_lens):
        packed = pack_padded_sequence(self.embedding(input), seq_lens, batch_first=True)
        output, hidden = self.lstm(packed)
        encoder_outputs, _ = pad_packed_sequence(output, batch_first=True)
        encoder_outputs = encoder_outputs.contiguous()
        return encoder_outputs, self.W_h(encoder_outputs), hidden


class ReduceState(nn.Module):
    def __init__(self):
        super(ReduceState, self).__init__()
        self.reduce_h = nn.Linear(config.hidden_dim * 2, config.hidden_dim)
        self.reduce_c = nn.Linear(config.hidden_dim * 2, config.hidden_dim)

    def forward(self, hidden):
        h, c = hidden
        h_in = h.transpose(0, 1).reshape(-1, config.hidden_dim * 2)
        c_in = c.transpose(0, 1).reshape(-1, config.hidden_dim * 2)
        return F.relu(self.reduce_h(h_in)).unsqueeze(0), F.relu(self.reduce_c(c_in)).unsqueeze(0)


class Attention(nn.Module):
    def __init__(self):
        super(Attention, self).__init__()
        if config.is_coverage:
            self.W_c = nn.Linear(1, config.hidden_dim * 2, bias=False)
        self.decode_proj = nn.Linear(config.hidden_dim * 2, config.hidden_dim * 2)
        self.v = nn.Linear(config.hidden_dim * 2, 1, bias=False)

    def forward(self, s_t_hat, encoder_outputs, encoder_feature, enc_padding_mask, coverage):
        att = encoder_feature + self.decode_proj(s_t_hat).unsqueeze(1)
        if config.is_coverage:
            att = att + self.W_c(coverage.unsqueeze(2))
        scores = self.v(torch.tanh(att)).squeeze(2)
        attn_dist = F.softmax(scores, dim=1) * enc_padding_mask
        attn_dist = attn_dist / attn_dist.sum(1, keepdim=True)
        c_t = torch.bmm(attn_dist.unsqueeze(1), encoder_outputs).squeeze(1)
        if config.is_coverage:
            coverage = coverage + attn_dist
        return c_t, attn_dist, coverage


class Decoder(nn.Module):
    def __init__(self):
        super(Decoder, self).__init__()
        self.attention_network = Attention()
        self.embedding = nn.Embedding(config.vocab_size, config.emb_dim)
        self.x_context = nn.Linear(config.hidden_dim * 2 + config.emb_dim, config.emb_dim)
        self.lstm = nn.LSTM(config.emb_dim, config.hidden_dim, batch_first=True)
        self.p_gen_linear = nn.Linear(config.hidden_dim * 4 + config.emb_dim, 1)
        self.out1 = nn.Linear(config.hidden_dim * 3, config.hidden_dim)
        self.out2 = nn.Linear(config.hidden_dim, config.vocab_size)

    def forward(self, y_t_1, s_t_1, encoder_outputs, encoder_feature, enc_padding_mask,
                c_t_1, extra_zeros, enc_batch_extend_vocab, coverage):
        x = self.x_context(torch.cat((c_t_1, self.embedding(y_t_1)), 1))
        lstm_out, s_t = self.lstm(x.unsqueeze(1), s_t_1)
        s_t_hat = torch.cat((s_t[0].squeeze(0), s_t[1].squeeze(0)), 1)
        c_t, attn_dist, coverage = self.attention_network(s_t_hat, encoder_outputs, encoder_feature,
                                                          enc_padding_mask, coverage)
        p_gen = torch.sigmoid(self.p_gen_linear(torch.cat((c_t, s_t_hat, x), 1)))
        output = self.out2(self.out1(torch.cat((lstm_out.squeeze(1), c_t), 1)))
        vocab_dist = p_gen * F.softmax(output, dim=1)
        attn_dist_ = (1 - p_gen) * attn_dist
        if extra_zeros is not None:
            vocab_dist = torch.cat([vocab_dist, extra_zeros], 1)
        final_dist = vocab_dist.scatter_add(1, enc_batch_extend_vocab, attn_dist_)
        return final_dist, s_t, c_t, attn_dist, coverage


class Model(object):
    def __init__(self):
        encoder, decoder, reduce_state = Encoder(), Decoder(), ReduceState()
        # shared the embedding between encoder and decoder
        decoder.embedding.weight = encoder.embedding.weight
        if config.use_cuda:
            encoder = encoder.cuda()
            decoder = decoder.cuda()
            reduce_state = reduce_state.cuda()
        self.encoder, self.decoder, self.reduce_state = encoder, decoder, reduce_state

    def parameters(self):
        seen = {}
        for m in (self.encoder, self.decoder, self.reduce_state):
            for p in m.parameters():
                seen[id(p)] = p
        return list(seen.values())
