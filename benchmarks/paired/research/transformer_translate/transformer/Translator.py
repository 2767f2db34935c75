''' This module will handle the text generation with beam search. '''
import torch
import torch.nn as nn
import torch.nn.functional as F

from transformer.Models import get_pad_mask, get_subsequent_mask


class Translator(nn.Module):
    def __init__(self, model, beam_size, max_seq_len, src_pad_idx, trg_pad_idx, trg_bos_idx, trg_eos_idx):
        super(Translator, self).__init__()
        self.alpha = 0.7
        self.beam_size = beam_size
        self.max_seq_len = max_seq_len
        self.src_pad_idx = src_pad_idx
        self.trg_bos_idx = trg_bos_idx
        self.trg_eos_idx = trg_eos_idx
        self.model = model
        self.model.eval()

        self.register_buffer('init_seq', torch.LongTensor([[trg_bos_idx]]))
        self.register_buffer('blank_seqs', torch.full((beam_size, max_seq_len), trg_pad_idx, dtype=torch.long))
        self.blank_seqs[:, 0] = self.trg_bos_idx
        self.register_buffer('len_map', torch.arange(1, max_seq_len + 1, dtype=torch.long).unsqueeze(0))

    def _model_decode(self, trg_seq, enc_output, src_mask):
        trg_mask = get_subsequent_mask(trg_seq)
        dec_output = self.model.decode(trg_seq, trg_mask, enc_output, src_mask)
        return F.softmax(self.model.trg_word_prj(dec_output), dim=-1)

    def _get_init_state(self, src_seq, src_mask):
        enc_output = self.model.encode(src_seq, src_mask)
        dec_output = self._model_decode(self.init_seq, enc_output, src_mask)
        best_k_probs, best_k_idx = dec_output[:, -1, :].topk(self.beam_size)
        scores = torch.log(best_k_probs).view(self.beam_size)
        gen_seq = self.blank_seqs.clone().detach()
        gen_seq[:, 1] = best_k_idx[0]
        return enc_output.repeat(self.beam_size, 1, 1), gen_seq, scores

    def _get_the_best_score_and_idx(self, gen_seq, dec_output, scores, step):
        best_k2_probs, best_k2_idx = dec_output[:, -1, :].topk(self.beam_size)
        scores = torch.log(best_k2_probs).view(self.beam_size, -1) + scores.view(self.beam_size, 1)
        scores, best_k_idx_in_k2 = scores.view(-1).topk(self.beam_size)
        best_k_r_idxs = torch.div(best_k_idx_in_k2, self.beam_size, rounding_mode='floor')
        best_k_c_idxs = best_k_idx_in_k2 % self.beam_size
        best_k_idx = best_k2_idx[best_k_r_idxs, best_k_c_idxs]
        gen_seq[:, :step] = gen_seq[best_k_r_idxs, :step]
        gen_seq[:, step] = best_k_idx
        return gen_seq, scores

    def translate_sentence(self, src_seq):
        assert src_seq.size(0) == 1
        with torch.no_grad():
            src_mask = get_pad_mask(src_seq, self.src_pad_idx)
            enc_output, gen_seq, scores = self._get_init_state(src_seq, src_mask)
            ans_idx = 0
            for step in range(2, self.max_seq_len):
                dec_output = self._model_decode(gen_seq[:, :step], enc_output, src_mask)
                gen_seq, scores = self._get_the_best_score_and_idx(gen_seq, dec_output, scores, step)
                eos_locs = gen_seq == self.trg_eos_idx
                seq_lens, _ = self.len_map.masked_fill(~eos_locs, self.max_seq_len).min(1)
                if (eos_locs.sum(1) > 0).sum(0).item() == self.beam_size:
                    _, ans_idx = scores.div(seq_lens.float() ** self.alpha).max(0)
                    ans_idx = ans_idx.item()
                    break
            else:
                _, ans_idx = scores.div(seq_lens.float() ** self.alpha).max(0)
                ans_idx = ans_idx.item()
        return gen_seq[ans_idx][:seq_lens[ans_idx]].tolist()
