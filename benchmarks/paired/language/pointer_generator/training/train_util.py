import numpy as np
import torch
from torch.autograd import Variable

import config


def get_input_from_batch(batch):
    enc_lens = batch.enc_lens
    enc_batch = Variable(torch.from_numpy(batch.enc_batch).long())
    enc_padding_mask = Variable(torch.from_numpy(batch.enc_padding_mask)).float()
    enc_batch_extend_vocab = Variable(torch.from_numpy(batch.enc_batch_extend_vocab).long())

    extra_zeros = None
    # max_article_oovs is the max over all the article oov list in the batch
    if batch.max_art_oovs > 0:
        extra_zeros = Variable(torch.zeros((batch.batch_size, batch.max_art_oovs)))
    c_t_1 = Variable(torch.zeros((batch.batch_size, 2 * config.hidden_dim)))
    coverage = None
    if config.is_coverage:
        coverage = Variable(torch.zeros(enc_batch.size()))

    if config.use_cuda:
        enc_batch = enc_batch.cuda()
        enc_padding_mask = enc_padding_mask.cuda()
        enc_batch_extend_vocab = enc_batch_extend_vocab.cuda()
        if extra_zeros is not None:
            extra_zeros = extra_zeros.cuda()
        c_t_1 = c_t_1.cuda()
        if coverage is not None:
            coverage = coverage.cuda()
    return enc_batch, enc_padding_mask, enc_lens, enc_batch_extend_vocab, extra_zeros, c_t_1, coverage


def get_output_from_batch(batch):
    dec_batch = Variable(torch.from_numpy(batch.dec_batch).long())
    dec_padding_mask = Variable(torch.from_numpy(batch.dec_padding_mask)).float()
    max_dec_len = np.max(batch.dec_lens)
    dec_lens_var = Variable(torch.from_numpy(batch.dec_lens)).float()
    target_batch = Variable(torch.from_numpy(batch.target_batch)).long()
    if config.use_cuda:
        dec_batch = dec_batch.cuda()
        dec_padding_mask = dec_padding_mask.cuda()
        dec_lens_var = dec_lens_var.cuda()
        target_batch = target_batch.cuda()
    return dec_batch, dec_padding_mask, max_dec_len, dec_lens_var, target_batch
